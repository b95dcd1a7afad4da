"""What counts as rounding between a value and its mirror."""

import numpy as np
import pytest

from arbora.similarity._symmetry import check_symmetric, is_rounding


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_gaps_are_judged_relative_to_the_values(dtype, scale):
    values = np.array([3.0, 1.0], dtype=dtype) * dtype(scale)
    larger = values.copy()
    assert is_rounding(values * dtype(1e-7), larger, values)
    assert not is_rounding(values * dtype(1e-4), larger, values)
    assert is_rounding(np.empty(0), np.empty(0), values)


def test_a_small_value_beside_large_ones_may_differ_by_their_last_places():
    large = np.array([1.0, 1e-17])
    assert is_rounding(np.array([1e-17]), np.array([1e-17]), large)
    assert not is_rounding(np.array([1e-12]), np.array([1e-12]), large)


def test_blocks_of_a_large_matrix_do_not_show():
    matrix = np.random.default_rng(0).random((2500, 2500))
    matrix += matrix.T
    check_symmetric(matrix, "W")
    matrix[2400, 7] += 1
    with pytest.raises(ValueError, match=r"W\[7, 2400\]|W\[2400, 7\]"):
        check_symmetric(matrix, "W")
