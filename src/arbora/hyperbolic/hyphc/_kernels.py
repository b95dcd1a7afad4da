"""Triples, and HypHC's loss and gradient on a circle, one triple at a time.

Leaf i is the angle theta[i] at hyperbolic radius rho. `half` holds (cos, sin) of theta / 2, so that a pair
needs no trigonometry. Every random choice is a hash of (key, position of the triple): the same triples come
out whatever the blocks, the threads or the engine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from arbora._base.jit import kernel

FEATURES, MATRIX, GRAPH = 0, 1, 2  # how `Weights` gives the similarity of a pair
MAX_RADIUS = 36.0  # beyond it, sech² of the radius is lost beside 1 in double precision
MIN_RADIUS = 0.02
SHARE_LEAVES_FROM = 8192  # fewer are moved before threads could be started
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FAST = {"contract", "reassoc", "nsz", "arcp"}  # NaN and infinity must stay visible


class Weights(NamedTuple):
    """Similarities as arrays: `values` are features or a matrix; the rest a graph in CSR form."""

    kind: int
    values: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Draw(NamedTuple):
    """One pass over all pairs: pair p is order[p mod n] with the leaf shift[p div n] places further."""

    order: np.ndarray
    shift: np.ndarray
    key: np.uint64
    bias: float  # chance that the second leaf is a neighbor of the first instead
    indptr: np.ndarray
    indices: np.ndarray


class Schedule(NamedTuple):
    """Learning rate, temperature and radius at the start and at the end of training (geometric, linear)."""

    rate: tuple
    temperature: tuple
    radius: tuple
    learn_radius: bool


class Circle(NamedTuple):
    """State of training: angles, their half-angle cosines and sines, and Adam's two moments.

    The last entry of `first` and `second` belongs to the radius; `scalars` is (radius, steps taken).
    """

    theta: np.ndarray
    half: np.ndarray
    first: np.ndarray
    second: np.ndarray
    scalars: np.ndarray


@kernel()
def mix64(x):
    """Finalizer of splitmix64: 64 well mixed bits from a counter."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def below(bits, bound):
    """Uniform integer in [0, bound) from 32 random bits, without a division."""
    return np.int64((bits * np.uint64(bound)) >> np.uint64(32))


@kernel()
def draw_triple(order, offset, place, bits, bias, indptr, indices):
    """Leaves (i, j, k), all different: the pair at `place` of a row of the pass, and a third leaf."""
    n = order.shape[0]
    i = order[place]
    place += offset
    j = order[place - n if place >= n else place]
    if bias > 0.0:
        more = mix64(bits)
        degree = indptr[i + 1] - indptr[i]
        if degree > 0 and (more >> np.uint64(32)) < np.uint64(bias * 4294967296.0):
            j = indices[indptr[i] + below(more & np.uint64(0xFFFFFFFF), degree)]
    k = below(bits >> np.uint64(32), n - 2)
    if k >= min(i, j):
        k += 1
    if k >= max(i, j):
        k += 1
    return i, j, k


@kernel()
def draw_triples(draw, first, count):
    """Triples first .. first + count - 1 of the pass: int64[count, 3]."""
    triples = np.empty((count, 3), dtype=np.int64)
    order, shift, key, bias, indptr, indices = draw
    n = order.shape[0]
    for t in range(count):
        row = (first + t) // n
        bits = mix64(key + np.uint64(first + t) * GOLDEN)
        i, j, k = draw_triple(order, shift[row], first + t - row * n, bits, bias, indptr, indices)
        triples[t, 0], triples[t, 1], triples[t, 2] = i, j, k
    return triples


@kernel()
def weight_in_row(indptr, indices, data, i, j):
    """Weight of edge (i, j) by bisection in the sorted row of i; 0 if there is none."""
    low, high = np.int64(indptr[i]), np.int64(indptr[i + 1])
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < indptr[i + 1] and indices[low] == j:
        return np.float64(data[low])
    return 0.0


