"""Loops of the sparse form of FPH: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, kernel


@inner
def simplex_threshold(row, n_entries, scratch):
    """Threshold t with ``sum(max(row[:n_entries] - t, 0)) == 1`` (Michelot's algorithm).

    Only entries above ``max(row) - 1`` can stay positive: they are gathered into `scratch` once, and the
    few passes that follow touch nothing else.
    """
    largest = row[0]
    for k in range(1, n_entries):
        if row[k] > largest:
            largest = row[k]
    count = 0
    total = 0.0
    for k in range(n_entries):
        if row[k] > largest - 1.0:
            scratch[count] = row[k]
            total += row[k]
            count += 1
    threshold = (total - 1.0) / count
    while True:
        kept = 0
        total = 0.0
        for k in range(count):
            if scratch[k] > threshold:
                scratch[kept] = scratch[k]
                total += scratch[k]
                kept += 1
        if kept == count:
            return threshold
        count = kept
        threshold = (total - 1.0) / count


@inner
def with_room_for(array, n_used, n_more):
    """The array, or a copy twice as long where fewer than `n_more` entries are left after the used ones."""
    if n_used + n_more <= array.shape[0]:
        return array
    longer = np.empty(2 * array.shape[0] + n_more, dtype=array.dtype)
    # entry by entry: joining arrays takes longer to compile than the kernel; callers count in int64, as a plain 0 would
    # compile this a second time
    for k in range(n_used):
        longer[k] = array[k]
    return longer


@kernel(nogil=True)
def project_rows(matrix, first):
    """Project every row's entries from column ``first[row]`` on to the simplex, in place; zeros before.

    A row with no entries left (``first[row] == n_columns``) becomes zero: the root has no parent.
    """
    n_rows, n_columns = matrix.shape
    row = np.empty(n_columns, dtype=matrix.dtype)
    scratch = np.empty(n_columns, dtype=matrix.dtype)
    for i in range(n_rows):
        for k in range(first[i]):
            matrix[i, k] = 0.0
        n_entries = n_columns - first[i]
        if n_entries == 0:
            continue
        for k in range(n_entries):
            row[k] = matrix[i, first[i] + k]
        threshold = simplex_threshold(row, n_entries, scratch)
        for k in range(n_entries):
            value = row[k] - threshold
            matrix[i, first[i] + k] = value if value > 0.0 else 0.0


@kernel(nogil=True)
def neighbor_sums(start, stop, graph_ptr, graph_col, graph_val, ptr, col, val, n_internal):
    """Rows ``start..stop`` of the sparse product graph @ A, as (counts, columns, values).

    A row is gathered in one dense vector over the internal nodes: neighbors share parents, so few distinct
    columns remain.
    """
    capacity = 4 * (stop - start) + n_internal
    columns = np.empty(capacity, dtype=np.int32)
    values = np.empty(capacity, dtype=val.dtype)
    counts = np.zeros(stop - start, dtype=np.int64)
    gathered = np.zeros(n_internal, dtype=val.dtype)
    seen = np.zeros(n_internal, dtype=np.bool_)
    touched = np.empty(n_internal, dtype=np.int32)
    used = np.int64(0)
    for i in range(start, stop):
        n_touched = np.int64(0)
        for edge in range(graph_ptr[i], graph_ptr[i + 1]):
            j = graph_col[edge]
            weight = graph_val[edge]
            for e in range(ptr[j], ptr[j + 1]):
                k = col[e]
                if not seen[k]:
                    seen[k] = True
                    touched[n_touched] = k
                    n_touched += 1
                gathered[k] += weight * val[e]
        columns = with_room_for(columns, used, n_touched)
        values = with_room_for(values, used, n_touched)
        for t in range(n_touched):
            k = touched[t]
            columns[used + t] = k
            values[used + t] = gathered[k]
            gathered[k] = 0.0
            seen[k] = False
        counts[i - start] = n_touched
        used += n_touched
    return counts, columns[:used].copy(), values[:used].copy()


@kernel(nogil=True)
def add_outer_products(ptr, col, val, other_ptr, other_col, other_val, out):
    """Add ``A.T @ R`` to the dense `out`, both given as rows of one CSR pattern each."""
    for i in range(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            row = out[col[e]]
            for f in range(other_ptr[i], other_ptr[i + 1]):
                row[other_col[f]] += val[e] * other_val[f]


@inner
def leaf_gradient_row(
    i, sum_ptr, sum_col, sum_val, kernel, at_ptr, at_col, at_val, self_kernel, self_scale, terms, scales, out
):
    """Gradient of the loss with respect to row i of A, taken at the A given by `at`, into `out`.

    ``sum_k R[i, k] kernel[k] + self_scale[i] sum_k A[i, k] self_kernel[k] + sum_t scales[t, i] terms[t]``.
    """
    for k in range(out.shape[0]):
        out[k] = 0.0
    for t in range(terms.shape[0]):
        scale = scales[t, i]
        if scale != 0.0:
            term = terms[t]
            for k in range(out.shape[0]):
                out[k] += scale * term[k]
    for e in range(sum_ptr[i], sum_ptr[i + 1]):
        weight = sum_val[e]
        line = kernel[sum_col[e]]
        for k in range(out.shape[0]):
            out[k] += weight * line[k]
    if self_kernel.shape[0] > 0:
        for e in range(at_ptr[i], at_ptr[i + 1]):
            weight = self_scale[i] * at_val[e]
            line = self_kernel[at_col[e]]
            for k in range(out.shape[0]):
                out[k] += weight * line[k]


@kernel(nogil=True)
def descend_leaf_rows(start, stop, gradient, ptr, col, val, step):
    """One projected gradient step on the rows ``start..stop`` of a sparse A: (counts, columns, values).

    `gradient` holds the arguments of `leaf_gradient_row`. The dense gradient of a row lives in one vector of
    n_internal numbers and is never stored: no n x n' matrix exists at any time. ``step[i]`` is row i's rate.
    """
    n_internal = gradient[3].shape[1]
    columns = np.empty(3 * (stop - start) + n_internal, dtype=np.int32)
    values = np.empty(columns.shape[0], dtype=val.dtype)
    counts = np.zeros(stop - start, dtype=np.int64)
    row = np.empty(n_internal, dtype=val.dtype)
    scratch = np.empty(n_internal, dtype=val.dtype)
    used = np.int64(0)
    for i in range(start, stop):
        leaf_gradient_row(i, *gradient, row)
        for k in range(n_internal):
            row[k] *= -step[i]
        for e in range(ptr[i], ptr[i + 1]):
            row[col[e]] += val[e]
        threshold = simplex_threshold(row, n_internal, scratch)
        columns = with_room_for(columns, used, n_internal)
        values = with_room_for(values, used, n_internal)
        first = used
        for k in range(n_internal):
            if row[k] > threshold:
                columns[used] = k
                values[used] = row[k] - threshold
                used += 1
        counts[i - start] = used - first
    return counts, columns[:used].copy(), values[:used].copy()


@kernel(nogil=True)
def leaf_gradient(n_rows, gradient):
    """Dense gradient with respect to all rows of A: for tests."""
    out = np.empty((n_rows, gradient[3].shape[1]), dtype=gradient[3].dtype)
    for i in range(n_rows):
        leaf_gradient_row(i, *gradient, out[i])
    return out


@kernel()
def most_likely_columns(ptr, col, val):
    """Column of the largest value of every CSR row; the first of equals."""
    best = np.empty(ptr.shape[0] - 1, dtype=np.int64)
    for i in range(best.shape[0]):
        top = ptr[i]
        for e in range(ptr[i] + 1, ptr[i + 1]):
            if val[e] > val[top]:
                top = e
        best[i] = col[top]
    return best


@kernel()
def sample_columns(ptr, col, val, uniform):
    """One column per CSR row, drawn with the row's probabilities from numbers in [0, 1)."""
    drawn = np.empty(ptr.shape[0] - 1, dtype=np.int64)
    for i in range(drawn.shape[0]):
        total = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            total += val[e]
        left = uniform[i] * total
        chosen = ptr[i + 1] - 1
        for e in range(ptr[i], ptr[i + 1]):
            left -= val[e]
            if left < 0.0:
                chosen = e
                break
        drawn[i] = col[chosen]
    return drawn


@kernel()
def lca_table(parent):
    """Lowest common ancestor-or-self of every two internal nodes, parents after children, root last.

    Row by row from the root down: ``lca(a, b) = lca(parent(a), b)`` for a < b. O(n'^2).
    """
    n = parent.shape[0]
    table = np.empty((n, n), dtype=np.int32)
    for a in range(n - 1, -1, -1):
        table[a, a] = a
        for b in range(a + 1, n):
            lca = table[parent[a], b]
            table[a, b] = lca
            table[b, a] = lca
    return table


@kernel()
def edge_sums(ptr, col, val, leaf_parent, n_internal):
    """Weight between the leaves at every two internal nodes: float64[n_internal, n_internal]."""
    out = np.zeros((n_internal, n_internal))
    for i in range(ptr.shape[0] - 1):
        row = out[leaf_parent[i]]
        for e in range(ptr[i], ptr[i + 1]):
            row[leaf_parent[col[e]]] += val[e]
    return out
