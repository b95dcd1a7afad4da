"""Numba kernels of the GloVe objective."""

from __future__ import annotations

import math

import numpy as np

from arbora._base.jit import kernel


@kernel()
def window_pairs(tokens, start, stop, window):
    """Pairs of words within a window, each once, with weight 1 / distance: int32[m], int32[m], float32[m].

    `tokens` are word numbers, -1 for a word outside the vocabulary (it keeps its place), -2 for the end of a
    document, which no window crosses. Pairs whose right member lies in [start, stop) are listed.
    """
    left = np.empty((stop - start) * window, dtype=np.int32)
    right = np.empty((stop - start) * window, dtype=np.int32)
    weight = np.empty((stop - start) * window, dtype=np.float32)
    found = 0
    for place in range(start, stop):
        word = tokens[place]
        if word < 0:
            continue
        for distance in range(1, min(window, place) + 1):
            other = tokens[place - distance]
            if other == -2:
                break
            if other >= 0:
                left[found], right[found], weight[found] = other, word, 1.0 / distance
                found += 1
    return left[:found], right[:found], weight[:found]


@kernel()
def glove_epoch(rows, columns, logs, strengths, order, word, context, word_square, context_square, rate):
    """One pass of AdaGrad over the co-occurrences in the given order; returns the mean weighted square error.

    The last column of `word` and of `context` is its bias; squares are the accumulated squared gradients.
    """
    width = word.shape[1]
    total = 0.0
    for place in order:
        i, j = rows[place], columns[place]
        error = word[i, width - 1] + context[j, width - 1] - logs[place]
        for k in range(width - 1):
            error += word[i, k] * context[j, k]
        pull = strengths[place] * error
        total += pull * error
        for k in range(width - 1):
            by_word, by_context = pull * context[j, k], pull * word[i, k]
            word_square[i, k] += by_word * by_word
            context_square[j, k] += by_context * by_context
            word[i, k] -= rate * by_word / math.sqrt(word_square[i, k])
            context[j, k] -= rate * by_context / math.sqrt(context_square[j, k])
        k = width - 1
        word_square[i, k] += pull * pull
        context_square[j, k] += pull * pull
        word[i, k] -= rate * pull / math.sqrt(word_square[i, k])
        context[j, k] -= rate * pull / math.sqrt(context_square[j, k])
    return total / max(order.shape[0], 1)
