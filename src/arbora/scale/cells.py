"""Cells of a graph in shards: clusters of bounded size, found by rounds over the shards.

In every round each cluster names the neighbor that it is most alike, and the two are joined where both together stay
small enough. Then edges between the new clusters are summed. Shards give the largest value per cluster, and exact sums
per pair of clusters: neither depends on which shard an edge came in. Only numbers per cluster come to the coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.distributed import Workers, sum_as_tree
from arbora._base.exact_sums import in_levels, joined
from arbora._base.types import Floats, Ints
from arbora.scale._cell_kernels import join_in_order
from arbora.similarity import GraphSimilarity
from arbora.similarity.sharded import ShardedGraph
from arbora.similarity.shards import Edges, bucket_of, mixed

# A round that joins less of the clusters is helped by joining those with a neighbor in common.
_FEW_JOINED = 0.1
# Every bucket sends to every other in each round: as links become fewer, so do buckets.
_LINKS_OF_A_BUCKET = 2_000_000
# Rounds end where they join less than this share of the clusters.
_HARDLY_ANY = 0.01


class Links(NamedTuple):
    """Edges between clusters, each in one place: ``low < high``, and the sum of their weights in exact levels."""

    low: Ints
    high: Ints
    levels: Floats

    @property
    def keys(self) -> NDArray[np.uint64]:
        """One number per pair of clusters."""
        return Edges(self.low, self.high, self.levels[0]).keys


class Choice(NamedTuple):
    """The neighbor that each of some clusters is most alike; ties go to the pair with the larger mixed key."""

    cluster: Ints
    neighbor: Ints
    value: Floats
    tie: NDArray[np.uint64]


class Cells(NamedTuple):
    """Clusters of bounded weight, and the graph between them.

    Attributes
    ----------
    of_node : ndarray of int64
    weight : ndarray of float64, shape (n_cells,)
    graph : csr_array of float64
    """

    of_node: Ints
    weight: Floats
    graph: sp.csr_array


def find_cells(
    workers: Workers,
    delayed: Callable[..., Any],
    buckets: Sequence[Any],
    weight: Floats,
    by: Floats,
    *,
    most: float,
    target: int,
) -> Cells:
    """Cells of a graph whose edges are in buckets (delayed `Edges` without loops, every edge in one bucket only).

    Parameters
    ----------
    weight : ndarray of float64, shape (n_points,)
        What each node counts for.
    by : ndarray of float64
        What rounds weights for exact sums.
    most : float
        Weight of a cell, at most; single nodes may be heavier.
    target : int
        Rounds end with this many cells.
    """
    of_node: Ints = np.arange(len(weight))
    links = workers.persist([delayed(links_of)(bucket, by) for bucket in buckets])
    while len(weight) > target:
        shared = delayed(weight, traverse=False)
        choices = [delayed(choose_neighbors)(one, shared) for one in links]
        (choice,) = workers.gather([sum_as_tree(choices, best_choices)])
        label = joined_clusters(choice, weight, most, target)
        n_before, weight = len(weight), _summed(label, weight)
        of_node = label[of_node]
        n_links = sum(workers.gather([delayed(_count)(one) for one in links]))
        links = _between(workers, delayed, links, label, -(-n_links // _LINKS_OF_A_BUCKET))
        if len(weight) > (1 - _HARDLY_ANY) * n_before:
            break
    return Cells(of_node, weight, graph_of_links(workers.gather(links), len(weight)))


def _between(
    workers: Workers, delayed: Callable[..., Any], links: Sequence[Any], label: Ints, n_buckets: int
) -> list[Any]:
    """Links between new clusters, in no more buckets than needed; all of a pair's in one of them."""
    shared = delayed(label, traverse=False)
    n_buckets = max(1, min(n_buckets, len(links)))
    moved = [delayed(relabeled, nout=n_buckets)(one, shared, n_buckets) for one in links]
    return workers.persist([delayed(summed_links)([one[k] for one in moved]) for k in range(n_buckets)])


def _count(links: Links) -> int:
    return len(links.low)


def links_of(edges: Edges, by: Floats) -> Links:
    """Edges between different nodes, ready to be summed exactly."""
    apart = (edges.low != edges.high) & (edges.weight > 0)
    return Links(edges.low[apart], edges.high[apart], in_levels(edges.weight[apart], by))


def choose_neighbors(links: Links, weight: Floats) -> Choice:
    """The neighbor most alike, by mean similarity, of each cluster that these links reach."""
    value = joined(links.levels) / (weight[links.low] * weight[links.high])
    tie = mixed(links.keys)
    return best_choices(
        [Choice(links.low, links.high, value, tie), Choice(links.high, links.low, value, tie)]
    )