@kernel(fastmath=_FAST, inline="always")
def triple_weights(kind, values, indptr, indices, data, i, j, k):
    """Similarities (w_ij, w_ik, w_jk)."""
    w_ij, w_ik, w_jk = 0.0, 0.0, 0.0
    if kind == FEATURES:
        for f in range(values.shape[1]):
            at_i, at_j, at_k = values[i, f], values[j, f], values[k, f]
            w_ij += at_i * at_j
            w_ik += at_i * at_k
            w_jk += at_j * at_k
    elif kind == MATRIX:
        w_ij += values[i, j]
        w_ik += values[i, k]
        w_jk += values[j, k]
    else:
        w_ij = weight_in_row(indptr, indices, data, i, j)
        w_ik = weight_in_row(indptr, indices, data, i, k)
        w_jk = weight_in_row(indptr, indices, data, j, k)
    return w_ij, w_ik, w_jk


@kernel()
def weigh_triples(weights, triples):
    """Similarities of many triples: float64[count, 3]."""
    kind, values, indptr, indices, data = weights
    out = np.empty((triples.shape[0], 3))
    for t in range(triples.shape[0]):
        i, j, k = triples[t, 0], triples[t, 1], triples[t, 2]
        w_ij, w_ik, w_jk = triple_weights(kind, values, indptr, indices, data, i, j, k)
        out[t, 0], out[t, 1], out[t, 2] = w_ij, w_ik, w_jk
    return out


@kernel(fastmath=_FAST, inline="always")
def half_angle(half, i, j):
    """Cosine and sine of half the angle from leaf j to leaf i, the short way round: cosine >= 0."""
    cosine = half[i, 0] * half[j, 0] + half[i, 1] * half[j, 1]
    sine = half[i, 1] * half[j, 0] - half[i, 0] * half[j, 1]
    if cosine < 0.0:
        return -cosine, -sine
    return cosine, sine


@kernel(fastmath=_FAST, inline="always")
def triple_terms(half, i, j, k, w_ij, w_ik, w_jk, tanh_radius, sech2_radius, temperature):
    """Loss of one triple, what the angles of i and of j gain (k: minus the sum), and what the radius gains.

    With c, s the half-angle cosine and sine of a pair and q = 1 - (c tanh rho)² = s² + c² sech² rho, its LCA
    lies at depth artanh(c tanh rho) = ½ log((1 + c tanh rho)² / q), whose derivative is -½ s tanh rho / q in
    the angle and c sech² rho / q in rho.
    """
    c1, s1 = half_angle(half, i, j)
    c2, s2 = half_angle(half, i, k)
    c3, s3 = half_angle(half, j, k)
    q1 = s1 * s1 + c1 * c1 * sech2_radius
    q2 = s2 * s2 + c2 * c2 * sech2_radius
    q3 = s3 * s3 + c3 * c3 * sech2_radius
    e1, e2, e3 = 1.0 + c1 * tanh_radius, 1.0 + c2 * tanh_radius, 1.0 + c3 * tanh_radius
    d1, d2, d3 = math.log(e1 * e1 / q1), math.log(e2 * e2 / q2), math.log(e3 * e3 / q3)
    deepest = max(d1, max(d2, d3))
    per_depth = 0.5 / temperature
    p1 = math.exp((d1 - deepest) * per_depth)
    p2 = math.exp((d2 - deepest) * per_depth)
    p3 = math.exp((d3 - deepest) * per_depth)
    share = 1.0 / (p1 + p2 + p3)
    soft = (p1 * w_ij + p2 * w_ik + p3 * w_jk) * share
    # minus the derivative of `soft` in each depth, divided by q, which all derivatives below share
    g1 = p1 * share * (soft - w_ij) / (temperature * q1)
    g2 = p2 * share * (soft - w_ik) / (temperature * q2)
    g3 = p3 * share * (soft - w_jk) / (temperature * q3)
    slope = -0.5 * tanh_radius
    to_i = slope * (g1 * s1 + g2 * s2)
    to_j = slope * (g3 * s3 - g1 * s1)
    to_radius = sech2_radius * (g1 * c1 + g2 * c2 + g3 * c3)
    return w_ij + w_ik + w_jk - soft, to_i, to_j, to_radius


