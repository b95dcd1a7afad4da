"""Must-link and cannot-link: points that form one subtree, and points that the root parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from arbora.errors import ConstraintError
from arbora.tree import Tree


def check_links(pairs: Sequence[tuple[int, int]] | None, argument: str, tree: Tree) -> np.ndarray:
    """Pairs of leaves as an int64 array of shape (k, 2)."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{argument} must be pairs of leaves. Got shape {array.shape}, dtype {array.dtype}.")
    if array.min() < 0 or array.max() >= tree.n_leaves:
        raise ValueError(
            f"{argument} must name leaves in [0, {tree.n_leaves}). Got {array.min()}..{array.max()}."
        )
    if argument == "cannot_link" and (array[:, 0] == array[:, 1]).any():
        raise ConstraintError(
            f"cannot_link parts leaf {array[array[:, 0] == array[:, 1]][0, 0]} from itself."
        )
    return array.astype(np.int64)


def _no_pairs() -> np.ndarray:
    return np.empty((0, 2), dtype=np.int64)


@dataclass
class Constraints:
    """Pairs that must be together and pairs that must be apart."""

    must_link: np.ndarray = field(default_factory=_no_pairs)
    cannot_link: np.ndarray = field(default_factory=_no_pairs)

    def __bool__(self) -> bool:
        return len(self.must_link) > 0 or len(self.cannot_link) > 0

    def linked_groups(self, n_leaves: int) -> list[np.ndarray]:
        """Groups of two or more leaves joined by must-links, ascending; infeasible sets are named."""
        if len(self.must_link) == 0:
            return []
        component = self._components(n_leaves)
        clash = np.flatnonzero(component[self.cannot_link[:, 0]] == component[self.cannot_link[:, 1]])
        if len(clash):
            i, j = self.cannot_link[clash[0]]
            group = np.flatnonzero(component == component[i])
            raise ConstraintError(
                f"Leaves {i} and {j} cannot be linked, but must_link joins them: group "
                f"{group[:10].tolist()}{' ...' if len(group) > 10 else ''}."
            )
        order = np.argsort(component, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
        return [np.sort(group) for group in groups if len(group) > 1]

    def between(self, groups: list[np.ndarray], n_leaves: int) -> np.ndarray:
        """Cannot-links as pairs of contracted points: groups first, then the other leaves, ascending."""
        single = np.setdiff1d(np.arange(n_leaves), np.concatenate(groups))
        number = np.empty(n_leaves, dtype=np.int64)
        for label, group in enumerate(groups):
            number[group] = label
        number[single] = len(groups) + np.arange(len(single))
        return number[self.cannot_link]

    def _components(self, n_leaves: int) -> np.ndarray:
        links = sp.csr_array(
            (np.ones(len(self.must_link)), (self.must_link[:, 0], self.must_link[:, 1])),
            shape=(n_leaves, n_leaves),
        )
        return connected_components(links, directed=False)[1]

    def sides(self, tree: Tree, engine: Any) -> list[np.ndarray]:
        """Leaves of each child of the root: no side holds two leaves that cannot be linked.

        The largest subtrees without a conflict stay whole. Those in conflict with most others choose first, and
        each takes the side it is most similar to among those allowed; a new side opens only when none is.
        """
        nodes = _conflict_free_nodes(tree, self.cannot_link)
        labels = np.empty(tree.n_leaves, dtype=np.int64)
        for label, node in enumerate(nodes):
            labels[tree.leaves(node)] = label
        clashes: list[set[int]] = [set() for _ in nodes]
        for i, j in labels[self.cannot_link]:
            clashes[i].add(int(j))
            clashes[j].add(int(i))
        side_of = _color(clashes, _similarity_between(engine.contract(labels, len(nodes))), tree.sizes[nodes])
        return [np.flatnonzero(side_of[labels] == side) for side in range(side_of.max() + 1)]


def _conflict_free_nodes(tree: Tree, cannot_link: np.ndarray) -> np.ndarray:
    """The highest nodes below which no two leaves are in conflict."""
    has_conflict = np.zeros(tree.n_nodes, dtype=bool)
    has_conflict[tree.lca(cannot_link[:, 0], cannot_link[:, 1])] = True
    for node in range(tree.n_leaves, tree.n_nodes - 1):
        has_conflict[tree.parent[node]] |= has_conflict[node]
    above = np.where(tree.parent >= 0, has_conflict[tree.parent], True)
    return np.flatnonzero(~has_conflict & above)


def _similarity_between(engine: Any) -> np.ndarray:
    """Mean similarity of all pairs of contracted points."""
    if hasattr(engine, "graph"):
        between = engine.graph.csr.toarray()
    else:
        between = engine.similarity.features @ engine.similarity.features.T
    return between / np.outer(engine.leaf_size, engine.leaf_size)


def _color(clashes: list[set[int]], similarity: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    side_of = np.full(len(clashes), -1, dtype=np.int64)
    n_sides = 2
    for piece in sorted(range(len(clashes)), key=lambda k: (-len(clashes[k]), -sizes[k], k)):
        forbidden = {int(side_of[other]) for other in clashes[piece]}
        allowed = [side for side in range(n_sides) if side not in forbidden]
        if not allowed:
            n_sides += 1
            allowed = [n_sides - 1]
        liking = [_mean_similarity(similarity[piece], side_of == side, sizes) for side in allowed]
        side_of[piece] = allowed[int(np.argmax(liking))]
    return np.unique(side_of, return_inverse=True)[1]


def _mean_similarity(row: np.ndarray, members: np.ndarray, sizes: np.ndarray) -> float:
    weight = sizes[members].sum()
    return float(row[members] @ sizes[members] / weight) if weight else 0.0
