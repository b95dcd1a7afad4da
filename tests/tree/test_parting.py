"""The order in which branches part: exact, nested, and the same for every way to ask for clusters."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from trees import binary_trees, clusters, leaf_sets, trees

import arbora as ab
from arbora import Tree
from arbora.tree import parting, parting_kernels
from arbora.tree.parting import has_complete_levels, joining_heights, parting_order, staying_children


@pytest.fixture
def small_share(monkeypatch):
    """A least size that matters in small trees too: the mean size itself."""
    monkeypatch.setattr(parting, "SHARE_OF_MEAN", 1)


def stays_by_definition(tree, node):
    return max(tree.children(node).tolist(), key=lambda child: (tree.sizes[child], -child))


def order_by_definition(tree, least):
    """Opened nodes with the branches that part there; `least` is a size, or a share of the mean."""
    height = joining_heights(tree)
    apart, steps = set(), []
    branches = [
        child
        for node in range(tree.n_leaves, tree.n_nodes)
        for child in tree.children(node).tolist()
        if child != stays_by_definition(tree, node)
    ]
    if isinstance(least, int):
        branches = [child for child in branches if tree.sizes[child] >= least]
    while len(apart) < len(branches):
        left = [child for child in branches if child not in apart]
        if not isinstance(least, int):
            size = tree.n_leaves // (least[0] * (len(apart) + 2))
            size = min(size, max(tree.sizes[child] for child in left))
            # as large as the largest that is left where none is large enough: all that count from the same number on
            since = [tree.n_leaves // (least[0] * (tree.sizes[child] + 1)) for child in left]
            bound = max(min(since), len(apart) + 1)
            left = [child for child, when in zip(left, since) if when <= bound]
            assert all(tree.sizes[child] >= size for child in left) or min(since) > len(apart) + 1
        node = max((tree.parent[child] for child in left), key=lambda node: (height[node], node))
        parting_now = [child for child in left if tree.parent[child] == node]
        apart |= set(parting_now)
        steps.append((int(node), sorted(parting_now)))
    return steps


def clusters_by_definition(tree, steps):
    """Leaves that a walk up, not past a branch that has parted, leads to the same node."""
    apart = {child for _, branches in steps for child in branches}
    groups = {}
    for leaf in range(tree.n_leaves):
        node = leaf
        while node != tree.root and node not in apart:
            node = tree.parent[node]
        groups.setdefault(node, set()).add(leaf)
    return {frozenset(group) for group in groups.values()}


@pytest.mark.usefixtures("small_share")
@given(trees(max_leaves=14, max_branching=4, unary=0.2, heights=True), st.sampled_from([1, 2, 3, "auto"]))
def test_the_order_equals_its_definition(tree, min_size):
    order = parting_order(tree, min_size)
    is_free = min_size == "auto" and has_complete_levels(tree)
    expected = order_by_definition(
        tree, (1,) if min_size == "auto" and not is_free else 1 if is_free else min_size
    )
    found = [(int(node), np.flatnonzero(order.step == k).tolist()) for k, node in enumerate(order.nodes)]
    assert found == expected
    assert order.n_clusters.tolist() == [
        1 + sum(len(b) for _, b in expected[:k]) for k in range(len(expected) + 1)
    ]
    for k in range(len(expected) + 1):
        parts = order.parts(tree, k)
        assert clusters(parts.labels) == clusters_by_definition(tree, expected[:k])


@pytest.mark.usefixtures("small_share")
@given(trees(max_leaves=14, max_branching=3, unary=0.2, heights=True), st.sampled_from([2, 3, "auto"]))
def test_the_node_of_a_cluster_is_the_largest_inside_it(tree, min_size):
    below = [frozenset(leaves) for leaves in leaf_sets(tree)]
    order = parting_order(tree, min_size)
    for k in range(len(order.nodes) + 1):
        labels, nodes, is_core = order.parts(tree, k)
        for label, node in enumerate(nodes):
            members = frozenset(np.flatnonzero(labels == label).tolist())
            inside = [leaves for leaves in below if leaves <= members]
            assert below[node] <= members
            assert len(below[node]) == max(map(len, inside))
            assert frozenset(np.flatnonzero((labels == label) & is_core).tolist()) == below[node]


@given(trees(max_leaves=14, unary=0.2))
def test_the_largest_child_stays(tree):
    stays = staying_children(tree)
    assert (stays[: tree.n_leaves] == -1).all()
    for node in range(tree.n_leaves, tree.n_nodes):
        assert stays[node] == stays_by_definition(tree, node)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 99))
def test_a_heap_gives_the_smallest_entry_first(entries, seed):
    heap, n_waiting = np.zeros(len(entries), dtype=np.int64), 0
    rng, taken = np.random.default_rng(seed), []
    waiting = []
    for entry in entries:
        parting_kernels.push.py_func(heap, n_waiting, entry)
        waiting.append(entry)
        n_waiting += 1
        if rng.random() < 0.4:
            taken.append((parting_kernels.pop.py_func(heap, n_waiting), min(waiting)))
            waiting.remove(min(waiting))
            n_waiting -= 1
    assert all(found == smallest for found, smallest in taken)


def with_dust(seed, n_groups=6, n_dust=40):
    """Groups of sixty points, and single points far from everything: what a plain cut finds first."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(60, 3)) + 30 * rng.normal(size=3) for _ in range(n_groups)])
    return np.vstack([X, rng.normal(size=(n_dust, 3)) * 200]), n_groups


