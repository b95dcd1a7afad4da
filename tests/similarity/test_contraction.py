"""Graphs whose points are groups, against a plain sum over pairs of groups."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.threads import allowing_threads
from arbora.similarity.contraction import contracted


def plain(dense, label, n_groups):
    sums = np.zeros((n_groups, n_groups))
    for i in range(len(dense)):
        for j in range(len(dense)):
            if label[i] != label[j]:
                sums[label[i], label[j]] += dense[i, j]
    return sums


def symmetric(n_points, density, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_points, n_points)) * (rng.random((n_points, n_points)) < density), 1)
    return (upper + upper.T).astype(dtype)


@given(
    n_points=st.integers(1, 25),
    n_groups=st.integers(1, 8),
    density=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_weights_between_groups_are_sums_over_their_members(n_points, n_groups, density, seed):
    dense = symmetric(n_points, density, seed)
    label = np.random.default_rng(seed).integers(n_groups, size=n_points)
    between = contracted(sp.csr_array(dense), label, n_groups)
    assert between.has_sorted_indices
    np.testing.assert_allclose(between.toarray(), plain(dense, label, n_groups), atol=1e-12)


def test_a_group_without_members_has_no_edges():
    between = contracted(sp.csr_array(symmetric(6, 1.0, 0)), np.array([0, 0, 2, 2, 3, 3]), 4)
    assert between.shape == (4, 4)
    assert between[[1]].nnz == 0


def test_edges_without_weight_are_no_edges():
    csr = sp.csr_array((np.array([0.0, 0.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    assert contracted(csr, np.array([0, 1]), 2).nnz == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_result_does_not_depend_on_threads(dtype):
    csr = sp.csr_array(symmetric(120, 0.2, 3, dtype))
    label = np.random.default_rng(1).integers(17, size=120)
    found = []
    for n_threads in (1, 2, 5):
        with allowing_threads(n_threads):
            found.append(contracted(csr, label, 17))
    assert found[0].dtype == dtype
    for other in found[1:]:
        np.testing.assert_array_equal(other.data, found[0].data)
        np.testing.assert_array_equal(other.indices, found[0].indices)
