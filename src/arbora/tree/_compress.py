"""Fewer internal nodes: contract those whose contraction loses least."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.params import check_choice, check_whole
from arbora._base.types import Floats
from arbora.tree import edit_kernels
from arbora.tree._tree import Tree
from arbora.tree.parting import joining_heights
from arbora.tree.pass_kernels import meeting_mass
from arbora.tree.surgery import keep_internal


def compress(tree: Tree, n_internal: int, similarity: Any = None, objective: str = "dasgupta") -> Tree:
    """The tree with at most `n_internal` internal nodes, contracting the cheapest one again and again.

    Contracting node v hands its children to its parent p. Write cross(v) for the similarity of the pairs that
    meet at v.

    Parameters
    ----------
    tree : Tree
    n_internal : int
        How many internal nodes may remain; a tree that has no more is returned as it is.
    similarity : similarity, optional
        With `cross` (any kind), and `degrees` (a graph) for ``objective="tsd"``. Without one, all pairs count
        alike and nodes are valued by their height: the total change of cophenetic distances is kept small
        (the number of leaves serves where the tree has no heights).
    objective : {"dasgupta", "tsd"}
        - ``"dasgupta"``: cross(v) * (leaves below p - leaves below v) is added to the Dasgupta cost.
        - ``"tsd"``: the tree sampling divergence, the sum of p log(p / q) over internal nodes, falls, because
          p (share of the edge weight that meets at a node) and q (the same for pairs drawn by degree; a leaf
          drawn twice meets at its parent, as in `arbora.metrics.tree_sampling_divergence`) add up in the
          merged node.

    Returns
    -------
    Tree
        Over the same leaves; the nodes that remain keep height, support and name.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("(((a:1,b:1):1,c:2):7,(d:3,e:3):6);").compress(3).to_newick(lengths=False)
    '((a,b,c),(d,e));'
    """
    n_internal = check_whole(n_internal, "n_internal")
    check_choice(objective, "objective", ("dasgupta", "tsd"))
    _check_similarity(tree, similarity, objective)
    if tree.n_internal <= n_internal:
        return tree
    if objective == "tsd":
        weight, level, code = *_sampling_shares(tree, similarity), edit_kernels.SAMPLING_DIVERGENCE
    else:
        weight, level, code = *_pair_weights(tree, similarity), edit_kernels.DASGUPTA
    keep = edit_kernels.contract_greedily(tree.parent, tree.n_leaves, weight, level, code, n_internal)
    return keep_internal(tree, keep)


def _check_similarity(tree: Tree, similarity: Any, objective: str) -> None:
    if similarity is None and objective == "tsd":
        raise ValueError("objective='tsd' needs similarity=, a graph: see arbora.similarity.graph.")
    if similarity is None:
        return
    wanted = ["cross", "degrees"] if objective == "tsd" else ["cross"]
    for attribute in wanted:
        if not hasattr(similarity, attribute):
            raise TypeError(
                f"objective={objective!r} needs a similarity with {attribute!r} (see arbora.similarity). "
                f"Got {type(similarity).__name__}."
            )
    n_points = getattr(similarity, "n_points", tree.n_leaves)
    if n_points != tree.n_leaves:
        raise ValueError(f"similarity has {n_points} points, the tree {tree.n_leaves} leaves.")


def _pair_weights(tree: Tree, similarity: Any) -> tuple[Floats, Floats]:
    """Per node: weight of the pairs that meet there, and what each unit of it costs."""
    if similarity is not None:
        weight = np.zeros(tree.n_nodes)
        weight[tree.n_leaves :] = similarity.cross(tree)
        return weight, tree.sizes.astype(np.float64)
    level = joining_heights(tree)
    level[: tree.n_leaves] = 0.0
    pairs = meeting_mass(tree.parent, np.ones(tree.n_leaves), np.zeros(tree.n_leaves)) / 2
    return pairs, np.where(np.isfinite(level), level, 0.0)


def _sampling_shares(tree: Tree, graph: Any) -> tuple[Floats, Floats]:
    """Per node: p from edges, q from degrees. Constant factors do not change which loss is least."""
    p = np.zeros(tree.n_nodes)
    p[tree.n_leaves :] = graph.cross(tree)
    degrees = np.asarray(graph.degrees, dtype=np.float64)
    # a graph without edges has no shares to lose
    tiny = np.finfo(np.float64).tiny
    law = degrees / max(degrees.sum(), tiny)
    return p / max(p.sum(), tiny), meeting_mass(tree.parent, law, law**2)
