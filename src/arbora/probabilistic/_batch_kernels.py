"""Subgraphs of a CSR graph, and rows of a CSR matrix exchanged for others."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def gather_nodes(ptr, col, seeds, limit, position):
    """Seeds first, then their neighbors, until `limit` nodes; `position` (all -1) marks those taken."""
    taken = np.empty(limit, dtype=np.int64)
    n_taken = 0
    for s in range(seeds.shape[0]):
        if n_taken == limit:
            break
        position[seeds[s]] = 0
        taken[n_taken] = seeds[s]
        n_taken += 1
    for s in range(n_taken):
        for e in range(ptr[seeds[s]], ptr[seeds[s] + 1]):
            if n_taken == limit:
                return taken
            j = col[e]
            if position[j] < 0:
                position[j] = 0
                taken[n_taken] = j
                n_taken += 1
    return taken[:n_taken]


@kernel()
def induced_edges(ptr, col, val, nodes, position):
    """CSR of the edges among `nodes`; ``position[node]`` is its new number, -1 for the others."""
    counts = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    for i in range(nodes.shape[0]):
        for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
            if position[col[e]] >= 0:
                counts[i + 1] += 1
    start = np.cumsum(counts)
    columns = np.empty(start[-1], dtype=np.int32)
    values = np.empty(start[-1], dtype=val.dtype)
    for i in range(nodes.shape[0]):
        used = start[i]
        for e in range(ptr[nodes[i]], ptr[nodes[i] + 1]):
            if position[col[e]] >= 0:
                columns[used] = position[col[e]]
                values[used] = val[e]
                used += 1
    return start, columns, values


@kernel()
def replace_rows(ptr, col, val, rows, new_ptr, new_col, new_val):
    """CSR with some rows (ascending) exchanged for new ones."""
    n = ptr.shape[0] - 1
    out_ptr = np.empty(n + 1, dtype=np.int64)
    size = val.shape[0] + new_val.shape[0]
    out_col = np.empty(size, dtype=np.int32)
    out_val = np.empty(size, dtype=val.dtype)
    used = 0
    r = 0
    for i in range(n):
        out_ptr[i] = used
        if r < rows.shape[0] and rows[r] == i:
            for e in range(new_ptr[r], new_ptr[r + 1]):
                out_col[used] = new_col[e]
                out_val[used] = new_val[e]
                used += 1
            r += 1
        else:
            for e in range(ptr[i], ptr[i + 1]):
                out_col[used] = col[e]
                out_val[used] = val[e]
                used += 1
    out_ptr[n] = used
    return out_ptr, out_col[:used].copy(), out_val[:used].copy()
