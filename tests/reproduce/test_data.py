"""The data of the tables: where files are looked for, how they are read, and graphs that are drawn."""

import numpy as np
import pytest
import scipy.sparse as sp

from arbora.reproduce import data as published
from arbora.reproduce.papers import _figures, printed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("vectors", "graphs"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("ARBORA_DATA", str(tmp_path))
    return tmp_path


def test_without_a_folder_the_files_are_missing(monkeypatch, tmp_path):
    monkeypatch.delenv("ARBORA_DATA", raising=False)
    assert published.folder() is None
    assert published.missing(()) == ""
    assert (
        published.missing(("a.npz",)) == "needs a.npz: set ARBORA_DATA to the folder of published data sets"
    )
    monkeypatch.setenv("ARBORA_DATA", str(tmp_path / "nowhere"))
    assert published.folder() is None
    with pytest.raises(FileNotFoundError, match=r"needs b\.npz"):
        published.path("b.npz")


def test_the_first_missing_file_is_named(folder):
    (folder / "a.npz").touch()
    assert published.missing(("a.npz",)) == ""
    assert "b.npz" in published.missing(("a.npz", "b.npz", "c.npz"))
    assert published.path("a.npz") == folder / "a.npz"


def test_vectors_are_double_precision_with_whole_classes(folder):
    np.savez(folder / "vectors" / "zoo.npz", X=np.float32([[1, 2], [3, 4]]), y=np.array([0.0, 1.0]))
    found = published.vectors("zoo")
    assert found.X.dtype == np.float64 and found.y.dtype == np.int64
    assert found.X.tolist() == [[1, 2], [3, 4]] and found.y.tolist() == [0, 1]


def test_files_with_pickles_are_refused(folder):
    np.savez(folder / "vectors" / "bad.npz", X=np.array([{}], dtype=object), y=np.zeros(1))
    with pytest.raises(ValueError, match="allow_pickle"):
        published.vectors("bad")


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("breast-cancer", (569, 30), 2),
        ("digits", (1797, 64), 10),
    ],
)
def test_sets_of_scikit_learn_need_no_folder(name, shape, n_classes, monkeypatch):
    monkeypatch.delenv("ARBORA_DATA", raising=False)
    found = published.vectors(name)
    assert found.X.shape == shape and len(np.unique(found.y)) == n_classes


def test_a_draw_has_no_row_twice_and_keeps_classes_beside_their_rows():
    everything = published.Vectors(np.arange(40.0).reshape(20, 2), np.arange(20))
    drawn = published.draw(everything, 12, seed=3)
    assert len(np.unique(drawn.y)) == 12
    assert np.array_equal(drawn.X[:, 0], 2 * drawn.y)
    assert np.array_equal(published.draw(everything, 12, seed=3).y, drawn.y)
    assert not np.array_equal(published.draw(everything, 12, seed=4).y, drawn.y)


def test_standardized_rows_have_length_one_after_zscored_columns():
    X = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 4.0], [6.0, 5.0, 2.0]])
    varying = X[:, [0, 2]]
    z = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    expected = z / np.sqrt((z**2).sum(axis=1))[:, None]
    np.testing.assert_allclose(published.standardized(X), expected)


def test_centered_rows_have_the_mean_at_the_origin_before_scaling():
    X = np.float32([[1, 0], [3, 0], [2, 3]])
    rows = published.centered_rows(X)
    np.testing.assert_allclose(
        rows, np.array([[-1, -1], [1, -1], [0, 2]]) / [[2**0.5], [2**0.5], [2]], atol=1e-7
    )
    # a row at the mean has no direction
    assert np.array_equal(published.centered_rows(np.array([[1.0], [2.0], [3.0]]))[1], [0.0])


def test_a_network_counts_a_self_loop_as_one_edge_of_half_its_diagonal(folder):
    np.savez(
        folder / "graphs" / "small.npz", n=4, rows=[0, 1], cols=[1, 2], weights=[2.0, 3.0], selfloops=[3],
        selfloop_weights=[8.0],
    )  # fmt: skip
    graph = published.network("small")
    assert graph.n_points == 4
    assert graph.csr.toarray().tolist() == [[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]]
    assert graph.self_loops.tolist() == [0, 0, 0, 4]
    assert graph.degrees.tolist() == [2, 5, 3, 8]


def test_a_network_without_weights_has_edges_of_one(folder):
    np.savez(folder / "graphs" / "plain.npz", n=3, rows=[0, 1], cols=[1, 2])
    graph = published.network("plain")
    assert graph.csr.data.tolist() == [1, 1, 1, 1] and graph.total == 2


def test_a_bag_of_words_is_the_matrix_that_was_stored(folder):
    counts = sp.csr_array(np.array([[0, 2, 0], [1, 0, 5]]))
    np.savez(
        folder / "graphs" / "small_attrs.npz", data=counts.data, indices=counts.indices, indptr=counts.indptr,
        shape=counts.shape,
    )  # fmt: skip
    assert published.bag_of_words("small").toarray().tolist() == [[0, 2, 0], [1, 0, 5]]


def test_a_planted_graph_has_its_edges_and_communities():
    graph = published.planted_graph(6000, 12_000, seed=1, n_blocks=64)
    csr = graph.csr
    assert (csr != csr.T).nnz == 0 and csr.diagonal().sum() == 0 and set(csr.data) == {1.0}
    assert 0.9 * 12_000 < graph.n_edges <= 12_000
    block = np.searchsorted(np.linspace(0, 6000, 65).astype(int), np.arange(6000), side="right")
    rows, cols = csr.nonzero()
    # one pair of nodes in 64 is in one block, but a large share of the edges is
    assert np.mean(block[rows] == block[cols]) > 0.25
    same = published.planted_graph(6000, 12_000, seed=1, n_blocks=64)
    assert (same.csr != csr).nnz == 0
    assert (published.planted_graph(6000, 12_000, seed=2, n_blocks=64).csr != csr).nnz > 0


def test_figures_of_the_papers_are_numbers_with_unique_names():
    figures = _figures()
    assert len(figures) > 300
    assert {key[0] for key in figures} == {"hyphc", "ghhc", "fph", "l2h"}
    assert all(found.deviation >= 0 for found in figures.values())
    assert printed("hyphc", "1", "zoo", None, "dasgupta_ordered_pairs") is None
    assert printed("hyphc", "1", "nowhere", "HypHC", "dasgupta_ordered_pairs") is None


def test_no_figure_of_a_paper_stands_twice():
    import csv
    from importlib.resources import files

    text = (files("arbora.reproduce") / "targets.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(_figures())
