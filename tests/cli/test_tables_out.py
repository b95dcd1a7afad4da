"""Small tables on a terminal, tables in files, and writing that leaves the old file alone."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import arbora as ab
from arbora.cli._exit import (
    FAILED,
    INTERRUPTED,
    MEANINGS,
    MISSING,
    UNREADABLE,
    UNUSABLE,
    UNWRITABLE,
    CommandError,
    Unusable,
    Unwritable,
    WrongOption,
    as_options,
    check_option,
    code_of,
    printable,
)
from arbora.cli._options import running
from arbora.cli._tables import aligned, columns, number
from arbora.cli.report import class_numbers, read_taxonomy
from arbora.cli.tables_out import as_text, check_table, set_obs, write_table
from arbora.cli.writing import check_writable, notes_on, tree_format, write_json, write_tree, writing
from arbora.errors import FormatError, MissingExtraError


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1234567, "1,234,567"), (np.int64(1000), "1,000"), (0.123456789, "0.12346"), (np.float32(2.5), "2.5"),
     (True, "True"), (np.True_, "True"), (None, "None"), ("1000", "1000"), ([1], "[1]"), (float("nan"), "nan")],
)  # fmt: skip
def test_numbers_have_five_digits_and_counts_separators(value, shown):
    assert number(value) == shown


def test_names_and_values_are_aligned():
    assert aligned({"a": 1, "long name": 2.5}) == "a          1\nlong name  2.5"
    assert aligned({}) == ""


def test_the_first_column_is_to_the_left_and_the_others_to_the_right():
    text = columns(["method", "cost"], [["a", 1], ["longer", 12345]])
    assert text.splitlines() == ["method    cost", "a            1", "longer  12,345"]
    assert columns(["only"], []) == "only"


TABLE = {"name": ["a,b", 'say "x"', "=1+1", "-5", "+x", "línea"], "cluster": [0, 1, 2, 0, 1, 2]}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_text_tables_are_read_back_and_formulas_are_quoted(suffix, tmp_path):
    write_table(tmp_path / f"t{suffix}", TABLE, numbers=None)
    text = (tmp_path / f"t{suffix}").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ","))
    assert rows[0] == ["name", "cluster"]
    assert [row[0] for row in rows[1:]] == ["a,b", 'say "x"', "'=1+1", "-5", "'+x", "línea"]
    assert [int(row[1]) for row in rows[1:]] == TABLE["cluster"]


def test_json_and_npy_and_parquet_hold_the_values_as_they_are(tmp_path):
    write_table(tmp_path / "t.json", TABLE, numbers=None)
    assert [row["name"] for row in json.loads((tmp_path / "t.json").read_text())] == TABLE["name"]
    write_table(tmp_path / "t.npy", TABLE, numbers=np.arange(3))
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), np.arange(3))
    parquet = pytest.importorskip("pyarrow.parquet")
    write_table(tmp_path / "t.PARQUET", TABLE, numbers=None)
    assert parquet.read_table(tmp_path / "t.PARQUET").to_pydict() == TABLE


def test_names_that_utf8_cannot_hold_are_replaced_not_fatal(tmp_path):
    write_table(tmp_path / "t.csv", {"name": ["\udcff"]}, numbers=None)
    assert (tmp_path / "t.csv").read_text() == "name\n?\n"


def test_no_rows_are_a_header():
    assert as_text({"a": [], "b": []}) == "a,b\n"


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.csv.gz"])
def test_names_that_no_table_has_are_refused(name):
    with pytest.raises(WrongOption, match="a table is written as"):
        check_table(Path(name))
    check_table(None)
    check_table(Path("T.CSV"))


def test_clusters_of_cells_are_categories_in_the_order_of_their_numbers():
    pandas = pytest.importorskip("pandas")

    class Cells:
        obs = pandas.DataFrame(index=range(4))

    set_obs(Cells, "cluster", [10, 2, 10, 1])
    assert Cells.obs["cluster"].cat.categories.tolist() == ["1", "2", "10"]
    assert Cells.obs["cluster"].tolist() == ["10", "2", "10", "1"]


# ---- writing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [("t.npz", "npz"), ("T.NWK", "newick"), ("t.tre", "newick"), ("t.csv", "linkage"), ("t.graphml", "graphml"),
     ("t.json", "json"), ("t.txt", "text"), ("t.nex", "nexus"), ("t.xml", "phyloxml"), ("-", "newick"),
     ("folder/", "itol")],
)  # fmt: skip
def test_the_format_follows_from_the_name(name, kind):
    assert tree_format(name) == kind
    assert tree_format("anything", kind) == kind


def test_an_existing_folder_without_a_suffix_is_for_itol(tmp_path):
    assert tree_format(str(tmp_path)) == "itol"
    write_tree(ab.Tree([3, 3, 4, 4, -1], 3), str(tmp_path / "itol") + "/")
    assert (tmp_path / "itol").is_dir() and list((tmp_path / "itol").iterdir())


def test_only_a_linkage_matrix_loses_something():
    wide = ab.Tree([3, 3, 3, -1], 3, name=["a", "b", "c", ""])
    assert len(notes_on(wide, "linkage")) == 2 and notes_on(wide, "newick") == []
    assert notes_on(ab.Tree([2, 2, -1], 2), "linkage") == []
    supported = ab.Tree([2, 2, -1], 2).replace(support=[1.0, 1.0, 0.9])
    assert [len(notes_on(supported, kind)) for kind in ("newick", "nexus", "hclust", "npz", "json")] == [
        1,
        1,
        1,
        0,
        0,
    ]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file"), "the folder does not exist"),
        (OSError(28, "No space left on device"), "No space left on device. What was there is unchanged"),
        (OSError("in words"), "in words"),
    ],
)
def test_problems_of_the_system_name_the_file(error, words):
    with pytest.raises(Unwritable, match=f"t.npz cannot be written: .*{words}"), writing("t.npz"):
        raise error
    with pytest.raises(KeyError), writing("t.npz"):
        raise KeyError("another problem")


def test_outputs_are_checked_before_the_work(tmp_path):
    check_writable(None, Path("-"), tmp_path / "new.npz")
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "t", "does not exist")):
        with pytest.raises(Unwritable, match=words):
            check_writable(path)


def test_facts_in_a_file_are_plain_json(tmp_path):
    write_json(tmp_path / "f.json", {"a": np.arange(2), "b": float("nan"), "c": Path("x"), 1: (True, None)})
    assert json.loads((tmp_path / "f.json").read_text()) == {
        "a": [0, 1],
        "b": None,
        "c": "x",
        "1": [True, None],
    }


# ---- exit codes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError(7, "x"), 7),
        (FormatError("x"), UNREADABLE),
        (MissingExtraError("x"), MISSING),
        (ImportError("x"), MISSING),
        (ValueError("x"), UNUSABLE),
        (MemoryError(), UNUSABLE),
        (TypeError("A sentence of ours."), UNUSABLE),
        (TypeError("unsupported operand"), FAILED),
        (OSError(28, "full"), UNWRITABLE),
        (PermissionError(13, "no"), UNREADABLE),
        (KeyError("x"), FAILED),
    ],
)
def test_every_problem_has_its_exit_code(error, code):
    assert code_of(error) == code


def test_every_code_has_a_meaning():
    assert MEANINGS.keys() == {0, 1, 2, 3, 4, 5, 6, INTERRUPTED}


def test_control_characters_are_replaced_and_lines_stay():
    assert printable("a\x1b[31mb\n\tc\udcff") == "a\ufffd[31mb\n\tc\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use label_column=species.", "Use --label-column species."),
        ("Pass header=True or header=False.", "Pass --header or --no-header."),
        ("Set kind= to say so.", "Set --kind to say so."),
        ("a name=b stays", "a name=b stays"),
    ],
)
def test_arguments_of_python_become_options(text, shown):
    assert as_options(text) == shown


def test_a_choice_that_is_none_is_refused_with_all_of_them():
    with pytest.raises(WrongOption, match=r"--by must be one of a, b. Got 'c'"):
        check_option("--by", "c", ["a", "b"])
    check_option("--by", "a", ["a", "b"])


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", "", "4294967296", "²"])
def test_seeds_are_whole_numbers_or_random(seed):
    with pytest.raises(WrongOption, match="--seed must be a whole number below 4294967296, or random"):
        running(seed)
    assert running("random").seed is None and running("7", 2).threads == 2


# ---- logits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "names", "found"),
    [
        (["b", "a"], ["a", "b"], [1, 0]),
        ([0, 1], ["a", "b"], [0, 1]),
        ([1, 2, 1], ["1", "2", "3"], [0, 1, 0]),
        ([2, 1], ["2", "1"], [0, 1]),
        ([0, 2], ["0", "1", "2"], [0, 2]),
    ],
)
def test_true_classes_are_names_of_columns_before_they_are_numbers(y, names, found):
    assert class_numbers(np.array(y, dtype=object), names, "x.csv").tolist() == found


@pytest.mark.parametrize(
    ("y", "words"),
    [(["a", None], "without a true class"), (["c", "a"], "no column is named after: 'c'"), ([5], "'5'")],
)
def test_true_classes_that_no_column_has_are_refused(y, words):
    with pytest.raises(Unusable, match=words):
        class_numbers(np.array(y, dtype=object), ["a", "b"], "x.csv")


@pytest.mark.parametrize(
    ("name", "text"), [("t.json", '{"cat": "pet", "cow": "farm"}'), ("t.csv", "cat, pet\n\ncow,farm,more\n")]
)
def test_a_taxonomy_is_read_from_json_and_csv(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert read_taxonomy(tmp_path / name) == {"cat": "pet", "cow": "farm"}


@pytest.mark.parametrize(("name", "text"), [("t.json", "[1, 2]"), ("t.json", "{"), ("t.csv", "only\n")])
def test_what_is_no_taxonomy_names_the_file(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=f"{name} must hold the superclass of each class"):
        read_taxonomy(tmp_path / name)
    with pytest.raises(FormatError, match="absent"):
        read_taxonomy(tmp_path / "absent.csv")
