import itertools

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from trees import binary_trees, clusters, leaf_sets, random_tree, trees

from arbora import Tree
from arbora.tree import edit_kernels


def flat_clusterings_by_definition(tree):
    """All sets of nodes whose leaves together are every leaf once, by trying every combination."""
    below = leaf_sets(tree)
    for size in range(1, tree.n_leaves + 1):
        for nodes in itertools.combinations(range(tree.n_nodes), size):
            members = [leaf for node in nodes for leaf in below[node]]
            if sorted(members) == list(range(tree.n_leaves)):
                yield nodes


def joining_height_by_definition(tree, leaves):
    """The highest node at which two of the leaves meet."""
    pairs = itertools.combinations(sorted(leaves), 2)
    return max((tree.height[tree.lca(i, j)] for i, j in pairs), default=-np.inf)


def scrambled_heights(tree, seed):
    """Heights with inversions: a child can be higher than its parent."""
    return tree.replace(height=np.random.default_rng(seed).random(tree.n_nodes))


@given(binary_trees(max_leaves=15, heights=True), st.data())
def test_a_binary_tree_is_cut_into_exactly_k_clusters(tree, data):
    k = data.draw(st.integers(1, tree.n_leaves))
    for asked in (tree, tree.replace(height=None), scrambled_heights(tree, k)):
        labels = asked.cut(n_clusters=k)
        assert np.array_equal(np.unique(labels), np.arange(k))
        assert labels[0] == 0
        firsts = [np.flatnonzero(labels == label)[0] for label in range(k)]
        assert firsts == sorted(firsts)


@given(binary_trees(max_leaves=12, unary=0.3, heights=True))
def test_cuts_into_more_clusters_refine_cuts_into_fewer(tree):
    for asked in (tree, scrambled_heights(tree, 0)):
        coarse = clusters(asked.cut(n_clusters=1))
        for k in range(2, tree.n_leaves + 1):
            fine = clusters(asked.cut(n_clusters=k))
            assert len(fine) == k
            assert all(any(small <= large for large in coarse) for small in fine)
            coarse = fine


@pytest.mark.parametrize("method", ["average", "ward", "centroid", "median", "single"])
def test_cuts_by_number_and_by_height_agree_with_scipy(method):
    X = np.random.default_rng(0).normal(size=(60, 4))
    Z = sch.linkage(X, method)
    tree = Tree.from_linkage(Z)
    for k in (1, 2, 5, 20, 60):
        labels = tree.cut(n_clusters=k, min_size=1)
        assert len(np.unique(labels)) == k
        theirs = sch.fcluster(Z, k, "maxclust")
        if len(np.unique(theirs)) == k:  # with inversions SciPy can return fewer
            assert adjusted_rand_score(labels, theirs) == 1
    for t in np.quantile(Z[:, 2], [0, 0.3, 0.7, 0.99]):
        assert adjusted_rand_score(tree.cut(height=t), sch.fcluster(Z, t, "distance")) == 1


def test_centroid_linkage_gives_ten_clusters_where_cut_tree_does_not():
    X = np.random.default_rng(3).normal(size=(40, 2))
    Z = sch.linkage(X, "centroid")
    assert not sch.is_monotonic(Z)
    assert len(np.unique(Tree.from_linkage(Z).cut(n_clusters=10))) == 10


@given(trees(max_leaves=9, unary=0.2, heights=True), st.floats(0, 6), st.booleans())
def test_a_cut_at_a_height_gives_the_largest_clusters_that_join_below(tree, height, scramble):
    if scramble:
        tree, height = scrambled_heights(tree, 1), height / 6
    found = clusters(tree.cut(height=height))
    allowed = [set(s) for s in leaf_sets(tree) if joining_height_by_definition(tree, s) <= height]
    largest = {frozenset(s) for s in allowed if not any(s < other for other in allowed)}
    assert found == largest


