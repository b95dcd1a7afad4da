"""What several trees over the same leaves agree on: supports, and the tree of the clades that most of them have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.params import check_real
from arbora._base.types import Floats, Ints
from arbora.tree._tree import Tree
from arbora.tree.matching import matched_pair


def consensus(trees: Sequence[Tree], *, min_share: float = 0.5) -> Tree:
    """The tree of the clades that most trees have, each with the share of trees that have it.

    Parameters
    ----------
    trees : sequence of Tree
        Over the same leaves, matched by name (by number where they have no names): replicates of a bootstrap,
        samples of a model (`FPH.sample_trees`), the trees of a file (`Tree.load_all`).
    min_share : float, default=0.5
        Clades in more than this share of the trees are kept, at least a half: only then do all of them fit into one
        tree (majority rule). 1 keeps those that every tree has (strict consensus).

    Returns
    -------
    Tree
        Leaves numbered and named as in the first tree; nodes inside which the trees do not agree have several
        children. `support` is the share of trees with the clade, `height` its mean height in those trees, where all
        trees have heights (raised to that of its children where they are higher).

    Examples
    --------
    >>> from arbora import Tree
    >>> trees = [Tree.from_newick(text) for text in ("((a,b),(c,d));", "((a,b),(d,c));", "(((a,b),c),d);")]
    >>> Tree.consensus(trees).to_newick(support=True)
    '((a,b)1.0,(c,d)0.6666666666666666)1.0;'
    >>> Tree.consensus(trees, min_share=1).to_newick()
    '((a,b),c,d);'
    """
    chosen = list(trees)
    if not chosen or not all(isinstance(tree, Tree) for tree in chosen):
        raise TypeError(f"trees must be a sequence of at least one Tree. Got {trees!r:.60}.")
    min_share = check_real(min_share, "min_share", least=0.5)
    if min_share > 1:
        raise ValueError(f"min_share must lie in [0.5, 1]. Got {min_share!r}.")
    first = chosen[0]
    matched = [first] + [matched_pair(first, other)[1] for other in chosen[1:]]
    clades = _counted(matched)
    enough = clades.n_trees >= len(matched) if min_share == 1 else clades.n_trees > min_share * len(matched)
    return _tree_of(first, matched, clades, np.flatnonzero(enough))


def support_of_nodes(tree: Tree, replicates: Sequence[Tree]) -> Floats:
    """Share of replicates that also form exactly the group of each node. Leaves and the root are in every tree."""
    code = _codes(tree.n_leaves)
    wanted = clade_keys(tree, code)
    hits = np.zeros(tree.n_nodes)
    for replicate in replicates:
        hits += np.isin(wanted, clade_keys(replicate, code))
    return hits / max(1, len(replicates))


def clade_keys(tree: Tree, code: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number per node that depends only on the set of leaves below (random codes, combined by exclusive or)."""
    key = np.concatenate([code, np.zeros(tree.n_internal, np.uint64)])
    for v in range(tree.n_nodes - 1):
        key[tree.parent[v]] ^= key[v]
    return key


class _Clades(NamedTuple):
    """Clades of several trees: how many trees have each, the sum of its heights, and where it was first met.

    `of_node` says which clade each internal node of each tree is.
    """

    n_trees: Ints
    height: Floats
    tree: Ints
    node: Ints
    of_node: list[Ints]


def _codes(n_leaves: int) -> NDArray[np.uint64]:
    # two sets of leaves have the same code with probability 2**-64
    return np.random.default_rng(0).integers(0, 2**64, n_leaves, dtype=np.uint64)


def _counted(trees: list[Tree]) -> _Clades:
    n, code = trees[0].n_leaves, _codes(trees[0].n_leaves)
    keys_of = [clade_keys(tree, code)[n:] for tree in trees]
    keys, height, of_tree, of_node = [], [], [], []
    for number, tree in enumerate(trees):
        # a node with one child has the clade of that child: it counts once, at the height of the upper one
        own, last = np.unique(keys_of[number][::-1], return_index=True)
        nodes = tree.root - last
        keys.append(own)
        of_node.append(nodes)
        of_tree.append(np.full(len(own), number))
        height.append(np.zeros(len(own)) if tree.height is None else tree.height[nodes])
    known, met, which, n_trees = np.unique(
        np.concatenate(keys), return_index=True, return_inverse=True, return_counts=True
    )
    total = np.bincount(which, weights=np.concatenate(height), minlength=len(met))
    return _Clades(
        n_trees,
        total.astype(np.float64),
        np.concatenate(of_tree)[met],
        np.concatenate(of_node)[met],
        [np.searchsorted(known, keys) for keys in keys_of],
    )


def _tree_of(first: Tree, trees: list[Tree], clades: _Clades, kept: Ints) -> Tree:
    """Each clade below the smallest that holds it: some tree has both, and there the one is next above the other."""
    n = first.n_leaves
    size = np.array([trees[clades.tree[k]].sizes[clades.node[k]] for k in kept])
    # an internal node over one leaf says nothing, unless it is the root
    says = (size > 1) | (n == 1)
    kept = kept[says][np.argsort(size[says], kind="stable")]
    number = np.full(len(clades.n_trees), -1, dtype=np.int64)
    number[kept] = np.arange(n, n + len(kept))
    root = n + len(kept) - 1
    parent = np.full(n + len(kept), root, dtype=np.int64)
    for tree, clade_of_node in zip(trees, clades.of_node):
        own = np.concatenate([np.arange(n), number[clade_of_node]])
        above = _next_above(tree, own)
        is_known = (own >= 0) & (above >= 0)
        # numbers grow with the size of clades
        np.minimum.at(parent, own[is_known], above[is_known])
    parent[root] = -1
    height = None
    if all(tree.height is not None for tree in trees):
        of_leaves = np.mean([tree.height[:n] for tree in trees if tree.height is not None], axis=0)
        height = np.concatenate([of_leaves, clades.height[kept] / clades.n_trees[kept]])
        for v in range(len(parent) - 1):
            height[parent[v]] = max(height[parent[v]], height[v])
    support = np.concatenate([np.ones(n), clades.n_trees[kept] / len(trees)])
    name = None if first.name is None else [*first.name[:n], *[""] * len(kept)]
    return Tree(parent, n, height=height, support=support, name=name)


def _next_above(tree: Tree, own: Ints) -> Ints:
    """The next kept clade strictly above that of each node, -1 for none; `own` numbers kept clades, -1 for others."""
    number, parent = own.tolist(), tree.parent.tolist()
    above = [-1] * tree.n_nodes
    for v in range(tree.n_nodes - 2, -1, -1):
        p = parent[v]
        above[v] = number[p] if number[p] not in (-1, number[v]) else above[p]
    return np.array(above, dtype=np.int64)
