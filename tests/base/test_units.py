import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arbora._base.units import in_safe_units

columns = arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False))


@given(columns)
def test_squares_in_safe_units_are_numbers_and_units_are_powers_of_two(values):
    safe, unit = in_safe_units(values)
    assert np.isfinite((safe**4).sum())
    assert (np.frexp(unit)[0] == 0.5).all()
    # dividing rounds nothing but what falls below the smallest numbers
    assert np.allclose(safe * unit, values, rtol=0, atol=2.0**-1000 * np.abs(values).max(initial=0))


@pytest.mark.parametrize("values", [[[1.0, -2e50]], [[np.nan, 3.0]], [[0.0, -0.0]]])
def test_ordinary_numbers_are_left_as_they_are(values):
    values = np.array(values)
    safe, unit = in_safe_units(values)
    assert safe is values
    assert (unit == 1).all()
