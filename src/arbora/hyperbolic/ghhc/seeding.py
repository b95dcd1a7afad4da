"""Choosing the leaves of the initial hierarchy: random, farthest first, or k-means++ by Markov chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc.model import blocks

Seeding: TypeAlias = Literal["k-means++", "farthest", "random"]
Choose: TypeAlias = Callable[[AnyFloats, int, np.random.Generator], Ints]

# their proposals meet the earlier leaves in one product
CHAINS_AT_ONCE = 32


def random_leaves(points: AnyFloats, n_leaves: int, rng: np.random.Generator) -> Ints:
    """Rows drawn without replacement."""
    return rng.choice(len(points), size=n_leaves, replace=False)


def farthest_first(points: AnyFloats, n_leaves: int, rng: np.random.Generator) -> Ints:
    """Each next row is the farthest from those chosen (Gonzalez); O(n · n_leaves)."""
    chosen = np.empty(n_leaves, np.int64)
    chosen[0] = rng.integers(len(points))
    square = np.einsum("nd,nd->n", points, points)
    nearest = np.full(len(points), np.inf)
    for c in range(n_leaves):
        if c:
            chosen[c] = nearest.argmax()
        center = points[chosen[c]]
        np.minimum(nearest, square - 2.0 * (points @ center) + center @ center, out=nearest)
        # never twice, also among duplicates
        nearest[chosen[c]] = -np.inf
    return chosen


def kmeans_plus_plus(points: AnyFloats, n_leaves: int, rng: np.random.Generator, chain: int = 100) -> Ints:
    """Rows sampled as by k-means++, by the assumption-free Markov chains of Bachem et al. (2016).

    A chain walks over rows proposed half by their distance from the first leaf and half uniformly, accepting
    by the distance to the leaves chosen so far. The proposals do not depend on the leaves, so those of many
    chains meet the leaves chosen before them in one matrix product; only the leaves of the same round come
    one by one.
    """
    n_points = len(points)
    chosen = np.empty(n_leaves, np.int64)
    chosen[0] = rng.integers(n_points)
    away = _squared_distances(points, points[chosen[:1]])[:, 0].astype(np.float64)
    proposal = np.full(n_points, 1.0 / n_points)
    if away.sum() > 0:
        proposal = 0.5 * proposal + 0.5 * away / away.sum()
    cumulative = np.cumsum(proposal)
    done = 1
    while done < n_leaves:
        n_chains = min(CHAINS_AT_ONCE, n_leaves - done)
        drawn = np.searchsorted(cumulative, rng.random((n_chains, chain)) * cumulative[-1])
        drawn = np.minimum(drawn, n_points - 1)
        uniform = rng.random((n_chains, chain))
        states = points[drawn.ravel()]
        nearest = _nearest_squared(states, points[chosen[:done]]).reshape(n_chains, chain)
        for c in range(n_chains):
            leaf = _walk(drawn[c], nearest[c] / proposal[drawn[c]], uniform[c])
            chosen[done] = leaf
            done += 1
            if c + 1 < n_chains:
                fresh = _squared_distances(states[(c + 1) * chain :], points[leaf : leaf + 1])
                np.minimum(nearest[c + 1 :], fresh.reshape(-1, chain), out=nearest[c + 1 :])
    return _distinct(chosen, n_points, rng)


def _walk(states: Ints, weights: AnyFloats, uniform: AnyFloats) -> int:
    """Last state of a Metropolis–Hastings chain over independent proposals."""
    current = 0
    for step in range(1, len(states)):
        if weights[current] <= 0 or weights[step] > weights[current] * uniform[step]:
            current = step
    return int(states[current])


def _squared_distances(points: AnyFloats, centers: AnyFloats) -> AnyFloats:
    square = np.einsum("nd,nd->n", points, points)[:, None] + np.einsum("nd,nd->n", centers, centers)
    square -= 2.0 * (points @ centers.T)
    return np.asarray(np.maximum(square, 0.0, out=square))


def _nearest_squared(points: AnyFloats, centers: AnyFloats) -> AnyFloats:
    out = np.empty(len(points), points.dtype)
    for part in blocks(len(points), len(centers)):
        out[part] = _squared_distances(points[part], centers).min(axis=1)
    return out


def _distinct(chosen: Ints, n_points: int, rng: np.random.Generator) -> Ints:
    """Replace repeated rows (chains over duplicates can meet) by random rows not yet chosen."""
    first = np.unique(chosen, return_index=True)[1]
    repeated = np.setdiff1d(np.arange(len(chosen)), first)
    if len(repeated):
        free = np.setdiff1d(np.arange(n_points), chosen)
        chosen[repeated] = rng.choice(free, size=len(repeated), replace=False)
    return chosen


SEEDINGS: dict[Seeding, Choose] = {
    "k-means++": kmeans_plus_plus,
    "farthest": farthest_first,
    "random": random_leaves,
}


def move_to_means(points: AnyFloats, leaves: AnyFloats, n_sweeps: int) -> tuple[AnyFloats, Ints]:
    """Lloyd's sweeps: leaves move to the mean of the points nearest to them; also the nearest leaf of each
    point.

    A leaf without points stays where it is.
    """
    leaves = leaves.copy()
    nearest = _nearest_leaf(points, leaves)
    for _ in range(n_sweeps):
        mean, count = group_means(points, nearest, len(leaves))
        leaves[count > 0] = mean[count > 0]
        before, nearest = nearest, _nearest_leaf(points, leaves)
        if np.array_equal(before, nearest):
            break
    return leaves, nearest


def group_means(points: AnyFloats, group: Ints, n_groups: int) -> tuple[AnyFloats, Ints]:
    """Mean of the points of each group (0 where it has none) and their number, by one sparse product."""
    count = np.bincount(group, minlength=n_groups)
    order = np.argsort(group, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(count)])
    member = csr_array((np.ones(len(group), points.dtype), order, offsets), shape=(n_groups, len(points)))
    return (member @ points) / np.maximum(count, 1).astype(points.dtype)[:, None], count


def _nearest_leaf(points: AnyFloats, leaves: AnyFloats) -> Ints:
    half = 0.5 * np.einsum("nd,nd->n", leaves, leaves)
    nearest = np.empty(len(points), np.int64)
    for part in blocks(len(points), len(leaves)):
        nearest[part] = (half - points[part] @ leaves.T).argmin(axis=1)
    return nearest
