"""Numeric loops for logits that are read once or twice from outside memory."""

from __future__ import annotations

import math

from arbora._base.jit import kernel
from arbora.logits._row_kernels import EXCLUDED, PROBABILITIES, exp_row, largest, load_row, sharpen, total


@kernel(nogil=True)
def _sinks_below(value, cls, other_value, other_cls):
    """Whether the first entry is the lesser one; of equal values the later class is."""
    return value < other_value or (value == other_value and cls > other_cls)


@kernel(nogil=True)
def _sift_down(values, classes, start, end):
    """Restore the heap below `start`: its least entry stays on top."""
    node = start
    while 2 * node + 1 < end:
        child = 2 * node + 1
        if child + 1 < end and _sinks_below(
            values[child + 1], classes[child + 1], values[child], classes[child]
        ):
            child += 1
        if not _sinks_below(values[child], classes[child], values[node], classes[node]):
            return
        values[child], values[node] = values[node], values[child]
        classes[child], classes[node] = classes[node], classes[child]
        node = child


@kernel(nogil=True)
def keep_largest(
    rows, code, mode, sharpness, start, stop, row, bits, values, classes, kept, kept_class, tail
):
    """Of each row keep the largest entries, sorted, as log-weights relative to the largest; sum the rest.

    `values`, `classes` are scratch of the number kept; `kept[i]`, `kept_class[i]` receive the entries of row i and
    `tail[i]` the total weight of what was left out.
    """
    m, n_classes = values.shape[0], rows.shape[1]
    for i in range(start, stop):
        load_row(rows, i, code, row, bits)
        sharpen(row, mode, sharpness)
        for j in range(m):
            values[j], classes[j] = row[j], j
        for node in range(m // 2 - 1, -1, -1):
            _sift_down(values, classes, node, m)
        for j in range(m, n_classes):
            # an equal but later entry sinks below
            if row[j] > values[0]:
                values[0], classes[0] = row[j], j
                _sift_down(values, classes, 0, m)
        # heap sort: least to the back, so the largest ends up first
        for end in range(m - 1, 0, -1):
            values[0], values[end] = values[end], values[0]
            classes[0], classes[end] = classes[end], classes[0]
            _sift_down(values, classes, 0, end)
        top = values[0]
        for j in range(m):
            row[classes[j]] = 0 if mode == PROBABILITIES else EXCLUDED
            kept_class[i, j] = classes[j]
            if mode == PROBABILITIES:
                kept[i, j] = math.log(values[j] / top) if values[j] > 0 else EXCLUDED
            else:
                kept[i, j] = values[j] - top
        if mode == PROBABILITIES:
            tail[i] = total(row) / top
        elif m < n_classes:
            for j in range(n_classes):
                row[j] = row[j] - top
            exp_row(row, bits)
            tail[i] = total(row)
        else:
            tail[i] = 0.0


@kernel(nogil=True)
def reassign_kept(kept, kept_class, tail, points, start, stop, excluded, n_excluded, reassigned, probability):
    """`reassign_rows` from what was kept of each row. What was left out is taken to spread evenly.

    A point all of whose kept classes are excluded says nothing (probability 0).
    """
    m, n_classes = kept.shape[1], excluded.shape[0]
    for p in range(start, stop):
        i = points[p]
        best, n_hidden, rest = -1, 0, 0.0
        for j in range(m):
            if excluded[kept_class[i, j]]:
                n_hidden += 1
            elif best < 0:
                best, rest = j, 1.0
            else:
                rest += math.exp(kept[i, j] - kept[i, best])
        reassigned[p], probability[p] = 0, 0.0
        if best >= 0 and kept[i, best] > 0.5 * EXCLUDED:
            left_out = n_classes - m
            if left_out > 0:
                outside = (left_out - (n_excluded - n_hidden)) / left_out
                rest += tail[i] * outside * math.exp(-kept[i, best])
            reassigned[p], probability[p] = kept_class[i, best], 1.0 / rest


@kernel(nogil=True)
def _sum_from_both_ends(row, weight, class_at, before, best_before, after, best_after):
    """Sums and best classes of row[:k] and row[k:] in leaf order, for every k."""
    n = class_at.shape[0]
    before[0], best_before[0], after[n], best_after[n] = 0.0, -1, 0.0, -1
    for k in range(n):
        c, best = class_at[k], best_before[k]
        before[k + 1] = before[k] + weight[c]
        better = best < 0 or row[c] > row[best] or (row[c] == row[best] and c < best)
        best_before[k + 1] = c if better else best
    for k in range(n - 1, -1, -1):
        c, best = class_at[k], best_after[k + 1]
        after[k] = after[k + 1] + weight[c]
        better = best < 0 or row[c] > row[best] or (row[c] == row[best] and c < best)
        best_after[k] = c if better else best


@kernel(nogil=True)
def _sum_outside(row, best, class_at, low, high):
    """Weights outside low..high-1 relative to class `best`, for rows where they vanish relative to the largest."""
    result = 0.0
    for k in range(class_at.shape[0]):
        if k < low or k >= high:
            result += math.exp(row[class_at[k]] - row[best])
    return result


@kernel(nogil=True)
def reexamine_rows(
    rows, code, mode, sharpness, start, stop, row, bits, weight, weight_bits, assigned, rank, class_at,
    path_offsets, path_low, path_high, path_base, before, best_before, after, best_after, reassigned, probability,
):  # fmt: skip
    """Masked softmax of each row for all groups its class passes through, in one go.

    In the leaf order of the tree every group is a slice low..high-1, so what lies outside it is a prefix and a suffix,
    both summed without subtraction. Results of path entry e of a point go to ``path_base[e] + rank``.
    """
    n_classes = rows.shape[1]
    for i in range(start, stop):
        first, last = path_offsets[assigned[i]], path_offsets[assigned[i] + 1]
        if first == last:
            continue
        load_row(rows, i, code, row, bits)
        sharpen(row, mode, sharpness)
        top = largest(row)
        for j in range(n_classes):
            weight[j] = row[j] / top if mode == PROBABILITIES else row[j] - top
        if mode != PROBABILITIES:
            exp_row(weight, weight_bits)
        _sum_from_both_ends(row, weight, class_at, before, best_before, after, best_after)
        for e in range(first, last):
            left, right = best_before[path_low[e]], best_after[path_high[e]]
            best = left
            if left < 0 or (
                right >= 0 and (row[right] > row[left] or (row[right] == row[left] and right < left))
            ):
                best = right
            outside = before[path_low[e]] + after[path_high[e]]
            slot = path_base[e] + rank[i]
            reassigned[slot] = best
            if mode == PROBABILITIES:
                probability[slot] = weight[best] / outside if outside > 0 else 0.0
            elif outside > 1e-280:
                probability[slot] = weight[best] / outside
            else:
                probability[slot] = 1.0 / _sum_outside(row, best, class_at, path_low[e], path_high[e])


@kernel(nogil=True)
def column_probabilities(rows, code, mode, sharpness, start, stop, row, bits, columns, out):
    """Softmax probabilities of the given columns, row by row."""
    for i in range(start, stop):
        load_row(rows, i, code, row, bits)
        sharpen(row, mode, sharpness)
        top = largest(row)
        if mode == PROBABILITIES:
            for j in range(row.shape[0]):
                row[j] = row[j] / top
        else:
            for j in range(row.shape[0]):
                row[j] = row[j] - top
            exp_row(row, bits)
        rest = total(row)
        for c in range(columns.shape[0]):
            out[i, c] = row[columns[c]] / rest


@kernel(nogil=True)
def rank_within_class(assigned, seen, rank):
    """How many earlier points each point's class has; `seen` counts on between calls."""
    for i in range(assigned.shape[0]):
        rank[i] = seen[assigned[i]]
        seen[assigned[i]] += 1
