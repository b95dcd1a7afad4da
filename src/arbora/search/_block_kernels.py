"""Pieces of a graph as graphs of their own."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel(nogil=True)
def slice_square(indptr, indices, data, low, high):
    """CSR arrays of rows and columns low .. high-1 (indices sorted within a row or not)."""
    sliced_indptr = np.zeros(high - low + 1, dtype=indptr.dtype)
    for row in range(low, high):
        kept = 0
        for k in range(indptr[row], indptr[row + 1]):
            if low <= indices[k] < high:
                kept += 1
        sliced_indptr[row - low + 1] = sliced_indptr[row - low] + kept
    sliced_indices = np.empty(sliced_indptr[-1], dtype=indices.dtype)
    sliced_data = np.empty(sliced_indptr[-1], dtype=data.dtype)
    filled = 0
    for row in range(low, high):
        for k in range(indptr[row], indptr[row + 1]):
            if low <= indices[k] < high:
                sliced_indices[filled] = indices[k] - low
                sliced_data[filled] = data[k]
                filled += 1
    return sliced_indptr, sliced_indices, sliced_data
