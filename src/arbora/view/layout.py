"""Where every node goes, for every picture: a few O(n) passes over the tree's arrays.

Static pictures and the explorer draw from the same numbers, so that they show the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.tree.parting import PartingOrder, parting_order
from arbora.view import _kernels as kernels

Floats = NDArray[np.float64]
DISK_STEP = 0.65
Scale = Literal["height", "size", "depth"]
SCALES: tuple[Scale, ...] = ("height", "size", "depth")


@dataclass(frozen=True)
class Layout:
    """Coordinates of a tree's nodes; each array is computed on first use, in O(n).

    Parameters
    ----------
    tree : Tree
        The tree to lay out; leaves are placed in its `leaf_order`.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view import Layout
    >>> layout = Layout(Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4))
    >>> layout.center
    array([0.5, 1.5, 2.5, 3.5, 1. , 3. , 2. ])
    >>> layout.along("size").tolist()
    [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.0]
    """

    tree: Tree

    @cached_property
    def center(self) -> Floats:
        """Position across the tree: 0.5 for the first leaf, midway between its outer children for a node."""
        tree = self.tree
        center: Floats = kernels.center_over_children(
            tree.n_leaves, tree.leaf_start, tree.child_offsets, tree.child_index
        )
        return center

    @cached_property
    def effective_height(self) -> Floats:
        """Height (leaf count where the tree has none), lowered where it would exceed the parent's."""
        tree = self.tree
        height = tree.sizes.astype(np.float64) if tree.height is None else tree.height
        limited: Floats = kernels.limit_by_parent(tree.parent, height)
        return limited

    def along(self, scale: str = "auto") -> Floats:
        """Position along the tree: 0 at the root, 1 at the lowest leaf.

        Parameters
        ----------
        scale : {"auto", "height", "size", "depth"}
            By height; by the logarithm of the number of leaves; or by the number of edges from the root.
            "auto" is height where the tree has heights, otherwise size.
        """
        if scale == "auto":
            scale = "size" if self.tree.height is None else "height"
        if scale == "height":
            return _from_root(self.effective_height)
        if scale == "size":
            return _from_root(np.log(self.tree.sizes))
        if scale == "depth":
            return self.tree.depths / max(int(self.tree.depths.max()), 1)
        raise ValueError(f"scale must be 'auto' or one of {SCALES}. Got {scale!r}.")

    def readable_scale(self) -> Scale:
        """Height, or size if the tree has no heights or they squeeze large nodes against root or leaves."""
        tree = self.tree
        if tree.height is None:
            return "size"
        large = np.flatnonzero(tree.sizes * 20 >= tree.n_leaves)[:-1]
        large = large[large >= tree.n_leaves]
        if len(large) < 10:
            return "height"
        return "height" if 0.02 < float(np.median(self.along("height")[large])) < 0.98 else "size"

    @cached_property
    def deepest(self) -> NDArray[np.int64]:
        """Depth of the deepest leaf below each node."""
        depth: NDArray[np.int64] = kernels.deepest_below(self.tree.parent, self.tree.depths)
        return depth

    @cached_property
    def rectangles(self) -> Floats:
        """Treemap rectangles (x0, y0, x1, y1) in the unit square."""
        tree = self.tree
        corners: Floats = kernels.tile_rectangles(
            tree.n_leaves, tree.sizes, tree.child_offsets, tree.child_index
        )
        return corners

    @cached_property
    def angle(self) -> Floats:
        """Direction of each node in the circular tree and the disk: the middle of its leaves, in radians."""
        tree = self.tree
        return (tree.leaf_start + tree.sizes / 2) * (2 * np.pi / tree.n_leaves)

    @cached_property
    def disk_radius(self) -> Floats:
        """Hyperbolic distance of each node from the center of the disk.

        A node with share f of the leaves owns the directions within pi*f of its own. The geodesic that cuts
        off half of that angle passes at distance -log(tan(pi*f/4)): 0 for the root, growing as leaves are
        split off, so every level of a balanced tree is one constant step further out. `DISK_STEP` shortens
        the steps so that more levels are seen at once.
        """
        share = self.tree.sizes / self.tree.n_leaves
        return DISK_STEP * np.maximum(-np.log(np.tan(np.pi * share / 4)), 0.0)

    @cached_property
    def disk(self) -> NDArray[np.complex128]:
        """Place of each node in the Poincaré disk."""
        place: NDArray[np.complex128] = np.tanh(self.disk_radius / 2) * np.exp(1j * self.angle)
        return place

    @cached_property
    def parting(self) -> PartingOrder:
        """The order in which `Tree.cut` takes the tree apart."""
        return parting_order(self.tree)

    @property
    def split_rank(self) -> NDArray[np.int64]:
        """Which step of a cut from the root down first takes something below each node apart; leaves come last."""
        return self.parting.first

    @property
    def clusters_after(self) -> NDArray[np.int64]:
        """Number of clusters after each step."""
        return self.parting.n_clusters[1:]


def _from_root(height: Floats) -> Floats:
    # scaled first: the difference of two heights near the largest float would be infinite
    height = height / max(float(np.abs(height).max()), 1e-300)
    top, bottom = float(height[-1]), float(height.min())
    if top <= bottom:
        return np.zeros_like(height)
    return (top - height) / (top - bottom)


def mobius(z: Any, center: complex, turn: complex = 1.0) -> Any:
    """The isometry of the disk that brings `center` to the origin, then turns by `turn` (complex, norm 1)."""
    return turn * (z - center) / (1 - np.conj(center) * z)


def largest_nodes(tree: Tree, root: int, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """About `limit` nodes below `root`, the largest first: closed under parents, siblings complete.

    Returns the nodes, breadth first, and how many children of each follow: 0 for a leaf, -1 if closed.
    """
    smallest = 2 if tree.sizes[root] * 2 <= limit else max(2, int(tree.sizes[root]) // max(limit // 4, 1))
    found: tuple[NDArray[np.int64], NDArray[np.int64]] = kernels.unfold(
        root, smallest, limit, tree.n_leaves, tree.sizes, tree.child_offsets, tree.child_index
    )
    return found