@given(trees(max_leaves=7), st.integers(1, 8))
def test_cuts_by_size_make_the_fewest_or_the_most_splits(tree, size):
    cuts = list(flat_clusterings_by_definition(tree))
    small = [nodes for nodes in cuts if all(tree.sizes[v] <= size for v in nodes)]
    assert len(tree.cut_nodes(max_size=size)) == min(map(len, small))
    assert tree.sizes[tree.cut_nodes(max_size=size)].max() <= size
    large = [nodes for nodes in cuts if all(tree.sizes[v] >= size for v in nodes)]
    if size > tree.n_leaves:
        with pytest.raises(ValueError, match="min_size"):
            tree.cut(min_size=size)
    else:
        assert len(tree.cut_nodes(min_size=size)) == max(map(len, large))
        assert tree.sizes[tree.cut_nodes(min_size=size)].min() >= size


@given(trees(max_leaves=12, unary=0.2, heights=True), st.data())
def test_cut_nodes_stand_for_the_clusters_in_label_order(tree, data):
    counts = [k for k, _ in tree.flat_clusterings()]
    k = data.draw(st.sampled_from(counts))
    labels, nodes = tree.cut(n_clusters=k), tree.cut_nodes(n_clusters=k)
    assert len(nodes) == k
    for label, node in enumerate(nodes):
        assert set(tree.leaves(node).tolist()) == set(np.flatnonzero(labels == label).tolist())


def test_an_nary_split_that_jumps_over_the_number_raises_and_says_what_is_possible():
    tree = Tree.from_newick("((a,b,c,d),e,f);")
    assert len(np.unique(tree.cut(n_clusters=3))) == 3
    with pytest.raises(ValueError, match=r"n_clusters=4.*from 3 to 6.*binarize"):
        tree.cut(n_clusters=4)
    assert len(np.unique(tree.binarize().cut(n_clusters=4))) == 4


@given(trees(max_leaves=12, unary=0.2))
def test_without_heights_the_largest_cluster_is_split_first(tree):
    for k, labels in tree.flat_clusterings():
        sizes = np.bincount(labels)
        parents = [set(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)]
        made = clusters(labels)
        split = [len(p) for p in parents if p not in made and any(c < p for c in made)]
        if k > 1 and sizes.max() > 1:
            assert min(split) >= sizes.max()


@given(trees(max_leaves=12, heights=True))
def test_flat_clusterings_run_from_one_cluster_to_all_leaves(tree):
    found = list(tree.flat_clusterings())
    counts = [k for k, _ in found]
    assert counts[0] == 1 and counts[-1] == tree.n_leaves
    assert counts == sorted(set(counts))
    for k, labels in found:
        assert len(np.unique(labels)) == k
        assert np.array_equal(labels, tree.cut(n_clusters=k))


def test_flat_clusterings_of_given_numbers_come_coarse_to_fine_and_are_checked_at_once():
    tree = random_tree(20, np.random.default_rng(0))
    assert [k for k, _ in tree.flat_clusterings([7, 2, 2])] == [2, 7]
    with pytest.raises(ValueError, match="n_clusters"):
        tree.flat_clusterings([2, 21])


def test_levels_are_the_cuts_before_the_largest_gaps():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [0, 10], [100, 0], [100, 10], [100, 20]])
    X = (centers[:, None] + rng.normal(scale=0.1, size=(5, 20, 2))).reshape(-1, 2)
    tree = Tree.from_linkage(sch.linkage(X, "average"))
    coarse, fine = tree.levels(2)
    assert (coarse.n_clusters, fine.n_clusters) == (2, 5)
    assert adjusted_rand_score(fine.labels, np.repeat(np.arange(5), 20)) == 1
    assert np.array_equal(coarse.labels, tree.cut(n_clusters=2))
    assert np.array_equal(coarse.nodes, tree.cut_nodes(n_clusters=2))
    assert coarse.gap > 50
    assert [level.n_clusters for level in tree.levels(3, max_clusters=4)] == [2, 3, 4]


@given(trees(max_leaves=10, heights=True), st.integers(1, 4))
def test_levels_have_the_largest_gaps_of_all_cuts(tree, max_levels):
    # a tree of complete levels has those proposed
    assume(tree.is_binary or np.ptp(tree.depths[: tree.n_leaves]) > 0)
    heights = np.sort(tree.height[tree.n_leaves :])[::-1]
    # random heights: no ties
    steps = heights[:-1] - heights[1:]
    found = tree.levels(max_levels)
    assert sorted((level.gap for level in found), reverse=True) == pytest.approx(
        np.sort(steps)[::-1][:max_levels].tolist()
    )
    counts = [level.n_clusters for level in found]
    assert counts == sorted(counts)


