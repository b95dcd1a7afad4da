"""FPH on graphs whose edges no machine holds: batches as in memory, trees judged where the shards are."""

from __future__ import annotations

import numpy as np
import pytest
from spread.conftest import WORKERS
from spread.test_clustering_of_shards import in_memory, in_shards

import arbora as ab
from arbora.errors import TooLargeError
from arbora.probabilistic.batching import draw_batch
from arbora.probabilistic.expected import decoded_loss
from arbora.probabilistic.sparse import edge_distribution
from arbora.probabilistic.spread import SpreadDistribution, labels_of_groups
from arbora.probabilistic.start import model_of_tree
from arbora.scale import Limits, contracted_graph
from arbora.similarity.sharded import ShardedGraph

dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")

OPTIONS = {"n_internal": 30, "batch_size": 150, "max_epochs": 12, "evaluate_every": 4, "random_state": 0}
TREE = ab.linkage(in_memory(), "average")


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture
def small_parts(monkeypatch):
    """Graphs of the tests do not fit one part, and nobody fetches all of their edges."""
    limits = Limits(part=400, pieces=200, smallest_piece=4, edges=50_000)
    monkeypatch.setattr("arbora.scale.graphs.LIMITS", limits)
    monkeypatch.setattr(ShardedGraph, "csr", property(lambda self: pytest.fail("all edges were fetched")))


@pytest.mark.parametrize("batch_limit", [2000, 200])
def test_batches_from_shards_are_those_of_memory_to_the_last_bit(batch_limit):
    here = edge_distribution(in_memory())
    there = SpreadDistribution(in_shards(n=4))
    for seed in range(3):
        one, other = (
            draw_batch(here, 100, batch_limit, np.random.default_rng(seed)),
            there.draw_batch(100, batch_limit, np.random.default_rng(seed)),
        )
        assert np.array_equal(one.nodes, other.nodes)
        assert np.array_equal(one.graph.pairs.toarray(), other.graph.pairs.toarray())
        assert np.array_equal(one.graph.nodes, other.graph.nodes)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_decoded_trees_are_worth_what_they_are_in_memory(objective):
    model = model_of_tree(TREE.compress(25, in_memory()))
    loss, parents = decoded_loss(edge_distribution(in_memory()), model, objective)
    found, theirs = SpreadDistribution(in_shards()).decoded_loss(model, objective)
    assert found == pytest.approx(loss, rel=1e-10)
    assert all(np.array_equal(a, b) for a, b in zip(parents, theirs))


def test_a_fit_on_shards_is_that_of_memory_from_the_same_start(small_parts):
    options = {**OPTIONS, "init": TREE}
    expected = ab.FPH(5, **options).fit(in_memory())
    found = ab.FPH(5, **options).fit(in_shards())
    assert np.array_equal(found.tree_.parent, expected.tree_.parent)
    assert found.score_ == pytest.approx(expected.score_, rel=1e-10)
    assert np.array_equal(found.labels_, expected.labels_)
    assert np.array_equal(np.unique(found.flat_labels()), np.arange(5))


def test_a_fit_starts_from_a_tree_of_the_shards_and_improves_it(small_parts):
    model = ab.FPH(4, **OPTIONS).fit(in_shards())
    assert model.history_["cost"].min() <= model.history_["cost"][0]
    again = ab.FPH(4, **OPTIONS).fit(in_shards(n=6))
    assert np.array_equal(again.tree_.parent, model.tree_.parent)
    assert np.array_equal(again.labels_, model.labels_)


@WORKERS
def test_workers_train_the_tree_of_threads(n_workers, on_cluster, small_parts):
    options = {**OPTIONS, "init": TREE, "max_epochs": 4}
    here = ab.FPH(4, **options).fit(in_shards())
    on_cluster(n_workers)
    with dask.config.set(scheduler=None):
        there = ab.FPH(4, **options).fit(in_shards(n=2))
    assert np.array_equal(there.tree_.parent, here.tree_.parent)
    assert np.array_equal(there.A_.toarray(), here.A_.toarray())


def test_labels_of_groups_keep_the_leaves_of_a_node_together_and_find_clear_clusters():
    whole = in_memory()
    tree = TREE.compress(40, whole)
    labels = labels_of_groups(tree, in_shards(), 5)
    assert np.array_equal(np.unique(labels), np.arange(5))
    for node in range(tree.n_leaves, tree.n_nodes):
        below = np.flatnonzero(tree.parent[: tree.n_leaves] == node)
        assert len(np.unique(labels[below])) <= 1
    assert labels[0] == 0
    with pytest.raises(ValueError, match="larger n_internal"):
        labels_of_groups(tree, in_shards(), 100)


def test_groups_have_the_sums_of_their_nodes():
    rng = np.random.default_rng(0)
    whole, label = in_memory(), rng.integers(0, 7, TREE.n_leaves)
    found = contracted_graph(in_shards(), label, 7)
    member = np.eye(7)[label]
    expected = member.T @ (whole.csr @ member)
    assert np.allclose(found.csr.toarray(), expected - np.diag(np.diag(expected)))
    assert np.allclose(found.self_loops, np.diag(expected) / 2)
    assert found.total == pytest.approx(whole.total)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"init": "louvain"}, "init"), ({"refine": True}, "refine")],
    ids=str,
)
def test_what_needs_all_edges_is_refused(small_parts, options, words):
    with pytest.raises(ValueError, match=words):
        ab.FPH(**{**OPTIONS, "init": TREE, "max_epochs": 2, **options}).fit(in_shards())


def test_without_batches_the_edges_must_fit(monkeypatch):
    monkeypatch.setattr("arbora._base.memory.available_memory", lambda: 1000)
    with pytest.raises(TooLargeError, match="batch_size"):
        ab.FPH(3, n_internal=20, max_epochs=2).fit(in_shards())
