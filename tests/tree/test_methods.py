"""What holds for every method that makes a tree from a tree."""

import numpy as np
import pytest
from hypothesis import given
from trees import leaf_sets, trees

from arbora import Tree

METHODS = {
    "binarize": lambda tree: tree.binarize(),
    "collapse_unary": lambda tree: tree.collapse_unary(),
    "compress": lambda tree: tree.compress(2),
    "expand": lambda tree: tree.expand(np.repeat(np.arange(tree.n_leaves), 2)),
    "matched_to": lambda tree: tree.matched_to(tree.leaf_names[::-1]),
    "merge": lambda tree: tree.merge([0, 1]),
    "move": lambda tree: tree.move(0, to=1),
    "prune": lambda tree: tree.prune(2, exact="nearest"),
    "remove": lambda tree: tree.remove([0]),
    "rename": lambda tree: tree.rename({0: "new"}),
    "reorder": lambda tree: tree.reorder("size"),
    "replace": lambda tree: tree.replace(support=None),
    "restrict": lambda tree: tree.restrict([1, 0]),
    "split": lambda tree: tree.split(tree.root, [[0, 1]]),
    "subtree": lambda tree: tree.subtree(tree.n_leaves),
}
# Their leaves are clusters or points, whose names are not those of the tree.
OTHER_LEAVES = {"expand", "prune", "rename"}


def decorated(tree):
    names = [f"n{node}" for node in range(tree.n_nodes)]
    return tree.replace(
        name=names, support=np.linspace(0, 1, tree.n_nodes), order=np.arange(tree.n_leaves)[::-1]
    )


@pytest.mark.parametrize("name", METHODS)
@given(tree=trees(min_leaves=2, max_leaves=10, unary=0.2, heights=True))
def test_a_method_gives_a_sound_tree_and_changes_nothing(name, tree):
    tree = decorated(tree)
    before = tree.to_json()
    made = METHODS[name](tree)
    assert tree.to_json() == before
    assert Tree.from_json(made.to_json()) == made
    assert made.height is not None and made.name is not None
    assert not made.parent.flags.writeable and not made.height.flags.writeable
    if name not in OTHER_LEAVES:
        # a leaf keeps its name and height
        for leaf in range(made.n_leaves):
            old = tree.find(made.name[leaf])
            assert old < tree.n_leaves and made.height[leaf] == tree.height[old]


@pytest.mark.parametrize("name", sorted(METHODS.keys() - OTHER_LEAVES - {"merge", "move", "split"}))
@given(tree=trees(min_leaves=2, max_leaves=10, unary=0.2, heights=True))
def test_a_named_node_keeps_its_leaves_as_far_as_they_are_there(name, tree):
    tree = decorated(tree)
    made = METHODS[name](tree)
    were, are = leaf_sets(tree), leaf_sets(made)
    remaining = {made.name[leaf] for leaf in range(made.n_leaves)}
    for node in range(made.n_leaves, made.n_nodes):
        if made.name[node]:
            old = tree.find(made.name[node])
            wanted = {tree.name[leaf] for leaf in were[old]} & remaining
            assert {made.name[leaf] for leaf in are[node]} == wanted
