import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import trees

from arbora import Tree
from arbora.tree.matching import matched_pair, matching_leaves, renumbered

newick = Tree.from_newick


@given(trees(max_leaves=12, unary=0.2, heights=True), st.randoms(use_true_random=False))
def test_matching_undoes_any_renumbering(tree, random):
    tree = tree.replace(name=[f"leaf {leaf}" for leaf in range(tree.n_leaves)])
    shuffled = list(range(tree.n_leaves))
    random.shuffle(shuffled)
    moved = renumbered(tree, np.array(shuffled))
    assert moved.leaf_names == [f"leaf {leaf}" for leaf in shuffled]
    assert moved.matched_to(tree) == tree
    assert moved.matched_to(tree.leaf_names) == tree


def test_a_matched_tree_keeps_unary_nodes_heights_supports_and_order():
    tree = Tree([4, 5, 6, 6, 5, 7, 7, -1], 4, height=[0, 0, 0, 0, 1, 2, 2, 3], name=list("abcd"))
    tree = tree.replace(support=np.linspace(0, 1, 8), order=[3, 2, 1, 0])
    back = tree.matched_to(list("dbca"))
    assert back.n_nodes == tree.n_nodes
    assert back.to_newick() == tree.to_newick()
    assert back.support[3] == tree.support[0]
    assert back.matched_to(tree) == tree


def test_a_newick_file_of_the_same_tree_is_at_distance_0():
    tree = newick("((a,(b,c)),(d,e));")
    again = newick("((e,d),((c,b),a));")
    assert tree.robinson_foulds(again) == 0
    assert tree.triplet_distance(again) == 0
    assert tree.same_topology(again)


@given(trees(min_leaves=2, max_leaves=12))
def test_numbers_as_names_are_row_numbers(tree):
    assert tree.same_topology(newick(tree.to_newick()))


@pytest.mark.parametrize("other", ["((a,c),(e,d));", "((a,b),c);", "((a,b),(c,(d,e)));"])
def test_other_leaves_are_refused_by_name(other):
    tree = newick("((a,b),(c,d));")
    for call in (tree.same_topology, tree.robinson_foulds, tree.triplet_distance, tree.matched_to):
        with pytest.raises(ValueError, match=r"only in (the tree|other): '[bde]'"):
            call(newick(other))


def test_a_named_tree_does_not_fit_one_without_names():
    named, unnamed = newick("((a,b),c);"), Tree([3, 3, 4, 4, -1], 3)
    for tree, other in ((named, unnamed), (unnamed, named)):
        with pytest.raises(ValueError, match="same names"):
            tree.robinson_foulds(other)
    assert named.robinson_foulds(unnamed.replace(name=named.name[:3])) == 0


def test_names_that_repeat_are_refused():
    tree = newick("((a,a),(b,c));")
    with pytest.raises(ValueError, match=r"1 names repeat in .*: 'a'"):
        tree.robinson_foulds(newick("((a,b),(a,c));"))
    with pytest.raises(ValueError, match="repeat"):
        newick("(a,b);").matched_to(["a", "a"])
    assert tree.replace(name=None).robinson_foulds(tree.replace(name=None)) == 0


def test_common_compares_the_shared_leaves_only():
    tree, other = newick("(((a,b),c),(d,e));"), newick("(((b,x),a),(y,d));")
    assert tree.robinson_foulds(other, common=True) == newick("((a,b),d);").robinson_foulds(
        newick("((b,a),d);")
    )
    assert tree.same_topology(other, common=True)
    assert tree.triplet_distance(newick("((b,d),a);"), normalize=True, common=True) == 1.0
    with pytest.raises(ValueError, match="share no leaf"):
        tree.robinson_foulds(newick("(x,y);"), common=True)


def test_common_leaves_are_numbered_alike():
    first, second = matched_pair(newick("((a,b),(c,d));"), newick("(d,(c,(q,a)));"), common=True)
    assert first.leaf_names == second.leaf_names == ["a", "c", "d"]


def test_what_is_no_tree_and_no_list_of_names_is_refused():
    for other in ("ab", 3, None):
        with pytest.raises(TypeError, match="Tree or a sequence of names"):
            newick("(a,b);").matched_to(other)
    with pytest.raises(TypeError, match="must be a Tree"):
        matched_pair(newick("(a,b);"), ["a", "b"])


def test_a_missing_name_among_the_wanted_ones_is_a_row_number():
    tree = Tree([3, 3, 4, 4, -1], 3, name=["x", "", "y"])
    assert tree.leaf_names == ["x", "1", "y"]
    assert tree.matched_to(["x", None, "y"]) == tree
    assert matching_leaves(["x", "1"], ["1", "x"]).tolist() == [1, 0]
