"""One row of logits: decoded, checked, exponentiated and weighed.

A row of logits is decoded into a small buffer that stays in the first-level cache, and everything else
(maximum, exponential, sum) runs over that buffer in loops the compiler can vectorize. The library's `exp`
is one scalar call per number and was four fifths of the time; `exp_row` replaces it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from arbora._base.jit import kernel

# How 16-bit storage is to be read (`code`): numba has no half precision, so it comes as uint16.
PLAIN, HALF, BFLOAT = 0, 1, 2
# What a row holds (`mode`).
LOGITS, PROBABILITIES = 0, 1
# Why a row was refused.
OK, NOT_FINITE, NEGATIVE, ALL_ZERO = 0, 1, 2, 3

# Far below any logit that matters, yet finite: fast-math loops must not meet infinities.
EXCLUDED = -1e30
# Where a logarithm is needed, smaller probabilities count as this.
LEAST_PROBABILITY = 1e-30
# Larger than the logarithm of any float, and than minus that of the least probability.
LARGEST_LOGARITHM = 710.0
# Reassociating sums lets them use vector lanes; NaN and infinity keep their meaning.
FAST_SUM = {"reassoc", "nsz", "contract"}

_F = np.float32
_LOG2_E32, _LN2_HIGH32, _LN2_LOW32 = _F(1.44269504), _F(0.693359375), _F(-2.12194440e-4)
_LOWEST32, _HALF32, _ONE32 = _F(-87.0), _F(0.5), _F(1.0)
_P5, _P4, _P3, _P2, _P1, _P0 = (
    _F(1.9875691500e-4),
    _F(1.3981999507e-3),
    _F(8.3334519073e-3),
    _F(4.1665795894e-2),
    _F(1.6666665459e-1),
    _F(5.0000001201e-1),
)
_LOG2_E64, _LN2_HIGH64, _LN2_LOW64 = (
    1.4426950408889634,
    6.93147180369123816490e-01,
    1.90821492927058770002e-10,
)
_LOWEST64 = -708.0


def exp_row(row, bits):
    """Replace every entry of `row` (none positive) by its exponential; `bits` is integer scratch."""
    raise NotImplementedError("compiled only")


@register_jitable
def _exp_row_single(row, bits):
    # exp(v) = 2**k * exp(r) with |r| <= ln(2)/2; the power of two is written straight into the exponent bits.
    for j in range(row.shape[0]):
        v = row[j] if row[j] > _LOWEST32 else _LOWEST32
        k = np.floor(v * _LOG2_E32 + _HALF32)
        r = v - k * _LN2_HIGH32
        r = r - k * _LN2_LOW32
        p = ((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _P0
        bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
        row[j] = p * (r * r) + r + _ONE32
    power = bits.view(np.float32)
    for j in range(row.shape[0]):
        row[j] = row[j] * power[j]


@register_jitable
def _exp_row_double(row, bits):
    # Taylor series to degree 13 on |r| <= ln(2)/2: relative error below 1e-16.
    for j in range(row.shape[0]):
        v = row[j] if row[j] > _LOWEST64 else _LOWEST64
        k = np.floor(v * _LOG2_E64 + 0.5)
        r = v - k * _LN2_HIGH64
        r = r - k * _LN2_LOW64
        p = 1.0 / 479001600.0 + r / 6227020800.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        bits[j] = (np.int64(k) + np.int64(1023)) << np.int64(52)
        row[j] = p * (r * r) + r + 1.0
    power = bits.view(np.float64)
    for j in range(row.shape[0]):
        row[j] = row[j] * power[j]


@overload(exp_row)
def _choose_exp_row(row, bits):
    if row.dtype == types.float32:
        return lambda row, bits: _exp_row_single(row, bits)
    return lambda row, bits: _exp_row_double(row, bits)


def load_row(rows, i, code, row, bits):
    """Decode row i into the buffer `row`."""
    raise NotImplementedError("compiled only")


@register_jitable
def _load_short(rows, i, code, row, bits):
    if code == BFLOAT:
        for j in range(row.shape[0]):
            bits[j] = np.int32(rows[i, j]) << np.int32(16)
        decoded = bits.view(np.float32)
        for j in range(row.shape[0]):
            row[j] = decoded[j]
        return
    # Half precision: moved into single's fields, then scaled by 2**112 because the exponents have other biases.
    for j in range(row.shape[0]):
        half = np.int32(rows[i, j])
        bits[j] = ((half & np.int32(0x7FFF)) << np.int32(13)) | ((half & np.int32(0x8000)) << np.int32(16))
        # infinity and NaN stay what they are
        if half & np.int32(0x7C00) == np.int32(0x7C00):
            bits[j] = np.int32(0x7F800000)
    decoded = bits.view(np.float32)
    for j in range(row.shape[0]):
        row[j] = decoded[j] * np.float32(5.192296858534828e33)


@register_jitable
def _load_plain(rows, i, code, row, bits):
    for j in range(row.shape[0]):
        row[j] = rows[i, j]


@overload(load_row)
def _choose_load_row(rows, i, code, row, bits):
    if rows.dtype == types.uint16:
        return lambda rows, i, code, row, bits: _load_short(rows, i, code, row, bits)
    return lambda rows, i, code, row, bits: _load_plain(rows, i, code, row, bits)


def largest(row):
    """Largest entry of a row.

    Compared as integers whose order is that of the floats: the compiler vectorizes an integer maximum (6 times
    faster), a floating one it does not, whatever the flags.
    """
    raise NotImplementedError("compiled only")


@register_jitable
def _largest_single(row):
    ordered = row.view(np.int32)
    best = np.int32(-2147483648)
    for j in range(ordered.shape[0]):
        v = ordered[j]
        v = v ^ ((v >> np.int32(31)) & np.int32(0x7FFFFFFF))
        best = v if v > best else best
    bits = np.empty(1, np.int32)
    bits[0] = best ^ ((best >> np.int32(31)) & np.int32(0x7FFFFFFF))
    return bits.view(np.float32)[0]


@register_jitable
def _largest_double(row):
    ordered = row.view(np.int64)
    best = np.int64(-9223372036854775808)
    for j in range(ordered.shape[0]):
        v = ordered[j]
        v = v ^ ((v >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))
        best = v if v > best else best
    bits = np.empty(1, np.int64)
    bits[0] = best ^ ((best >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))
    return bits.view(np.float64)[0]


@overload(largest)
def _choose_largest(row):
    if row.dtype == types.float32:
        return lambda row: _largest_single(row)
    return lambda row: _largest_double(row)


def largest_magnitude(row):
    """Largest absolute value of a row, as the largest of the bit patterns without their sign."""
    raise NotImplementedError("compiled only")


@register_jitable
def _largest_magnitude_single(row):
    unsigned = row.view(np.int32)
    bits = np.zeros(1, np.int32)
    best = np.int32(0)
    for j in range(unsigned.shape[0]):
        v = unsigned[j] & np.int32(0x7FFFFFFF)
        best = v if v > best else best
    bits[0] = best
    return bits.view(np.float32)[0]


@register_jitable
def _largest_magnitude_double(row):
    unsigned = row.view(np.int64)
    bits = np.zeros(1, np.int64)
    best = np.int64(0)
    for j in range(unsigned.shape[0]):
        v = unsigned[j] & np.int64(0x7FFFFFFFFFFFFFFF)
        best = v if v > best else best
    bits[0] = best
    return bits.view(np.float64)[0]


@overload(largest_magnitude)
def _choose_largest_magnitude(row):
    if row.dtype == types.float32:
        return lambda row: _largest_magnitude_single(row)
    return lambda row: _largest_magnitude_double(row)


@kernel(nogil=True)
def first_equal(row, value):
    """Position of the first entry equal to `value` (which is there)."""
    n = row.shape[0]
    whole = n - n % 32
    for block in range(0, whole, 32):
        part = row[block : block + 32]
        hits = np.int32(0)
        # counts without leaving, hence vectorized
        for j in range(32):
            hits += np.int32(part[j] == value)
        if hits > 0:
            for j in range(32):
                if part[j] == value:
                    return block + j
    for j in range(whole, n):
        if row[j] == value:
            return j
    return 0


@kernel(nogil=True, fastmath=FAST_SUM)
def total(row):
    """Sum of a row."""
    result = row[0] - row[0]
    for j in range(row.shape[0]):
        result += row[j]
    return result


@kernel(nogil=True)
def row_problem(row, mode):
    """OK, or why a decoded row cannot be used."""
    # NaN when any entry is NaN or infinite (no entry is near the type's limit)
    spread = total(row) * 0
    if not math.isfinite(spread):
        return NOT_FINITE
    if mode == PROBABILITIES:
        for j in range(row.shape[0]):
            if row[j] < 0:
                return NEGATIVE
        if largest(row) <= 0:
            return ALL_ZERO
    return OK


@kernel(nogil=True)
def sharpen(row, mode, sharpness):
    """Divide logits by the temperature (multiply by `sharpness`, its inverse); raise probabilities to that power.

    Both change the softmax alike. Probabilities are first divided by the largest, so that no row underflows.
    """
    if sharpness == 1.0:
        return
    if mode == PROBABILITIES:
        top = largest(row)
        for j in range(row.shape[0]):
            row[j] = (row[j] / top) ** sharpness if row[j] > 0 else top * 0
    else:
        for j in range(row.shape[0]):
            row[j] = row[j] * sharpness


@kernel(nogil=True)
def weigh_rest(row, bits, mode):
    """Largest entry, its position, and the sum of weights relative to it; `row` becomes those weights.

    A weight is exp(v - largest) for logits and v / largest for probabilities, so the largest weighs 1.
    """
    top = largest(row)
    where = first_equal(row, top)
    if mode == PROBABILITIES:
        if top <= 0:
            return top, where, top * 0
        for j in range(row.shape[0]):
            row[j] = row[j] / top if row[j] > 0 else top * 0
    else:
        for j in range(row.shape[0]):
            row[j] = row[j] - top
        exp_row(row, bits)
    return top, where, total(row)
