"""`cluster` and `TreeClustering` on rows that are read in pieces: the tree of the array, and one copy of the rows."""

import itertools
import tracemalloc

import numpy as np
import pytest
from row_sources import MATRIX, NAMED, REPEATABLE, pieces, written

import arbora as ab
from arbora._base import collecting, memory
from arbora._base.collecting import collect
from arbora._base.rows import open_rows
from arbora.errors import FormatError, TooLargeError
from arbora.search.inputs import read_input
from arbora.similarity import knn
from arbora.similarity.knn import knn_of
from arbora.similarity.scaling import SCALES, fit_scaling

SOURCES = [kind for kind in REPEATABLE if kind != "Dask"] + ["iterator"]
TREE = ab.cluster(MATRIX, random_state=0, n_perturbations=0)


def is_same(tree, other):
    return np.array_equal(tree.parent, other.parent) and np.array_equal(tree.height, other.height)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_makes_the_tree_of_the_array(kind, tmp_path):
    assert is_same(ab.cluster(written(kind, tmp_path), random_state=0, n_perturbations=0), TREE)


@pytest.mark.parametrize("kind", SOURCES)
def test_the_estimator_takes_every_source_and_predicts_it(kind, tmp_path):
    model = ab.TreeClustering(3, random_state=0, n_perturbations=0).fit(written(kind, tmp_path))
    assert is_same(model.tree_, TREE)
    assert model.n_features_in_ == 7
    names = getattr(model, "feature_names_in_", None)
    assert (None if names is None else list(names)) == (
        [f"c{k}" for k in range(7)] if kind in NAMED else None
    )
    (tmp_path / "again").mkdir()
    again = written(kind, tmp_path / "again")
    known = ab.TreeClustering(3, random_state=0, n_perturbations=0).fit(MATRIX)
    assert np.array_equal(model.predict(again), known.predict(MATRIX))


def test_names_of_columns_are_held_to_in_later_calls(tmp_path):
    pandas = pytest.importorskip("pandas")
    model = ab.TreeClustering(2, random_state=0, n_perturbations=0).fit(written("parquet", tmp_path))
    frame = pandas.DataFrame(MATRIX, columns=[f"c{k}" for k in range(7)])
    assert model.predict(frame[:5]).shape == (5,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[:5].rename(columns={"c0": "other"}))
    (tmp_path / "part0.parquet").unlink()
    assert len(model.predict(tmp_path)) == 300 - 71
    with pytest.raises(ValueError, match="8 features"):
        ab.TreeClustering(2, random_state=0).fit(MATRIX).predict(iter([np.ones((3, 8))]))