def test_levels_of_trees_without_a_choice_are_none():
    assert Tree([-1], 1).levels() == []
    assert Tree([2, 2, -1], 2).levels() == []
    assert Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 1]).levels() == []  # equal heights


@given(trees(max_leaves=12, unary=0.2, heights=True), st.data())
def test_prune_keeps_the_upper_part(tree, data):
    k = data.draw(st.sampled_from([k for k, _ in tree.flat_clusterings()]))
    top = tree.prune(n_clusters=k)
    labels, nodes = tree.cut(n_clusters=k), tree.cut_nodes(n_clusters=k)
    assert top.n_leaves == k
    assert np.allclose(top.height[:k], tree.height[nodes])
    assert np.isclose(top.height[-1], tree.height[-1])
    i, j = np.random.default_rng(0).integers(0, tree.n_leaves, (2, 50))
    apart = labels[i] != labels[j]
    assert np.allclose(top.cophenetic(labels[i], labels[j])[apart], tree.cophenetic(i, j)[apart])


def test_prune_by_size_and_with_names():
    tree = Tree.from_newick("((a,b)x,(c,d,e)y)z;")
    assert tree.prune(max_size=2).to_newick() == "(x,(c,d,e)y)z;"
    assert tree.prune(n_clusters=1).to_newick() == "z;"


@given(binary_trees(min_leaves=2, max_leaves=14, heights=True), st.data())
def test_taxonomy_has_exactly_these_clusters_at_its_levels(tree, data):
    counts = sorted(data.draw(st.sets(st.integers(1, tree.n_leaves), min_size=1, max_size=4)))
    taxonomy = tree.taxonomy(counts)
    assert taxonomy.n_leaves == tree.n_leaves
    levels = [k for k in counts if 1 < k < tree.n_leaves]
    assert set(taxonomy.depths[: tree.n_leaves]) == {len(levels) + 1}
    for depth, k in enumerate(levels, start=1):
        nodes = np.flatnonzero(taxonomy.depths == depth)
        found = {frozenset(taxonomy.leaves(node).tolist()) for node in nodes}
        assert len(nodes) == k
        assert found == clusters(tree.cut(n_clusters=k))


def test_taxonomy_of_a_real_linkage():
    X = np.random.default_rng(0).normal(size=(500, 5))
    tree = Tree.from_linkage(sch.linkage(X, "ward"), name=[f"p{k}" for k in range(500)])
    taxonomy = tree.taxonomy([7, 30, 120])
    assert [int((taxonomy.depths == depth).sum()) for depth in (1, 2, 3, 4)] == [7, 30, 120, 500]
    assert taxonomy.name[:3].tolist() == ["p0", "p1", "p2"]
    assert (taxonomy.height[taxonomy.parent[:-1]] >= taxonomy.height[:-1]).all()


@given(trees(max_leaves=12, unary=0.2), st.integers(0, 99))
def test_name_clusters_equals_climbing_to_the_highest_unsplit_node(tree, seed):
    split = np.random.default_rng(seed).random(tree.n_nodes) < 0.6
    split[: tree.n_leaves] = False
    for node in range(tree.root - 1, -1, -1):
        split[node] &= split[tree.parent[node]]
    labels, nodes = edit_kernels.name_clusters(tree.parent, tree.n_leaves, split)
    for leaf in range(tree.n_leaves):
        path = [leaf, *tree.ancestors(leaf)]
        assert nodes[labels[leaf]] == [node for node in path if not split[node]][-1]


