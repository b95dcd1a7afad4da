"""Trees over graphs whose edges no machine holds: the same however these are divided, about as good as in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scale_worlds import grouped_rows, same_tree
from spread.conftest import WORKERS

import arbora as ab
from arbora.scale import Limits, build_graph_on_dask, refine_on_dask
from arbora.search.cluster import Options
from arbora.search.refine import Effort, Task
from arbora.similarity.sharded import ShardedGraph

dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N = 2000
SMALL_PARTS = Limits(part=400, pieces=200, smallest_piece=4, edges=50_000)
OPTIONS = Options(random_state=0, n_jobs=1)


def neighbor_edges():
    """Edges of a graph of nearest neighbors, in no order."""
    rows, _ = grouped_rows(N)
    csr = ab.similarity.knn(rows, 8, "euclidean", random_state=0).csr.tocoo()
    once = csr.row < csr.col
    table = pd.DataFrame({"source": csr.row[once], "target": csr.col[once]})
    table["weight"] = csr.data[once].astype(np.float64)
    return table.sample(frac=1, random_state=0)


TABLE = neighbor_edges()


def in_memory(table=TABLE, n_points=None):
    return ab.similarity.graph((table["source"], table["target"], table["weight"]), n_points=n_points)


def in_shards(table=TABLE, n=3, n_points=None):
    return ab.similarity.graph(frames.from_pandas(table, npartitions=n, sort=False), n_points=n_points)


def built(graph, **options):
    return build_graph_on_dask(graph, Options(**{**vars(OPTIONS), **options}), limits=SMALL_PARTS)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def expected():
    with dask.config.set(scheduler="threads"):
        return built(in_shards())


@pytest.fixture(scope="module")
def first():
    return ab.linkage(in_memory(), "average")


def test_the_tree_is_about_as_good_as_in_memory(expected):
    whole = in_memory()
    cost, best = (
        ab.metrics.dasgupta_cost(tree, whole, normalize=True)
        for tree in (expected.tree, ab.cluster(whole, random_state=0))
    )
    assert cost < 1.03 * best
    assert expected.report.cost_after == pytest.approx(cost, rel=1e-12)
    assert expected.report.cost_after < expected.report.cost_before
    assert expected.tree.is_binary
    assert (expected.tree.height[:-1] <= expected.tree.height[expected.tree.parent[:-1]]).all()


def test_how_edges_are_divided_changes_no_bit_of_the_tree(expected):
    shuffled = TABLE.sample(frac=1, random_state=5)
    swapped = shuffled.rename(columns={"source": "target", "target": "source"})[list(TABLE.columns)]
    halves = pd.concat([TABLE.assign(weight=TABLE["weight"] / 2)] * 2)
    for table, n in ((shuffled, 1), (swapped, 7), (halves, 4)):
        assert same_tree(built(in_shards(table, n)).tree, expected.tree)


@WORKERS
def test_workers_build_and_refine_the_trees_of_threads(n_workers, on_cluster, expected, first):
    better = refined(first, in_shards())
    on_cluster(n_workers)
    with dask.config.set(scheduler=None):
        assert same_tree(built(in_shards(n=5)).tree, expected.tree)
        assert same_tree(refined(first, in_shards(n=2)), better)


def test_cluster_and_refine_never_fetch_all_edges(monkeypatch, expected, first):
    monkeypatch.setattr(ShardedGraph, "csr", property(lambda self: pytest.fail("all edges were fetched")))
    monkeypatch.setattr("arbora.scale.graphs.LIMITS", SMALL_PARTS)
    assert same_tree(ab.cluster(in_shards(), random_state=0, n_jobs=1), expected.tree)
    model = ab.TreeClustering(5, random_state=0, n_jobs=1).fit(in_shards())
    assert same_tree(model.tree_, expected.tree)
    assert len(np.unique(model.labels_)) == 5
    cost = model.report_.cost_after
    assert model.refine().report_.cost_after <= cost
    ab.refine(first, in_shards(), n_jobs=1, random_state=0)


def test_a_directory_of_files_is_clustered(expected, tmp_path):
    for number, part in enumerate([TABLE[:3000], TABLE[3000:]]):
        np.save(tmp_path / f"edges{number}.npy", part.to_numpy())
    assert same_tree(built(ab.similarity.graph(tmp_path)).tree, expected.tree)


def refined(tree, graph, task=None):
    return refine_on_dask(tree, graph, task or Task(), Effort(n_threads=1), 0, limits=SMALL_PARTS).tree


def test_refine_reaches_about_the_cost_of_memory_and_is_never_worse(first):
    whole = in_memory()
    better = refined(first, in_shards())
    costs = [
        ab.metrics.dasgupta_cost(tree, whole)
        for tree in (first, better, ab.refine(first, whole, random_state=0))
    ]
    assert costs[1] < costs[0]
    assert costs[1] < 1.01 * costs[2]
    again = refined(better, in_shards(n=2))
    assert ab.metrics.dasgupta_cost(again, whole) <= costs[1]


def test_refine_keeps_names_and_starts_from_wide_and_unary_trees(first):
    names = [f"node {k}" for k in range(N)]
    wide = first.compress(40, in_memory())
    better = refined(wide.replace(name=names), in_shards())
    assert better.name[:N].tolist() == names
    assert better.n_leaves == N
    whole = in_memory()
    assert ab.metrics.dasgupta_cost(better, whole) < ab.metrics.dasgupta_cost(wide, whole)


def test_a_tree_that_divides_nothing_is_replaced_by_a_better_one():
    chain = ab.Tree.from_merges([(0, 1), *((N - 2 + k, k) for k in range(2, N))], N)
    better = refined(chain, in_shards())
    whole = in_memory()
    assert ab.metrics.dasgupta_cost(better, whole) < 0.1 * ab.metrics.dasgupta_cost(chain, whole)


def odd_graphs():
    n = 900
    step = np.arange(n - 1)
    return {
        "star": (np.zeros(n - 1, int), step + 1, np.ones(n - 1)),
        "path": (step, step + 1, np.ones(n - 1)),
        "pairs and lonely nodes": (
            step[: n // 2 : 2],
            step[: n // 2 : 2] + 1,
            np.ones(len(step[: n // 2 : 2])),
        ),
        "self-loops": (np.tile(step, 2), np.concatenate([step + 1, step]), np.linspace(1, 2, 2 * (n - 1))),
        "no weight": (step, step + 1, np.zeros(n - 1)),
    }


@pytest.mark.parametrize("kind", odd_graphs())
def test_odd_graphs_are_clustered_at_about_the_cost_of_memory(kind):
    table = pd.DataFrame(dict(zip(TABLE.columns, odd_graphs()[kind])))
    limits = Limits(part=200, pieces=200, smallest_piece=4, edges=50_000)
    trees = [
        build_graph_on_dask(in_shards(table, n, n_points=900), OPTIONS, limits=limits).tree for n in (1, 4)
    ]
    assert same_tree(*trees)
    assert np.isfinite(trees[0].height).all()
    whole = in_memory(table, 900)
    best = ab.metrics.dasgupta_cost(ab.cluster(whole, random_state=0), whole)
    assert ab.metrics.dasgupta_cost(trees[0], whole) <= 1.05 * best


@pytest.mark.parametrize(
    ("options", "words"), [({"n_perturbations": 2}, "n_perturbations"), ({"max_seconds": 1.0}, "max_seconds")]
)
def test_what_needs_all_edges_is_refused_before_the_work(options, words):
    with pytest.raises(ValueError, match=words):
        built(in_shards(), **options)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Task(objective="tsd"), "tsd"),
        (Task(n_internal=10), "n_internal"),
        (Task(sample_weight=np.ones(N)), "sample_weight"),
        (Task(n_perturbations=1), "n_perturbations"),
    ],
    ids=["tsd", "n_internal", "sample_weight", "n_perturbations"],
)
def test_refine_refuses_what_needs_all_edges(first, task, words):
    with pytest.raises(ValueError, match=words):
        refined(first, in_shards(), task)


def test_a_checkpoint_goes_on_where_it_stopped_and_refuses_other_edges(expected, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    assert same_tree(built(in_shards(), checkpoint=folder).tree, expected.tree)
    (folder / "second-1.npz").unlink()
    for name in ("graphs.find_cells", "run.first_tree"):
        monkeypatch.setattr(f"arbora.scale.{name}", lambda *_, **__: pytest.fail("computed again"))
    assert same_tree(built(in_shards(n=2), checkpoint=folder).tree, expected.tree)
    with pytest.raises(ValueError, match="other work"):
        built(in_shards(TABLE.assign(weight=2 * TABLE["weight"])), checkpoint=folder)
