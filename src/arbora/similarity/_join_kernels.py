"""The two directions of each edge of a large graph, joined row by row in threads."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, kernel

NO_COLUMN = np.int64(2**62)


@kernel(nogil=True)
def sort_rows(columns, weights, first, last):
    """Sort rows first .. last-1, of a few entries each, by column."""
    for row in range(first, last):
        for k in range(1, columns.shape[1]):
            column, weight = columns[row, k], weights[row, k]
            at = k
            while at > 0 and columns[row, at - 1] > column:
                columns[row, at], weights[row, at] = columns[row, at - 1], weights[row, at - 1]
                at -= 1
            columns[row, at], weights[row, at] = column, weight


@kernel(nogil=True)
def count_columns(indices, low, high, counts):
    """Count how often each of the columns low .. high-1 occurs."""
    for k in range(indices.shape[0]):
        if low <= indices[k] < high:
            counts[indices[k]] += 1


@kernel(nogil=True)
def fill_mirror(indptr, indices, data, low, high, cursor, mirror_indices, mirror_data):
    """Write the rows low .. high-1 of the transposed matrix; `cursor` begins where each row does."""
    for row in range(indptr.shape[0] - 1):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            if low <= column < high:
                at = cursor[column]
                mirror_indices[at] = row
                mirror_data[at] = data[k]
                cursor[column] = at + 1


@inner
def column_at(indices, at, end):
    """The column of an entry, beyond all columns where the row has ended."""
    return np.int64(indices[at]) if at < end else NO_COLUMN


@kernel(nogil=True)
def count_joined(indptr, indices, mirror_indptr, mirror_indices, first, last, length):
    """How many columns rows first .. last-1 have in either of two matrices, both with sorted columns."""
    for row in range(first, last):
        a, a_end, b, b_end = indptr[row], indptr[row + 1], mirror_indptr[row], mirror_indptr[row + 1]
        n_joined = 0
        while a < a_end or b < b_end:
            one, other = column_at(indices, a, a_end), column_at(mirror_indices, b, b_end)
            a += one <= other
            b += other <= one
            n_joined += 1
        length[row] = n_joined


@kernel(nogil=True)
def join_rows(
    indptr,
    indices,
    data,
    mirror_indptr,
    mirror_indices,
    mirror_data,
    is_fuzzy,
    first,
    last,
    at,
    columns,
    weights,
):
    """Write rows first .. last-1 from at[row] on: x + y - xy of the two weights where `is_fuzzy`, else the larger."""
    for row in range(first, last):
        a, a_end, b, b_end = indptr[row], indptr[row + 1], mirror_indptr[row], mirror_indptr[row + 1]
        k = at[row]
        while a < a_end or b < b_end:
            one, other = column_at(indices, a, a_end), column_at(mirror_indices, b, b_end)
            x, y = np.float32(0), np.float32(0)
            if one <= other:
                x = data[a]
                a += 1
            if other <= one:
                y = mirror_data[b]
                b += 1
            columns[k] = min(one, other)
            weights[k] = (x + y) - x * y if is_fuzzy else max(x, y)
            k += 1
