"""Tables that know their types: repeated column names lose nothing, and what is no table is named."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading.files import written

import arbora as ab
from arbora._base.arrays import as_matrix, distinct_names
from arbora.errors import FormatError


@given(st.lists(st.sampled_from(["a", "b", "a.1", "a.2", "a.1.1", ""]), max_size=9))
def test_distinct_names_are_distinct_and_change_only_what_returns(names):
    found = distinct_names(names)
    assert len(set(found)) == len(names)
    for k, (given_name, name) in enumerate(zip(names, found)):
        if given_name not in names[:k]:
            assert name == given_name
        else:
            assert name.startswith(given_name + ".")


ROWS = [[1.5, 2.0, 3.0], [4.0, 5.0, 6.5], [7.0, 8.0, 9.0]]


def repeated(kind, folder):
    """A table with the columns a, a, b in one form."""
    names = ["a", "a", "b"]
    if kind == "csv":
        lines = [",".join(names), *(",".join(map(str, row)) for row in ROWS)]
        return written(folder / "t.csv", "\n".join(lines))
    if kind == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [names, *ROWS]:
            book.active.append(row)
        book.save(folder / "t.xlsx")
        return folder / "t.xlsx"
    if kind == "json":
        return written(folder / "t.json", json.dumps({"columns": names, "index": [0, 1, 2], "data": ROWS}))
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(ROWS, columns=names)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table([pyarrow.array(column) for column in zip(*ROWS)], names=names)
    if kind == "pyarrow":
        return table
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(table, str(folder / "t.arrow"))
    return folder / "t.arrow"


@pytest.mark.parametrize("kind", ["csv", "xlsx", "json", "pandas", "pyarrow", "arrow"])
def test_columns_of_one_name_are_all_kept(kind, tmp_path):
    data = ab.read(repeated(kind, tmp_path))
    assert data.feature_names == ["a", "a.1", "b"]
    np.testing.assert_array_equal(data.values, ROWS)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_frames_with_repeated_names_are_clustered_by_all_their_columns(kind, tmp_path):
    frame = repeated(kind, tmp_path)
    matrix = as_matrix(frame)
    np.testing.assert_array_equal(matrix.values, ROWS)
    assert matrix.column_names == ["a", "a.1", "b"]
    assert ab.linkage(frame) == ab.linkage(np.array(ROWS))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"columns": ["a", "b"], "data": [[1], [2, 3]]}, "must hold 2 values per row"),
        ({"columns": ["a", "b"], "data": [1, 2]}, "must hold 2 values per row"),
        ([[1, 2], [3]], "rows of different lengths"),
        (3, "not a table"),
        ("text", "not a table"),
        ([], "not a table"),
        ({}, "not a table"),
        ([1, 2], "not a table"),
        ({"a": [1, 2], "b": 3}, "not a table"),
    ],
)
def test_json_that_is_no_table_is_refused_with_its_reason(content, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        ab.read(written(tmp_path / "t.json", json.dumps(content)))


def test_columns_of_unlike_lengths_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"equally long. Their lengths are \[2, 3\]"):
        ab.read({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="equally long"):
        ab.read(written(tmp_path / "t.json", json.dumps({"a": [1.5, 2.0], "b": [1.0]})))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ([{"x": 1.5, "y": 2}, {"x": 2.5, "y": 4}], None),
        ({"x": [1.5, 2.5], "y": [2, 4]}, None),
        ({"x": {"r": 1.5, "s": 2.5}, "y": {"r": 2, "s": 4}}, ["r", "s"]),
        ({"x": {"0": 1.5, "1": 2.5}, "y": {"0": 2, "1": 4}}, None),
        ({"columns": ["x", "y"], "index": ["r", "s"], "data": [[1.5, 2], [2.5, 4]]}, ["r", "s"]),
    ],
)
def test_all_shapes_of_json_tables_are_the_same_table(content, names, tmp_path):
    data = ab.read(written(tmp_path / "t.json", json.dumps(content)))
    np.testing.assert_array_equal(data.values, [[1.5, 2], [2.5, 4]])
    assert data.feature_names == ["x", "y"] and data.names == names


def test_a_record_without_a_key_has_a_missing_value(tmp_path):
    lines = '{"x": 1.5, "y": 2}\n\n{"x": 2.5}\n{"x": 3.5, "y": 6}\n'
    with pytest.warns(UserWarning, match="1 missing or infinite values in column 'y'.* row 2"):
        data = ab.read(written(tmp_path / "t.jsonl", lines))
    assert np.isnan(data.values[1, 1])
    with pytest.raises(FormatError, match="line 2: not a JSON object"):
        ab.read(written(tmp_path / "bad.jsonl", '{"x": 1}\nnot json\n'))


def test_a_sheet_is_chosen_by_name_and_empty_rows_are_left_out(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["", "p", "q"], ["one", 1.5, 2.0], [], ["two", 3.0]]:
        book.active.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(UserWarning, match="missing"):
        data = ab.read(tmp_path / "t.xlsx")
    assert data.names == ["one", "two"] and data.feature_names == ["p", "q"]
    assert np.isnan(data.values[1, 1]), "a short row is filled up"
    with pytest.raises(FormatError, match="the sheet 'empty' is empty"):
        ab.read(tmp_path / "t.xlsx", use="empty")
    with pytest.raises(ValueError, match=r"has no sheet 'absent'.*It has Sheet, empty"):
        ab.read(tmp_path / "t.xlsx", use="absent")


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "xlsx"])
@pytest.mark.parametrize("index", ["levels", "slice"])
def test_rows_are_called_as_in_the_frame_they_were_written_from(kind, index, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.5, 2.0, 4.0, 8.5], "y": [0.5, 3.0, 1.0, 2.0]})
    if index == "levels":
        frame.index = pandas.MultiIndex.from_tuples([(2001, "a"), (2001, "b"), (2002, "a"), (2002, "b")])
    frame = frame[1:]
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        frame.to_csv(path)
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    if kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, merge_cells=False)
    data = ab.read(frame if kind == "frame" else path)
    assert data.feature_names == ["x", "y"]
    assert data.names == [str(row) for row in frame.index]


def test_categories_of_arrow_in_a_pandas_frame_are_no_features():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    codes = pandas.arrays.ArrowExtensionArray(pyarrow.array([3, 4, 3]).dictionary_encode())
    data = ab.read(pandas.DataFrame({"group": codes, "x": [1.0, 2.0, 3.5]}))
    assert data.feature_names == ["x"] and data.metadata["group"].tolist() == ["3", "4", "3"]


def test_structs_of_polars_are_no_vectors():
    polars = pytest.importorskip("polars")
    data = ab.read(polars.DataFrame({"place": [{"lat": 1}, {"lat": 2}, {"lat": 3}], "x": [1.0, 2.0, 3.5]}))
    assert data.feature_names == ["x"]


@pytest.mark.parametrize("values", [[1 + 2j, 2.0, 3.0], np.array([1j, 2, 3])])
def test_complex_numbers_are_refused(values):
    with pytest.raises(ValueError, match="Column 'z' holds complex numbers"):
        ab.read({"z": values, "x": [1.0, 2.0, 3.5]})


def test_masked_entries_are_refused():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(ValueError, match="Column 'z' has masked entries"):
        ab.read({"z": masked, "x": [1.0, 2.0, 3.5]})
