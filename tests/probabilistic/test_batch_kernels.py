"""Subgraphs and exchanged rows, against the same in dense matrices."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.probabilistic import _batch_kernels as kernels


def random_csr(n, m, seed, density=0.4):
    rng = np.random.default_rng(seed)
    dense = rng.random((n, m)) * (rng.random((n, m)) < density)
    csr = sp.csr_array(dense)
    return dense, csr.indptr.astype(np.int32), csr.indices.astype(np.int32), csr.data


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 14), st.integers(0, 10**6))
def test_seeds_come_first_then_their_neighbors_until_the_limit(n, n_seeds, limit, seed):
    dense, ptr, col, _ = random_csr(n, n, seed)
    seeds = np.random.default_rng(seed).permutation(n)[:n_seeds].astype(np.int64)
    limit = min(limit, n)
    position = np.full(n, -1, dtype=np.int32)
    found = kernels.gather_nodes(ptr, col, seeds, limit, position).tolist()
    assert len(found) == len(set(found)) <= limit
    assert found[: len(seeds)] == seeds[:limit].tolist()
    near = set(np.flatnonzero(dense[seeds[:limit]].any(axis=0)).tolist())
    assert set(found) <= set(seeds.tolist()) | near
    if len(found) < limit:
        assert set(found) == set(seeds.tolist()) | near, "room was left, so nobody was"
    assert set(np.flatnonzero(position >= 0).tolist()) == set(found)


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_edges_among_nodes_are_the_block_of_the_matrix(n, seed):
    dense, ptr, col, val = random_csr(n, n, seed)
    rng = np.random.default_rng(seed)
    nodes = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)]).astype(np.int64)
    position = np.full(n, -1, dtype=np.int32)
    position[nodes] = np.arange(len(nodes))
    start, columns, values = kernels.induced_edges(ptr, col, val, nodes, position)
    found = sp.csr_array((values, columns, start), shape=(len(nodes), len(nodes))).toarray()
    np.testing.assert_array_equal(found, dense[np.ix_(nodes, nodes)])


@settings(max_examples=40)
@given(st.integers(1, 10), st.integers(1, 6), st.integers(0, 10**6))
def test_some_rows_are_exchanged_and_the_others_stay(n, m, seed):
    dense, ptr, col, val = random_csr(n, m, seed)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(n)[: rng.integers(0, n + 1)]).astype(np.int64)
    new, new_ptr, new_col, new_val = random_csr(len(rows), m, seed + 1, density=0.7)
    out_ptr, out_col, out_val = kernels.replace_rows(ptr, col, val, rows, new_ptr, new_col, new_val)
    wanted = dense.copy()
    wanted[rows] = new
    np.testing.assert_array_equal(sp.csr_array((out_val, out_col, out_ptr), shape=(n, m)).toarray(), wanted)
    assert len(out_val) == out_ptr[-1] == (wanted != 0).sum()
