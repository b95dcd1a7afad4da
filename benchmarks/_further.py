"""Further labeled sets for `defaults.py`: classics in packages of R and Python, and generated counts and documents.

Nothing is downloaded. A set is read from ARBORA_DATA/further/NAME.npz (arrays X and y) or, failing that, from where it
ships: R's packages below ARBORA_R_LIBRARY (by default where Debian puts r-cran-mlbench, -kernlab, -mclust, -mass,
-rrcov, -ade4 and -modeldata; needs the package rdata), aeon and river. Generated sets need none of these. Sets of more
than 3,000 rows are sampled. They were split by the alphabet, every other name, before any of them was measured.

The wider sets were added later, for the rule of `arbora.similarity.structure`, and split the same way before any was
measured. They are read from ARBORA_DATA/further/NAME.npz only, prepared like the others, columns that are numbers:
expression arrays, faces, speech and text of jundongl/scikit-feature, UCI's of deric/clustering-benchmark, mixtures and
planes of gagolews/clustering-data-v1, more of R's packages and aeon. w_cells_* and w_topics_* are generated.
"""

from __future__ import annotations

import bz2
import lzma
import os
import struct
import zlib
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

R_LIBRARIES = [
    Path(folder)
    for folder in os.environ.get("ARBORA_R_LIBRARY", "/usr/lib/R/site-library:/usr/lib/R/library").split(":")
]
MOST_ROWS = 3000

# package, object, column of the classes, columns that are neither class nor feature
TABLES = {
    "banknote": ("mclust", "banknote", "Status", ()),
    "crabs": ("MASS", "crabs", "sp", ("index",)),
    "dna": ("mlbench", "DNA", "Class", ()),
    "fruit": ("rrcov", "fruit", "cultivar", ()),
    "ionosphere": ("mlbench", "Ionosphere", "Class", ("V1", "V2")),
    "letter": ("mlbench", "LetterRecognition", "lettr", ()),
    "musk": ("kernlab", "musk", "Class", ()),
    "oils": ("modeldata", "oils", "class", ()),
    "olitos": ("rrcov", "olitos", "grp", ()),
    "pima": ("mlbench", "PimaIndiansDiabetes", "diabetes", ()),
    "satellite": ("mlbench", "Satellite", "classes", ()),
    "shuttle": ("mlbench", "Shuttle", "Class", ()),
    "sonar": ("mlbench", "Sonar", "Class", ()),
    "spam": ("kernlab", "spam", "type", ()),
    "thyroid": ("mclust", "thyroid", "Diagnosis", ()),
    "vehicle": ("mlbench", "Vehicle", "Class", ()),
    "vowel": ("mlbench", "Vowel", "Class", ("V1",)),
}
# parts of ade4's lists: the table, and the classes or the table whose last column they are
LISTS = {"hdpg": ("tab", "ind"), "houmousr": ("dfcc", "faccc"), "perthi02": ("tab", "cla")}
SERIES = {
    name.lower(): name
    for name in ("ACSF1", "ArrowHead", "BasicMotions", "GunPoint", "ItalyPowerDemand", "OSULeaf")
}
# seed, cells, types, genes, markers per type, their log fold change, counts per cell, evenness; then how they are shown
COUNTS = {
    "sim_counts_raw": ((1, 1200, 8, 800, 60, 1.2, 1500, 1.0), ()),
    "sim_genes_log": ((2, 900, 10, 700, 60, 1.0, 1200, 1.0), ("log",)),
    "sim_genes_pca": ((5, 800, 10, 800, 50, 1.0, 1500, 0.8), ("log", 50)),
    "sim_genes_pca2": ((6, 1500, 14, 1000, 60, 0.9, 1000, 1.5), ("log", "scaled", 30)),
    "sim_genes_scaled": ((3, 700, 10, 765, 50, 1.2, 1500, 0.8), ("log", "scaled")),
    "sim_genes_scaled2": ((4, 1000, 7, 500, 40, 1.0, 1000, 1.5), ("log", "scaled")),
}
# seed, documents, topics, words, their number per document, evenness of topics in a document, dimensions (0: all words)
DOCUMENTS = {
    "sim_topics_long": (4, 500, 10, 5000, 2000, 0.5, 100),
    "sim_topics_svd": (1, 900, 12, 3000, 150, 0.1, 100),
    "sim_topics_svd2": (2, 600, 15, 4000, 400, 0.3, 100),
    "sim_topics_tfidf": (3, 800, 8, 2000, 100, 0.1, 0),
}
WIDER_COUNTS = {
    "w_cells_a": ((11, 600, 6, 1500, 40, 1.4, 2000, 2.0), ("log", "scaled")),
    "w_cells_b": ((12, 1500, 12, 400, 30, 1.5, 800, 1.0), ("log",)),
    "w_cells_c": ((13, 900, 9, 1000, 80, 0.8, 3000, 1.0), ("log", "scaled")),
    "w_cells_d": ((14, 2000, 10, 600, 50, 1.2, 1500, 1.0), ("log", "scaled", 40)),
    "w_cells_e": ((15, 400, 5, 2000, 50, 1.3, 4000, 2.0), ("log",)),
    "w_cells_f": ((16, 1200, 15, 900, 60, 1.3, 2500, 1.0), ("log", "scaled")),
}
WIDER_DOCUMENTS = {
    "w_topics_a": (11, 700, 8, 3000, 300, 0.2, 0),
    "w_topics_b": (12, 1000, 20, 4000, 200, 0.1, 50),
    "w_topics_c": (13, 400, 6, 2500, 80, 0.2, 100),
    "w_topics_d": (14, 1500, 12, 3000, 120, 0.15, 30),
}
WIDER_STORED = (
    "a3 aggregation allaml arcene arrhythmia balance_scale basehock cells coil20 colon compound d31 "
    "dermatology diabetes ecoli engytime fish fuzzyx g2mg_16_40 g2mg_64_60 german glioma h2mg_32_30 h2mg_8_40 "
    "haberman heart_statlog isolet japanesevowels leaf_id_flavia leukemia lung_small lymphoma madelon mk3 nci9 "
    "orl orlraws10p pcmac pd_speech penguins pixraw10p prostate_ge relathe s3 salmon soybean tae tetra tox_171 "
    "twosplashes unbalance votes warpar10p warppie10p wisc x2 yale z2"
)
FIRST = sorted([*TABLES, *LISTS, *SERIES, *COUNTS, *DOCUMENTS, "phishing"])
WIDER = sorted([*(f"w_{name}" for name in WIDER_STORED.split()), *WIDER_COUNTS, *WIDER_DOCUMENTS])
HALVES = {
    "further-choose": " ".join(FIRST[::2]),
    "further-check": " ".join(FIRST[1::2]),
    "wider-choose": " ".join(WIDER[::2]),
    "wider-check": " ".join(WIDER[1::2]),
}


