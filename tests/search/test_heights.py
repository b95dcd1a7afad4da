"""Heights: the isotonic regression of join ratios, against plain definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from trees import trees

import arbora as ab
from arbora.search.heights import join_ratios, with_heights


def random_graph(n, seed, density=0.5):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(0, 5, size=(n, n)) * (rng.random((n, n)) < density), 1).astype(float)
    return ab.similarity.graph(sp.csr_array(W + W.T))


def raw_ratios(tree, similarity):
    """cross * total / (product of volumes) of each internal node, by definition."""
    W = similarity.rows(np.arange(tree.n_leaves))
    degree = W.sum(axis=1)
    total = degree.sum() or 1.0
    share, weight = {}, {}
    for node in range(tree.n_leaves, tree.n_nodes):
        groups = [tree.leaves(int(child)) for child in tree.children(node)]
        pairs = [(a, b) for k, a in enumerate(groups) for b in groups[:k]]
        share[node] = sum(W[np.ix_(a, b)].sum() for a, b in pairs) / total
        weight[node] = sum(degree[a].sum() * degree[b].sum() for a, b in pairs) / total**2
    return share, weight


def best_partition_at(tree, share, weight, ratio):
    """Largest (share - ratio * weight) kept inside the clusters, over all partitions of the tree, by recursion."""
    inside = {}
    best = {}
    for node in range(tree.n_nodes):
        if node < tree.n_leaves:
            inside[node] = best[node] = 0.0
            continue
        below = [int(child) for child in tree.children(node)]
        inside[node] = share[node] - ratio * weight[node] + sum(inside[child] for child in below)
        best[node] = max(inside[node], sum(best[child] for child in below))
    return best[tree.root]


@given(trees(min_leaves=2, max_leaves=12), st.integers(0, 99))
def test_heights_grow_to_the_root_and_are_finite(tree, seed):
    found = with_heights(tree, random_graph(tree.n_leaves, seed))
    assert np.isfinite(found.height).all()
    assert (found.height[: tree.n_leaves] == 0).all()
    assert (found.height[:-1] <= found.height[found.parent[:-1]]).all()


@given(trees(min_leaves=2, max_leaves=10), st.integers(0, 99), st.floats(0.05, 20))
def test_a_cut_at_a_ratio_is_the_best_partition_for_that_resolution(tree, seed, ratio):
    tree = tree.collapse_unary()
    similarity = random_graph(tree.n_leaves, seed)
    share, weight = raw_ratios(tree, similarity)
    pooled = join_ratios(tree, similarity)
    kept = [v for v in range(tree.n_leaves, tree.n_nodes) if pooled[v] >= ratio]
    value = sum(share[v] - ratio * weight[v] for v in kept)
    assert value == pytest.approx(best_partition_at(tree, share, weight, ratio), abs=1e-9)


def with_stranger_beside(tree, leaf, stranger):
    """The tree with one leaf taken out and put beside another."""
    rest = tree.restrict(np.setdiff1d(np.arange(tree.n_leaves), [stranger]))
    shift = {int(v): int(v) + (v >= stranger) for v in range(rest.n_leaves)}
    number, merges, following = {}, [], tree.n_leaves
    for node in range(rest.n_nodes):
        if node >= rest.n_leaves:
            merges.append([number[int(child)] for child in rest.children(node)])
        elif shift[node] == leaf:
            merges.append([leaf, stranger])
        else:
            number[node] = shift[node]
            continue
        number[node], following = following, following + 1
    return ab.Tree.from_merges(merges, tree.n_leaves)


def test_one_unrelated_join_deep_down_does_not_lift_its_ancestors():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 5)) + 8 * k for k in range(3)])
    similarity = ab.similarity.knn(X, n_neighbors=10)
    tree = ab.cluster(similarity, random_state=0)
    labels = tree.cut(n_clusters=3)
    unrelated = (similarity.rows([0])[0] == 0) & (labels == labels[0]) & (np.arange(len(X)) != 0)
    spoiled = with_heights(with_stranger_beside(tree, 0, int(np.flatnonzero(unrelated)[0])), similarity)
    assert (spoiled.cut(n_clusters=3) == labels).all()


def test_heights_do_not_depend_on_the_scale_of_the_similarity():
    similarity = random_graph(9, 3)
    tree = ab.cluster(similarity, random_state=0)
    for scale in (1e-200, 1e150):
        scaled = ab.similarity.graph(similarity.csr * scale)
        assert with_heights(tree, scaled).height == pytest.approx(with_heights(tree, similarity).height)


def test_groups_with_nothing_in_common_join_above_all_others():
    similarity = ab.similarity.graph(([0, 2], [1, 3], [1.0, 2.0]))
    tree = with_heights(ab.Tree.from_newick("((a,b),(c,d));"), similarity)
    assert tree.height[6] > max(tree.height[4], tree.height[5])


def test_negative_similarities_have_heights_too():
    vectors = [[1.0, 0.1], [1.0, 0.3], [-1.0, 0.1], [-1.0, 0.2]]
    tree = with_heights(ab.Tree.from_newick("((a,b),(c,d));"), ab.similarity.cosine(vectors, affine=False))
    assert np.isfinite(tree.height).all()
    assert tree.height[6] > tree.height[4] > tree.height[5]
