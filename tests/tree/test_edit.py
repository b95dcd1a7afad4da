import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import leaf_sets, trees

from arbora import Tree

newick = Tree.from_newick
any_tree = trees(min_leaves=3, max_leaves=12, unary=0.2, heights=True)


def named(tree):
    return tree.replace(name=[f"n{node}" for node in range(tree.n_nodes)], support=np.full(tree.n_nodes, 0.5))


def clades_of(tree):
    return {frozenset(below) for below in leaf_sets(tree)}


def is_sound(after, before):
    """Same leaves with their names, parents not below children, no node newly left with one child."""
    assert after.name[: after.n_leaves].tolist() == before.name[: before.n_leaves].tolist()
    assert (after.height[:-1] <= after.height[after.parent[:-1]]).all()
    had_one = {before.name[v] for v in range(before.n_leaves, before.n_nodes) if len(before.children(v)) == 1}
    has_one = {after.name[v] for v in range(after.n_leaves, after.n_nodes) if len(after.children(v)) == 1}
    assert has_one <= had_one
    # a node keeps its support exactly where its leaves are the same
    below, was = leaf_sets(after), leaf_sets(before)
    for node in range(after.n_nodes):
        old = np.flatnonzero(before.name == after.name[node]) if after.name[node] else []
        # a node that took the children of all below it has a new name, but the same leaves
        is_same = after.name[node] == "new" and set(below[node]) in map(set, was)
        if is_same or (len(old) == 1 and set(below[node]) == set(was[old[0]])):
            assert after.support[node] == 0.5
        else:
            assert np.isnan(after.support[node])


def test_find_says_what_there_is():
    tree = newick("((owl,hen)birds,(cod,owl)others);")
    assert tree.label(tree.find("birds")) == "birds"
    with pytest.raises(ValueError, match=r"2 nodes are called 'owl': \[0, 3\]"):
        tree.find("owl")
    with pytest.raises(ValueError, match=r"No node is called 'bird'. Similar: 'birds'"):
        tree.find("bird")
    with pytest.raises(ValueError, match="no names"):
        Tree([2, 2, -1], 2).find("a")
    for wrong in (3, "", None):
        with pytest.raises(TypeError, match="must be a non-empty string"):
            tree.find(wrong)


def test_renaming_is_simultaneous_and_takes_nodes_and_names():
    tree = newick("((a,b)x,c)y;")
    assert tree.rename({"a": "b", "b": "a", 3: None, "y": float("nan")}).to_newick() == "((b,a),c);"
    assert Tree([2, 2, -1], 2).rename({2: "root"}).name.tolist() == ["", "", "root"]
    assert tree.name[0] == "a"
    with pytest.raises(ValueError, match="twice"):
        tree.rename({"a": "q", 0: "r"})
    with pytest.raises(TypeError, match="map nodes"):
        tree.rename(["q"])
    with pytest.raises(TypeError, match="number or the name"):
        tree.rename({2.5: "q"})


@given(any_tree, st.data())
def test_merging_gives_one_node_over_the_leaves_of_all(tree, data):
    tree = named(tree)
    at = data.draw(
        st.sampled_from([v for v in range(tree.n_leaves, tree.n_nodes) if len(tree.children(v)) > 1])
    )
    chosen = data.draw(st.lists(st.sampled_from(tree.children(at).tolist()), min_size=2, unique=True))
    after = tree.merge(chosen, name="new")
    is_sound(after, tree)
    leaves = frozenset(leaf for node in chosen for leaf in tree.leaves(node).tolist())
    merged = after.find("new")
    assert set(after.leaves(merged).tolist()) == leaves
    lost = {frozenset(tree.leaves(node).tolist()) for node in chosen if node >= tree.n_leaves}
    assert clades_of(after) | lost == clades_of(tree) | {leaves}


