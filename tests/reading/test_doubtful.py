"""Files that could be read in two ways are not read in the wrong one without a word."""

import numpy as np
import pytest

import arbora as ab
from arbora.reading import ReadOptions, read_data

EDGES = [
    ("Mr A", "Mr B", 3),
    ("Mr B", "Mr C", 1),
    ("Mr C", "Mr A", 2),
    ("Mr C", "Mr D", 1),
    ("Mr D", "Mr B", 4),
]


@pytest.mark.parametrize("header", ["", "person\tfriend\tmeetings\n"])
def test_pairs_of_names_are_an_edge_list_whatever_the_header_says(tmp_path, header):
    path = tmp_path / "names.tsv"
    path.write_text(header + "".join(f"{a}\t{b}\t{w}\n" for a, b, w in EDGES))
    data = ab.read(path)
    assert data.kind == "graph" and data.names == ["Mr A", "Mr B", "Mr C", "Mr D"]
    assert data.values.sum() == 2 * 11 and "taken as an edge list" in str(data)
    assert ab.read(path, kind="vectors").values.shape == (5, 1)


def test_a_table_with_two_columns_of_other_words_stays_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("town,river,size\n" + "".join(f"town{k},river{k % 3},{k}.5\n" for k in range(9)))
    assert ab.read(path).kind == "vectors"


def test_pairs_of_whole_numbers_are_named_in_a_warning(tmp_path):
    path = tmp_path / "pairs.txt"
    pairs = np.random.default_rng(0).integers(0, 9, size=(40, 2))
    path.write_text("".join(f"{a} {b}\n" for a, b in pairs))
    with pytest.warns(UserWarning, match="as an edge list does"):
        assert ab.read(path).values.shape == (40, 2)
    assert ab.read(path, kind="vectors").kind == "vectors"
    assert ab.read(path, format="edges").kind == "graph"


def test_one_number_per_pair_of_points_is_not_taken_for_one_per_point(tmp_path):
    distances = np.arange(1.0, 16.0)
    np.save(tmp_path / "d.npy", distances)
    with pytest.raises(ValueError, match="condensed distances of 6 points"):
        ab.read(tmp_path / "d.npy")
    assert ab.read(tmp_path / "d.npy", kind="distances").values.shape == (6, 6)
    assert ab.read(tmp_path / "d.npy", kind="vectors").values.shape == (15, 1)
    for values in (distances - 5, distances[:14]):
        np.save(tmp_path / "d.npy", values)
        assert ab.read(tmp_path / "d.npy").kind == "vectors"


def test_distances_called_similarities_are_refused_with_the_word_to_say(tmp_path):
    np.save(tmp_path / "d.npy", np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
    with pytest.raises(ValueError, match="kind='distances'"):
        ab.read(tmp_path / "d.npy", kind="similarities")


def test_codes_of_digits_are_no_features_unless_they_are_asked_for(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("zip,size,month\n" + "".join(f"{k * 731:05d},{k}.5,{k + 1:02d}\n" for k in range(9)))
    data = ab.read(path)
    assert data.feature_names == ["size"] and data.names[1] == "00731" and data.metadata["month"][0] == "01"
    assert ab.read(path, features="zip,size", scale="standard").feature_names == ["zip", "size"]


def test_a_table_whose_numbers_are_all_padded_holds_numbers(tmp_path):
    path = tmp_path / "padded.txt"
    path.write_text("".join(f"{a:03d} {b:03d}\n" for a, b in [(1, 20), (30, 4), (5, 600), (70, 8)]))
    assert ab.read(path, kind="vectors").values.tolist() == [[1, 20], [30, 4], [5, 600], [70, 8]]


@pytest.mark.parametrize(
    "cells", [["1,234.50", "12,000.00", "999,999"], ["35%", "7.5 %", "100%"], ["$5", "$70", "$9"]]
)
def test_numbers_with_separators_or_units_are_named_in_a_warning(cells):
    with pytest.warns(UserWarning, match="'income' holds numbers with separators or units"):
        data = ab.read({"income": cells * 2, "x": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]})
    assert data.feature_names == ["x"]


@pytest.mark.parametrize(
    "cells",
    [["950", "1,234", "12,000", "7"], ["\u22125", "3", "\u22121.5", "2"], ["(5)", "12", "(1.5)", "8"]],
)
def test_numbers_only_some_of_which_have_separators_are_named_in_a_warning_and_name_no_rows(cells):
    with pytest.warns(UserWarning, match="'income' holds numbers with separators or units"):
        data = ab.read({"income": cells, "x": [1.0, 2.5, 3.0, 4.0]})
    assert data.feature_names == ["x"] and data.names is None


def test_a_column_of_numbers_with_a_word_among_them_is_named_in_a_warning_and_names_no_rows():
    cells = [f"{k}.5" for k in range(20)]
    with pytest.warns(UserWarning, match="'income' holds numbers but for cells such as 'unknown'"):
        data = ab.read({"income": [*cells, "unknown"], "x": np.sqrt(np.arange(21.0))})
    assert data.feature_names == ["x"] and data.names is None


def test_names_that_are_mostly_numbers_are_names_where_their_column_is_called_so():
    cells = [str(k) for k in range(1, 20)] + ["20b"]
    assert ab.read({"sample": cells, "x": np.sqrt(np.arange(20.0))}).names == cells


def test_dates_that_pandas_writes_to_json_as_milliseconds_are_named_in_a_warning(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": pandas.date_range("2020-01-01", periods=6), "x": range(6, 0, -1)})
    frame.to_json(tmp_path / "x.json", orient="records", date_format="epoch")
    data = read_data(tmp_path / "x.json", ReadOptions())
    assert any("'day' looks like dates in milliseconds" in warning for warning in data.warnings)


def test_days_with_dots_are_dates(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("day;x\n31.12.2020;1,5\n1.2.2021;2\n")
    assert ab.read(path).metadata["day"].astype(str).tolist() == ["2020-12-31", "2021-02-01"]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1.5", "2.5", "7"], "numbers as text \\('1.5'\\)"),
        (["1.5", "-", "7", "--"], "numbers but for cells such as '-'"),
        (["1.5", "#DIV/0!", "7"], "numbers but for cells such as '#DIV/0!'"),
        (["1.5", "n.d.", "7", "n.d.", "3"], "numbers but for cells such as 'n.d.'"),
    ],
)
def test_numbers_as_text_and_signs_for_missing_ones_are_named_in_a_warning_and_name_no_rows(cells, words):
    with pytest.warns(UserWarning, match=f"'income' holds {words}"):
        data = ab.read({"income": cells, "x": np.sqrt(np.arange(float(len(cells))))})
    assert data.feature_names == ["x"] and data.names is None


def test_whole_numbers_as_text_may_identify_rows():
    assert ab.read({"customer": ["1001", "1007", "1004"], "x": [0.5, 1.0, 2.0]}).names == [
        "1001",
        "1007",
        "1004",
    ]
