import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import leaf_sets, trees

from arbora import Tree
from arbora.errors import TreeError
from arbora.tree.groups import tree_of_groups


def groups_by_definition(above, group):
    """Leaves of each group, by walking up from every leaf."""
    below = [set() for _ in above]
    for leaf, at in enumerate(group):
        while at >= 0:
            below[at].add(leaf)
            at = above[at]
    return [frozenset(leaves) for leaves in below]


@st.composite
def hierarchies(draw):
    """Groups in random order under random later ones, leaves anywhere, many groups empty or with one child."""
    k, n = draw(st.integers(1, 12)), draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    above = np.append(rng.integers(np.arange(1, k), k), -1) if k > 1 else np.array([-1])
    shuffled = {"as is": np.arange(k), "reversed": np.arange(k)[::-1], "any": rng.permutation(k)}
    number = shuffled[draw(st.sampled_from(sorted(shuffled)))]
    moved = np.full(k, -1)
    moved[number] = np.where(above >= 0, number[above], -1)
    return moved, rng.integers(0, k, n)


@given(hierarchies())
def test_the_clades_are_the_groups_of_several_leaves(hierarchy):
    above, group = hierarchy
    tree = Tree.from_groups(above, group)
    wanted = {leaves for leaves in groups_by_definition(above, group) if len(leaves) > 1}
    assert {frozenset(below) for below in leaf_sets(tree)[tree.n_leaves :]} == wanted
    assert (tree.n_children >= 2).all()


@given(hierarchies())
def test_nodes_and_groups_know_each_other(hierarchy):
    above, group = hierarchy
    found = tree_of_groups(above, group)
    below, clades = groups_by_definition(above, group), leaf_sets(found.tree)
    for k, node in enumerate(found.node):
        assert frozenset() == below[k] if node < 0 else set(clades[node]) == below[k]
    for node, k in enumerate(found.group.tolist(), start=found.tree.n_leaves):
        assert found.node[k] == node


@given(hierarchies())
def test_support_is_multiplied_along_what_is_left_out(hierarchy):
    above, group = hierarchy
    rng = np.random.default_rng(0)
    support, leaf_support = rng.random(len(above)), rng.random(len(group))
    found = tree_of_groups(above, group, support=support, leaf_support=leaf_support)
    tree = found.tree
    for node in range(tree.root):
        at = group[node] if node < tree.n_leaves else above[found.group[node - tree.n_leaves]]
        wanted = leaf_support[node] if node < tree.n_leaves else support[found.group[node - tree.n_leaves]]
        stop = found.group[tree.parent[node] - tree.n_leaves]
        while at != stop:
            wanted, at = wanted * support[at], above[at]
        assert tree.support[node] == pytest.approx(wanted)
    assert tree.support[tree.root] == 1


def test_heights_and_names_are_those_of_the_groups_that_stay():
    tree = Tree.from_groups(
        [1, 2, -1, 2], [0, 0, 3, 3], height=[1, 2, 5, 3], name=["low", "unary", "top", "right"],
        leaf_name=list("abcd"),
    )  # fmt: skip
    assert tree.to_newick() == "((a:1.0,b:1.0)low:4.0,(c:3.0,d:3.0)right:2.0)top;"


def test_a_root_may_be_its_own_parent_and_one_leaf_is_a_tree():
    assert Tree.from_groups([1, 1], [0, 0, 1]).to_newick() == "((0,1),2);"
    assert Tree.from_groups([1, -1], [0]).n_nodes == 1


@pytest.mark.parametrize(
    ("above", "group", "message"),
    [
        ([1, 2, 0, -1], [0, 3], "cycle"),
        ([-1, -1], [0, 1], "one root"),
        ([-1], [1], r"group_of_leaf must hold groups 0\.\.0"),
        ([-2], [0], "or -1"),
        ([], [0], "non-empty"),
        ([-1], [], "non-empty"),
    ],
)
def test_what_is_no_hierarchy_is_refused(above, group, message):
    with pytest.raises(TreeError, match=message):
        Tree.from_groups(above, group)
    with pytest.raises(TreeError, match="height must have shape"):
        Tree.from_groups([-1], [0, 0], height=[1, 2])
    with pytest.raises(TreeError, match="one name per group"):
        Tree.from_groups([-1], [0, 0], name=["a", "b"])


@given(trees(min_leaves=2, max_leaves=8), st.data())
def test_expanding_gives_every_point_the_clades_of_its_leaf(tree, data):
    leaf = np.array(data.draw(st.lists(st.integers(0, tree.n_leaves - 1), min_size=1, max_size=12)))
    points = tree.expand(leaf)
    wanted = {frozenset(np.flatnonzero(np.isin(leaf, list(below))).tolist()) for below in leaf_sets(tree)}
    assert {frozenset(below) for below in leaf_sets(points)[len(leaf) :]} == {w for w in wanted if len(w) > 1}


def test_expanding_keeps_height_support_and_name_of_nodes():
    tree = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 2], support=[1, 1, 1, 0.5, 1], name=list("abcde"))
    points = tree.expand([0, 0, 1])
    assert points.to_newick() == "((0:0.0,1:0.0)a:1.0,2:1.0)d;"
    assert points.support.tolist()[3:] == [1.0, 0.5]
    with pytest.raises(ValueError, match="leaf_of_point must lie in"):
        tree.expand([3])
    with pytest.raises(ValueError, match="non-empty"):
        tree.expand([])
