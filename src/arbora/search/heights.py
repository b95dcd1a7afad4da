"""Heights for trees that a search found: how much less alike than chance two groups are when they join.

Where two groups meet, the similarity between them is compared with what chance would give groups of such total
similarity: ``ratio = cross * total / (volume_l * volume_r)``, where the volume of a group is the sum of the
similarities of its members and `total` the volume of all. Groups join at the same ratio whatever their size, so
that heights can be compared between branches, and between trees over a hundred and a million points.

A ratio should not grow toward the root. Where it does, the nodes concerned are pooled (isotonic regression), so that
one unlucky join deep in the tree moves itself, not all its ancestors. The height is ``ln(1 + largest / ratio)``:
one unit up is a factor e less alike.
"""

from __future__ import annotations

import numpy as np

from arbora._base.types import Floats
from arbora.search import _height_kernels as kernels
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root, sum_to_root

# Joins of groups that have nothing in common stand this far above all others.
_ABOVE_ALL = 1.0


def with_heights(tree: Tree, similarity: Similarity, cross: Floats | None = None) -> Tree:
    """The tree with heights; see the module. `cross` is ``similarity.cross(tree)`` where that is known already.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.search.heights import with_heights
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))
    >>> tree = with_heights(ab.Tree.from_newick("((a,b),(c,d));"), path)
    >>> bool(tree.height[4] < tree.height[6])
    True
    """
    height = _heights_of(join_ratios(tree, similarity, cross))
    # a node with a single child is as high as the child
    return tree.replace(height=max_to_root(tree.parent, height))


def join_ratios(tree: Tree, similarity: Similarity, cross: Floats | None = None) -> Floats:
    """How alike the groups that join at each node are, in multiples of chance, never more than below it.

    float64[n_nodes]; infinity where nothing joins. With similarities that may be negative, chance is undefined, and
    the mean similarity above the least is taken instead.
    """
    if tree.n_internal == 0:
        return np.full(tree.n_nodes, np.inf)
    cross = similarity.cross(tree) if cross is None else cross
    if similarity.is_non_negative:
        volume = _sums(tree, similarity.degrees)
        total = volume[tree.root] if volume[tree.root] > 0 else 1.0
        # shares of the total first: products of extreme numbers would leave the range of floats
        cross, weight = np.maximum(cross, 0.0) / total, _products(tree, volume / total)
    else:
        weight = _products(tree, tree.sizes.astype(np.float64))
        mean = np.divide(cross, weight, out=np.zeros(len(cross)), where=weight > 0)
        cross = (mean - min(0.0, float(mean.min()))) * weight
    # points without any similarity have no volume
    weight = np.maximum(weight, np.finfo(np.float64).tiny)
    return np.asarray(kernels.pool_ratios(tree.parent, tree.n_leaves, tree.n_children, cross, weight))


def _heights_of(ratio: Floats) -> Floats:
    """Heights from pooled ratios: 0 where nothing joins, the greatest where what joins has nothing in common."""
    height = np.zeros(len(ratio))
    joins = np.isfinite(ratio)
    alike = joins & (ratio > 0)
    if alike.any():
        # a difference of logarithms: the quotient of extreme ratios could overflow
        height[alike] = np.logaddexp(0.0, np.log(ratio[alike].max()) - np.log(ratio[alike]))
    height[joins & ~alike] = height.max() + _ABOVE_ALL
    return height


def _sums(tree: Tree, values: Floats) -> Floats:
    """Sum over the leaves below each node."""
    total = np.zeros(tree.n_nodes)
    total[: tree.n_leaves] = values
    return np.asarray(sum_to_root(tree.parent, total))


def _products(tree: Tree, size: Floats) -> Floats:
    """Sum over the pairs of children of each internal node of the product of their sizes: float64[n_internal]."""
    return np.asarray(kernels.multiply_children(tree.parent, size)[tree.n_leaves :])
