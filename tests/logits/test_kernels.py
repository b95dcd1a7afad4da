"""Kernels against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.special import softmax

from arbora.logits import _row_kernels as kernels
from arbora.logits import _stream_kernels as stream
from arbora.logits._affinity import class_affinity
from arbora.logits._protocol import Reading
from arbora.logits._rows import ArrayRows

DTYPES = [np.float32, np.float64]


@njit
def exponentials(row, bits):
    kernels.exp_row(row, bits)


@njit
def maximum(row):
    return kernels.largest(row)


def integers_like(dtype):
    return np.int32 if dtype == np.float32 else np.int64


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_row_is_the_exponential(dtype):
    lowest = -87 if dtype == np.float32 else -708
    row = np.concatenate([np.linspace(lowest, 0, 20_000), -np.logspace(-12, 1, 500)]).astype(dtype)
    expected = np.exp(row.astype(np.float64))
    exponentials(row, np.empty(len(row), integers_like(dtype)))
    assert np.abs(row / expected - 1).max() < 4 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_row_of_excluded_entries_is_negligible(dtype):
    row = np.array([kernels.EXCLUDED, -1e4, 0.0], dtype)
    exponentials(row, np.empty(3, integers_like(dtype)))
    assert row[0] < 1e-37 and row[1] < 1e-37 and row[2] == 1


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=200), st.sampled_from(DTYPES))
def test_largest_and_first_equal_are_max_and_argmax(values, dtype):
    row = np.array(values, dtype)
    assert maximum(row) == row.max()
    assert kernels.first_equal(row, row.max()) == row.argmax()


@given(st.integers(1, 50), st.integers(1, 90), st.integers(0, 10**6), st.sampled_from(DTYPES), st.booleans())
def test_scan_equals_softmax(n, k, seed, dtype, from_probabilities):
    X = np.random.default_rng(seed).normal(0, 3, (n, k)).astype(dtype)
    p = softmax(X.astype(np.float64), axis=1)
    look = ArrayRows(p.astype(dtype) if from_probabilities else X, Reading(from_probabilities)).scan()
    assert np.array_equal(look.assigned, X.argmax(axis=1))
    assert np.allclose(look.confidence, p.max(axis=1), rtol=1e-5)
    if k > 1:
        p[np.arange(n), look.assigned] = 0
        assert np.allclose(look.second_confidence, p.max(axis=1) / p.sum(axis=1), rtol=1e-4)


@given(st.integers(1, 50), st.integers(2, 90), st.integers(0, 10**6), st.sampled_from(DTYPES))
def test_reassign_equals_masked_softmax(n, k, seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 3, (n, k)).astype(dtype)
    excluded = rng.permutation(k)[: rng.integers(1, k)]
    points = rng.permutation(n)
    reassigned, probability = ArrayRows(X).reassign(points, excluded)
    masked = X.astype(np.float64)[points]
    masked[:, excluded] = -np.inf
    assert np.array_equal(reassigned, masked.argmax(axis=1))
    assert np.allclose(probability, softmax(masked, axis=1).max(axis=1), rtol=1e-5)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_keep_largest_keeps_the_largest_in_order(n, k, seed):
    rng = np.random.default_rng(seed)
    # many ties
    X = rng.integers(-5, 5, (n, k)).astype(np.float64)
    m = int(rng.integers(1, k + 1))
    kept, kept_class, tail = np.empty((n, m), np.float32), np.empty((n, m), np.uint16), np.empty(n)
    stream.keep_largest(
        X,
        0,
        0,
        1.0,
        0,
        n,
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(m),
        np.empty(m, np.int64),
        kept,
        kept_class,
        tail,
    )
    order = np.argsort(-X, axis=1, kind="stable")
    assert np.array_equal(kept_class, order[:, :m])
    weight = np.exp(np.take_along_axis(X, order, axis=1) - X.max(axis=1, keepdims=True))
    assert np.allclose(tail, weight[:, m:].sum(axis=1), atol=1e-12)
    assert np.allclose(np.exp(kept), weight[:, :m], rtol=1e-6)


@given(st.integers(1, 30), st.integers(2, 40), st.integers(0, 10**6))
def test_reassigning_from_everything_kept_is_exact(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 3, (n, k))
    excluded = np.zeros(k, bool)
    excluded[rng.permutation(k)[: rng.integers(1, k)]] = True
    kept, kept_class, tail = np.empty((n, k), np.float32), np.empty((n, k), np.uint16), np.empty(n)
    stream.keep_largest(
        X,
        0,
        0,
        1.0,
        0,
        n,
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k),
        np.empty(k, np.int64),
        kept,
        kept_class,
        tail,
    )
    reassigned, probability = np.empty(n, np.int32), np.empty(n)
    stream.reassign_kept(
        kept, kept_class, tail, np.arange(n), 0, n, excluded, int(excluded.sum()), reassigned, probability
    )
    exact = ArrayRows(X).reassign(np.arange(n), np.flatnonzero(excluded))
    assert np.array_equal(reassigned, exact[0])
    assert np.allclose(probability, exact[1], rtol=1e-5)


def test_half_precision_decodes_every_finite_value():
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)].reshape(-1, 32)
    first = ArrayRows(every).scan()
    assert np.array_equal(first.assigned, every.astype(np.float32).argmax(axis=1))


def test_bfloat16_decodes_to_its_float32():
    X = np.random.default_rng(0).normal(size=(100, 40)).astype(np.float32)
    X = (X.view(np.uint32) & 0xFFFF0000).view(np.float32)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    short = (X.view(np.uint32) >> 16).astype(np.uint16)
    a, b = ArrayRows(short.view(ml_dtypes.bfloat16)).scan(), ArrayRows(X).scan()
    assert np.array_equal(a.assigned, b.assigned) and np.array_equal(a.confidence, b.confidence)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 10**6), st.sampled_from(DTYPES))
def test_sums_by_class_are_sums_of_centered_logits(n, k, seed, dtype):
    X = np.random.default_rng(seed).normal(0, 3, (n, k)).astype(dtype)
    rows = ArrayRows(X, Reading(n_threads=2))
    centered = X.astype(np.float64) - X.mean(axis=1, keepdims=True, dtype=np.float64)
    expected = np.zeros((k, k))
    np.add.at(expected, X.argmax(axis=1), centered)
    assert np.allclose(rows.class_sums(rows.scan()), expected, atol=1e-3)


def test_affinity_is_standardized_symmetric_and_has_no_gaps():
    rng = np.random.default_rng(0)
    sums, counts = rng.normal(size=(6, 6)), np.array([3, 1, 0, 2, 0, 5])
    sums[counts == 0] = 0
    affinity = class_affinity(sums, counts)
    off = ~np.eye(6, dtype=bool)
    assert np.allclose(affinity, affinity.T) and np.isfinite(affinity).all()
    assert affinity[off].mean() == pytest.approx(0) and affinity[off].std() == pytest.approx(1)
    assert np.array_equal(class_affinity(np.zeros((3, 3)), np.zeros(3, int)), np.zeros((3, 3)))
