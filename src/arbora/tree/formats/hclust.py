"""R's ``hclust`` objects: merges with negative numbers for points, heights, order and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import Ints
from arbora.errors import FormatError
from arbora.tree._build import from_merges
from arbora.tree._tree import Tree


def write(tree: Tree) -> dict[str, Any]:
    """The parts of an ``hclust`` object: ``merge``, ``height``, ``order``, ``labels``, numbered from 1 as in R.

    Nodes with more than two children are split, as `Tree.binarize` does. Without heights, the number of leaves below
    serves as height.

    Examples
    --------
    >>> from arbora import Tree
    >>> parts = Tree.from_newick("((a:1,b:1):2,c:3);").to_hclust()
    >>> parts["merge"].tolist(), parts["height"].tolist(), parts["order"].tolist(), parts["labels"]
    ([[-1, -2], [1, -3]], [1.0, 3.0], [1, 2, 3], ['a', 'b', 'c'])
    """
    if tree.n_leaves < 2:
        raise ValueError("hclust needs a tree of at least two leaves. Got one leaf.")
    binary = tree if tree.is_binary else tree.binarize()
    n = binary.n_leaves
    height = binary.sizes.astype(np.float64) if binary.height is None else binary.height
    inner = np.arange(n, binary.root)
    if (height[inner] > height[binary.parent[inner]]).any():
        raise ValueError(
            "hclust needs heights that grow toward the root, and some child is higher than its parent (as in "
            "centroid linkage). Drop the heights with tree.replace(height=None)."
        )
    # R's cutree wants rows by ascending height; children before parents where heights are equal
    rank = np.argsort(height[n:], kind="stable")
    code = np.concatenate([-1 - np.arange(n), np.zeros(n - 1, dtype=np.int64)])
    code[n + rank] = np.arange(1, n)
    return {
        "merge": code[_drawn_children(binary)][rank],
        "height": height[n:][rank],
        "order": binary.leaf_order + 1,
        "labels": [str(name) for name in binary.leaf_names],
    }


def to_r(tree: Tree) -> str:
    """R code of the object: ``h <- dget("tree.R")`` reads it, without any package."""
    parts = write(tree)
    n = tree.n_leaves
    merge = ", ".join(f"{k}L" for k in parts["merge"].T.ravel().tolist())
    order = ", ".join(f"{k}L" for k in parts["order"].tolist())
    labels = ", ".join(_quoted(label) for label in parts["labels"])
    height = ", ".join(repr(float(one)) for one in parts["height"])
    return (
        f"structure(list(merge = structure(c({merge}), dim = c({n - 1}L, 2L)),\n"
        f"height = c({height}),\norder = c({order}),\nlabels = c({labels}),\n"
        'method = "arbora", dist.method = NA_character_), class = "hclust")\n'
    )


def read(merge: ArrayLike, height: ArrayLike | None = None, labels: Sequence[str] | None = None) -> Tree:
    """Tree of the parts of an ``hclust`` object.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_hclust([[-1, -2], [-3, 1]], [1.0, 3.0], ["a", "b", "c"]).to_newick()
    '((a:1.0,b:1.0):2.0,c:3.0);'
    """
    pairs = np.asarray(merge)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0 or pairs.dtype.kind not in "iuf":
        raise FormatError(f"merge must have shape (n - 1, 2), as hclust has it. Got shape {pairs.shape}.")
    n = len(pairs) + 1
    steps = np.arange(1, n)[:, None]
    if (pairs != np.round(pairs)).any() or (pairs == 0).any() or (pairs < -n).any() or (pairs >= steps).any():
        raise FormatError(
            "merge must hold -1..-n for points and 1.. for earlier rows, as hclust counts them. For SciPy's linkage "
            "matrices use Tree.from_linkage."
        )
    nodes = np.where(pairs < 0, -1 - pairs, n - 1 + pairs).astype(np.int64)
    return from_merges(nodes.tolist(), n, height=height, name=labels)


def _drawn_children(tree: Tree) -> Ints:
    """Both children of every internal node, the one drawn first before the other, so that `order` fits the merges."""
    pairs = tree.child_index.reshape(tree.n_leaves - 1, 2)
    start = tree.leaf_start[pairs]
    return np.take_along_axis(pairs, np.argsort(start, axis=1), axis=1)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(c if c.isprintable() or c == " " else f"\\u{ord(c):04x}" for c in escaped) + '"'
