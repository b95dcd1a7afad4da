"""How alike classes are in the mean logits of each other's points, and the tree refined by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.memory import refuse_if_too_large
from arbora._base.types import Floats, Ints
from arbora.logits._protocol import ClassTotals
from arbora.tree import Tree

_NEIGHBORS = 20


def class_affinity(class_sums: Floats, counts: Ints) -> Floats:
    """Symmetric standardized affinity of classes: float64[n_classes, n_classes], NaN-free.

    Entry (a, b) averages the mean centered logit of b over the points of a and that of a over the points of b; a class
    without points has only the other direction. Logits average like log probabilities, so every point counts, not just
    those that are nearly confused. Pairs have mean 0 and variance 1.
    """
    n = len(counts)
    refuse_if_too_large(64 * n * n, f"The affinities of {n} classes", "Use refine=False.")
    has_points = counts > 0
    mean = class_sums / np.maximum(counts, 1)[:, None]
    weight = has_points.astype(np.float64)[:, None] + np.zeros(n)
    both = (mean * weight + (mean * weight).T) / np.maximum(weight + weight.T, 1.0)
    off = ~np.eye(n, dtype=bool)
    known = off & (weight + weight.T > 0)
    if not known.any():
        return np.zeros((n, n))
    both[~known & off] = both[known].min()
    spread = both[off].std()
    affinity: Floats = (both - both[off].mean()) / (spread if spread > 0 else 1.0)
    np.fill_diagonal(affinity, 0.0)
    return affinity


def affinity_graph(affinity: Floats, n_neighbors: int = _NEIGHBORS) -> sp.csr_array:
    """Graph of each class's nearest classes with weights exp(affinity)."""
    n = len(affinity)
    m = min(n_neighbors, n - 1)
    masked = affinity.copy()
    np.fill_diagonal(masked, -np.inf)
    near = np.argpartition(-masked, m - 1, axis=1)[:, :m]
    rows = np.repeat(np.arange(n), m)
    weight = np.exp(masked[rows, near.ravel()])
    directed = sp.csr_array((weight, (rows, near.ravel())), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


def refine_tree(tree: Tree, affinity: Floats, options: Mapping[str, Any]) -> Tree:
    """The tree with Dasgupta's cost on the affinity graph lowered as far as moves of subtrees can."""
    from arbora.search import refine
    from arbora.similarity import graph

    if tree.n_leaves < 3:
        return tree
    bare = tree.replace(height=None, support=None)
    return refine(bare, graph(affinity_graph(affinity)), **{"random_state": 0, **options}).replace(
        height=None
    )


def heights_from_scores(tree: Tree, class_score: Floats) -> Floats:
    """log(1 + score of the weaker child), never below a child's height: the merging order of Algorithm 1."""
    score = np.concatenate([class_score, np.zeros(tree.n_internal)])
    height = np.zeros(tree.n_nodes)
    for v in range(tree.n_leaves, tree.n_nodes):
        children = tree.children(v)
        score[v] = score[children].sum()
        height[v] = max(np.log1p(score[children].min()), height[children].max())
    return height


def class_scores(assignment: ClassTotals, weights: Floats | None = None) -> Floats:
    """Mean probability of the points of each class, 0 without points."""
    sums, counts = assignment.confidence_sums(weights)
    return np.divide(sums, counts, out=np.zeros(assignment.n_classes), where=counts > 0)
