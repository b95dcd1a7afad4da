"""What needs memory for all pairs is refused before it takes it, in words that say what to do instead."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora import Tree
from arbora._base import memory
from arbora.errors import FormatError, TooLargeError

N = 200
# free memory: plenty for the points, too little for a table of all pairs
FREE = 150_000
X = np.random.default_rng(0).normal(size=(N, 3))
# prepared while there is memory
TREE = ab.linkage(X, "ward")
GAUSSIAN = ab.similarity.gaussian(X)
GRAPH = ab.similarity.knn(X, 3)
SQUARE = 1 + np.abs(X @ X.T)
CONDENSED = SQUARE[np.triu_indices(N, 1)]
LOGITS = np.random.default_rng(0).normal(size=(40, N))
WORDS = [f"leaf{k} word{k % 7}" for k in range(N)]
# a hundred components, each a block of its own
PAIRS = (np.arange(0, N, 2), np.arange(1, N, 2))
CLASSES = ab.L2H(random_state=0).fit(LOGITS)


def hierarchical_labels():
    from arbora.nn import hierarchical_labels

    return hierarchical_labels(TREE)


def read_condensed(folder):
    np.save(folder / "d.npy", CONDENSED)
    return ab.read(folder / "d.npy", kind="distances")


ENTRIES = {
    "similarity.dense": lambda: ab.similarity.dense(SQUARE),
    "similarity.knn of distances": lambda: ab.similarity.knn(SQUARE - np.diag(np.diag(SQUARE)), metric="precomputed"),
    "similarity.cosine of sparse rows": lambda: ab.similarity.cosine(sp.random_array((N, 500), rng=0)),
    "linkage of vectors": lambda: ab.linkage(X, "average"),
    "linkage of distances": lambda: ab.linkage(CONDENSED, "average", kind="distances"),
    "linkage of a similarity": lambda: ab.linkage(GAUSSIAN, "average"),
    "cluster of all pairs": lambda: ab.cluster(GAUSSIAN),
    "refine on all pairs": lambda: ab.refine(TREE, GAUSSIAN),
    "dasgupta_bounds": lambda: ab.metrics.dasgupta_bounds(GAUSSIAN),
    "cophenetic_correlation": lambda: ab.metrics.cophenetic_correlation(TREE, CONDENSED),
    "FPH": lambda: ab.FPH(n_internal=150).fit(GRAPH),
    "HypHC on all pairs": lambda: ab.HypHC(similarity="gaussian", refine=True, max_epochs=1).fit(X),
    "GHHC": lambda: ab.GHHC(n_internal=399, init_linkage="average", max_steps=1).fit(X),
    "L2H(refine=True)": lambda: ab.L2H(refine=True, random_state=0).fit(LOGITS),
    "class_report": lambda: ab.logits.class_report(CLASSES, LOGITS, np.arange(40)),
    "match": lambda: ab.match(TREE, TREE, N),
    "hierarchical_labels": hierarchical_labels,
    "ufit": lambda: ab.baselines.fit("ufit", X, max_epochs=1),
    "keywords of all nodes": lambda: TREE.keywords(WORDS, nodes=range(N, TREE.n_nodes)),
    "block model": lambda: ab.baselines.fit("dcsbm", PAIRS, random_state=0),
    "text of a chain": lambda: Tree.from_newick("(" * 200 + "a" + ",b)" * 200 + ";").to_text(),
    "reorder": lambda: TREE.reorder("optimal", data=X),
}  # fmt: skip


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: FREE)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_needs_all_pairs_is_refused_before_it_takes_them(name, little_memory):
    with pytest.raises(TooLargeError, match=r"(?s)GiB are free\. \w+"):
        ENTRIES[name]()


def test_a_condensed_file_is_refused_before_it_becomes_a_square(little_memory, tmp_path):
    with pytest.raises(TooLargeError, match="as a square"):
        read_condensed(tmp_path)


@pytest.mark.parametrize("shape", ["(10000000000,)", "(1000000, 1000000)"])
def test_an_archive_that_announces_more_than_there_is_is_refused(shape, tmp_path):
    path = tmp_path / "tree.npz"
    TREE.save(path)
    whole = zipfile.ZipFile(path)
    with zipfile.ZipFile(tmp_path / "announces.npz", "w") as archive:
        for name in whole.namelist():
            data = whole.read(name)
            archive.writestr(name, _announcing(shape) if name == "parent.npy" else data)
    with pytest.raises(FormatError, match="announcement"):
        ab.Tree.load(tmp_path / "announces.npz")
    with pytest.raises(FormatError):
        ab.read(tmp_path / "announces.npz")


def _announcing(shape):
    """An array file whose header promises this shape and which holds eight bytes."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    buffer = io.BytesIO()
    buffer.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(8))
    return buffer.getvalue()