@pytest.mark.parametrize("method", ["average", "single", "complete"])
def test_far_points_do_not_become_clusters_unless_asked_for(method):
    X, k = with_dust(0)
    tree = ab.linkage(X, method)
    y = np.repeat(np.arange(k), 60)
    assert np.bincount(tree.cut(k, min_size=1)).min() <= 4
    assert adjusted_rand_score(tree.cut(k, min_size=30)[: len(y)], y) > 0.99
    marked = tree.cut(k, min_size=30, outliers=True)
    assert adjusted_rand_score(marked[: len(y)], y) > 0.9
    assert (marked[len(y) :] == -1).mean() > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_every_way_to_ask_gives_the_same_clusters_that_refine_each_other(seed):
    X, _ = with_dust(seed, n_groups=8)
    tree = ab.linkage(X, "average")
    coarse = np.zeros(len(X), dtype=int)
    for k, labels in tree.flat_clusterings(range(1, 41)):
        assert np.array_equal(labels, tree.cut(k))
        assert labels.max() + 1 == k
        # every cluster lies in one cluster of the cut before
        assert len(np.unique(np.column_stack([coarse, labels]), axis=0)) == k
        assert np.array_equal(np.unique(labels[tree.cut(k, outliers=True) >= 0]), np.arange(k))
        nodes = tree.cut_nodes(k)
        assert all((labels[tree.leaves(node)] == label).all() for label, node in enumerate(nodes))
        coarse = labels
    topics = tree.taxonomy([3, 7, 20])
    for k in (3, 7, 20):
        assert np.array_equal(topics.cut(k), tree.cut(k))
    for level in tree.levels(4):
        assert np.array_equal(level.labels, tree.cut(level.n_clusters))
        assert np.array_equal(level.nodes, tree.cut_nodes(level.n_clusters))


@pytest.mark.parametrize("k", [2, 5, 9, 30])
def test_the_upper_part_has_the_clusters_as_leaves_and_the_heights_at_which_they_join(k):
    X, _ = with_dust(1)
    tree = ab.linkage(X, "average")
    top, nodes = tree.prune(k), tree.cut_nodes(k)
    assert top.n_leaves == k and top.is_binary
    i, j = np.triu_indices(k, 1)
    first = np.array([tree.leaves(node)[0] for node in nodes])
    np.testing.assert_allclose(top.cophenetic(i, j), tree.cophenetic(first[i], first[j]))


def test_no_cluster_is_smaller_than_the_least_size():
    X, _ = with_dust(2, n_groups=10)
    tree = ab.linkage(X, "average")
    for k in range(2, 15):
        assert np.bincount(tree.cut(k)).min() >= len(X) // (25 * k)


@pytest.mark.parametrize("method", ["average", "ward", "centroid"])
def test_without_a_least_size_cuts_are_those_of_scipy(method):
    X, _ = with_dust(3)
    Z = sch.linkage(X, method)
    tree = Tree.from_linkage(Z)
    for k in (2, 3, 10, 100):
        theirs = sch.fcluster(Z, k, "maxclust")
        if len(np.unique(theirs)) == k:
            assert adjusted_rand_score(tree.cut(k, min_size=1), theirs) == 1


def test_small_trees_are_cut_as_if_there_were_no_least_size():
    tree = ab.linkage(np.random.default_rng(0).normal(size=(200, 3)), "average")
    for k in (5, 20, 80):
        assert np.array_equal(tree.cut(k), tree.cut(k, min_size=1))


@given(binary_trees(min_leaves=2, max_leaves=12, heights=True), st.integers(0, 99))
def test_mean_supports_are_those_of_the_nodes_of_each_cut(tree, seed):
    from arbora.tree.cutting import _mean_supports

    support = np.random.default_rng(seed).random(tree.n_nodes)
    support[np.random.default_rng(seed + 1).random(tree.n_nodes) < 0.3] = np.nan
    tree = tree.replace(support=support)
    for min_size in (1, 2, 3):
        order = parting_order(tree, min_size)
        found = _mean_supports(tree, order)
        for k, mean in enumerate(found):
            values = tree.support[order.parts(tree, k).nodes]
            known = values[~np.isnan(values)]
            np.testing.assert_allclose(mean, known.mean() if len(known) else np.nan)


def test_a_number_that_no_cut_has_is_refused_with_what_to_do():
    chain = Tree.from_newick("(((((a,b),(c,d)),e),f),g);")
    with pytest.raises(ValueError, match=r"into 2 at most.*Lower min_size"):
        chain.cut(3, min_size=2)
    assert chain.cut(3, min_size=2, exact="nearest").tolist() == [0, 0, 1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="4 clusters of at least min_size=2"):
        chain.cut(4, min_size=2)
    with pytest.raises(ValueError, match="outliers=True needs n_clusters"):
        chain.cut(max_size=2, outliers=True)