def best_choices(choices: list[Choice]) -> Choice:
    """The best of several choices for each cluster."""
    cluster, neighbor, value, tie = (np.concatenate(fields) for fields in zip(*choices))
    order = np.lexsort((tie, value, cluster))
    last = np.flatnonzero(np.diff(cluster[order], append=-1))
    best = order[last]
    return Choice(cluster[best], neighbor[best], value[best], tie[best])


def joined_clusters(choice: Choice, weight: Floats, most: float, target: int) -> Ints:
    """The new cluster of each cluster: pairs most alike are joined first, as long as they stay small."""
    order = np.lexsort((choice.tie, choice.value))[::-1]
    root = join_in_order(choice.cluster[order], choice.neighbor[order], weight, most, target)
    label: Ints
    kept, label = np.unique(root, return_inverse=True)
    if len(kept) <= max(target, (1 - _FEW_JOINED) * len(weight)):
        return label
    return _joined_by_neighbor(choice, label, _summed(label, weight), most)


def _summed(label: Ints, weight: Floats) -> Floats:
    return np.asarray(np.bincount(label, weight), dtype=np.float64)


def _joined_by_neighbor(choice: Choice, label: Ints, weight: Floats, most: float) -> Ints:
    """Clusters that are still alone put together with others that chose the same neighbor (or have none).

    The leaves of a star all choose its center, which soon is as large as it may be.
    """
    chosen = np.full(len(weight), -1, dtype=np.int64)
    chosen[label[choice.cluster]] = label[choice.neighbor]
    alone = np.flatnonzero(np.bincount(label, minlength=len(weight)) == 1)
    alone = alone[np.argsort(chosen[alone], kind="stable")]
    # neighbors in this order are joined where they chose alike, from the first on as long as they stay small
    alike = chosen[alone][1:] == chosen[alone][:-1]
    left, right = alone[:-1][alike], alone[1:][alike]
    root = join_in_order(left, right, weight, most, 1)
    return np.asarray(np.unique(root, return_inverse=True)[1][label])


def relabeled(links: Links, label: Ints, n_buckets: int) -> list[Links]:
    """Links between other clusters than before, summed, by the bucket that they go to."""
    a, b = label[links.low], label[links.high]
    apart = a != b
    given = Links(np.minimum(a, b)[apart], np.maximum(a, b)[apart], links.levels[:, apart])
    own = summed_links([given])
    bucket = bucket_of(own.keys, n_buckets)
    return [
        Links(own.low[at], own.high[at], own.levels[:, at]) for at in (bucket == k for k in range(n_buckets))
    ]


def summed_links(parts: Sequence[Links]) -> Links:
    """All links, those between the same clusters as one; sums of levels are exact, so their order does not matter."""
    low, high = (np.concatenate([getattr(part, name) for part in parts]) for name in ("low", "high"))
    levels = np.concatenate([part.levels for part in parts], axis=1)
    order = np.lexsort((high, low))
    low, high, levels = low[order], high[order], levels[:, order]
    first = np.flatnonzero(np.diff(low, prepend=-1) | np.diff(high, prepend=-1))
    if len(first):
        levels = np.add.reduceat(levels, first, axis=1)
    return Links(low[first], high[first], levels)


def graph_of_links(parts: Sequence[Links], n_cells: int) -> sp.csr_array:
    """The symmetric matrix of all links."""
    low, high = (np.concatenate([getattr(part, name) for part in parts]) for name in ("low", "high"))
    weight = np.concatenate([joined(part.levels) for part in parts])
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    graph = sp.csr_array((np.concatenate([weight, weight]), ends), shape=(n_cells, n_cells))
    graph.sort_indices()
    return graph


def contracted_graph(graph: ShardedGraph, label: Ints, n_groups: int) -> GraphSimilarity:
    """The graph of groups of nodes, `label` being the group of each node; what lies within a group is its self-loop.

    Examples
    --------
    >>> import dask, dask.dataframe as dd, numpy as np, pandas as pd
    >>> import arbora as ab
    >>> from arbora.scale import contracted_graph
    >>> edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [5.0, 1.0, 5.0]})
    >>> with dask.config.set(scheduler="threads"):
    ...     graph = ab.similarity.graph(dd.from_pandas(edges, npartitions=2))
    ...     contracted_graph(graph, np.array([0, 0, 1, 1]), 2).csr.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    delayed = graph.delayed
    shared = delayed(label, traverse=False)
    links = [
        delayed(relabeled)(delayed(links_of)(edges, graph.rounders), shared, 1)[0] for edges in graph.parts
    ]
    (found,) = graph.workers.gather([sum_as_tree(links, summed_links)])
    between = graph_of_links([found], n_groups)
    within = (np.bincount(label, graph.degrees, minlength=n_groups) - between.sum(axis=1)) / 2
    return GraphSimilarity(between, np.maximum(within, 0.0))
