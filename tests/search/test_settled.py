"""Subtrees that a bound leaves out are at their best place; around a hub these are all that hold it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree

import arbora as ab
from arbora.search import regions
from arbora.search.regions import RegionSearch


def cost_of(parent, W, size):
    """Dasgupta's cost with sizes of leaves, pair by pair."""
    n, above = len(W), [set() for _ in parent]
    for v in range(len(parent)):
        u = v
        while u >= 0:
            above[v].add(u)
            u = parent[u]
    below = {u: sum(size[i] for i in range(n) if u in above[i]) for u in range(len(parent))}
    return sum(
        W[i, j] * min(below[u] for u in above[i] & above[j]) for i in range(n) for j in range(i) if W[i, j]
    )


def best_cost_of_moving(tree, node, W, size):
    """Least cost among all trees in which the subtree at `node` is put elsewhere, by trying every edge."""
    parent = tree.parent.tolist()
    home = parent[node]
    (sibling,) = (v for v in range(tree.n_nodes) if parent[v] == home and v != node)
    below = {v for v in range(tree.n_nodes) if v == node or node in ancestors(parent, v)} | {home}
    parent[sibling] = parent[home]
    costs = []
    for target in set(range(tree.n_nodes)) - below:
        moved = list(parent)
        moved[home], moved[target], moved[node] = moved[target], home, home
        costs.append(cost_of(moved, W, size))
    return min(costs)


def ancestors(parent, v):
    while (v := parent[v]) >= 0:
        yield v


def settled_nodes(tree, W, size):
    """Nodes of the tree that the search leaves out."""
    search = RegionSearch(tree, sp.csr_array(W), size)
    search._pass_over_settled()
    return [v for v in range(tree.n_nodes) if not search.flags.dirty[search.number_of(v)]]


def star(n, rng, equal):
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1.0 if equal else rng.random(n - 1)
    return W


def chain_around(W):
    """The star's best tree: what is most similar to the center joins it first."""
    n, order = len(W), 1 + np.argsort(-W[0, 1:], kind="stable")
    return ab.Tree.from_merges([(0 if k == 0 else n + k - 1, leaf) for k, leaf in enumerate(order.tolist())])


@settings(max_examples=80)
@given(st.integers(3, 8), st.integers(0, 10**6), st.booleans())
def test_what_is_left_out_can_gain_nothing(n, seed, heavy):
    rng = np.random.default_rng(seed)
    hub = star(n, rng, bool(rng.integers(2)))
    noise = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.0, 0.1, 0.5])), 1)
    W = hub + noise + noise.T
    size = rng.integers(1, 4, n).astype(float) if heavy else np.ones(n)
    tree = chain_around(hub) if rng.integers(2) else random_tree(n, rng).binarize()
    now = cost_of(tree.parent.tolist(), W, size)
    for node in settled_nodes(tree, W, size):
        assert node == tree.root or best_cost_of_moving(tree, node, W, size) >= now * (1 - 1e-8)


@pytest.mark.parametrize("equal", [True, False])
def test_every_subtree_that_holds_the_center_of_a_star_is_left_out(equal):
    W = star(60, np.random.default_rng(0), equal)
    tree = chain_around(W)
    assert set(range(60, tree.n_nodes - 1)) <= set(settled_nodes(tree, W, np.ones(60)))


def test_a_subtree_that_should_move_is_not_left_out():
    W = star(20, np.random.default_rng(0), True)
    apart = ab.Tree.from_merges(
        [(k, k + 1) if k == 1 else (20 + k - 2, k + 1) for k in range(1, 19)] + [(37, 0)]
    )
    # the center is at the top: all but its sibling, which has no other place, gain by going to it
    assert not set(settled_nodes(apart, W, np.ones(20))) & set(range(37))


@pytest.mark.parametrize("seed", range(2))
def test_the_search_finds_the_same_tree_with_and_without(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, n_hubs = 4_100, 1 + 2 * seed
    own, weight = rng.integers(0, n_hubs, n - n_hubs), rng.integers(1, 4, n - n_hubs)
    edges = np.append(own, np.arange(n_hubs - 1)), np.append(np.arange(n_hubs, n), np.arange(1, n_hubs))
    graph = ab.similarity.graph((*edges, np.append(weight, np.ones(n_hubs - 1))), n_points=n)
    found = ab.cluster(graph, random_state=0, n_perturbations=0)
    monkeypatch.setattr(regions, "_DEEP", np.inf)
    assert found.same_topology(ab.cluster(graph, random_state=0, n_perturbations=0))
