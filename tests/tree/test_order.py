import itertools

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from trees import trees

from arbora import Tree
from arbora.errors import TooLargeError
from arbora.tree import _order


def orders_by_definition(tree):
    """Every leaf order that swapping siblings can give."""
    orders = {node: [[node]] for node in range(tree.n_leaves)}
    for node in range(tree.n_leaves, tree.n_nodes):
        orders[node] = [
            list(itertools.chain(*parts))
            for siblings in itertools.permutations(tree.children(node).tolist())
            for parts in itertools.product(*(orders[child] for child in siblings))
        ]
    return orders[tree.root]


def length(order, distance):
    return sum(distance[a, b] for a, b in itertools.pairwise(order))


@settings(max_examples=25)
@given(trees(min_leaves=1, max_leaves=7, max_branching=2, heights=True), st.integers(0, 99))
def test_the_optimal_order_is_the_shortest_of_all(tree, seed):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 2))
    distance = squareform(pdist(X)) if tree.n_leaves > 1 else np.zeros((1, 1))
    best = min(length(order, distance) for order in orders_by_definition(tree))
    for data in (X, distance, pdist(X)):
        drawn = tree.reorder("optimal", data=data)
        assert length(drawn.leaf_order.tolist(), distance) == pytest.approx(best)
        assert drawn.same_topology(tree)


@given(trees(min_leaves=2, max_leaves=9, unary=0.1), st.integers(0, 99))
def test_an_nary_tree_is_ordered_within_its_groups(tree, seed):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 2))
    drawn = tree.reorder(data=X)
    assert drawn.same_topology(tree)
    assert drawn.parent.tolist() == tree.parent.tolist()


def test_the_optimal_order_is_never_longer_than_scipys():
    X = np.random.default_rng(0).normal(size=(40, 3))
    Z = sch.linkage(X, "average")
    tree = Tree.from_linkage(Z).reorder("optimal", data=X)
    distance = squareform(pdist(X))
    theirs = sch.leaves_list(sch.optimal_leaf_ordering(Z, pdist(X)))
    assert length(tree.leaf_order.tolist(), distance) <= length(theirs, distance) + 1e-9


class Similarity:
    def __init__(self, weights):
        self.weights, self.n_points = weights, len(weights)

    def pairs(self, i, j):
        return self.weights[i, j]


def test_a_similarity_serves_as_data():
    X = np.random.default_rng(0).normal(size=(12, 2))
    distance = squareform(pdist(X))
    tree = Tree.from_linkage(sch.linkage(X, "average"))
    by_similarity = tree.reorder("optimal", data=Similarity(10 - distance))
    by_distance = tree.reorder("optimal", data=distance)
    assert length(by_similarity.leaf_order, distance) == pytest.approx(
        length(by_distance.leaf_order, distance)
    )


@given(trees(max_leaves=14, unary=0.1, heights=True), st.integers(0, 99))
def test_siblings_stand_by_mean_weight(tree, seed):
    weights = np.random.default_rng(seed).normal(size=tree.n_leaves)
    drawn = tree.reorder(weights)
    for node in range(tree.n_leaves, tree.n_nodes):
        means = [weights[drawn.leaves(child)].mean() for child in drawn.children(node)]
        assert means == sorted(means)
    assert drawn.height is not None and drawn.same_topology(tree)


@given(trees(max_leaves=14))
def test_siblings_stand_by_size(tree):
    drawn = tree.reorder("size")
    for node in range(tree.n_leaves, tree.n_nodes):
        sizes = tree.sizes[drawn.children(node)]
        assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize(
    ("by", "data", "message"),
    [
        ("name", None, "'optimal', 'size'"),
        ("optimal", None, "needs data"),
        ("optimal", np.zeros((4, 2)), "shape"),
        ("optimal", [[0.0], [np.nan], [1.0]], "finite"),
        ("optimal", Similarity(np.ones((4, 4))), "4 points"),
        ([1, 2], None, "one weight per leaf"),
        ([1, 2, np.inf], None, "finite"),
        (["a", "b", "c"], None, "finite numbers"),
    ],
)
def test_orders_that_make_no_sense_are_refused(by, data, message):
    with pytest.raises(ValueError, match=message):
        Tree([3, 3, 4, 4, -1], 3).reorder(by, data=data)


def test_optimal_order_of_too_many_leaves_is_refused_with_an_alternative():
    n = _order.MAX_OPTIMAL_LEAVES + 1
    with pytest.raises(TooLargeError, match="weights"):
        Tree(np.append(np.full(n, n), -1), n).reorder(data=np.zeros((n, 1)))