@pytest.mark.parametrize("scale", [kind for kind in SCALES if kind != "auto"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_rows_scaled_in_place_make_the_tree_of_the_array(scale, metric):
    source = MATRIX * np.float32([1, 50, 1, 1, 1, 1, 9])
    options = {"metric": metric, "scale": scale, "random_state": 0, "n_perturbations": 0}
    of_array = ab.cluster(source, **options)
    assert is_same(ab.cluster(iter([source[:100], source[100:]]), **options), of_array)


def test_what_the_caller_has_is_left_alone(tmp_path):
    chunks = pieces()
    np.save(tmp_path / "x.npy", MATRIX)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r+")
    for metric in ("cosine", "euclidean"):
        ab.cluster(chunks, metric, scale="standard", random_state=0, n_perturbations=0)
        ab.cluster(chunks[:1], metric, random_state=0, n_perturbations=0)
        ab.cluster(mapped, metric, scale="standard", random_state=0, n_perturbations=0)
    assert np.array_equal(np.concatenate(chunks), MATRIX) and np.array_equal(mapped, MATRIX)


def test_one_memory_map_is_used_where_it_is(tmp_path):
    np.save(tmp_path / "x.npy", MATRIX)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = read_input(mapped)
    assert np.shares_memory(found.values, mapped) and not found.is_own
    assert read_input([MATRIX, MATRIX]).is_own
    # what must be converted or put in order is copied
    np.save(tmp_path / "columns.npy", np.asfortranarray(MATRIX))
    assert read_input(tmp_path / "columns.npy").is_own
    assert read_input(iter([MATRIX.astype(np.float16)])).values.dtype == np.float32
    assert read_input(iter([np.arange(12).reshape(6, 2)])).values.dtype == np.float64


@pytest.mark.parametrize("heights", [(3, 0, 5, 1), (1,) * 9, (40,), (2, 70)])
def test_rows_of_unknown_number_are_collected_in_order(heights):
    chunks = [np.full((height, 2), number, float) for number, height in enumerate(heights)]
    found = collect(open_rows(iter(chunks)))
    assert np.array_equal(found.values, np.concatenate(chunks)) and found.is_own
    assert found.values.flags.c_contiguous


def test_reading_reports_its_rows():
    heard = []
    source = [MATRIX[:100], MATRIX[100:250], MATRIX[250:]]
    ab.cluster(source, random_state=0, n_perturbations=0, progress=lambda *report: heard.append(report))
    stages = [stage for stage, _ in itertools.groupby(heard, key=lambda report: report[0])]
    assert stages == ["reading", "similarity", "average linkage", "refine", "components"]
    assert [report[1:] for report in heard if report[0] == "reading"] == [
        (0, 300), (100, 300), (250, 300), (300, 300),
    ]  # fmt: skip
    heard.clear()
    ab.cluster(iter(source), random_state=0, n_perturbations=0, progress=lambda *report: heard.append(report))
    assert [done for stage, done, _ in heard if stage == "reading"] == [0, 100, 250, 300, 300]


def test_verbose_shows_the_reading_and_reports_once(capsys):
    ab.TreeClustering(2, verbose=True, random_state=0, n_perturbations=0).fit(pieces())
    said = capsys.readouterr().err
    assert said.count("reading: done") == 1 and said.count("similarity: done") == 1
    assert said.count("vectors of 7 features ->") == 1
    ab.cluster(pieces(), verbose=True, random_state=0, n_perturbations=0)
    assert capsys.readouterr().err.count("similarity: done") == 1


def test_more_than_memory_is_refused_before_it_is_taken(monkeypatch):
    asked = []

    def free():
        asked.append(1)
        return 10 * MATRIX.nbytes // len(asked)

    monkeypatch.setattr(memory, "available_memory", free)
    # known length: refused at once
    monkeypatch.setattr(collecting, "refuse_if_too_large", memory.refuse_if_too_large)
    with pytest.raises(TooLargeError, match=r"All rows of data.*Dask array"):
        ab.cluster([MATRIX] * 9)
    assert len(asked) == 1
    # unknown length: as soon as it is too long
    asked.clear()
    read = itertools.count()
    with pytest.raises(TooLargeError, match="All rows of X"):
        ab.TreeClustering().fit(MATRIX for _ in read)
    assert 1 < next(read) < 20


def test_distances_may_be_read_in_pieces(tmp_path):
    from scipy.spatial.distance import cdist

    distances = cdist(MATRIX, MATRIX)
    np.save(tmp_path / "distances.npy", distances)
    wanted = ab.cluster(distances, "precomputed", random_state=0, n_perturbations=0)
    for source in (tmp_path / "distances.npy", [distances[:99], distances[99:]]):
        assert is_same(ab.cluster(source, "precomputed", random_state=0, n_perturbations=0), wanted)


@pytest.mark.parametrize(
    ("source", "problem", "words"),
    [
        (lambda folder: folder / "absent.npy", FileNotFoundError, "absent.npy"),
        (lambda folder: iter([]), ValueError, "data must not be empty"),
        (lambda folder: iter([np.ones((0, 3))]), ValueError, "data must not be empty"),
        (lambda folder: iter([np.ones((4, 2)), np.full((2, 2), np.nan)]), ValueError, "row 4, column 0"),
        (
            lambda folder: iter([np.ones((4, 2)), np.ones((4, 3))]),
            ValueError,
            "Chunk 1 of data has 3 columns",
        ),
        (lambda folder: iter([np.full((9, 3), 1 / 3)]), ValueError, "arbora.L2H"),
        (lambda folder: iter([np.eye(4)]), ValueError, "square symmetric"),
        (lambda folder: len, TypeError, "without arguments"),
    ],
)
def test_bad_sources_are_refused_in_words(source, problem, words, tmp_path):
    with pytest.raises(problem, match=words):
        ab.cluster(source(tmp_path))


def test_other_files_are_left_to_read(tmp_path):
    (tmp_path / "points.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match=r"arbora\.read"):
        ab.cluster(tmp_path / "points.csv")
    with pytest.raises(ValueError, match="directed applies to graphs"):
        ab.cluster(iter([MATRIX]), directed="sum")


# ---- no second copy ------------------------------------------------------------------------------------------


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_collecting_takes_the_rows_and_a_chunk():
    chunk = np.ones((1000, 16), np.float32)
    size = 60 * chunk.nbytes
    known = peak_of(lambda: collect(open_rows([chunk] * 60)))
    unknown = peak_of(lambda: collect(open_rows(chunk + 0 for _ in range(60))))
    assert known < 1.1 * size and unknown < 1.4 * size


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_an_index_of_own_rows_takes_their_place_and_finds_the_same(metric, monkeypatch):
    from arbora.similarity import _neighbors, scaling

    # beyond the exact search, where rows are sorted into cells, some columns at a time
    monkeypatch.setattr(_neighbors, "EXACT_UP_TO", 200)
    monkeypatch.setattr(scaling, "_VALUES_AT_ONCE", 2000)
    vectors = np.random.default_rng(0).normal(size=(900, 8)).astype(np.float32)
    theirs = knn(vectors, 2, metric, random_state=0, n_jobs=1)
    before = vectors.copy()
    own = knn_of(vectors, 2, metric, random_state=0, n_jobs=1, overwrite=True)
    assert (own.csr != theirs.csr).nnz == 0
    assert np.shares_memory(own.model.index.rows, vectors) == (metric == "euclidean")
    assert np.array_equal(vectors, before) == (metric == "cosine")


@pytest.mark.parametrize("kind", [kind for kind in SCALES if kind not in ("auto", "none")])
def test_a_scaling_applies_in_place_bit_for_bit(kind, monkeypatch):
    from arbora.similarity import scaling

    rows = np.random.default_rng(1).lognormal(size=(500, 5)).astype(np.float32)
    whole = fit_scaling(kind, rows)
    monkeypatch.setattr(scaling, "_VALUES_AT_ONCE", 700)
    in_blocks = fit_scaling(kind, rows)
    for name, value in whole.arrays().items():
        assert np.array_equal(value, in_blocks.arrays()[name])
    wanted = whole.apply(rows)
    assert not np.shares_memory(wanted, rows)
    in_place = in_blocks.apply(rows, overwrite=True)
    # components have fewer columns than the rows they are made of
    assert (in_place is rows) == (kind != "components")
    assert np.array_equal(in_place, wanted)


@pytest.mark.parametrize("shape", [(10, 1), (10, 2), (10, 3), (100, 7), (3, 50)])
def test_blocks_of_columns_cover_all_and_are_never_single(shape, monkeypatch):
    from arbora.similarity import scaling

    monkeypatch.setattr(scaling, "_VALUES_AT_ONCE", 20)
    blocks = scaling.column_blocks(shape)
    assert [k for some in blocks for k in range(shape[1])[some]] == list(range(shape[1]))
    assert all(some.stop - some.start > 1 for some in blocks) or shape[1] == 1
