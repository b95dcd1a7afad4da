"""R's hclust: rows as R counts them, an order that fits the merges, and back again."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from trees import binary_trees

import arbora as ab
from arbora import Tree
from arbora.errors import FormatError


def drawn(merge, row=None):
    """Points below a row of merges from left to right, as R's as.dendrogram walks them."""
    found, left = [], [len(merge) if row is None else row]
    while left:
        code = left.pop()
        if code < 0:
            found.append(-code)
        else:
            left += [merge[code - 1][1], merge[code - 1][0]]
    return found


@given(binary_trees(min_leaves=2, max_leaves=15, heights=True))
def test_an_hclust_object_gives_the_tree_back_and_is_ordered_as_r_wants_it(tree):
    parts = tree.to_hclust()
    merge, height = parts["merge"], parts["height"]
    assert np.all(np.diff(height) >= 0)
    assert all(code < row for row, pair in enumerate(merge.tolist(), start=1) for code in pair)
    assert drawn(merge.tolist()) == parts["order"].tolist() == [leaf + 1 for leaf in tree.leaf_order]
    again = Tree.from_hclust(merge, height)
    assert again.same_topology(tree.replace(name=None))
    assert np.allclose(again.cophenetic(), tree.cophenetic())


def test_the_file_for_dget_holds_the_parts_with_quoted_labels(tmp_path):
    tree = ab.linkage([[0.0], [1.0], [5.0]], "average").replace(name=['a "b"', "c\\d", "é"])
    tree.save(tmp_path / "tree.R")
    text = (tmp_path / "tree.R").read_text(encoding="utf-8")
    assert 'labels = c("a \\"b\\"", "c\\\\d", "é")' in text and 'class = "hclust")' in text
    # R fills matrices column by column
    assert "structure(c(-1L, 1L, -2L, -3L), dim = c(2L, 2L))" in text
    assert [float(one) for one in re.search(r"height = c\((.*?)\)", text)[1].split(", ")] == [1.0, 4.5]


def test_trees_that_hclust_cannot_hold_are_refused():
    with pytest.raises(ValueError, match="higher than its parent"):
        Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 5.0, 1.0]).to_hclust()
    with pytest.raises(ValueError, match="two leaves"):
        Tree([-1], 1).to_hclust()


@pytest.mark.parametrize("merge", [[[0, 1], [2, 3]], [[-1, -2], [2, -3]], [[-1, -9]], [[-1.5, -2]]])
def test_merges_counted_otherwise_are_refused(merge):
    with pytest.raises(FormatError, match="hclust counts"):
        Tree.from_hclust(merge)


def test_a_file_of_r_code_is_not_read_as_a_tree(tmp_path):
    Tree.from_newick("((a:1,b:1):2,c:3);").save(tmp_path / "tree.R")
    with pytest.raises(FormatError, match="R code"):
        Tree.load(tmp_path / "tree.R")
