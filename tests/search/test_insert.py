"""A tree that gets more points."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from trees import random_tree, trees

import arbora as ab
from arbora.errors import Interrupted
from arbora.search.engines import make_engine
from arbora.search.insert import _reachable_first
from arbora.search.related import unrelated_joins


def random_similarity(kind, n, rng):
    if kind == "cosine":
        return ab.similarity.cosine(rng.normal(size=(n, 3)))
    W = np.triu(rng.random((n, n)), 1)
    if kind == "dense":
        return ab.similarity.dense(W + W.T + np.eye(n))
    W *= rng.random((n, n)) < 0.4
    return ab.similarity.graph(sp.csr_array(W + W.T))


def with_leaf_on_every_edge(tree):
    """Every tree that has one leaf more, the last."""
    for node in range(tree.n_nodes):
        parent = [v + 1 if v >= 0 else -1 for v in tree.parent.tolist()]
        parent.insert(tree.n_leaves, len(parent) + 1)
        place = node if node < tree.n_leaves else node + 1
        parent.append(parent[place])
        parent[place] = len(parent) - 1
        yield ab.Tree.from_parents(parent, tree.n_leaves + 1, sort=True)


@pytest.mark.parametrize("kind", ("graph", "cosine", "dense"))
@given(tree=trees(min_leaves=1, max_leaves=10, max_branching=2), seed=st.integers(0, 10**6))
def test_one_point_goes_to_the_best_of_all_places(kind, tree, seed):
    similarity = random_similarity(kind, tree.n_leaves + 1, np.random.default_rng(seed))
    found = ab.search.insert(tree, similarity, max_sweeps=0)
    costs = [ab.metrics.dasgupta_cost(t, similarity) for t in with_leaf_on_every_edge(tree)]
    cost = ab.metrics.dasgupta_cost(found, similarity)
    # joins of unrelated points are repaired, which may cost less still
    assert cost <= min(costs) + 1e-9
    without = found.restrict(np.arange(tree.n_leaves))
    if kind == "cosine":
        assert without.same_topology(tree)


@pytest.mark.parametrize("kind", ("graph", "cosine", "dense"))
def test_any_points_can_be_the_new_ones_and_the_others_keep_their_order(kind):
    rng = np.random.default_rng(0)
    similarity = random_similarity(kind, 30, rng)
    new = np.array([29, 0, 7, 8, 15])
    old = np.setdiff1d(np.arange(30), new)
    tree = random_tree(25, rng)
    engine = make_engine(similarity, "dasgupta")
    grown = engine.insert(tree, old, np.sort(new))
    assert grown.n_leaves == 30 and grown.is_binary
    assert grown.restrict(old).same_topology(tree)
    found = ab.search.insert(tree, similarity, new)
    assert engine.costs(found).sum() <= engine.costs(grown).sum() + 1e-9


def test_what_is_far_from_the_new_points_stays():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 50])
    X = np.vstack([X, rng.normal(size=(10, 3))])
    tree = ab.cluster(X[:120], metric="euclidean", random_state=0)
    found = ab.search.insert(tree, ab.similarity.knn(X, 10, metric="euclidean"))
    assert found.restrict(np.arange(60, 120)).same_topology(tree.restrict(np.arange(60, 120)))


def test_digits_grown_by_half_are_as_pure_as_a_batch_fit():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    similarity = ab.similarity.knn(X, n_neighbors=10, metric="cosine")
    batch = ab.metrics.dendrogram_purity(ab.cluster(similarity, random_state=0), y)
    half = ab.cluster(X[: len(X) // 2], random_state=0)
    grown = ab.search.insert(half, similarity)
    assert ab.metrics.dendrogram_purity(grown, y) > batch - 0.02
    assert not unrelated_joins(grown, similarity).any()


def test_points_with_an_edge_into_the_tree_come_first():
    path = ab.similarity.graph(([0, 1, 2, 3], [1, 2, 3, 4]), n_points=6)
    order = _reachable_first(path.csr, np.array([0]), np.arange(1, 6)[::-1])
    assert order.tolist() == [1, 2, 3, 4, 5]
    one = ab.search.insert(ab.Tree([-1], 1), path)
    assert one.n_leaves == 6


def test_nothing_new_returns_the_tree():
    similarity = ab.similarity.cosine(np.eye(4))
    tree = random_tree(4, np.random.default_rng(0))
    assert ab.search.insert(tree, similarity).same_topology(tree)
    assert ab.search.insert(tree, similarity, []).same_topology(tree)


def test_ctrl_c_raises_with_all_points_inserted():
    rng = np.random.default_rng(0)
    similarity = ab.similarity.knn(rng.normal(size=(200, 3)), 5)

    def press(stage, done, total):
        raise KeyboardInterrupt

    tree = random_tree(150, rng)
    with pytest.raises(KeyboardInterrupt):
        ab.search.insert(tree, similarity, progress=press)
    calls = []

    def press_later(stage, done, total):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        ab.search.insert(tree, similarity, progress=press_later)
    assert stop.value.tree.n_leaves == 200


def test_wrong_numbers_of_points_are_named():
    tree, similarity = random_tree(3, np.random.default_rng(0)), ab.similarity.cosine(np.eye(5))
    with pytest.raises(ValueError, match=r"3 leaves, so that 2 must be new"):
        ab.search.insert(tree, similarity, [4])
    with pytest.raises(ValueError, match="points must"):
        ab.search.insert(tree, similarity, [4, 9])
    with pytest.raises(TypeError, match="tree must be a Tree"):
        ab.search.insert("tree", similarity)
