"""What rows are asked, whether they come from parts or from passes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.checkpoint import identity_of
from arbora._base.row_kinds import PartRows, StreamedRows
from arbora._base.row_parts import ArrayPart
from arbora._base.rows import open_rows

MATRIX = np.random.default_rng(1).normal(size=(50, 4))


def in_parts(matrix=MATRIX, cuts=(7, 7, 30)):
    return PartRows("X", [ArrayPart(part) for part in np.split(matrix, cuts)])


def streamed(matrix=MATRIX, cuts=(7, 7, 30), **options):
    return StreamedRows("X", lambda: iter(np.split(matrix, cuts)), **{"is_repeatable": True, **options})


both = pytest.mark.parametrize("make", [in_parts, streamed])
cuts_of_rows = st.lists(st.integers(0, 50), max_size=5).map(sorted)


@both
@given(cuts=cuts_of_rows, size=st.one_of(st.none(), st.integers(1, 60)))
def test_chunks_are_the_rows_in_order_with_their_places(make, cuts, size):
    chunks = list(make(MATRIX, cuts).chunks(size))
    assert [place.start for place, _ in chunks[1:]] == [place.stop for place, _ in chunks[:-1]]
    for place, chunk in chunks:
        np.testing.assert_array_equal(chunk, MATRIX[place])
        assert size is None or len(chunk) <= size
    assert sum(len(chunk) for _, chunk in chunks) == 50


@both
@given(cuts=cuts_of_rows, wanted=st.sets(st.integers(0, 49)))
def test_any_rows_can_be_taken(make, cuts, wanted):
    rows = np.array(sorted(wanted), dtype=np.int64)
    np.testing.assert_array_equal(make(MATRIX, cuts).take(rows), MATRIX[rows])


@both
@given(cuts=cuts_of_rows)
def test_how_rows_are_cut_does_not_change_what_they_are(make, cuts):
    assert identity_of(rows=make(MATRIX, cuts).identity()) == identity_of(rows=open_rows(MATRIX).identity())


@both
def test_other_numbers_types_and_widths_are_other_rows(make):
    changed = MATRIX.copy()
    changed[49, 3] += 1e-9
    found = {
        make(matrix).identity()
        for matrix in (MATRIX, changed, MATRIX.astype(np.float32), MATRIX[:, :3], MATRIX[::-1])
    }
    assert len(found) == 5


@both
@pytest.mark.parametrize("rows", [[3, 1], [1, 1], [-1, 2]])
def test_rows_to_take_must_ascend(make, rows):
    with pytest.raises(ValueError, match="must be ascending row numbers, none of them twice"):
        make().take(np.array(rows))


@both
def test_a_row_beyond_the_last_is_refused(make):
    with pytest.raises(ValueError, match="Row 50 is beyond the last row of X"):
        make().take(np.array([3, 50]))


@both
def test_no_rows_are_a_matrix_without_rows(make):
    assert make().take(np.array([], dtype=int)).shape == (0, 4)


@both
def test_rows_are_converted_as_they_are_read(make):
    single = make().as_type(np.float32)
    assert single.dtype == np.float32 and single.head().dtype == np.float32
    assert all(chunk.dtype == np.float32 for _, chunk in single.chunks())
    np.testing.assert_array_equal(single.take(np.arange(50)), MATRIX.astype(np.float32))


@both
def test_the_head_is_the_beginning_and_uses_nothing_up(make):
    rows = make(MATRIX, (40,))
    np.testing.assert_array_equal(rows.head()[:40], MATRIX[:40])
    assert rows.count_rows() == 50


def test_a_head_is_no_longer_than_a_thousand_rows():
    tall = np.zeros((3000, 2))
    assert len(in_parts(tall, ()).head()) == len(streamed(tall, ()).head()) == 1000


@both
def test_a_size_that_is_none_is_refused(make):
    for size, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="size must be"):
            next(make().chunks(size))


@both
def test_values_that_are_not_finite_are_found_only_when_asked(make):
    matrix = MATRIX.copy()
    matrix[33, 2] = np.nan
    rows = make(matrix)
    assert sum(len(chunk) for _, chunk in rows.chunks()) == 50
    with pytest.raises(ValueError, match="row 33, column 2"):
        list(rows.chunks(finite=True))
    with pytest.raises(ValueError, match="row 33, column 2"):
        list(rows.mapped(len))


@both
def test_a_function_of_chunks_gives_one_answer_per_chunk(make):
    answers = list(make().mapped(lambda chunk: chunk.sum(), size=10))
    assert [place.stop - place.start for place, _ in answers].count(0) == 0
    assert sum(total for _, total in answers) == pytest.approx(MATRIX.sum())


def test_sizes_are_known_from_parts_and_only_after_reading_from_passes():
    assert in_parts().shape == (50, 4) and in_parts().n_bytes == 50 * 4 * 8
    rows = streamed()
    assert rows.shape == (None, 4) and rows.n_bytes is None
    assert rows.count_rows() == 50 and rows.shape == (50, 4) and rows.n_bytes == 1600


def test_rows_that_can_be_read_once_are_read_once():
    rows = streamed(is_repeatable=False)
    with pytest.raises(ValueError, match="can be read only once, so its rows cannot be counted first"):
        rows.count_rows()
    assert sum(len(chunk) for _, chunk in rows.chunks()) == 50
    with pytest.raises(ValueError, match=r"can be read only once, and has been. Pass a path"):
        next(rows.chunks())


def test_a_copy_of_another_type_does_not_read_a_second_time():
    rows = streamed(is_repeatable=False)
    list(rows.as_type(np.float32).chunks())
    with pytest.raises(ValueError, match="has been"):
        next(rows.chunks())


@pytest.mark.parametrize(("announced", "found"), [(60, "gave 50"), (40, "gave more than 40")])
def test_a_number_of_rows_that_was_announced_is_held_to(announced, found):
    with pytest.raises(ValueError, match=f"X should have {announced} rows, .* Reading it {found}"):
        list(streamed(n_rows=announced).chunks())


def test_a_source_that_changes_its_width_between_passes_is_refused():
    widths = iter([4, 3])
    rows = StreamedRows("X", lambda: iter([np.zeros((5, next(widths)))]), is_repeatable=True)
    list(rows.chunks())
    with pytest.raises(ValueError, match="X had 4 columns when first read, now 3"):
        list(rows.chunks())


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], r"X must not be empty. It has 0 sample\(s\): no chunk"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], "Chunk 1 of X has 4 columns, the first one 3"),
        (
            [np.zeros((2, 3), np.float32), np.zeros((2, 3))],
            "Chunk 1 of X holds float64, the first one float32",
        ),
        ([np.zeros((2, 0))], "Chunk 0 of X has no columns"),
        ([np.zeros(3)], "Chunk 0 of X must have shape"),
    ],
)
def test_chunks_that_do_not_fit_together_are_refused_by_number(chunks, message):
    with pytest.raises(ValueError, match=message):
        list(StreamedRows("X", lambda: iter(chunks), is_repeatable=True).chunks())


def test_parts_of_unlike_widths_are_refused_by_number():
    with pytest.raises(ValueError, match="Chunk 1 has 3, the first one 4"):
        PartRows("X", [ArrayPart(MATRIX), ArrayPart(MATRIX[:, :3])])


def test_parts_of_unlike_types_are_handed_out_in_the_widest():
    rows = PartRows("X", [ArrayPart(MATRIX.astype(np.float16)), ArrayPart(MATRIX.astype(np.float32))])
    assert rows.dtype == np.float32 and {chunk.dtype for _, chunk in rows.chunks()} == {np.dtype(np.float32)}


def test_chunks_without_rows_are_left_out_and_a_first_one_still_gives_the_width():
    rows = StreamedRows("X", lambda: iter([np.zeros((0, 4)), MATRIX]), is_repeatable=True)
    assert rows.shape == (None, 4) and rows.count_rows() == 50
    assert [len(chunk) for _, chunk in rows.chunks()] == [50]