def load(name, data):
    """Rows and classes of a further set; FileNotFoundError where it is nowhere."""
    stored = data / "further" / f"{name}.npz"
    if stored.exists():
        with np.load(stored) as file:
            return file["X"], file["y"]
    return _cleaned(*_read(name))


def _read(name):
    if name in COUNTS or name in WIDER_COUNTS:
        return cells(*(COUNTS | WIDER_COUNTS)[name])
    if name in DOCUMENTS or name in WIDER_DOCUMENTS:
        return documents(*(DOCUMENTS | WIDER_DOCUMENTS)[name])
    if name in WIDER:
        raise FileNotFoundError(2, "not found", f"further/{name}.npz")
    if name in SERIES:
        return _series(SERIES[name])
    if name == "phishing":
        return _phishing()
    if name in LISTS:
        table, classes = (_part(_r_object("ade4", name), key) for key in LISTS[name])
        return np.asarray(table, float), np.asarray(classes if np.ndim(classes) == 1 else classes.iloc[:, -1])
    package, table, column, left_out = TABLES[name]
    return _features(_r_object(package, table).drop(columns=list(left_out)), column)


def _cleaned(X, y):
    """Classes of three rows and more, columns that vary, at most MOST_ROWS rows."""
    y = np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    is_class = np.bincount(y) >= 3
    X, y = X[is_class[y]], np.unique(y[is_class[y]], return_inverse=True)[1]
    if len(X) > MOST_ROWS:
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        X, y = X[rows], y[rows]
    return X[:, X.std(axis=0) > 0], y


def _features(table, column):
    import pandas as pd

    X = table.drop(columns=[column]).apply(lambda values: pd.to_numeric(values.astype(str), errors="coerce"))
    X = X.dropna(axis=1, how="all")
    is_known = X.notna().all(axis=1) & table[column].notna()
    return X[is_known].to_numpy(float), table[column][is_known].astype(str).to_numpy()


