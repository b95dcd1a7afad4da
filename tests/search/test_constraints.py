"""Links as groups and pairs, by themselves."""

import numpy as np
import pytest
import scipy.sparse as sp
from trees import random_tree

import arbora as ab
from arbora.errors import ConstraintError
from arbora.search.constraints import Links, check_links, lowest_above
from arbora.search.engines import make_engine

NONE = np.empty((0, 2), dtype=np.int64)


def pairs(*given):
    return np.array(given, dtype=np.int64).reshape(-1, 2)


def test_links_through_others_form_one_group():
    links = Links.from_pairs(pairs((0, 1), (1, 4), (2, 3)), NONE, 6)
    assert [group.tolist() for group in links.groups] == [[0, 1, 4], [2, 3]]
    assert links and not Links.from_pairs(NONE, NONE, 6)


def test_a_link_that_is_also_forbidden_is_named():
    with pytest.raises(ConstraintError, match=r"Leaves 0 and 4 cannot be linked.*\[0, 1, 4\]"):
        Links.from_pairs(pairs((0, 1), (1, 4)), pairs((0, 4)), 6)


def test_links_are_met_by_subtrees_and_the_root():
    tree = ab.Tree.from_newick("((0,1),((2,3),4));")
    assert Links.from_pairs(pairs((2, 3), (3, 4)), pairs((0, 4)), 5).are_met_by(tree)
    assert not Links.from_pairs(pairs((2, 4)), NONE, 5).are_met_by(tree)
    assert not Links.from_pairs(NONE, pairs((2, 4)), 5).are_met_by(tree)


def test_links_inside_some_leaves_are_counted_among_them():
    links = Links.from_pairs(pairs((2, 5), (0, 1)), pairs((2, 7), (0, 5)), 9)
    inside = links.inside(np.array([2, 5, 7]))
    assert [group.tolist() for group in inside.groups] == [[0, 1]]
    assert inside.cannot_link.tolist() == [[0, 2]]


@pytest.mark.parametrize("seed", range(20))
def test_no_side_of_the_root_holds_two_that_cannot_be_linked(seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((15, 15)), 1)
    engine = make_engine(ab.similarity.graph(sp.csr_array(W + W.T)), "dasgupta")
    apart = np.array([rng.choice(15, 2, replace=False) for _ in range(8)])
    sides = Links(cannot_link=apart).sides(random_tree(15, rng), engine)
    assert sorted(np.concatenate(sides).tolist()) == list(range(15))
    assert not any(np.isin(pair, side).all() for pair in apart for side in sides)


def test_the_lowest_node_above_leaves_is_their_meeting():
    tree = ab.Tree.from_newick("((0,1),((2,3),4));")
    assert tree.sizes[lowest_above(tree, np.array([2, 4]))] == 3
    assert lowest_above(tree, np.array([1])) == 1


@pytest.mark.parametrize("wrong", ([(0, 1, 2)], [(0.5, 1)], "ab", [(0, 9)], [(-1, 0)]))
def test_what_is_not_pairs_of_leaves_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^must_link must"):
        check_links(wrong, "must_link", 5)
    assert check_links([], "must_link", 5).shape == (0, 2)
