"""Cuts chosen by an objective, against all partitions of small trees."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from trees import trees

import arbora as ab
from arbora.tree.objective_cut import Partitions, auto_min_size, node_values


def partitions(tree, node=None):
    """All sets of nodes that cover the tree below a node without overlapping."""
    node = tree.root if node is None else node
    yield (node,)
    if node >= tree.n_leaves:
        below = [list(partitions(tree, int(child))) for child in tree.children(node)]
        for parts in product(*below):
            whole = tuple(sum(parts, ()))
            if whole != (node,):
                yield whole


def random_graph(n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(0, 4, size=(n, n)), 1).astype(float)
    W[0, n - 1] += 1
    return ab.similarity.graph(sp.csr_array(W + W.T))


def modularity(similarity, labels):
    W = similarity.rows(np.arange(similarity.n_points))
    total = W.sum()
    groups = [labels == label for label in np.unique(labels)]
    return sum(W[np.ix_(g, g)].sum() / total - (W[g].sum() / total) ** 2 for g in groups)


@given(trees(min_leaves=2, max_leaves=8), st.integers(0, 99))
def test_the_best_partition_is_the_best_of_all(tree, seed):
    value = np.random.default_rng(seed).normal(size=tree.n_nodes)
    found = Partitions(tree, value, tree.n_leaves)
    best = {}
    for nodes in partitions(tree):
        best[len(nodes)] = max(best.get(len(nodes), -np.inf), value[list(nodes)].sum())
    assert found.possible().tolist() == sorted(best)
    for k, worth in best.items():
        assert found.values[k - 1] == pytest.approx(worth)
        assert value[found.nodes(k)].sum() == pytest.approx(worth)


@given(trees(min_leaves=3, max_leaves=8), st.integers(0, 99))
def test_the_modularity_cut_has_the_best_modularity_of_all_cuts(tree, seed):
    tree = tree.binarize()
    similarity = random_graph(tree.n_leaves, seed)
    for k in range(1, tree.n_leaves + 1):
        labels = tree.cut(k, by="modularity", similarity=similarity)
        assert len(np.unique(labels)) == k
        candidates = [nodes for nodes in partitions(tree) if len(nodes) == k]
        expected = max(modularity(similarity, label_by(tree, nodes)) for nodes in candidates)
        assert modularity(similarity, labels) == pytest.approx(expected)


def label_by(tree, nodes):
    labels = np.empty(tree.n_leaves, dtype=int)
    for label, node in enumerate(nodes):
        labels[tree.leaves(node)] = label
    return labels


@given(trees(min_leaves=2, max_leaves=10), st.integers(0, 99))
def test_by_height_the_cut_is_the_plain_one(tree, seed):
    tree = tree.collapse_unary().binarize()
    height = np.zeros(tree.n_nodes)
    steps = np.random.default_rng(seed).random(tree.n_nodes)
    for node in range(tree.n_leaves, tree.n_nodes):
        height[node] = height[tree.children(node)].max() + steps[node]
    tree = tree.replace(height=height)
    for k in range(1, tree.n_leaves + 1):
        assert (tree.cut(k, min_size=1) == tree.cut(k)).all()


@given(trees(min_leaves=4, max_leaves=14), st.integers(1, 4), st.integers(2, 3))
def test_clusters_are_as_large_as_asked_and_strangers_join_or_are_marked(tree, k, min_size):
    tree = tree.binarize()
    if k * min_size > tree.n_leaves:
        with pytest.raises(ValueError, match="min_size"):
            tree.cut(k, min_size=min_size)
        return
    try:
        labels = tree.cut(k, min_size=min_size)
    except ValueError as error:
        assert "with clusters of this size" in str(error)
        return
    assert sorted(np.unique(labels)) == list(range(k))
    assert np.bincount(labels).min() >= min_size
    marked = tree.cut(k, min_size=min_size, outliers=True)
    sizes = np.bincount(marked[marked >= 0])
    assert len(sizes) == k
    assert sizes.min() >= min_size
    for label in range(k):
        members = np.flatnonzero(marked == label)
        assert len(np.unique(labels[members])) == 1


def test_variance_is_that_of_the_clusters():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3)) + 100
    tree = ab.linkage(X, "average")
    expected = [
        -((X[tree.leaves(v)] - X[tree.leaves(v)].mean(axis=0)) ** 2).sum() for v in range(tree.n_nodes)
    ]
    assert node_values(tree, "variance", data=X) == pytest.approx(np.array(expected), abs=1e-9)


def test_the_number_of_clusters_can_be_found():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 4)) + 10 * rng.normal(size=4) for _ in range(5)])
    model = ab.TreeClustering(metric="euclidean", random_state=0).fit(X)
    labels = model.tree_.cut("auto", by="modularity", similarity=model.similarity_, min_size="auto")
    assert len(np.unique(labels)) == 5


def test_hubs_and_dust_do_not_hide_the_communities():
    rng = np.random.default_rng(3)
    n = 200
    block = np.repeat([0, 1], n // 2)
    W = np.triu(rng.random((n, n)) < np.where(block[:, None] == block, 0.2, 0.01), 1)
    leaves = np.arange(n, n + 30)
    rows, cols = np.nonzero(W)
    rows, cols = np.concatenate([rows, rng.integers(n, size=30)]), np.concatenate([cols, leaves])
    graph = ab.similarity.graph((rows, cols))
    tree = ab.cluster(graph, random_state=0)
    labels = tree.cut(2, by="information", similarity=graph, min_size="auto")
    assert (labels[:n] == labels[0])[block == 0].mean() > 0.95
    assert (labels[:n] == labels[n - 1])[block == 1].mean() > 0.95


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "modularity"}, "similarity="),
        ({"by": "variance"}, "data="),
        ({"by": "beauty"}, "by must be one of"),
        ({"min_size": "large"}, "min_size must be one of"),
        ({"min_size": 0}, "min_size must be at least 1"),
        ({"by": "balance", "height": 1.0}, "cannot be combined"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    tree = ab.Tree.from_newick("((a:1,b:1):1,(c:1,d:1):1);")
    with pytest.raises((ValueError, TypeError), match=words):
        tree.cut(2, **options)


def test_options_without_a_number_of_clusters_are_refused():
    tree = ab.Tree.from_newick("((a:1,b:1):1,(c:1,d:1):1);")
    with pytest.raises(ValueError, match="needs n_clusters"):
        tree.cut(height=0.5, by="balance")
    with pytest.raises(ValueError, match="needs n_clusters"):
        tree.cut(height=0.5, outliers=True)


def test_small_trees_have_no_dust():
    assert auto_min_size(100, 10) == 1
    assert auto_min_size(10_000, 10) == 40
    assert auto_min_size(10_000, 10, "information") == 15


@given(trees(min_leaves=6, max_leaves=20), st.integers(1, 3))
def test_levels_of_a_taxonomy_nest_and_have_exactly_the_numbers_asked_for(tree, min_size):
    tree = tree.binarize()
    counts = [2, 4]
    try:
        found = tree.taxonomy(counts, min_size=min_size)
    except ValueError as error:
        assert "min_size" in str(error)
        return
    assert found.n_leaves == tree.n_leaves
    for depth, k in enumerate(counts, start=1):
        level = np.flatnonzero((found.depths == depth) & (np.arange(found.n_nodes) >= found.n_leaves))
        assert len(level) == k
        assert found.sizes[level].min() >= min_size


@given(st.integers(0, 1000), st.integers(1, 4), st.sampled_from(["height", "density", "balance"]))
def test_a_taxonomy_can_be_cut_at_each_of_its_levels(seed, min_size, by):
    tree = ab.linkage(np.random.default_rng(seed).normal(size=(40, 2)), "single")
    try:
        found = tree.taxonomy([2, 4, 7], min_size=min_size, by=by)
    except ValueError as error:
        assert "min_size" in str(error)
        return
    for depth, k in enumerate([2, 4, 7], start=1):
        level = np.flatnonzero((found.depths == depth) & (np.arange(found.n_nodes) >= found.n_leaves))
        assert {frozenset(found.leaves(node)) for node in found.cut_nodes(k)} == {
            frozenset(found.leaves(node)) for node in level
        }


@pytest.mark.parametrize("by", ["modularity", "information", "variance", "balance", "density"])
def test_nodes_and_upper_part_are_those_of_the_cut(by):
    X = np.random.default_rng(0).normal(size=(40, 3)) + 5 * (np.arange(40) % 4)[:, None]
    similarity = ab.similarity.knn(X, 5, metric="euclidean")
    tree = ab.linkage(X, "average")
    given = {"by": by, "similarity": similarity, "data": X}
    labels = tree.cut(5, **given)
    nodes = tree.cut_nodes(5, **given)
    assert [sorted(tree.leaves(node)) for node in nodes] == [
        np.flatnonzero(labels == k).tolist() for k in range(5)
    ]
    upper = tree.prune(5, **given)
    assert upper.n_leaves == 5
    large = tree.cut_nodes(5, min_size=3, **given)
    assert tree.sizes[large].min() >= 3
    marked = tree.cut(5, min_size=3, outliers=True, **given)
    assert sorted(np.bincount(marked[marked >= 0])) == sorted(tree.sizes[large])
    with pytest.raises(ValueError, match="n_clusters"):
        tree.prune(by=by)