def _part(found, key):
    return next(value for name, value in found.items() if str(name) == key)


def _needed(module, what):
    try:
        return __import__(module)
    except ImportError as error:
        raise FileNotFoundError(2, "not installed", f"{what} (package {module})") from error


def _r_object(package, name):
    """An object of an R package: from its own file, or from the package's data base of objects."""
    rdata = _needed("rdata", f"{package}::{name}")
    for folder in R_LIBRARIES:
        path = folder / package / "data"
        if (path / f"{name}.rda").exists():
            return rdata.read_rda(path / f"{name}.rda")[name]
        if (path / "Rdata.rdx").exists():
            index = rdata.conversion.convert(rdata.parser.parse_data((path / "Rdata.rdx").read_bytes()))
            start, length = map(int, _part(index["variables"], name))
            packed = (path / "Rdata.rdb").read_bytes()[start : start + length]
            return rdata.conversion.convert(rdata.parser.parse_data(_unpacked(packed)))
    raise FileNotFoundError(2, "not found", f"{package}::{name}")


def _unpacked(packed):
    """An object of R's data base: four bytes say how long it is, the next one may say how it was packed."""
    body = packed[struct.calcsize(">I") :]
    if body[:1] == b"Z":
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        return lzma.decompress(body[1:], lzma.FORMAT_RAW, filters=filters)
    return bz2.decompress(body[1:]) if body[:1] == b"2" else zlib.decompress(body)


def _series(name):
    aeon = _needed("aeon", name)
    from aeon.datasets import load_from_ts_file

    folder = Path(aeon.__file__).parent / "datasets" / "data" / name
    files = [path for part in ("TRAIN", "TEST") if (path := folder / f"{name}_{part}.ts").exists()]
    parts = [load_from_ts_file(str(path)) for path in files]
    X = np.concatenate([np.asarray(rows, float).reshape(len(rows), -1) for rows, _ in parts])
    return X, np.concatenate([classes for _, classes in parts])


def _phishing():
    import pandas as pd

    river = _needed("river", "phishing")
    table = pd.read_csv(Path(river.__file__).parent / "datasets" / "phishing.csv.gz")
    return _features(table, table.columns[-1])


def cells(drawn, shown):
    """Counts of genes: types within groups of types, overdispersed, few counts per cell, most genes the same in all."""
    seed, n, n_types, n_genes, n_markers, fold, depth, evenness = drawn
    rng = np.random.default_rng(seed)
    profile = np.tile(np.log(rng.gamma(0.4, 1, n_genes) + 1e-3), (n_types, 1))
    group = rng.integers(0, max(2, n_types // 3), n_types)
    for g in np.unique(group):
        profile[np.ix_(group == g, rng.choice(n_genes, n_markers, False))] += fold
    for kind in range(n_types):
        profile[kind, rng.choice(n_genes, n_markers // 2, False)] += fold
    share = np.exp(profile) / np.exp(profile).sum(axis=1, keepdims=True)
    y = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, evenness)))
    mean = share[y] * rng.lognormal(np.log(depth), 0.4, n)[:, None]
    X = rng.negative_binomial(2, 2 / (2 + mean)).astype(float)
    for how in shown:
        if how == "log":
            X = np.log1p(X / np.maximum(X.sum(axis=1, keepdims=True), 1) * 1e4)
        elif how == "scaled":
            X = X[:, X.std(axis=0) > 0]
            X = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -10, 10)
        else:
            left, length, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
            X = left[:, :how] * length[:how]
    return X, y


def documents(seed, n, n_topics, n_words, length, evenness, n_dimensions):
    """TF-IDF of documents of one main topic each, others mixed in, over words that all share."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, n_words + 1)
    zipf /= zipf.sum()
    topics = np.array([rng.dirichlet(zipf * n_words * 0.15) for _ in range(n_topics)])
    common = rng.dirichlet(zipf * n_words)
    y = rng.integers(n_topics, size=n)
    counts = np.zeros((n, n_words))
    for i in range(n):
        mixture = 0.45 * np.eye(n_topics)[y[i]] + 0.55 * rng.dirichlet(np.full(n_topics, evenness))
        counts[i] = rng.multinomial(rng.poisson(length), 0.5 * common + 0.5 * mixture @ topics)
    words = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    if n_dimensions == 0:
        return words.toarray(), y
    return TruncatedSVD(n_dimensions, random_state=0).fit_transform(words), y