@kernel(fastmath=_FAST)
def add_gradients(half, triples, w, radius, temperature, gradient):
    """Sum of the losses of given triples; adds their gradient to `gradient` (last entry: the radius)."""
    tanh_radius, sech2_radius = math.tanh(radius), 1.0 / math.cosh(radius) ** 2
    n = half.shape[0]
    total = 0.0
    for t in range(triples.shape[0]):
        i, j, k = triples[t, 0], triples[t, 1], triples[t, 2]
        loss, to_i, to_j, to_radius = triple_terms(
            half, i, j, k, w[t, 0], w[t, 1], w[t, 2], tanh_radius, sech2_radius, temperature
        )
        total += loss
        gradient[i] += to_i
        gradient[j] += to_j
        gradient[k] -= to_i + to_j
        gradient[n] += to_radius
    return total


@kernel(fastmath=_FAST)
def add_drawn_gradients(half, draw, weights, first, count, radius, temperature, gradient):
    """`add_gradients` fused with drawing and weighing the triples: nothing is stored per triple."""
    tanh_radius, sech2_radius = math.tanh(radius), 1.0 / math.cosh(radius) ** 2
    # Unpacked once: numba counts references each time an array is taken out of a tuple.
    order, shift, key, bias, near_indptr, near_indices = draw
    kind, values, indptr, indices, data = weights
    n = half.shape[0]
    row = first // n
    place = first - row * n
    total = 0.0
    total_radius = 0.0
    for position in range(first, first + count):
        bits = mix64(key + np.uint64(position) * GOLDEN)
        i, j, k = draw_triple(order, shift[row], place, bits, bias, near_indptr, near_indices)
        w_ij, w_ik, w_jk = triple_weights(kind, values, indptr, indices, data, i, j, k)
        loss, to_i, to_j, to_radius = triple_terms(
            half, i, j, k, w_ij, w_ik, w_jk, tanh_radius, sech2_radius, temperature
        )
        total += loss
        total_radius += to_radius
        gradient[i] += to_i
        gradient[j] += to_j
        gradient[k] -= to_i + to_j
        place += 1
        if place == n:
            place = 0
            row += 1
    gradient[n] += total_radius
    return total


@kernel()
def plan(schedule, progress, learned_radius):
    """Learning rate, temperature and radius when the fraction `progress` of training is done."""
    rate = schedule.rate[0] * (schedule.rate[1] / schedule.rate[0]) ** progress
    temperature = schedule.temperature[0] * (schedule.temperature[1] / schedule.temperature[0]) ** progress
    radius = schedule.radius[0] + (schedule.radius[1] - schedule.radius[0]) * progress
    if schedule.learn_radius:
        radius = learned_radius
    return rate, temperature, radius


@kernel()
def adam_move(circle, slot, gradient, rate, step):
    """Adam's step (0.9, 0.999) of one parameter; the moments are updated."""
    first = 0.9 * circle.first[slot] + 0.1 * gradient
    second = 0.999 * circle.second[slot] + 0.001 * gradient * gradient
    circle.first[slot], circle.second[slot] = first, second
    return -rate * (first / (1.0 - 0.9**step)) / (math.sqrt(second / (1.0 - 0.999**step)) + 1e-10)