def test_nodes_from_different_places_meet_where_their_paths_do():
    tree = newick("(((a,b)x,c),((d,e)y,f),g)all;")
    assert tree.merge(["x", "y"]).to_newick() == "((a,b,d,e)x,c,f,g)all;"
    assert newick("((a:1,b:1)x:4,(c:2,d:2)y:3,e:5);").merge(["x", "y"], name="xy").height[-2] == 2
    assert newick("((a,b)x,c);").merge(["a", "b"]).to_newick() == "((a,b)x,c);"
    with pytest.raises(ValueError, match=r"Node 0 \('a'\) lies below node 7"):
        tree.merge(["x", "a"])
    with pytest.raises(ValueError, match="at least two"):
        tree.merge(["x", 7])
    with pytest.raises(TypeError, match=r"write \['x'\]"):
        tree.merge("x")


@given(any_tree, st.data())
def test_moving_changes_only_the_clades_on_the_way(tree, data):
    tree = named(tree)
    node = data.draw(st.integers(0, tree.root - 1))
    inside = set(tree.leaves(node).tolist())
    allowed = [v for v in range(tree.n_nodes) if v != node and node not in tree.ancestors(v)]
    to = data.draw(st.sampled_from(allowed))
    after = tree.move(node, to)
    if to == tree.parent[node]:
        assert after is tree
        return
    is_sound(after, tree)
    wanted = set()
    below = leaf_sets(tree)
    for v in range(tree.n_nodes):
        leaves = set(below[v])
        if v != node and v not in tree.leaves(node) and node not in tree.ancestors(v):
            gains = (v == to and v >= tree.n_leaves) or v in tree.ancestors(to)
            leaves = (leaves - inside) | (inside if gains else set())
        if leaves:
            wanted.add(frozenset(leaves))
    if to < tree.n_leaves:
        wanted.add(frozenset({to} | inside))
    assert clades_of(after) == wanted


def test_what_cannot_be_moved_is_refused():
    tree = newick("((a,b)x,c)all;")
    for node, to, words in ((4, "x", "root"), ("x", "a", "inside"), ("x", "x", "inside")):
        with pytest.raises(ValueError, match=words):
            tree.move(node, to)
    assert tree.move("c", to="a").to_newick() == "((a,c),b)x;"


def test_heights_stay_monotone_when_a_tall_subtree_is_moved_low():
    tree = newick("((a:1,b:1)low:9,(c:6,d:6)tall:4);")
    after = tree.move("tall", to="low")
    assert after.to_newick() == "(a:6.0,b:6.0,(c:6.0,d:6.0)tall:0.0)low;"
    pair = tree.move("c", to="a")
    assert pair.height[pair.parent[0]] == 0.5


def test_splitting_into_children_and_into_groups():
    tree = named(newick("(((a:1,b:1):1,(c:1,d:1):1):1,e:3);"))
    after = tree.split("n7")
    is_sound(after, tree)
    assert clades_of(after) == clades_of(tree) - {frozenset({0, 1, 2, 3})}
    crossed = tree.split("n7", [["n0", "n2"], ["n1", "n3"]], names=["ac", "bd"])
    is_sound(crossed, tree)
    assert set(crossed.leaves(crossed.find("ac")).tolist()) == {0, 2}
    assert crossed.find("n7") == crossed.parent[crossed.find("ac")]
    alone = tree.split("n7", [["n0"]])
    assert alone.parent[0] == alone.find("n7")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a",), "leaf"),
        (("all",), "no parent"),
        (("x", [["c"]]), "not below"),
        (("x", [["x"]]), "not below"),
        (("x", [["a"], ["a", "b"]]), "two groups"),
    ],
)
def test_splits_that_make_no_sense_are_refused(arguments, words):
    tree = newick("((a,b)x,c)all;")
    with pytest.raises(ValueError, match=words):
        tree.split(*arguments)
    with pytest.raises(ValueError, match="one name per group"):
        tree.split("x", [["a", "b"]], names=["p", "q"])


@given(any_tree, st.data())
def test_removing_is_restricting_to_the_rest(tree, data):
    tree = named(tree)
    gone = data.draw(st.lists(st.integers(0, tree.root - 1), max_size=3))
    rest = sorted(set(range(tree.n_leaves)) - {leaf for node in gone for leaf in tree.leaves(node).tolist()})
    if not rest:
        with pytest.raises(ValueError, match="at least one leaf"):
            tree.remove(gone)
    elif not gone:
        assert tree.remove(gone) is tree
    else:
        assert tree.remove(gone) == tree.restrict(rest)
