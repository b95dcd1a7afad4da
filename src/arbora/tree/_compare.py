"""How alike two trees are, and the distances a tree puts between its leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.memory import refuse_if_too_large
from arbora._base.pieces import pieces_of
from arbora._base.threads import in_background
from arbora._base.types import Floats, Ints
from arbora.tree import _compare_kernels as compare_kernels
from arbora.tree._tree import Tree
from arbora.tree.matching import matched_pair

_PAIRS_PER_CALL = 10_000_000


def same_topology(tree: Tree, other: Tree, *, common: bool = False) -> bool:
    """Whether both trees group the leaves alike, whatever their internal numbering and heights.

    Unary nodes group nothing, so they make no difference. Leaves are matched as in `robinson_foulds`.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree([4, 4, 5, 5, 6, 6, -1], 4).same_topology(Tree([5, 5, 4, 4, 6, 6, -1], 4))
    True
    """
    return robinson_foulds(tree, other, common=common) == 0


def robinson_foulds(tree: Tree, other: Tree, *, normalize: bool = False, common: bool = False) -> float:
    """Number of clades (leaf sets of internal nodes) that only one of the trees has, in O(n log n) and exact.

    Parameters
    ----------
    tree, other : Tree
        Over the same leaves, matched by name (by number where they have no names).
    normalize : bool
        Divide by the number of clades of both trees that say something (the root's, all leaves, does not), so
        that 1 means nothing in common.
    common : bool
        Compare the leaves that both have, and leave out the others. By default different leaves are refused.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b),(c,d));").robinson_foulds(Tree.from_newick("(((a,b),c),d);"))
    2.0
    >>> Tree.from_newick("((a,b),(c,d));").robinson_foulds(Tree.from_newick("((b,(a,x)),c);"), common=True)
    0.0
    """
    tree, other = matched_pair(tree, other, common=common)
    ours, theirs = _clades(tree, tree), _clades(tree, other)
    shared = len(np.intersect1d(ours, theirs, assume_unique=True))
    n_ours = int((tree.n_children >= 2).sum())
    n_theirs = int((other.n_children >= 2).sum())
    distance = n_ours + n_theirs - 2 * shared
    if not normalize:
        return float(distance)
    return distance / max(n_ours + n_theirs - 2, 1)


def _clades(reference: Tree, tree: Tree) -> Ints:
    """Clades of a tree that are one run of the reference's leaf order, as first * n_leaves + last.

    All clades of the reference are such runs, so these are all that can be shared (Day's algorithm).
    """
    n = reference.n_leaves
    low, high = compare_kernels.bound_positions(tree.parent, n, reference.leaf_start[:n])
    low, high = low[n:], high[n:]
    is_run = (high - low + 1 == tree.sizes[n:]) & (tree.n_children >= 2)
    return np.asarray(low[is_run] * n + high[is_run])


def triplet_distance(tree: Tree, other: Tree, *, normalize: bool = False, common: bool = False) -> float:
    """Number of leaf triples that the two trees resolve differently (their share with ``normalize=True``).

    A tree resolves a triple as ab|c if a and b meet below c, or leaves it unresolved (all three meet in one
    node); any branching is allowed. Exact, in O(n log^3 n) time and O(n) memory. Leaves are matched as in
    `robinson_foulds`.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b),(c,d));").triplet_distance(Tree.from_newick("(((a,b),c),d);"))
    2.0
    """
    tree, other = matched_pair(tree, other, common=common)
    n = tree.n_leaves
    if n < 3:
        return 0.0
    first = (tree.parent, tree.sizes, tree.leaf_order, tree.leaf_start, *tree.child_lists)
    lca_index = (other.neighbor_lca, other.range_maxima)
    second = (other.parent, other.sizes, other.leaf_start, *other.child_lists, *lca_index)
    differing = in_background(lambda: compare_kernels.count_differing_triples(first, second))
    n_triples = n * (n - 1) * (n - 2) // 6
    return differing / n_triples if normalize else float(differing)


def cophenetic(tree: Tree, i: ArrayLike | None = None, j: ArrayLike | None = None) -> Floats:
    """Height of the LCA of given pairs, or of all pairs in SciPy's condensed order.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((a:1,b:1):2,c:3);")
    >>> tree.cophenetic()
    array([1., 3., 3.])
    >>> tree.cophenetic(0, [1, 2])
    array([1., 3.])
    """
    if tree.height is None:
        raise ValueError("Cophenetic distances need a tree with heights: use tree.replace(height=...).")
    if i is not None and j is not None:
        heights: Floats = tree.height[tree.lca(np.asarray(i), np.asarray(j))]
        return heights
    if i is not None or j is not None:
        raise ValueError("cophenetic() takes both i and j, or neither for all pairs.")
    n = tree.n_leaves
    to_later = np.arange(n - 1, 0, -1)
    found = np.empty(n * (n - 1) // 2)
    for first, last in pieces_of(np.append(0, np.cumsum(to_later)), _PAIRS_PER_CALL):
        compare_kernels.condensed_lca_heights(
            first, last, tree.leaf_order, tree.neighbor_lca, tree.height, found
        )
    return found


def cophenetic_correlation(tree: Tree, other: Tree, *, common: bool = False) -> float:
    """Pearson correlation, over all pairs of leaves, of the heights at which they meet in two trees.

    Leaves are matched as in `robinson_foulds`. NaN where all pairs of one tree meet at one height.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree, other = Tree.from_newick("((a:1,b:1):2,c:3);"), Tree.from_newick("(c:5,(b:2,a:2):3);")
    >>> tree.cophenetic_correlation(other)
    1.0
    """
    tree, other = matched_pair(tree, other, common=common)
    n_pairs = tree.n_leaves * (tree.n_leaves - 1) // 2
    refuse_if_too_large(
        4 * 8 * n_pairs, "The heights of all pairs", "Compare tree.restrict(a sample of the leaves)."
    )
    ours, theirs = tree.cophenetic(), other.cophenetic()
    if n_pairs == 0 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return float("nan")
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    spread = np.sqrt(float(ours @ ours) * float(theirs @ theirs))
    return float(np.clip(ours @ theirs / spread, -1, 1))
