"""What must hold of every result, in plain Python: nothing here calls the code it checks."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp


class WrongResult(Exception):
    """A result that breaks a promise although no error was raised."""


def require(condition: Any, claim: str) -> None:
    """Raise `WrongResult` with the claim that does not hold."""
    if not condition:
        raise WrongResult(claim)


def valid_tree(tree: Any, n_leaves: int | None = None) -> None:
    """Leaves first, children before parents, one root and it comes last, no inner node without children.

    Heights, where there are any, are finite. A single leaf may be its own root.
    """
    parent = [int(p) for p in tree.parent]
    n = int(tree.n_leaves)
    require(n_leaves is None or n == n_leaves, f"the tree has {n} leaves instead of {n_leaves}")
    require(n >= 1 and (len(parent) > n or n == 1), "several leaves have an internal node above them")
    require(parent[-1] == -1 and parent.count(-1) == 1, "one root, the last node")
    require(all(p > node for node, p in enumerate(parent[:-1])), "children come before parents")
    require(all(n <= p < len(parent) for p in parent[:-1]), "parents are internal nodes")
    require(set(range(n, len(parent))) == set(parent[:-1]), "every internal node has a child")
    if tree.height is not None:
        heights = [float(h) for h in tree.height]
        require(all(math.isfinite(h) for h in heights), "heights are finite")
    require(not tree.parent.flags.writeable, "a tree cannot be written to")


def leaf_sets(tree: Any) -> list[frozenset[int]]:
    """Leaves below every node, by the definition."""
    below: list[set[int]] = [{node} if node < tree.n_leaves else set() for node in range(len(tree.parent))]
    for node, above in enumerate(tree.parent):
        if above >= 0:
            below[int(above)] |= below[node]
    return [frozenset(leaves) for leaves in below]


def meeting_size(sets: Sequence[frozenset[int]], i: int, j: int) -> int:
    """Number of leaves below the lowest node that holds both i and j."""
    return min(len(s) for s in sets[len(sets[-1]) :] if i in s and j in s)


def dasgupta(tree: Any, W: np.ndarray) -> float:
    """Sum over pairs of their similarity times the number of leaves below the node where they meet."""
    sets = leaf_sets(tree)
    n = int(tree.n_leaves)
    inner = sorted(sets[n:], key=len)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if W[i, j]:
                total += float(W[i, j]) * len(next(s for s in inner if i in s and j in s))
    return total


def close(found: float, expected: float, claim: str, tolerance: float = 1e-8) -> None:
    """The two numbers agree up to rounding."""
    bound = tolerance * max(abs(found), abs(expected)) + 1e-300
    require(abs(found - expected) <= bound, f"{claim}: {found!r} is not {expected!r}")


def labels(found: Any, n_points: int, n_clusters: int | None = None) -> None:
    """One label per point, numbered 0 to k - 1 without gaps; one point is one cluster whatever was asked."""
    n_clusters = 1 if n_points == 1 and n_clusters is not None else n_clusters
    found = np.asarray(found)
    require(found.shape == (n_points,), f"one label per point: {found.shape} for {n_points} points")
    require(np.issubdtype(found.dtype, np.integer), "labels are whole numbers")
    used = sorted({int(label) for label in found})
    require(used == list(range(len(used))), f"labels have no gaps: {used[:9]}")
    require(n_clusters is None or len(used) == n_clusters, f"{len(used)} clusters instead of {n_clusters}")


def clades(tree: Any, found: Any) -> None:
    """Every flat cluster is all the leaves below one node."""
    sets = set(leaf_sets(tree))
    for label in {int(x) for x in found}:
        members = frozenset(np.flatnonzero(np.asarray(found) == label).tolist())
        require(members in sets, "a cluster of a cut is the leaves of one node")


def links_kept(tree: Any, must: Sequence[Sequence[int]], cannot: Iterable[Sequence[int]]) -> None:
    """Points linked, also through others, are the leaves of one node; points kept apart meet at the root."""
    sets = leaf_sets(tree)
    group = {point: {point} for pair in must for point in pair}
    for a, b in must:
        joined = group[a] | group[b]
        group |= dict.fromkeys(joined, joined)
    for members in group.values():
        require(frozenset(members) in sets, f"linked points {sorted(members)} form one subtree")
    for a, b in cannot:
        require(meeting_size(sets, a, b) == tree.n_leaves, f"{a} and {b} are kept apart at the root")


def same_topology(first: Any, second: Any) -> None:
    """The same call gave the same tree."""
    same = first.n_leaves == second.n_leaves and set(leaf_sets(first)) == set(leaf_sets(second))
    require(same, "the same seed gives the same tree")


def frozen(value: Any) -> Any:
    """What is compared afterwards to see that an input did not change."""
    if isinstance(value, (list, tuple)):
        return type(value), [frozen(v) for v in value]
    if isinstance(value, dict):
        return [(k, frozen(v)) for k, v in value.items()]
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes() if value.dtype != object else repr(value)
    if sp.issparse(value):
        parts = ("data", "indices", "indptr", "offsets", "row", "col")
        held = [
            frozen(getattr(value, part))
            for part in parts
            if isinstance(getattr(value, part, None), np.ndarray)
        ]
        return value.format, value.shape, held or frozen(value.toarray())
    if hasattr(value, "to_numpy"):
        return list(value.index), frozen(value.to_numpy())
    return None


def unchanged(before: Any, value: Any) -> None:
    """The input still is what it was."""
    require(frozen(value) == before, "the input was changed in place")


def finite(X: np.ndarray | None) -> bool:
    """Whether numbers are known and finite."""
    return X is not None and bool(np.isfinite(X).all())


def copied(tree: Any) -> None:
    """A deep copy is the same tree and as read-only."""
    twin = copy.deepcopy(tree)
    require(list(twin.parent) == list(tree.parent), "a deep copy is the same tree")
    require(not twin.parent.flags.writeable, "a deep copy cannot be written to")
