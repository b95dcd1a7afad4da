"""Numeric loops of L2H over rows of logits: plain arrays in and out."""

from __future__ import annotations

import math

import numpy as np

from arbora._base.jit import kernel
from arbora.logits._row_kernels import (
    EXCLUDED,
    LEAST_PROBABILITY,
    OK,
    PROBABILITIES,
    first_equal,
    largest,
    largest_magnitude,
    load_row,
    row_problem,
    sharpen,
    total,
    weigh_rest,
)


@kernel(nogil=True)
def scan_rows(
    rows, code, mode, sharpness, start, stop, row, bits, assigned, confidence, second, second_confidence
):
    """First reading of rows start..stop-1: class, its probability, and both again without that class.

    The softmax is taken relative to the runner-up: everything but the winner is summed directly, so a winner at
    0.99999999 costs the others no digits. Returns (problem, row of the problem, largest magnitude of a number).
    """
    n_classes = rows.shape[1]
    magnitude = 0.0
    for i in range(start, stop):
        load_row(rows, i, code, row, bits)
        problem = row_problem(row, mode)
        if problem != OK:
            return problem, i, magnitude
        sharpen(row, mode, sharpness)
        magnitude = max(magnitude, float(largest_magnitude(row)))
        top = largest(row)
        winner = first_equal(row, top)
        assigned[i] = winner
        if n_classes == 1:
            confidence[i], second[i], second_confidence[i] = 1.0, 0, 0.0
            continue
        row[winner] = EXCLUDED
        runner_up, where, rest = weigh_rest(row, bits, mode)
        second[i] = where
        second_confidence[i] = 1.0 / rest if rest > 0 else 0.0
        if mode == PROBABILITIES:
            confidence[i] = top / (top + rest * max(runner_up, 0.0))
        else:
            confidence[i] = 1.0 / (1.0 + rest * math.exp(runner_up - top))
    return OK, -1, magnitude


@kernel(nogil=True)
def reassign_rows(
    rows, code, mode, sharpness, points, start, stop, penalty, row, bits, reassigned, probability
):
    """Masked softmax of rows points[start:stop]: best class not excluded, and its probability among those.

    `penalty` is 0 for classes that count and EXCLUDED for the others. A row with nothing left gets probability 0.
    """
    n_classes = rows.shape[1]
    for p in range(start, stop):
        load_row(rows, points[p], code, row, bits)
        sharpen(row, mode, sharpness)
        for j in range(n_classes):
            row[j] = row[j] + penalty[j]
        _, where, rest = weigh_rest(row, bits, mode)
        reassigned[p] = where
        probability[p] = 1.0 / rest if rest > 0 else 0.0


@kernel(nogil=True)
def sum_columns(rows, code, mode, sharpness, points, start, stop, columns, row, bits, rounders, sums):
    """Add the softmax probabilities of the given columns over rows points[start:stop] to `sums`, level by level.

    `rounders` and levels are those of `arbora._base.exact_sums`: the order of the points does not matter.
    """
    for p in range(start, stop):
        load_row(rows, points[p], code, row, bits)
        sharpen(row, mode, sharpness)
        _, _, rest = weigh_rest(row, bits, mode)
        for c in range(columns.shape[0]):
            value = np.float64(row[columns[c]] / rest)
            for level in range(rounders.shape[0]):
                rounded = (value + rounders[level]) - rounders[level]
                sums[level, c] += rounded
                value -= rounded


@kernel(nogil=True)
def sum_by_class(rows, code, mode, sharpness, order, offsets, weights, start, stop, row, bits, sums, rounder):
    """Add the centered logits (log probabilities) of the points of classes start..stop-1 to their rows of `sums`.

    Each point counts `weights[point]` times. Rounded by `rounder`, of `arbora._base.exact_sums`, so that the order of
    the points does not matter.
    """
    n_classes = rows.shape[1]
    for c in range(start, stop):
        for p in range(offsets[c], offsets[c + 1]):
            load_row(rows, order[p], code, row, bits)
            for j in range(n_classes):
                if mode == PROBABILITIES:
                    row[j] = math.log(max(row[j], LEAST_PROBABILITY)) * sharpness
                else:
                    row[j] = row[j] * sharpness
            mean = total(row) / n_classes
            for j in range(n_classes):
                rounded = (np.float64(row[j] - mean) + rounder) - rounder
                sums[c, j] += rounded * weights[order[p]]


@kernel(nogil=True)
def sum_probabilities_by_class(
    rows, code, mode, sharpness, order, offsets, weights, start, stop, row, bits, sums
):
    """Add the probabilities of the points of classes start..stop-1 to their rows of `sums`, weighted."""
    n_classes = rows.shape[1]
    for c in range(start, stop):
        for p in range(offsets[c], offsets[c + 1]):
            load_row(rows, order[p], code, row, bits)
            sharpen(row, mode, sharpness)
            _, _, rest = weigh_rest(row, bits, mode)
            for j in range(n_classes):
                sums[c, j] += row[j] / rest * weights[order[p]]
