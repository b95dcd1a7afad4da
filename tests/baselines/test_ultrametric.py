"""Single linkage as an ultrametric: merges, meetings, sizes and costs against plain definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from arbora.baselines import _ultrametric_kernels as kernels
from arbora.baselines import ultrametric as u


def complete_graph(n, seed):
    i, j = np.triu_indices(n, 1)
    weight = np.random.default_rng(seed).permutation(len(i)) + 1.0
    return u.Edges(i, j, weight, n), weight


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_heights_and_distances_are_those_of_scipys_single_linkage(n, seed):
    edges, weight = complete_graph(n, seed)
    found = u.subdominant(edges, weight)
    linkage = scipy_linkage(weight, "single")
    np.testing.assert_allclose(found.height, linkage[:, 2])
    np.testing.assert_allclose(found.distance, cophenet(linkage))
    np.testing.assert_allclose(np.sort(found.size[n:]), np.sort(linkage[:, 3]))


@settings(max_examples=25)
@given(st.integers(3, 9), st.integers(0, 1000))
def test_the_ultrametric_is_the_largest_below_the_weights(n, seed):
    edges, weight = complete_graph(n, seed)
    D = squareform(u.subdominant(edges, weight).distance)
    assert (squareform(D) <= weight + 1e-12).all()
    for k in range(n):
        assert (D <= np.maximum.outer(D[:, k], D[k]) + 1e-12).all(), "the strong triangle inequality"
    # any larger value of one pair breaks that inequality or its weight
    worst = np.array(
        [
            [min(max(D[i, k], D[k, j]) for k in range(n) if k not in (i, j)) for j in range(n)]
            for i in range(n)
        ]
    )
    W = squareform(weight)
    off = ~np.eye(n, dtype=bool)
    assert (np.minimum(worst, W)[off] <= D[off] + 1e-12).all()


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_pairs_meet_where_the_tree_says(n, seed):
    edges, weight = complete_graph(n, seed)
    found = u.subdominant(edges, weight)
    tree = found.tree()
    np.testing.assert_array_equal(found.meeting(edges.i, edges.j) + n, tree.lca(edges.i, edges.j))
    np.testing.assert_allclose(tree.height[tree.lca(edges.i, edges.j)], found.distance)
    small = [min(tree.sizes[child] for child in tree.children(v)) for v in range(n, tree.n_nodes)]
    assert found.smaller_side.tolist() == small


def test_parts_without_an_edge_meet_at_twice_the_largest_height():
    edges = u.Edges(np.array([0, 2]), np.array([1, 3]), np.array([1.0, 3.0]), 5)
    tree = u.subdominant(edges, edges.distance).tree()
    assert tree.n_leaves == 5 and tree.is_binary
    assert sorted(tree.height[5:].tolist()) == [1.0, 3.0, 6.0, 6.0]


def soft_size_by_definition(found, t, slope):
    edge = found.edge_of_merge[t]
    n = found.edges.n_points
    total = 0.0
    for v in (found.edges.i[edge], found.edges.j[edge]):
        for z in range(n):
            meet = 0.0 if z == v else found.height[found.meeting(np.array([v]), np.array([z]))[0]]
            total += 0.5 / (1 + np.exp(-slope * (found.height[t] - meet)))
    return total


@settings(max_examples=15)
@given(st.integers(2, 6), st.integers(0, 1000))
def test_soft_sizes_equal_their_definition(n, seed):
    edges, weight = complete_graph(n, seed)
    found = u.subdominant(edges, weight / weight.max())
    i, j = edges.i[found.edge_of_merge], edges.j[found.edge_of_merge]
    soft = kernels.soft_sizes(i, j, found.height, found.left, found.right, found.size, 3.0)
    wanted = [soft_size_by_definition(found, t, 3.0) for t in range(n - 1)]
    np.testing.assert_allclose(soft, wanted)


@pytest.mark.parametrize(
    "cost",
    [u.closest, u.cluster_size(), u.cluster_size(2), u.dasgupta(4.0), u.triplet(np.array([[0, 1, 2], [3, 4, 0]])),
     u.total((2.0, u.closest), (0.5, u.cluster_size()))],
    ids=["closest", "size", "top size", "dasgupta", "triplet", "sum"],
)  # fmt: skip
def test_gradients_are_those_of_small_steps(cost):
    edges, weight = complete_graph(6, 1)
    weight = weight / 10
    value, gradient = cost(u.subdominant(edges, weight))
    merged = u.subdominant(edges, weight).edge_of_merge
    for t, edge in enumerate(merged):
        step = np.zeros_like(weight)
        step[edge] = 1e-6
        up, down = (cost(u.subdominant(edges, weight + sign * step))[0] for sign in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(gradient[t], abs=1e-5)
    assert np.isfinite(value)


def test_costs_equal_their_definitions():
    edges, weight = complete_graph(5, 2)
    found = u.subdominant(edges, weight)
    assert u.closest(found)[0] == pytest.approx(np.mean((found.distance - weight) ** 2))
    shares = found.height[found.merge_of_edge] / found.smaller_side[found.merge_of_edge]
    assert u.cluster_size()(found)[0] == pytest.approx(shares.mean())
    top = found.merge_of_edge >= len(found.height) - 2
    assert u.cluster_size(2)(found)[0] == pytest.approx(shares[top].mean())
    triples = np.array([[0, 1, 2], [2, 3, 4]])
    near, far = (found.height[found.meeting(triples[:, 0].copy(), triples[:, k].copy())] for k in (1, 2))
    assert u.triplet(triples, 0.5)(found)[0] == pytest.approx(np.maximum(near - far + 0.5, 0).mean())
    one, other = u.closest(found)[0], u.cluster_size()(found)[0]
    assert u.total((2.0, u.closest), (3.0, u.cluster_size()))(found)[0] == pytest.approx(2 * one + 3 * other)


def test_given_similarities_stand_in_for_inverse_distances():
    edges, weight = complete_graph(5, 3)
    found = u.subdominant(edges, weight)
    by_default, given = u.dasgupta(2.0)(found), u.dasgupta(2.0, 1 / weight)(found)
    assert by_default[0] == pytest.approx(given[0])
    np.testing.assert_allclose(by_default[1], given[1])
