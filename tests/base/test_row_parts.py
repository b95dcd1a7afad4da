"""Matrices that give any of their rows: what they hand out, in which type, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.row_parts import (
    ArrayPart,
    DaskPart,
    StorePart,
    as_stored,
    check_finite_rows,
    natural_dtype,
    reading,
)
from arbora.errors import ArboraError, FormatError

MATRIX = np.arange(60.0).reshape(20, 3)


class Store:
    """What an open HDF5 or zarr array has, with a count of what was read."""

    def __init__(self, matrix, chunks=None, announced=None):
        self._matrix = matrix
        self.shape, self.dtype, self.chunks = announced or matrix.shape, matrix.dtype, chunks
        self.read = []

    def __getitem__(self, place):
        self.read.append((place.start, place.stop))
        return self._matrix[place]


@pytest.mark.parametrize(
    ("stored", "handed_out"),
    [
        (np.float16, np.float16),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (">f4", np.float32),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_floats_stay_as_they_are_and_other_numbers_become_double(stored, handed_out):
    array = np.ones((2, 2), stored)
    assert natural_dtype(array, "X") == handed_out
    converted = as_stored(array, "X")
    assert converted.dtype == handed_out and converted.dtype.isnative and (converted == 1).all()
    assert (converted is array) == (array.dtype == handed_out)


@pytest.mark.parametrize("dtype", ["<U3", "O", np.complex128, "M8[s]"])
def test_what_is_no_real_number_is_refused_with_its_type(dtype):
    with pytest.raises(TypeError, match=r"logits must hold real numbers. Got dtype"):
        natural_dtype(np.empty(1, dtype), "logits")


def test_two_bytes_of_an_unknown_type_say_how_to_read_bfloat16():
    with pytest.raises(FormatError, match=r"view.ml_dtypes.bfloat16"):
        natural_dtype(np.empty(1, "V2"), "X")


@given(st.integers(0, 3), st.integers(0, 2), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_the_first_row_that_is_not_finite_is_named(row, column, bad):
    chunk = np.zeros((4, 3))
    chunk[row, column] = bad
    chunk[3, 2] = np.nan
    with pytest.raises(ValueError, match=rf"X must be finite.*row {100 + row}, column {column} "):
        check_finite_rows(chunk, 100, "X")


def test_infinities_that_cancel_are_found_and_sums_that_overflow_are_not_held_against_anyone():
    check_finite_rows(np.full((3, 3), np.finfo(np.float64).max), 0, "X")
    check_finite_rows(np.empty((0, 3)), 0, "X")
    with pytest.raises(ValueError, match="row 0"):
        check_finite_rows(np.array([[np.inf, -np.inf]]), 0, "X")


PARTS = {
    "array": ArrayPart(MATRIX),
    **{
        f"store {chunks}": StorePart(Store(MATRIX, chunks), "'x.h5'")
        for chunks in (None, (4, 2), (7, 3), (50, 3))
    },
}


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("most", [1, 3, 5, 8, 100])
def test_spans_cover_all_rows_in_order_and_none_is_longer_than_asked(kind, most):
    part = PARTS[kind]
    spans = list(part.spans(most))
    assert [row for start, stop in spans for row in range(start, stop)] == list(range(20))
    assert max(stop - start for start, stop in spans) <= most
    np.testing.assert_array_equal(np.concatenate([part.read(*span) for span in spans]), MATRIX)


@given(st.sets(st.integers(0, 19), min_size=1), st.sampled_from([None, (1, 3), (4, 2), (7, 3), (50, 3)]))
def test_any_rows_of_a_store_are_those_of_the_matrix(wanted, chunks):
    rows = np.array(sorted(wanted))
    np.testing.assert_array_equal(StorePart(Store(MATRIX, chunks), "x").take(rows), MATRIX[rows])
    np.testing.assert_array_equal(ArrayPart(MATRIX).take(rows), MATRIX[rows])


def test_rows_in_one_storage_chunk_are_read_at_once():
    store = Store(MATRIX, (5, 3))
    StorePart(store, "x").take(np.array([0, 1, 4, 5, 16, 19]))
    assert store.read == [(0, 5), (5, 6), (16, 20)]


def test_spans_end_where_storage_chunks_do():
    assert list(StorePart(Store(MATRIX, (6, 3)), "x").spans(15)) == [(0, 12), (12, 20)]
    assert list(StorePart(Store(MATRIX, (6, 3)), "x").spans(4))[:2] == [(0, 4), (4, 8)], "chunks are too tall"


def test_whole_numbers_in_a_store_become_floats():
    part = StorePart(Store(MATRIX.astype(np.int32)), "x")
    assert part.dtype == np.float64 and part.read(0, 2).dtype == np.float64


def test_a_store_that_is_shorter_than_it_says_is_refused_with_the_rows():
    part = StorePart(Store(MATRIX, announced=(1000, 3)), "'x.h5'")
    with pytest.raises(FormatError, match=r"'x.h5' announces 1,000 rows. Rows 15 to 24 cannot be read"):
        part.read(15, 25)


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4)])
def test_what_is_no_matrix_is_refused_with_its_shape(shape):
    with pytest.raises(ValueError, match=r"'x.h5' must have shape \(n_points, n_features\). Got \("):
        StorePart(Store(np.zeros(shape)), "'x.h5'")


def test_storage_chunks_larger_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr("arbora._base.memory.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=r"Single chunks of 'x.h5'.*Store it in smaller chunks"):
        StorePart(Store(MATRIX, (20, 3)), "'x.h5'")


def test_whatever_a_library_raises_names_the_file():
    problem = r"'x' is damaged, cut short .* \(KeyError: 'deep inside'\)"
    with pytest.raises(FormatError, match=problem), reading("'x'"):
        raise KeyError("deep inside")
    for problem in (ArboraError("ours"), MemoryError("theirs")):
        with pytest.raises(type(problem), match=r"ours|theirs"), reading("x"):
            raise problem


def test_a_dask_array_is_read_block_by_block():
    dask = pytest.importorskip("dask.array")
    part = DaskPart(dask.from_array(MATRIX, chunks=(8, 3)), "X")
    assert list(part.spans(5)) == [(0, 5), (5, 8), (8, 13), (13, 16), (16, 20)]
    np.testing.assert_array_equal(part.read(6, 11), MATRIX[6:11])
    np.testing.assert_array_equal(part.take(np.array([0, 9, 19])), MATRIX[[0, 9, 19]])
    with pytest.raises(ValueError, match="X must have shape"):
        DaskPart(dask.zeros(4), "X")
