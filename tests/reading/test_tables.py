"""Text tables are read as those who wrote them meant them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading.files import (
    R_WRITE_CSV,
    R_WRITE_CSV2,
    R_WRITE_TABLE,
    R_WRITE_TABLE_EU,
    SPECIES,
    VALUES,
    written,
)

import arbora as ab
from arbora.reading import ReadOptions
from arbora.reading import tables as tables_module
from arbora.reading.tables import read_columns
from arbora.reading.text import layout_of


@pytest.mark.parametrize("text", [R_WRITE_CSV, R_WRITE_CSV2, R_WRITE_TABLE, R_WRITE_TABLE_EU])
def test_what_r_writes_is_read_with_its_row_names_and_decimal_marks(tmp_path, text):
    data = ab.read(written(tmp_path / "iris.csv", text), label_column="Species")
    assert data.values.tolist() == VALUES
    assert data.y.tolist() == SPECIES
    assert data.names == ["1", "2", "3", "4", "5"]
    assert data.feature_names == ["Sepal.Length", "Sepal.Width"]


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("columns", [None, ["a", "b", "c"], [1990, 1991, 1992], [1990, 1995, 2001]])
def test_what_pandas_writes_is_read_whatever_its_column_names(tmp_path, index, columns):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(30, 3)).round(4)
    pandas.DataFrame(X, columns=columns).to_csv(tmp_path / "x.csv", index=index)
    data = ab.read(tmp_path / "x.csv")
    assert np.array_equal(data.values, X)
    assert data.names == ([str(k) for k in range(30)] if index else None)
    assert data.feature_names == [str(one) for one in (columns or range(3))]


def test_a_header_of_years_over_named_rows_is_a_header(tmp_path):
    rows = "".join(f"country{k},{k},{2 * k},{k * k}\n" for k in range(9))
    data = ab.read(written(tmp_path / "x.csv", "country,1990,1991,1992\n" + rows))
    assert data.n_points == 9
    assert data.names[0] == "country0"


def test_counting_numbers_that_go_on_below_are_data(tmp_path):
    X = np.arange(20.0).reshape(4, 5)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%d")
    assert np.array_equal(ab.read(tmp_path / "x.csv").values, X)


def test_numbered_names_above_whole_numbers_are_asked_about(tmp_path):
    path = written(tmp_path / "x.csv", "0,1,2\n5,9,3\n4,4,4\n8,1,2\n")
    with pytest.raises(ValueError, match="header=True or header=False"):
        ab.read(path)
    assert ab.read(path, header=True).n_points == 3
    assert ab.read(path, header=False).n_points == 4


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("header", [True, False])
def test_tables_are_read_whatever_their_delimiter_and_header(tmp_path, delimiter, header):
    X = np.array([[1.0, 2.5], [3.0, -4.0], [0.5, 6.0], [7.0, 8.0]])
    lines = [delimiter.join(["a", "b"])] if header else []
    lines += [delimiter.join(map(str, row)) for row in X]
    assert np.array_equal(ab.read(written(tmp_path / "x.csv", "\n".join(lines) + "\n")).values, X)


def test_commas_that_may_separate_thousands_are_asked_about(tmp_path):
    path = written(tmp_path / "x.csv", "a;b\n1,234;5\n2,345;6\n3,456;7\n")
    with pytest.raises(ValueError, match="decimal="):
        ab.read(path)
    assert ab.read(path, decimal=",").values[0].tolist() == [1.234, 5.0]


def test_an_all_text_header_above_a_column_of_vectors_is_a_header(tmp_path):
    text = "title,topic,embedding\n" + "".join(f'doc {k},t{k % 2},"[{k}.5, {k}, 1e-3]"\n' for k in range(5))
    data = ab.read(written(tmp_path / "x.csv", text), label_column="topic")
    assert data.values.tolist() == [[k + 0.5, k, 1e-3] for k in range(5)]
    assert data.names == [f"doc {k}" for k in range(5)]
    assert data.y.tolist() == ["t0", "t1", "t0", "t1", "t0"]


def test_vectors_that_numpy_shortened_when_written_are_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "b"], "e": [np.arange(2000.0), np.arange(2000.0)]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match="shortened"):
        ab.read(tmp_path / "x.csv")


def test_cells_with_underscores_are_names_and_never_numbers(tmp_path):
    path = written(tmp_path / "x.csv", "sample,x,y\n1_1,0.1,0.2\n1_2,0.2,0.1\n2_1,5.0,5.1\n")
    data = ab.read(path)
    assert data.names == ["1_1", "1_2", "2_1"]
    assert data.feature_names == ["x", "y"]


def test_quotes_byte_order_marks_and_windows_line_ends_are_understood(tmp_path):
    text = '\ufeff"a","b, or c"\r\n"1","2"\r\n"3","4"\r\n'
    assert ab.read(written(tmp_path / "x.csv", text)).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_names_keep_their_letters_in_every_encoding(tmp_path, encoding):
    text = "name,x,y\nZürich,1,2.5\nGenève,3,4\n"
    assert ab.read(written(tmp_path / "x.csv", text.encode(encoding))).names == ["Zürich", "Genève"]


def test_aligned_columns_with_runs_of_blanks_are_read(tmp_path):
    assert ab.read(written(tmp_path / "x.txt", "  1.0   2.0\n 10.5  -3.0 \n")).values.tolist() == [
        [1, 2],
        [10.5, -3],
    ]


CELLS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.integers(-9, 9).map(str),
    st.sampled_from(["", "NA", "x y", "1_2", " 7", "+3", "true", "inf", 'say "hi"', "a,b", "0x10"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from([",", ";"]))
def test_arrow_reads_what_is_read_cell_by_cell(rows, delimiter):
    pytest.importorskip("pyarrow")
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([["p", "q", "r"], *rows])
    text, options = out.getvalue(), ReadOptions(delimiter=delimiter, decimal=".", header=True)
    layout = layout_of(text, "x", options)
    slow = read_columns(text, layout, "x")
    before, tables_module.ARROW_FROM = tables_module.ARROW_FROM, 0
    try:
        fast = read_columns(text, layout, "x")
    finally:
        tables_module.ARROW_FROM = before
    for name, column in slow.items():
        assert fast[name].kind == column.kind
        assert np.array_equal(fast[name].values, column.values, equal_nan=column.kind == "number")


def test_text_far_below_numbers_makes_a_column_text_with_a_warning_that_shows_it(tmp_path):
    rows = "".join(f"{k}.5,{k}.25,{k}.125\n" for k in range(400)) + "late,1,2\n"
    with pytest.warns(UserWarning, match="'a' holds numbers but for cells such as 'late'"):
        data = ab.read(written(tmp_path / "x.csv", "a,b,c\n" + rows))
    assert data.feature_names == ["b", "c"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#,kind,hp,attack\n1,a,45,49\n2,b,60,62\n3,a,80,82\n3,b,39,52\n", ["#", "hp", "attack"]),
        ("# made by hand\n# x y\n1.5 2.0\n4.0 5.5\n", ["x", "y"]),
        ("#chrom\tstart\tscore\nchr1\t10\t0.5\nchr1\t30\t0.7\n", ["start", "score"]),
        ("# of no columns, two, three\n1.5,2\n4.0,5\n", ["column 1", "column 2"]),
        ("# rows, columns\nwide,deep\n1.5,2\n4.0,5\n", ["wide", "deep"]),
        ("# source, theirs\nstate,1990\na,2.5\nb,5.5\n", ["1990"]),
    ],
)
def test_a_header_in_a_comment_names_the_columns_and_other_comments_do_not(tmp_path, text, names):
    assert ab.read(written(tmp_path / "x.csv", text), scale="standard").feature_names == names


def test_a_header_in_a_comment_can_be_declined(tmp_path):
    path = written(tmp_path / "x.txt", "# x y\n1.5 2.0\n4.0 5.5\n")
    assert ab.read(path, header=False).feature_names == ["column 1", "column 2"]


@pytest.mark.parametrize("header", ["x,y", "x,y,"])
def test_a_delimiter_at_the_end_of_every_row_moves_no_column(tmp_path, header):
    data = ab.read(written(tmp_path / "x.csv", f"{header}\n1.5,2,\n4.0,5,\n7.5,6,\n"))
    assert data.feature_names == ["x", "y"] and data.names is None
    assert data.values.tolist() == [[1.5, 2], [4, 5], [7.5, 6]]


def test_the_line_that_tells_excel_its_delimiter_is_no_row(tmp_path):
    data = ab.read(written(tmp_path / "x.csv", "sep=;\nname;x;y\na;1,5;2\nb;2,5;3,5\n"))
    assert (data.names, data.values.tolist()) == (["a", "b"], [[1.5, 2], [2.5, 3.5]])


@pytest.mark.parametrize("n_rows", [3, 300])
def test_points_separate_thousands_where_commas_are_decimal(tmp_path, n_rows):
    rows = "".join(f"r{k};{k},5;{k * k},25\n" for k in range(n_rows))
    path = written(tmp_path / "x.csv", "name;x;y\n" + rows + "last;1.234;2,5\n")
    with pytest.warns(UserWarning, match="'x' holds numbers"):
        data = ab.read(path, decimal=",")
    assert data.feature_names == ["y"]


def test_one_name_above_numbers_with_commas_is_asked_about(tmp_path):
    path = written(tmp_path / "x.csv", "x\n1,5\n2,25\n3,7\n")
    with pytest.raises(ValueError, match=r"decimal=',' if that is one number"):
        ab.read(path)
    assert ab.read(path, decimal=",").values.tolist() == [[1.5], [2.25], [3.7]]
    assert ab.read(path, delimiter=",").names == ["1", "2", "3"]


COUNTRIES = "iso,x,y\nMZ,1.5,2\nNA,2.5,1\nZM,4.5,7\n"


@pytest.mark.parametrize("arrow_from", [0, 2**20])
def test_na_is_a_name_among_names(tmp_path, arrow_from, monkeypatch):
    monkeypatch.setattr(tables_module, "ARROW_FROM", arrow_from)
    path = written(tmp_path / "x.csv", COUNTRIES)
    assert ab.read(path, name_column="iso").names == ["MZ", "NA", "ZM"]
    data = ab.read(path)
    assert data.names is None and "name_column='iso' uses it" in str(data)
    rows = written(tmp_path / "rows.csv", COUNTRIES.replace("iso", '""'))
    assert ab.read(rows).names == ["MZ", "NA", "ZM"]


def test_na_is_a_node_among_nodes(tmp_path):
    for name in ("g.csv", "g.edges"):
        assert ab.read(written(tmp_path / name, "source,target\nMZ,NA\nNA,ZM\n")).names == ["MZ", "NA", "ZM"]


def test_the_first_of_rows_with_vectors_is_no_header(tmp_path):
    data = ab.read(written(tmp_path / "x.csv", 'a;"[1.5, 2]"\nb;"[3, 4]"\nc;"[5, 7]"\n'))
    assert (data.names, data.values.tolist()) == (["a", "b", "c"], [[1.5, 2], [3, 4], [5, 7]])