@pytest.mark.parametrize(
    ("criterion", "error", "message"),
    [
        ({}, ValueError, "exactly one of"),
        ({"n_clusters": 2, "height": 1.0}, ValueError, "exactly one of"),
        ({"n_clusters": 0}, ValueError, r"\[1, n_leaves=4\]"),
        ({"n_clusters": 5}, ValueError, r"\[1, n_leaves=4\]"),
        ({"n_clusters": 2.0}, TypeError, "must be a whole number"),
        ({"n_clusters": True}, TypeError, "must be a whole number"),
        ({"max_size": 0}, ValueError, "max_size"),
        ({"min_size": 5}, ValueError, "min_size"),
        ({"height": float("nan")}, ValueError, "NaN"),
        ({"height": "high"}, TypeError, "height must be a number"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(criterion, error, message):
    tree = Tree([4, 4, 5, 5, 6, 6, -1], 4, height=[0, 0, 0, 0, 1, 2, 3])
    for call in (tree.cut, tree.cut_nodes, tree.prune):
        with pytest.raises(error, match=message):
            call(**criterion)


def test_heights_and_levels_that_make_no_sense_are_refused():
    tree = Tree([4, 4, 5, 5, 6, 6, -1], 4)
    with pytest.raises(ValueError, match="no heights"):
        tree.cut(height=1.0)
    with pytest.raises(ValueError, match="max_levels"):
        tree.levels(0)
    with pytest.raises(TypeError, match="max_levels"):
        tree.levels(1.5)
    for counts in ([], [2, 2], [3, 2]):
        with pytest.raises(ValueError, match="increasing"):
            tree.taxonomy(counts)
    with pytest.raises(ValueError, match="n_leaves=4"):
        tree.taxonomy([2, 5])


@given(trees(max_leaves=14, max_branching=5, unary=0.2), st.data())
def test_an_unreachable_number_is_refused_or_answered_as_asked(tree, data):
    k = data.draw(st.integers(1, tree.n_leaves))
    possible = [count for count, _ in tree.flat_clusterings()]
    nearest = min(possible, key=lambda count: (abs(count - k), count))
    assert tree.cut(k, exact="nearest").max() + 1 == nearest
    assert len(tree.cut_nodes(k, exact="nearest")) == nearest
    assert tree.cut(k, exact="binarize").max() + 1 == k
    assert np.array_equal(tree.cut(k, exact="binarize"), tree.binarize().cut(k))
    assert [count for count, _ in tree.flat_clusterings([k], exact="nearest")] == [nearest]
    assert [count for count, _ in tree.flat_clusterings([k], exact="binarize")] == [k]
    if k in possible:
        assert np.array_equal(tree.cut(k), tree.cut(k, exact="nearest"))
    else:
        with pytest.raises(ValueError, match="exact='nearest'"):
            tree.cut(k)


def test_nodes_cannot_come_from_a_binarized_tree():
    tree = Tree.from_newick("(a,b,c);")
    for call in (tree.cut_nodes, tree.prune):
        with pytest.raises(ValueError, match=r"Use tree\.binarize\(\)"):
            call(2, exact="binarize")
    with pytest.raises(ValueError, match="exact must be one of"):
        tree.cut(2, exact="close")


def test_the_levels_of_a_taxonomy_are_those_it_was_made_with():
    tree = random_tree(60, np.random.default_rng(0))
    topics = tree.taxonomy([3, 9, 20])
    assert [level.n_clusters for level in topics.levels(5)] == [3, 9, 20]
    for level in topics.levels(5):
        assert all(topics.depths[level.nodes] == topics.depths[level.nodes[0]])
        assert level.gap >= 0 and np.isnan(level.stability)
    assert [level.n_clusters for level in topics.levels(5, max_clusters=10)] == [3, 9]
    assert len(topics.levels(1)) == 1
    certain = topics.replace(support=np.linspace(0, 1, topics.n_nodes)).levels(3)
    assert all(0 <= level.stability <= 1 for level in certain)


def test_a_star_has_no_level():
    assert Tree.from_newick("(a,b,c);").levels() == []


def test_arrays_where_a_choice_or_a_number_is_due_are_refused_by_name():
    tree = Tree.from_newick("((a,b),(c,d));")
    with pytest.raises(ValueError, match="by must be one of"):
        tree.cut(2, by=np.array([1, 2]))
    with pytest.raises((TypeError, ValueError), match="n_clusters must"):
        tree.cut(np.array([1, 2]))


@pytest.mark.parametrize("by", ["height", "balance"])
@pytest.mark.parametrize("exact", [np.array([1, 2]), ["raise"], None, "other"])
@pytest.mark.parametrize("call", ["cut", "cut_nodes"])
def test_what_exact_cannot_be_is_refused_by_name(call, exact, by):
    tree = Tree([4, 4, 5, 5, 6, 6, -1], 4)
    with pytest.raises(ValueError, match="exact must be one of"):
        getattr(tree, call)(2, by=by, exact=exact)
