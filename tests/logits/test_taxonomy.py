"""A taxonomy in any of its forms is a tree, and classes are as far apart as it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import clades, leaf_sets, trees

import arbora as ab
from arbora.logits.taxonomy import Placement, name_nodes, taxonomy_tree

PATHS = [["thing", "animal", "pet", "cat"], ["thing", "animal", "pet", "dog"], ["thing", "animal", "cow"],
         ["thing", "tool", "saw"], ["thing", "tool", "axe"]]  # fmt: skip


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_superclasses_are_the_groups_of_their_classes(labels):
    tree = taxonomy_tree(labels, len(labels))
    wanted = {frozenset(np.flatnonzero(np.array(labels) == label).tolist()) for label in set(labels)}
    of_root = {frozenset(leaf_sets(tree)[child]) for child in tree.children(tree.root)}
    assert of_root == wanted
    names = {str(tree.name[child]) for child in tree.children(tree.root)}
    assert names == {str(label) for label in labels}


def test_lists_arrays_and_mappings_of_the_same_labels_are_the_same_tree():
    labels = ["pet", "pet", "farm"]
    wanted = taxonomy_tree(labels, 3)
    for same in (
        tuple(labels),
        np.array(labels),
        {"0": "pet", "2": "farm", "1": "pet"},
        {0: "pet", 1: "pet", 2: "farm"},
    ):
        assert taxonomy_tree(same, 3).to_newick() == wanted.to_newick()
    by_name = taxonomy_tree({"cow": "farm", "cat": "pet", "dog": "pet"}, 3, ["cat", "dog", "cow"])
    assert by_name.to_newick() == wanted.to_newick()


def test_paths_become_nodes_and_the_class_at_their_end_is_dropped():
    tree = taxonomy_tree(PATHS, 5)
    assert clades(tree) == {frozenset(g) for g in ((0, 1), (0, 1, 2), (3, 4), (0, 1, 2, 3, 4))}
    assert {str(name) for name in tree.name if str(name)} == {"thing", "animal", "pet", "tool"}


def test_paths_that_are_shared_end_with_a_taxon():
    tree = taxonomy_tree([["a", "x"], ["a", "x"], ["a", "y"]], 3)
    assert tree.to_newick() == "((0,1)x,(2)y)a;"


def test_paths_without_a_common_beginning_meet_in_a_root_without_a_name():
    tree = taxonomy_tree([["animal", "cat"], ["tool", "saw"]], 2)
    assert tree.to_newick() == "((0)animal,(1)tool);"


def test_taxa_of_one_name_in_different_places_are_different():
    tree = taxonomy_tree([["a", "small", "p"], ["a", "small", "q"], ["b", "small", "r"]], 3)
    assert clades(tree) == {frozenset({0, 1}), frozenset({0, 1, 2})}


def test_a_tree_is_taken_as_it_is_if_it_fits():
    tree = ab.Tree([3, 3, 4, 4, -1], 3)
    assert taxonomy_tree(tree, 3) is tree
    with pytest.raises(ValueError, match=r"taxonomy must have one leaf per class, 4. Got 3"):
        taxonomy_tree(tree, 4)


@pytest.mark.parametrize(
    ("taxonomy", "error", "message"),
    [
        (["a"], ValueError, "one entry per class, 2. Got 1"),
        ("ab", TypeError, "must be a Tree, one entry per class, or a mapping.* Got str"),
        (7, TypeError, "Got int"),
        (["a", ["a", "b"]], TypeError, "all classes a label, or all a path. Class 0 has 'a'"),
        ([["a"], 3], TypeError, "Class 1 has 3"),
        ([["a"], None], TypeError, "Class 1 has None"),
        ([["a", "b"], []], ValueError, "every class a path. Class 1 has none"),
        ({"0": "a"}, ValueError, "there is no entry for '1'"),
        ({"0": "a", "1": "b", "zz": "c"}, ValueError, "no class called 'zz'"),
        ({"0": "a", "zz": "c"}, ValueError, "no entry for '1' and no class called 'zz'"),
    ],
)
def test_what_is_no_taxonomy_is_refused_with_the_class(taxonomy, error, message):
    with pytest.raises(error, match=message):
        taxonomy_tree(taxonomy, 2)


@given(trees(min_leaves=2, max_leaves=9, max_branching=3))
def test_a_tree_is_named_after_itself_completely(tree):
    names = [""] * tree.n_leaves + [f"taxon {v}" for v in range(tree.n_internal)]
    found = name_nodes(tree, tree.replace(name=names))
    assert [str(name) for name in found.name[tree.n_leaves :]] == names[tree.n_leaves :]
    assert found.same_topology(tree)


def test_only_nodes_that_share_half_of_a_taxon_get_its_name_and_given_names_stay():
    tree = ab.Tree.from_newick("(((a,b),c),(d,e));")
    named = name_nodes(tree, ["x", "x", "x", "y", "z"])
    assert named.to_newick() == "(((a,b),c)x,(d,e));" or "x" in named.to_newick()
    assert "z" not in named.to_newick() or named.to_newick().count("z") <= 1
    kept = name_nodes(ab.Tree.from_newick("((a,b)mine,(c,d));"), ["x", "x", "y", "y"])
    assert kept.to_newick() == "((a,b)mine,(c,d)y);"


def test_a_taxonomy_without_names_names_nothing():
    tree = ab.Tree.from_newick("((a,b),(c,d));")
    assert name_nodes(tree, ab.Tree([4, 4, 5, 5, 6, 6, -1], 4)) is tree


@given(trees(min_leaves=2, max_leaves=10, max_branching=4), st.data())
def test_classes_meet_at_the_lowest_node_above_all_of_them(tree, data):
    placement = Placement(tree)
    classes = data.draw(st.lists(st.integers(0, tree.n_leaves - 1), min_size=1, max_size=4, unique=True))
    below = leaf_sets(tree)
    meet = placement.meet(classes)
    assert set(classes) <= below[meet]
    assert not any(set(classes) <= below[node] for node in range(tree.n_nodes) if below[node] < below[meet])
    elsewhere = placement.nearest_elsewhere(classes)
    wider = [v for v in range(tree.n_nodes) if set(classes) < below[v]]
    assert elsewhere == max((int(tree.depths[v]) for v in wider), default=0)


def test_siblings_are_at_distance_zero_and_strangers_at_one():
    placement = Placement(taxonomy_tree(PATHS, 5))
    distance = placement.distance(np.array([0, 0, 0, 3]), np.array([1, 2, 3, 4]))
    assert distance[0] == 0 and distance[2] == 1 and distance[3] == 0
    assert 0 <= distance[1] < 1


@given(trees(min_leaves=2, max_leaves=9, max_branching=3))
def test_distances_are_symmetric_and_lie_between_zero_and_one(tree):
    i, j = np.triu_indices(tree.n_leaves, 1)
    placement = Placement(tree)
    there, back = placement.distance(i, j), placement.distance(j, i)
    np.testing.assert_array_equal(there, back)
    assert ((there >= 0) & (there <= 1)).all()
    meets_at_root = tree.lca(i, j) == tree.root
    assert (there[meets_at_root] == 1).all()


def test_the_name_of_a_place_is_that_of_the_nearest_taxon_that_has_one():
    tree = ab.Tree([3, 3, 4, 4, 5, -1], 3, name=["a", "b", "c", "", "group", ""])
    placement = Placement(tree)
    assert placement.name(3) == "group" and placement.name(4) == "group"
    assert placement.name(5) == "everything" and placement.name(0) == "group", "a class is no taxon"
    assert Placement(ab.Tree([2, 2, -1], 2)).name(2) == "everything"
