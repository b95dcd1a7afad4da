"""Embedding a given tree: Sarkar's construction in the disk, and the inverse of circle decoding."""

from __future__ import annotations

import cmath
import math

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree

MAX_DEPTH = 30.0  # hyperbolic distance from the origin up to which double precision distinguishes directions


def sarkar_embedding(tree: Tree, edge_length: float | None = None) -> NDArray[np.float64]:
    """Place every node of a tree in the Poincaré disk, root at the origin, all edges equally long.

    Sarkar's construction: seen from a node, its parent and its children point in equally spaced directions.
    With edges long enough, `decode_exact` of the leaves returns the tree (a binary refinement of it where a
    node has more than two children).

    Parameters
    ----------
    tree : Tree
    edge_length : float, optional
        Hyperbolic length of an edge. By default the longest that keeps every leaf within distance 30 of the
        origin, the limit of double precision.

    Returns
    -------
    points : ndarray of float64, shape (n_nodes, 2)

    Raises
    ------
    ValueError
        If the tree is too deep (about 13 levels of a binary tree) for double precision. `circle_angles`
        takes trees of any depth.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.hyperbolic.hyphc.decode import decode_exact
    >>> from arbora.hyperbolic.sarkar import sarkar_embedding
    >>> tree = ab.Tree.from_newick("((0,1),((2,3),4));")
    >>> points = sarkar_embedding(tree)
    >>> decode_exact(points[: tree.n_leaves]).same_topology(tree)
    True
    """
    length = _checked_edge_length(tree, edge_length)
    position = np.zeros(tree.n_nodes, dtype=np.complex128)
    to_parent = np.zeros(tree.n_nodes)  # direction of the parent in the node's own frame
    step = math.tanh(length / 2)
    for node in range(tree.root, tree.n_leaves - 1, -1):
        children = tree.children(node)
        is_root = node == tree.root
        turn = 2 * math.pi / (len(children) + (not is_root))
        here = complex(position[node])
        for k, child in enumerate(children):
            offset = cmath.rect(step, to_parent[node] + turn * (k + (not is_root)))
            position[child] = (offset + here) / (1 + here.conjugate() * offset)
            # In the child's frame the parent lies at -offset, turned by the rotation of the two translations.
            turned = 2 * cmath.phase(1 + here.conjugate() * offset)
            to_parent[child] = cmath.phase(-offset) - turned
    return np.column_stack([position.real, position.imag])


def least_edge_length(n_children: int) -> float:
    """Edge length above which Sarkar's construction keeps ancestors in the order of the tree.

    A geodesic that leaves a node's neighborhood through two directions at angle 2π / (n_children + 1) passes
    it at a distance of at most -log tan of a quarter of that angle; two such detours must fit an edge.
    """
    return 0.3 - 2 * math.log(math.tan(math.pi / (2 * (max(n_children, 2) + 1))))


def _checked_edge_length(tree: Tree, edge_length: float | None) -> float:
    if edge_length is not None:
        if not 0 < edge_length < math.inf:
            raise ValueError(f"edge_length must be positive and finite. Got {edge_length!r}.")
        return float(edge_length)
    n_levels = int(tree.depths.max())
    if n_levels == 0:
        return 1.0
    longest = MAX_DEPTH / n_levels
    least = least_edge_length(int(tree.n_children.max()))
    if longest < least:
        raise ValueError(
            f"The tree is too deep for the disk in double precision: {n_levels} levels with up to "
            f"{int(tree.n_children.max())} children allow {int(MAX_DEPTH / least)} levels. "
            "Use circle_angles(tree), or pass edge_length."
        )
    return min(longest, 4 * least)


def circle_angles(tree: Tree) -> NDArray[np.float64]:
    """Angle of each leaf on a circle such that `decode_circle` returns the tree, whatever its depth.

    Neighbors in leaf order are as far apart as their common ancestor is large; the widest gap closes the
    circle. Nodes with more than two children come back as binary refinements.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.hyperbolic.hyphc.decode import decode_circle
    >>> from arbora.hyperbolic.sarkar import circle_angles
    >>> tree = ab.Tree.from_newick("((0,1),((2,3),4));")
    >>> decode_circle(circle_angles(tree)).same_topology(tree)
    True
    """
    n = tree.n_leaves
    if n == 1:
        return np.zeros(1)
    gaps = tree.sizes[tree.neighbor_lca].astype(np.float64)
    along = np.concatenate([[0.0], np.cumsum(gaps)])
    angles = np.empty(n)
    angles[tree.leaf_order] = along * (2 * math.pi / (along[-1] + n + 1))
    return angles
