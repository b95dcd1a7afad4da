"""Must-link and cannot-link: points that form one subtree, and points that the root separates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from arbora._base.types import Bools, Floats, Ints
from arbora.errors import ConstraintError
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.search.engines import Engine

_SHOWN = 10


def check_links(pairs: Sequence[tuple[int, int]] | None, argument: str, n_leaves: int) -> Ints:
    """Pairs of leaves as an int64 array of shape (k, 2)."""
    array = _no_pairs() if pairs is None else np.asarray(pairs)
    if array.size == 0:
        return _no_pairs()
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{argument} must be pairs of leaves. Got shape {array.shape}, dtype {array.dtype}.")
    if array.min() < 0 or array.max() >= n_leaves:
        raise ValueError(f"{argument} must name leaves in [0, {n_leaves}). Got {array.min()}..{array.max()}.")
    if argument == "cannot_link" and (array[:, 0] == array[:, 1]).any():
        raise ConstraintError(
            f"cannot_link separates leaf {array[array[:, 0] == array[:, 1]][0, 0]} from itself."
        )
    return array.astype(np.int64)


def _no_pairs() -> Ints:
    return np.empty((0, 2), dtype=np.int64)


def _named(leaves: Ints) -> str:
    return f"{leaves[:_SHOWN].tolist()}{' ...' if len(leaves) > _SHOWN else ''}"


@dataclass(frozen=True)
class Links:
    """Groups of two or more points that must form one subtree each, and pairs that must meet at the root only."""

    groups: list[Ints] = field(default_factory=list)
    cannot_link: Ints = field(default_factory=_no_pairs)

    @classmethod
    def from_pairs(cls, must_link: Ints, cannot_link: Ints, n_leaves: int) -> Links:
        """Links as given: pairs that must be together, also through others, and pairs that must be apart."""
        if len(must_link) == 0:
            return cls([], cannot_link)
        member = sp.csr_array(
            (np.ones(len(must_link)), (must_link[:, 0], must_link[:, 1])), shape=(n_leaves, n_leaves)
        )
        component = connected_components(member, directed=False)[1]
        clash = np.flatnonzero(component[cannot_link[:, 0]] == component[cannot_link[:, 1]])
        if len(clash):
            i, j = cannot_link[clash[0]]
            group = np.flatnonzero(component == component[i])
            raise ConstraintError(
                f"Leaves {i} and {j} cannot be linked, but must_link joins them: group {_named(group)}."
            )
        order = np.argsort(component, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
        return cls([part for part in parts if len(part) > 1], cannot_link)

    def __bool__(self) -> bool:
        return len(self.groups) > 0 or len(self.cannot_link) > 0

    @property
    def n_rounds(self) -> int:
        """How often each point is searched, at most: inside its group, between groups, on its side of the root."""
        return 1 + bool(self.groups) + (len(self.cannot_link) > 0)

    def are_met_by(self, tree: Tree) -> bool:
        """Whether every group is a subtree and every pair to be kept apart meets at the root."""
        are_subtrees = all(tree.sizes[lowest_above(tree, group)] == len(group) for group in self.groups)
        return are_subtrees and bool((_size_where_they_meet(tree, self.cannot_link) == tree.n_leaves).all())

    def inside(self, leaves: Ints) -> Links:
        """The links within some of the leaves, sorted, by their positions among them."""
        is_inside = np.zeros(leaves[-1] + 1, dtype=bool)
        is_inside[leaves] = True

        def are_inside(some: Ints) -> bool:
            return bool((some < len(is_inside)).all() and is_inside[some].all())

        groups = [np.searchsorted(leaves, group) for group in self.groups if are_inside(group)]
        pairs = [np.searchsorted(leaves, pair) for pair in self.cannot_link if are_inside(pair)]
        return Links(groups, np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def below_top(self, tree: Tree, label: Ints, keep_top: int) -> None:
        """Refuse links that no search below a kept top can satisfy; `label` is the part of each leaf."""
        for group in self.groups:
            if (label[group] == label[group[0]]).all():
                continue
            if tree.sizes[lowest_above(tree, group)] != len(group):
                raise ConstraintError(
                    f"must_link joins leaves {_named(group)}, which keep_top={keep_top} holds in different parts. "
                    "Link leaves of one part, or do not keep the top."
                )
        size = _size_where_they_meet(tree, self.cannot_link)
        is_fixed = label[self.cannot_link[:, 0]] != label[self.cannot_link[:, 1]]
        meets_low = np.where(is_fixed, size < tree.n_leaves, label.max(initial=0) > 0)
        if meets_low.any():
            i, j = self.cannot_link[np.flatnonzero(meets_low)[0]]
            raise ConstraintError(
                f"Leaves {i} and {j} cannot be linked, but keep_top={keep_top} lets them meet below the root."
            )

    def around(self, tree: Tree, kept: list[Ints], label: Ints) -> Links:
        """The links between kept subtrees and single leaves, `label` by label; refused where they cut a subtree.

        Groups inside a kept subtree must be subtrees of it, for nothing in there changes.
        """
        size = np.bincount(label)
        groups = []
        for group in self.groups:
            touched = np.unique(label[group])
            if len(touched) > 1 and size[touched].sum() == len(group):
                groups.append(touched)
            elif len(touched) > 1 or tree.sizes[lowest_above(tree, group)] != len(group):
                whole = kept[int(touched[size[touched] > 1][0])]
                raise ConstraintError(
                    f"must_link joins leaves {_named(group)} to one subtree, which keep_subtrees forbids: "
                    f"leaves {_named(whole)} stay as they are."
                )
        pairs = label[self.cannot_link]
        is_inside = pairs[:, 0] == pairs[:, 1]
        size_of_meeting = _size_where_they_meet(tree, self.cannot_link)
        if (is_inside & (size_of_meeting < tree.n_leaves)).any():
            i, j = self.cannot_link[np.flatnonzero(is_inside & (size_of_meeting < tree.n_leaves))[0]]
            raise ConstraintError(
                f"Leaves {i} and {j} cannot be linked, but keep_subtrees keeps them in one subtree."
            )
        return Links(groups, pairs[~is_inside])

    def sides(self, tree: Tree, engine: Engine) -> list[Ints]:
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
        side_of = _color(clashes, engine.contract(labels, len(nodes)), tree.sizes[nodes])
        return [np.flatnonzero(side_of[labels] == side) for side in range(side_of.max() + 1)]


def lowest_above(tree: Tree, leaves: Ints) -> int:
    """The lowest node above all of these leaves."""
    return int(np.max(tree.lca(np.full(len(leaves), leaves[0]), leaves)))


def _size_where_they_meet(tree: Tree, pairs: Ints) -> Ints:
    if len(pairs) == 0:
        return np.empty(0, dtype=np.int64)
    return tree.sizes[tree.lca(pairs[:, 0], pairs[:, 1])]


def _conflict_free_nodes(tree: Tree, cannot_link: Ints) -> Ints:
    """The highest nodes below which no two leaves are in conflict."""
    has_conflict = np.zeros(tree.n_nodes, dtype=bool)
    has_conflict[tree.lca(cannot_link[:, 0], cannot_link[:, 1])] = True
    for node in range(tree.n_leaves, tree.n_nodes - 1):
        has_conflict[tree.parent[node]] |= has_conflict[node]
    above = np.where(tree.parent >= 0, has_conflict[tree.parent], True)
    return np.flatnonzero(~has_conflict & above)


def _color(clashes: list[set[int]], engine: Engine, sizes: Ints) -> Ints:
    """A side for each piece, different for pieces that clash; of those allowed, the most similar one."""
    side_of = np.full(len(clashes), -1, dtype=np.int64)
    n_sides = 2
    for piece in sorted(range(len(clashes)), key=lambda k: (-len(clashes[k]), -int(sizes[k]), k)):
        forbidden = {int(side_of[other]) for other in clashes[piece]}
        allowed = [side for side in range(n_sides) if side not in forbidden]
        if not allowed:
            n_sides += 1
            allowed = [n_sides - 1]
        row = engine.similarity_to(piece)
        attraction = [_mean_similarity(row, side_of == side, sizes) for side in allowed]
        side_of[piece] = allowed[int(np.argmax(attraction))]
    return np.unique(side_of, return_inverse=True)[1]


def _mean_similarity(row: Floats, members: Bools, sizes: Ints) -> float:
    weight = sizes[members].sum()
    return float(row[members].sum() / weight) if weight else 0.0
