import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from kernels import opened
from trees import chain, clades, contracted, lca_matrix, random_binary_parents, random_tree, trees

from arbora import Tree, metrics, similarity
from arbora.tree import edit_kernels
from arbora.tree.pass_kernels import meeting_mass


def dasgupta_by_definition(tree, weights):
    i, j = np.triu_indices(tree.n_leaves, 1)
    return (weights[i, j] * tree.sizes[lca_matrix(tree)[i, j]]).sum()


def meeting_by_definition(tree, weights):
    """Sum of the weights over ordered pairs by the internal node where they meet; (i, i) at i's parent."""
    where = lca_matrix(tree)
    np.fill_diagonal(where, tree.parent[: tree.n_leaves])
    return np.bincount((where - tree.n_leaves).ravel(), weights=weights.ravel(), minlength=tree.n_internal)


def divergence_by_definition(tree, weights):
    """The sum of p log(p / q) over internal nodes."""
    degrees = weights.sum(axis=1) / weights.sum()
    p = meeting_by_definition(tree, weights / weights.sum())
    q = meeting_by_definition(tree, np.outer(degrees, degrees))
    return (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()


def random_weights(n, seed):
    rng = np.random.default_rng(seed)
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.7)
    weights = np.triu(weights, 1)
    weights[0, -1] = 1.0  # at least one edge
    return weights + weights.T


def as_graph(weights):
    return similarity.graph(sp.csr_array(weights))


@pytest.mark.parametrize(
    ("objective", "value", "sign"),
    [("dasgupta", dasgupta_by_definition, 1), ("tsd", divergence_by_definition, -1)],
)
@given(tree=trees(min_leaves=3, max_leaves=10, unary=0.1), seed=st.integers(0, 999))
def test_each_contraction_is_the_best_single_one(objective, value, sign, tree, seed):
    weights = random_weights(tree.n_leaves, seed)
    graph = as_graph(weights)
    while tree.n_internal > 1:
        options = [sign * value(contracted(tree, v), weights) for v in range(tree.n_leaves, tree.root)]
        small = tree.compress(tree.n_internal - 1, graph, objective)
        assert sign * value(small, weights) == pytest.approx(min(options), abs=1e-9)
        tree = small


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(tree=trees(min_leaves=3, max_leaves=10), seed=st.integers(0, 999))
def test_contracting_at_once_equals_contracting_one_at_a_time(objective, tree, seed):
    weights = random_weights(tree.n_leaves, seed)
    value = dasgupta_by_definition if objective == "dasgupta" else divergence_by_definition
    stepwise = tree
    for k in range(tree.n_internal - 1, 0, -1):
        stepwise = stepwise.compress(k, as_graph(weights), objective)
        at_once = tree.compress(k, as_graph(weights), objective)
        assert at_once.n_internal == k
        assert clades(at_once) <= clades(tree)
        assert value(at_once, weights) == pytest.approx(value(stepwise, weights), abs=1e-9)


def test_with_self_loops_the_loss_is_that_of_the_metric():
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = random_tree(9, rng)
        rows, cols = np.append(rng.integers(0, 9, (2, 20)), [[1, 5], [1, 5]], axis=1)
        graph = similarity.graph((rows, cols), n_points=9)
        contractions = [contracted(tree, v) for v in range(tree.n_leaves, tree.root)]
        after = [metrics.tree_sampling_divergence(option, graph) for option in contractions]
        small = tree.compress(tree.n_internal - 1, graph, "tsd")
        assert metrics.tree_sampling_divergence(small, graph) == pytest.approx(max(after))


@given(trees(max_leaves=10, unary=0.2), st.integers(0, 99))
def test_meetings_equal_their_definition(tree, seed):
    mass = np.random.default_rng(seed).random(tree.n_leaves)
    found = meeting_mass(tree.parent, mass, mass**2)[tree.n_leaves :]
    if tree.n_internal:
        assert np.allclose(found, meeting_by_definition(tree, np.outer(mass, mass)))
    apart = meeting_mass(tree.parent, mass, np.zeros_like(mass))
    assert apart.sum() == pytest.approx(mass.sum() ** 2 - (mass**2).sum())


@given(trees(min_leaves=3, max_leaves=12, heights=True), st.booleans())
def test_without_similarity_the_change_of_cophenetic_distances_is_least(tree, with_heights):
    height = tree.height if with_heights else tree.sizes.astype(float)
    tree = tree.replace(height=height)
    asked = tree if with_heights else tree.replace(height=None)
    losses = []
    for v in range(tree.n_leaves, tree.root):
        moved = contracted(tree, v).replace(height=np.delete(height, v))
        losses.append((moved.cophenetic() - tree.cophenetic()).sum())
    if losses:
        small = asked.compress(tree.n_internal - 1)
        kept = set(map(frozenset, (small.leaves(v).tolist() for v in range(small.n_leaves, small.n_nodes))))
        gone = [v for v in range(tree.n_leaves, tree.root) if frozenset(tree.leaves(v).tolist()) not in kept]
        assert losses[gone[0] - tree.n_leaves] == pytest.approx(min(losses), abs=1e-9)


def test_nodes_that_remain_keep_height_support_and_name():
    tree = Tree.from_newick("(((a:1,b:1)ab:1,c:2)abc:7,(d:3,e:3)de:6)all;")
    small = tree.compress(3)
    assert small.to_newick() == "((a:2.0,b:2.0,c:2.0)abc:7.0,(d:3.0,e:3.0)de:6.0)all;"


def test_a_tree_that_is_small_enough_comes_back_as_it_is():
    tree = Tree([4, 4, 5, 5, 6, 6, -1], 4)
    assert tree.compress(3) is tree
    assert Tree([-1], 1).compress(1).n_nodes == 1


class FlatGraph:
    """Cross weights and degrees of a large sparse graph, without the graph."""

    def __init__(self, n, seed=0):
        self.n_points, self.degrees = n, np.random.default_rng(seed).random(n) + 0.1

    def cross(self, tree):
        return np.random.default_rng(1).random(tree.n_internal)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_large_and_deep_trees_are_compressed(objective):
    n = 50_000
    for tree in (Tree(random_binary_parents(n), n), chain(n)):
        assert tree.compress(512, FlatGraph(n), objective).n_internal == 512


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_the_heap_returns_its_entries_in_order(values):
    keys, items, length = np.empty(1), np.empty(1, dtype=np.int64), 0
    for item, key in enumerate(values):
        keys, items, length = opened(edit_kernels.push)(keys, items, length, key, item)
    popped = []
    while length:
        key, item, length = opened(edit_kernels.pop)(keys, items, length)
        assert values[item] == key
        popped.append(key)
    assert popped == sorted(values)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_internal": 0}, ValueError, "at least 1"),
        ({"n_internal": 2.0}, TypeError, "must be a whole number"),
        ({"n_internal": 2, "objective": "cost"}, ValueError, "'dasgupta', 'tsd'"),
        ({"n_internal": 2, "objective": "tsd"}, ValueError, "needs similarity"),
        ({"n_internal": 2, "similarity": np.eye(4)}, TypeError, "cross"),
        ({"n_internal": 2, "similarity": as_graph(random_weights(3, 0))}, ValueError, "3 points"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Tree([4, 4, 5, 5, 6, 6, -1], 4).compress(**arguments)
