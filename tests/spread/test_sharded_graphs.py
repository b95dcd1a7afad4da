"""A graph in shards measures trees as the same graph in memory, and gives itself up only where it fits."""

from __future__ import annotations

import numpy as np
import pytest
from spread.conftest import WORKERS

import arbora as ab
from arbora.errors import ArboraError, FormatError, MissingFileError, TooLargeError

dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")

N = 60


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def edge_table(seed=0, n_edges=400, loops=True):
    """Edges in both directions, some of them in several pieces."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (2, n_edges))
    if not loops:
        ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % N, ends[1])
    ends[:, 0] = N - 1, 0
    return pd.DataFrame({"source": ends[0], "target": ends[1], "weight": rng.random(n_edges)})


TABLE = edge_table()
WHOLE = ab.similarity.graph((TABLE["source"], TABLE["target"], TABLE["weight"]))
TREE = ab.linkage(WHOLE, "average")


def in_shards(table=TABLE, n=5):
    return ab.similarity.graph(frames.from_pandas(table, npartitions=n, sort=False))


def test_sums_over_shards_equal_those_over_the_graph():
    graph = in_shards()
    assert graph.n_points == N
    assert graph.n_edges == WHOLE.n_edges
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 3))
    i, j = rng.integers(0, N, (2, 200))
    np.testing.assert_allclose(graph.cross(TREE), WHOLE.cross(TREE), rtol=1e-12)
    np.testing.assert_allclose(graph.degrees, WHOLE.degrees, rtol=1e-12)
    np.testing.assert_allclose(graph.self_loops, WHOLE.self_loops, rtol=1e-12)
    np.testing.assert_allclose(graph.pairs(i, j), WHOLE.pairs(i, j), rtol=1e-12)
    np.testing.assert_allclose(graph.rows([3, 1]), WHOLE.rows([3, 1]), rtol=1e-12)
    np.testing.assert_allclose(graph.multiply(x), WHOLE.multiply(x), atol=1e-12)
    np.testing.assert_allclose(graph.total, WHOLE.total, rtol=1e-12)
    np.testing.assert_allclose(graph.sum_of_squares(0.3), WHOLE.sum_of_squares(0.3), rtol=1e-12)
    some = np.array([5, 2, 40, 41])
    np.testing.assert_allclose(graph.subset(some).rows(range(4)), WHOLE.subset(some).rows(range(4)))
    loopless = graph.without_self_loops()
    np.testing.assert_allclose(loopless.cross(TREE), WHOLE.without_self_loops().cross(TREE), rtol=1e-12)
    assert not loopless.self_loops.any()


@pytest.mark.parametrize(
    "metric",
    [
        ab.metrics.dasgupta_cost,
        ab.metrics.tree_sampling_divergence,
        ab.metrics.moseley_wang_revenue,
    ],
)
def test_metrics_do_not_ask_what_kind_of_graph_it_is(metric, monkeypatch):
    graph = in_shards()
    monkeypatch.setattr(type(graph), "csr", property(lambda self: pytest.fail("all edges were fetched")))
    assert metric(TREE, graph) == pytest.approx(metric(TREE, WHOLE), rel=1e-12)
    again = metric(TREE, frames.from_pandas(TABLE, npartitions=2))
    assert again == pytest.approx(metric(TREE, graph), rel=1e-14)


@WORKERS
def test_how_edges_are_divided_changes_no_digit(n_workers, on_cluster):
    expected = in_shards(n=1).cross(TREE)
    shuffled = TABLE.sample(frac=1, random_state=3)
    assert np.array_equal(in_shards(shuffled, n=7).cross(TREE), expected)
    on_cluster(n_workers)
    with dask.config.set(scheduler=None):
        assert np.array_equal(in_shards(n=4).cross(TREE), expected)


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_a_directory_of_shards_is_a_graph(kind, tmp_path):
    for number, part in enumerate([TABLE[:100], TABLE[100:300], TABLE[300:]]):
        if kind == "npy":
            np.save(tmp_path / f"edges{number}.npy", part.to_numpy())
        else:
            part.to_parquet(tmp_path / f"edges{number}.parquet", index=False)
    graph = ab.similarity.graph(tmp_path)
    np.testing.assert_allclose(graph.cross(TREE), WHOLE.cross(TREE), rtol=1e-12)
    assert ab.similarity.graph(str(tmp_path), n_points=N + 2).n_points == N + 2


def test_searches_take_the_edges_where_they_fit(monkeypatch):
    graph = in_shards()
    np.testing.assert_allclose(graph.csr.toarray(), WHOLE.csr.toarray(), rtol=1e-12)
    expected = ab.cluster(WHOLE, random_state=0)
    assert np.array_equal(ab.cluster(graph, random_state=0).parent, expected.parent)
    assert np.array_equal(
        ab.refine(TREE, in_shards(), random_state=0).parent, ab.refine(TREE, WHOLE, random_state=0).parent
    )
    monkeypatch.setattr("arbora._base.memory.available_memory", lambda: 1000)
    with pytest.raises(TooLargeError, match="400 edges"):
        ab.refine(TREE, in_shards())


def test_purity_takes_labels_in_a_dask_array():
    y = np.random.default_rng(0).integers(0, 4, N)
    expected = ab.metrics.dendrogram_purity(TREE, y)
    assert ab.metrics.dendrogram_purity(TREE, da.from_array(y, chunks=13)) == expected
    assert ab.metrics.dendrogram_purity(TREE, frames.from_pandas(pd.Series(y), npartitions=3)) == expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": np.nan}, "finite"),
        ({"weight": -1.0}, "negative"),
        ({"source": -1}, "from 0"),
        ({"target": 0.5}, "whole numbers"),
        ({"source": "a"}, "whole numbers"),
    ],
    ids=str,
)
def test_edges_that_cannot_be_used_are_refused(change, words):
    column, value = next(iter(change.items()))
    table = TABLE.astype({column: object if isinstance(value, str) else float})
    table.loc[len(table) - 1, column] = value
    with pytest.raises(ValueError, match=words):
        in_shards(table)


def test_other_columns_and_missing_paths_are_refused(tmp_path):
    with pytest.raises(ValueError, match="source, target"):
        in_shards(TABLE.rename(columns={"source": "from"}))
    with pytest.raises(MissingFileError, match="nothing at"):
        ab.similarity.graph(tmp_path / "absent")
    with pytest.raises(FormatError, match="holds no"):
        ab.similarity.graph(tmp_path)
    (tmp_path / "edges.npy").write_bytes(b"no array")
    with pytest.raises(ArboraError, match="damaged"):
        ab.similarity.graph(tmp_path)