@kernel()
def move_leaves(circle, gradients, low, high, scale, rate, step):
    """Adam on the angles low .. high - 1; `gradients` are buffers to add, in order, and to clear."""
    for leaf in range(low, high):
        gradient = 0.0
        for block in range(gradients.shape[0]):
            gradient += gradients[block, leaf]
            gradients[block, leaf] = 0.0
        circle.theta[leaf] += adam_move(circle, leaf, gradient * scale, rate, step)
        circle.half[leaf, 0] = math.cos(0.5 * circle.theta[leaf])
        circle.half[leaf, 1] = math.sin(0.5 * circle.theta[leaf])


@kernel()
def move_radius(circle, gradients, scale, rate, step, learn):
    """Adam on the radius, where it is learned; clears its gradient either way."""
    n = circle.theta.shape[0]
    gradient = 0.0
    for block in range(gradients.shape[0]):
        gradient += gradients[block, n]
        gradients[block, n] = 0.0
    if learn:
        moved = circle.scalars[0] + adam_move(circle, n, gradient * scale, rate, step)
        circle.scalars[0] = min(max(moved, MIN_RADIUS), MAX_RADIUS)


@kernel(nogil=True)
def train(circle, draw, weights, schedule, count, batch, progress, steps):
    """Take steps steps[0] .. steps[1] - 1 of a pass over `count` triples; the sum of their losses.

    `progress` is the fraction of training done before and after the pass.
    """
    n = circle.theta.shape[0]
    gradients = np.zeros((1, n + 1))
    total = 0.0
    n_steps = (count + batch - 1) // batch
    for s in range(steps[0], steps[1]):
        size = min(batch, count - s * batch)
        done = progress[0] + (progress[1] - progress[0]) * s / n_steps
        rate, temperature, radius = plan(schedule, done, circle.scalars[0])
        total += add_drawn_gradients(
            circle.half, draw, weights, s * batch, size, radius, temperature, gradients[0]
        )
        circle.scalars[1] += 1.0
        move_leaves(circle, gradients, 0, n, 1.0 / size, rate, circle.scalars[1])
        move_radius(circle, gradients, 1.0 / size, rate, circle.scalars[1], schedule.learn_radius)
    return total


@kernel(parallel=True)
def train_parallel(circle, draw, weights, schedule, count, batch, progress, steps, n_blocks):
    """`train` with every batch in `n_blocks` parts, each with its own gradient, added in a fixed order.

    The result depends on `n_blocks` (rounding), not on the number of threads.
    """
    n = circle.theta.shape[0]
    gradients = np.zeros((n_blocks, n + 1))
    losses = np.zeros(n_blocks)
    total = 0.0
    n_steps = (count + batch - 1) // batch
    for s in range(steps[0], steps[1]):
        size = min(batch, count - s * batch)
        start = s * batch
        done = progress[0] + (progress[1] - progress[0]) * s / n_steps
        rate, temperature, radius = plan(schedule, done, circle.scalars[0])
        circle.scalars[1] += 1.0
        step = circle.scalars[1]
        for block in prange(n_blocks):
            low, high = size * block // n_blocks, size * (block + 1) // n_blocks
            losses[block] = add_drawn_gradients(
                circle.half, draw, weights, start + low, high - low, radius, temperature, gradients[block]
            )
        for block in range(n_blocks):
            total += losses[block]
        move_radius(circle, gradients, 1.0 / size, rate, step, schedule.learn_radius)
        if n < SHARE_LEAVES_FROM:
            move_leaves(circle, gradients, 0, n, 1.0 / size, rate, step)
        else:
            for block in prange(n_blocks):
                low, high = n * block // n_blocks, n * (block + 1) // n_blocks
                move_leaves(circle, gradients, low, high, 1.0 / size, rate, step)
    return total


@kernel()
def move(circle, gradients, size, rate, schedule_learns):
    """One Adam step from a gradient computed elsewhere (similarities that only answer for given pairs)."""
    circle.scalars[1] += 1.0
    move_leaves(circle, gradients, 0, circle.theta.shape[0], 1.0 / size, rate, circle.scalars[1])
    move_radius(circle, gradients, 1.0 / size, rate, circle.scalars[1], schedule_learns)
