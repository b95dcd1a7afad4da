"""Everything that has rows is read as its array would be; what is damaged or changes is refused in our words."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_sources import IN_MEMORY, MATRIX, NAMED, REPEATABLE, pieces, written

from arbora._base.rows import is_in_pieces, open_rows
from arbora.errors import ArboraError, FormatError, MissingExtraError, MissingFileError

ROWS = np.array([0, 3, 4, 150, 299])


@pytest.mark.parametrize("kind", [*IN_MEMORY, *REPEATABLE, "iterator"])
def test_every_source_gives_the_rows_of_the_array(kind, tmp_path):
    source = written(kind, tmp_path)
    assert is_in_pieces(source) == (kind not in IN_MEMORY)
    rows = open_rows(source)
    assert rows.is_repeatable == (kind != "iterator")
    assert rows.shape[1] == 7 and rows.shape[0] in (300, None)
    assert rows.column_names == ([f"c{k}" for k in range(7)] if kind in NAMED else None)
    assert np.array_equal(rows.head(), MATRIX[: len(rows.head())]) and len(rows.head()) > 0
    found = list(rows.chunks(size=40))
    assert all(len(chunk) <= 40 and chunk.dtype == rows.dtype for _, chunk in found)
    assert np.array_equal(np.concatenate([chunk for _, chunk in found]), MATRIX)
    ends = [0, *np.cumsum([len(chunk) for _, chunk in found])]
    assert [place for place, _ in found] == [slice(a, b) for a, b in itertools.pairwise(ends)]
    # after one pass the number of rows is known, whatever the source
    assert rows.shape == (300, 7) and rows.n_bytes == 300 * 7 * rows.dtype.itemsize


@pytest.mark.parametrize("kind", [*IN_MEMORY, *REPEATABLE])
def test_some_rows_of_every_source_that_can_be_read_twice(kind, tmp_path):
    rows = open_rows(written(kind, tmp_path))
    assert np.array_equal(rows.take(ROWS), MATRIX[ROWS])
    assert rows.take(np.array([], int)).shape == (0, 7)
    assert rows.as_type(np.float64).take(ROWS).dtype == np.float64
    assert rows.count_rows() == 300
    with pytest.raises(ValueError, match="beyond the last row"):
        rows.take(np.array([5, 300]))
    with pytest.raises(ValueError, match="ascending"):
        rows.take(np.array([5, 4]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 12), st.data())
def test_chunks_and_rows_equal_slices_of_the_stacked_parts(heights, size, data):
    parts = [np.full((height, 2), number, float) for number, height in enumerate(heights)]
    whole = np.concatenate(parts)
    rows = open_rows(parts)
    assert np.array_equal(np.concatenate([c for _, c in rows.chunks(size)] or [whole]), whole)
    wanted = np.array(sorted(data.draw(st.sets(st.integers(0, max(0, len(whole) - 1))))), int)
    if len(whole):
        assert np.array_equal(rows.take(wanted), whole[wanted])


def test_an_array_and_a_mapped_file_can_be_used_in_place(tmp_path):
    assert open_rows(MATRIX).in_place is MATRIX
    assert isinstance(open_rows(written("npy", tmp_path)).in_place, np.memmap)
    assert isinstance(open_rows(written("memory map", tmp_path)).in_place, np.memmap)
    assert open_rows(pieces()).in_place is None
    assert open_rows(MATRIX).as_type(np.float64).in_place is None
    assert open_rows(MATRIX.astype(int)).in_place.dtype == np.float64


def test_half_precision_stays_and_bfloat16_becomes_single():
    torch = pytest.importorskip("torch")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert open_rows([MATRIX.astype(np.float16)]).dtype == np.float16
    short = MATRIX.astype(ml_dtypes.bfloat16)
    for source in (
        short,
        [short],
        torch.from_numpy(MATRIX).bfloat16(),
        [torch.from_numpy(MATRIX).bfloat16()],
    ):
        rows = open_rows(source)
        assert rows.dtype == np.float32
        assert np.array_equal(rows.take(ROWS), short[ROWS].astype(np.float32))


def test_chunks_of_unlike_types_become_the_wider_one_or_are_refused():
    assert open_rows([MATRIX, MATRIX.astype(float)]).dtype == np.float64
    with pytest.raises(ValueError, match=r"Chunk 1 of X holds float64, the first one float32"):
        list(open_rows(iter([MATRIX, MATRIX.astype(float)])).chunks())


def test_an_iterator_is_read_once():
    rows = open_rows(iter(pieces()))
    with pytest.raises(ValueError, match="cannot be counted"):
        rows.count_rows()
    list(rows.chunks())
    with pytest.raises(ValueError, match="only once"):
        list(rows.chunks())


def test_opening_costs_no_extra_pass():
    passes = []

    def read():
        passes.append(1)
        yield from pieces()

    rows = open_rows(read)
    list(rows.as_type(np.float64).chunks())
    assert len(passes) == 1
    list(rows.chunks())
    assert len(passes) == 2


def test_a_loader_that_shuffles_is_read_once():
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.from_numpy(MATRIX))
    assert not open_rows(torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)).is_repeatable


def test_batches_that_are_dictionaries_are_refused_with_their_keys():
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader([{"inputs": 1.0}, {"inputs": 2.0}])
    with pytest.raises(TypeError, match="'inputs'"):
        open_rows(loader)


def test_nan_and_infinity_are_found_with_their_row():
    bad = MATRIX.copy()
    bad[211, 3] = np.nan
    with pytest.raises(ValueError, match="row 211, column 3"):
        list(open_rows([bad[:200], bad[200:]]).chunks(finite=True))
    huge = np.full((4, 3), np.finfo(np.float64).max)
    assert len(list(open_rows(huge).chunks(finite=True))) == 1


def test_rows_that_change_between_passes_are_noticed():
    lengths = iter([300, 200])
    rows = open_rows(lambda: iter([MATRIX[: next(lengths)]]))
    list(rows.chunks())
    with pytest.raises(ValueError, match=r"should have 300 rows.*gave 200"):
        list(rows.chunks())


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ([MATRIX, MATRIX[:, :3]], "Chunk 1 has 3"),
        (iter([MATRIX, MATRIX[:, :3]]), "Chunk 1 of X has 3 columns"),
        (iter([MATRIX[0]]), "Chunk 0 of X must have shape"),
        (iter([]), "must not be empty"),
        (lambda: 5, "must return an iterator"),
        (lambda model: model, "without arguments"),
        (np.ones((2, 2), complex), "real numbers"),
        (iter([np.array([["a", "b"]])]), "real numbers"),
        ({"a": 1}, "X must"),
        (7, "shape"),
    ],
)
def test_what_is_no_source_of_rows_is_refused_in_our_words(source, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        list(open_rows(source).chunks())


@pytest.mark.parametrize("text", ["data", "", "x" * 5000, "a\0b", "no/such/file.npy"])
def test_text_that_is_no_path_is_refused_in_our_words(text):
    with pytest.raises(MissingFileError, match="X is text, which is taken for a path"):
        open_rows(text)
    with pytest.raises(FileNotFoundError):
        open_rows(text)


# ---- damaged and foreign files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.npy", "x.h5", "x.parquet", "x.csv"])
def test_foreign_files_are_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"something else altogether")
    with pytest.raises(FormatError, match=name):
        open_rows(tmp_path / name)


@pytest.mark.parametrize("kind", ["npy", "hdf5", "hdf5 chunks", "parquet", "zarr"])
def test_damaged_files_are_read_or_refused_in_our_words(kind, tmp_path):
    source = written(kind, tmp_path)
    if kind == "parquet":
        (tmp_path / "part1.parquet").unlink()
        source = tmp_path / "part0.parquet"
    files = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    rng = np.random.default_rng(0)
    for _ in range(60):
        path = files[rng.integers(len(files))]
        whole = path.read_bytes()
        damaged = bytearray(whole[: rng.integers(1, len(whole) + 1)])
        damaged[rng.integers(len(damaged))] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(damaged))
        try:
            for _ in open_rows(source).chunks():
                pass
        except (ArboraError, ValueError, TypeError) as error:
            assert "arbora" in type(error).__module__ or "X" in str(error) or str(source) in str(error)
        path.write_bytes(whole)


def test_an_array_that_was_announced_but_never_written_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", shape=(10**9, 1000), dtype="f4")
    with pytest.raises(FormatError, match="none of its values was ever written"):
        open_rows(tmp_path / "x.h5")


def test_chunks_larger_than_memory_are_refused(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(tmp_path / "x.zarr"), shape=(10**9, 10**6), chunks=(10**9, 10**6), dtype="float32")
    with pytest.raises(MemoryError, match="smaller chunks"):
        open_rows(tmp_path / "x.zarr")


def test_several_matrices_ask_which_one(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["b"] = MATRIX, MATRIX
    with pytest.raises(FormatError, match="'a', 'b'"):
        open_rows(tmp_path / "x.h5")


def test_directories_of_no_or_several_kinds_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"holds no \.npy"):
        open_rows(tmp_path)
    np.save(tmp_path / "a.npy", MATRIX)
    (tmp_path / "b.h5").write_bytes(b"")
    with pytest.raises(FormatError, match="several kinds"):
        open_rows(tmp_path)


def test_columns_of_text_and_ragged_lists_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match="Not numbers: 'name'"):
        open_rows(pyarrow.table({"a": [1.0], "name": ["x"]}))
    for lists in ([[1.0, 2.0], [3.0]], [[1.0, 2.0], None]):
        with pytest.raises(FormatError, match="same length"):
            open_rows(pyarrow.table({"X": lists}))


def test_a_dask_array_of_unknown_size_says_what_to_do():
    dask = pytest.importorskip("dask.array")
    array = dask.from_array(MATRIX, chunks=(64, 7))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        open_rows(array[array[:, 0] > 0])


@pytest.mark.parametrize(
    ("module", "name"), [("zarr", "x.zarr"), ("h5py", "x.h5"), ("pyarrow.dataset", "x.parquet")]
)
def test_a_missing_reader_is_named_with_its_extra(module, name, tmp_path, monkeypatch):
    if name.endswith(".zarr"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "zarr.json").write_text("{}")
    else:
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"arbora\[formats\]"):
        open_rows(tmp_path / name)
