"""Louvain's method: communities of a graph whose modularity no move of a single node raises by much.

The communities are those of scikit-network, to the last bit of its single precision. Its loop computes for as long as
it takes without letting Python notice Ctrl-C; this one works in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from arbora._base.pieces import pieces_of
from arbora._base.types import Floats, Ints
from arbora.linkages._modularity_kernels import join_best_communities

# rise of modularity below which a level ends, and below which levels end: as in scikit-network
_LEAST_RISE = 1e-3
# of a graph's matrix: what is read in about a tenth of a second, after which Ctrl-C is noticed
_ENTRIES_PER_CALL = 1_000_000


def first_communities(adjacency: sp.csr_array, resolution: float = 1.0) -> Ints:
    """Communities of single nodes that moved one by one, the largest first: Louvain's first level.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.modularity import first_communities
    >>> cliques = sp.block_diag([np.ones((2, 2)), np.ones((4, 4))], "csr")
    >>> first_communities(cliques).tolist()
    [1, 1, 0, 0, 0, 0]
    """
    return _largest_first(_moved(*_shares(adjacency), resolution)[0])


def merged_communities(adjacency: sp.csr_array, resolution: float = 1.0) -> Ints:
    """Communities of communities, as long as modularity rises, the largest first: Louvain's last level.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.modularity import merged_communities
    >>> path = sp.diags_array([np.ones(8), np.ones(8)], offsets=[-1, 1]).tocsr()
    >>> merged_communities(path).tolist()
    [0, 0, 0, 0, 2, 2, 1, 1, 1]
    """
    label = np.arange(adjacency.shape[0])
    if adjacency.nnz == 0:
        return label
    shares, degree = _shares(adjacency)
    while True:
        found, risen = _moved(shares, degree, resolution)
        found = np.unique(found, return_inverse=True)[1]
        label = found[label]
        shares, degree = aggregated(shares, found), np.asarray(np.bincount(found, degree), dtype=np.float64)
        if len(degree) == 1 or risen <= _LEAST_RISE:
            return _largest_first(label)


def nested_communities(adjacency: sp.csr_array, n_levels: int) -> list[Ints]:
    """Louvain's method run again inside each of its communities: their numbers at every level, coarsest first.

    Numbers of a level count the communities in the order of the level above, and inside one by size.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.modularity import nested_communities
    >>> path = sp.diags_array([np.ones(8), np.ones(8)], offsets=[-1, 1]).tocsr()
    >>> [len(set(level.tolist())) for level in nested_communities(path, 2)]
    [3, 4]
    """
    levels: list[Ints] = []
    label = np.zeros(adjacency.shape[0], dtype=np.int64)
    for _ in range(n_levels):
        n_found, finer = 0, np.zeros_like(label)
        for nodes, inside in _parts(adjacency, label):
            within = merged_communities(inside) if inside.nnz else np.zeros(len(nodes), dtype=np.int64)
            finer[nodes] = n_found + within
            n_found += int(within.max()) + 1
        label = finer
        levels.append(label)
    return levels


def divided_communities(adjacency: sp.csr_array, undivided: int) -> list[Ints]:
    """Louvain's communities, those of more than `undivided` nodes divided again and again, coarsest first.

    A level is listed only if it divides something; labels of one level count the parts of all its communities.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.modularity import divided_communities
    >>> path = sp.diags_array([np.ones(8), np.ones(8)], offsets=[-1, 1]).tocsr()
    >>> [len(set(level.tolist())) for level in divided_communities(path, 2)]
    [3, 4]
    >>> divided_communities(path, 9)
    []
    """
    levels: list[Ints] = []
    label = np.zeros(adjacency.shape[0], dtype=np.int64)
    is_open = np.array([adjacency.nnz > 0])
    while (is_open & (np.bincount(label) > undivided)).any():
        to_divide = is_open & (np.bincount(label) > undivided)
        finer, still_open = np.zeros_like(label), list[bool]()
        for number, (nodes, inside) in enumerate(_parts(adjacency, label)):
            divides = to_divide[number] and inside.nnz > 0
            within = merged_communities(inside) if divides else np.zeros(len(nodes), dtype=np.int64)
            n_parts = int(within.max()) + 1
            finer[nodes] = len(still_open) + within
            still_open.extend([1 < n_parts < len(nodes)] * n_parts)
        label, is_open = finer, np.array(still_open)
        if len(is_open) > len(to_divide):
            levels.append(label)
    return levels


def aggregated(adjacency: sp.csr_array, label: Ints) -> sp.csr_array:
    """The graph between communities; edges inside one are its self-loop."""
    n = len(label)
    member = sp.csr_array((np.ones(n), (np.arange(n), label)), shape=(n, label.max() + 1))
    return sp.csr_array(member.T.tocsr() @ (adjacency @ member))


def _shares(adjacency: sp.csr_array) -> tuple[sp.csr_array, Floats]:
    """Entries and degrees as shares of the whole."""
    # by a power of two, which is exact: sums neither overflow nor vanish
    data = np.ldexp(adjacency.data, -int(np.frexp(adjacency.data.max())[1]))
    shares = sp.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    degree = np.asarray(shares.sum(axis=1))
    shares.data = data / data.sum()
    return shares, degree / degree.sum()


def _moved(shares: sp.csr_array, degree: Floats, resolution: float) -> tuple[Ints, float]:
    """(communities after passes over all nodes in their order, by how much modularity rose)."""
    n, volume = len(degree), degree.astype(np.float32)
    label, mine = np.arange(n), volume.copy()
    data, loops = shares.data.astype(np.float32), shares.diagonal().astype(np.float32)
    scratch = np.zeros(n, dtype=np.float32), np.full((2, n), -1)
    whole, risen = np.float32(0.0), np.float32(np.inf)
    while risen > _LEAST_RISE:
        risen = np.float32(0.0)
        for first, last in pieces_of(shares.indptr, _ENTRIES_PER_CALL):
            nodes = first, last, label, shares.indptr, shares.indices
            risen = join_best_communities(
                *nodes, data, mine, loops, volume, *scratch, np.float32(resolution), risen
            )
        whole += risen
    return label, float(whole)


def _largest_first(label: Ints) -> Ints:
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    by_size = np.argsort(-counts)
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(by_size))
    ranked: Ints = rank[label]
    return ranked


def _parts(adjacency: sp.csr_array, label: Ints) -> Iterator[tuple[Ints, sp.csr_array]]:
    """Nodes of every label, ascending, and the edges between them."""
    n, order = len(label), np.argsort(label, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(n)
    rows = adjacency[order]
    row = np.repeat(np.arange(n), np.diff(rows.indptr))
    inside = label[order][row] == label[rows.indices]
    data, column = rows.data[inside], rank[rows.indices[inside]]
    before = np.append(0, np.cumsum(np.bincount(row[inside], minlength=n)))
    starts = np.searchsorted(label[order], np.arange(label[order[-1]] + 2))
    for first, last in pairwise(starts.tolist()):
        entries = slice(before[first], before[last])
        # kernels are compiled once per type of index
        index = (column[entries] - first).astype(adjacency.indices.dtype)
        offset = (before[first : last + 1] - before[first]).astype(adjacency.indptr.dtype)
        yield (
            order[first:last],
            sp.csr_array((data[entries], index, offset), shape=(last - first, last - first)),
        )


__all__ = [
    "aggregated",
    "divided_communities",
    "first_communities",
    "merged_communities",
    "nested_communities",
]
