"""Words that describe the internal nodes of a tree over documents (FPH, Table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.types import Floats, Ints
from arbora.tree import Tree
from arbora.tree.word_scores import word_scores


def topic_words(
    tree: Tree,
    counts: Any,
    words: Sequence[str] | None = None,
    *,
    n_words: int = 3,
    max_depth: int = 2,
    distinct: bool = True,
) -> dict[int, list[Any]]:
    """The most frequent words below each internal node of the upper levels.

    A word shown at a node is left out below it, so that lower nodes show what is special about them.

    Parameters
    ----------
    tree : Tree
        Over the documents.
    counts : sparse matrix or array, shape (n_documents, n_words)
        How often each word occurs (or whether it does).
    words : sequence of str, optional
        Names of the columns; without it, columns are returned.
    n_words : int
        Words per node.
    max_depth : int
        Nodes down to this depth (the root has 0).
    distinct : bool
        Rank words by how much more often they occur below the node than below its siblings, as `Tree.keywords` does,
        rather than by frequency alone. The root always uses frequency.

    Returns
    -------
    dict of int to list
        Node of the tree to its words, the root first.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> counts = [[3, 2, 0], [3, 1, 0], [3, 0, 2], [3, 0, 1]]
    >>> topic_words(tree, counts, ["the", "cat", "dog"], n_words=1)
    {6: ['the'], 5: ['dog'], 4: ['cat']}
    """
    counts = sp.csr_array(counts, dtype=np.float64)
    if counts.shape[0] != tree.n_leaves:
        raise ValueError(f"counts must have one row per leaf, {tree.n_leaves}. Got shape {counts.shape}.")
    if words is not None and len(words) != counts.shape[1]:
        raise ValueError(f"words must name the {counts.shape[1]} columns of counts. Got {len(words)} words.")
    shown: dict[int, Ints] = {}
    excluded: dict[int, set[int]] = {}
    sums: dict[int, Floats] = {}
    # parents before children
    for node in range(tree.root, tree.n_leaves - 1, -1):
        if tree.depths[node] > max_depth:
            continue
        above = int(tree.parent[node])
        sums[node] = np.asarray(counts[tree.leaves(node)].sum(axis=0)).ravel()
        hidden = excluded.get(above, set()) | set(shown.get(above, np.zeros(0, np.int64)).tolist())
        beside = (sums[above], int(tree.sizes[above])) if distinct and above >= 0 else ()
        value = word_scores(sums[node], int(tree.sizes[node]), *beside)
        value[list(hidden)] = -np.inf
        order = np.argsort(-value, kind="stable")[:n_words]
        shown[node] = order[value[order] > 0]
        excluded[node] = hidden
    return {node: [int(c) if words is None else words[c] for c in top] for node, top in shown.items()}
