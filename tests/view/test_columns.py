"""Columns: every kind of value read as what it is, and summed up for every node."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import random_tree

from arbora import Tree
from arbora.view.columns import MISSING, read_column, read_columns
from arbora.view.values import read_values


@pytest.fixture(scope="module")
def tree():
    return random_tree(60, np.random.default_rng(0))


def small():
    return Tree.from_newick("((a,b),(c,d));")


def test_dates_are_a_time_scale(tree):
    dates = np.datetime64("1987-02-26") + np.arange(60)
    column = read_column(tree, "date", dates)
    assert column.kind == "time"
    assert column.categories == []
    assert column.facts()["wholeDays"]
    leaf = int(tree.leaf_order[0])
    assert np.datetime64(int(column.values[0]), "s") == dates[leaf]


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, k + 1) for k in range(4)],
        [datetime.datetime(2020, 1, k + 1) for k in range(4)],
        [datetime.datetime(2020, 1, k + 1, tzinfo=datetime.UTC) for k in range(4)],
        np.array(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"], dtype="datetime64[ns]"),
    ],
)
def test_every_form_of_a_date_is_the_same_time(values):
    column = read_column(small(), "date", values)
    assert column.values.tolist() == [1577836800.0 + 86400 * k for k in range(4)]


def test_durations_are_seconds():
    column = read_column(small(), "wait", np.array([1, 60, 3600, "NaT"], dtype="timedelta64[s]"))
    assert column.kind == "duration"
    assert column.values[:3].tolist() == [1, 60, 3600]
    assert np.isnan(column.values[3])


def test_pandas_and_polars_columns_with_missing_values_are_read():
    pandas = pytest.importorskip("pandas")
    for dtype in ("string", "string[pyarrow]", "category", object):
        column = read_column(small(), "topic", pandas.Series(["x", None, "y", "x"], dtype=dtype))
        assert column.categories == ["x", "y"]
        assert column.values.tolist() == [0, MISSING, 1, 0]
    assert read_column(small(), "n", pandas.Series([5, None, 7, 9], dtype="Int64")).kind == "number"
    assert (
        read_column(small(), "t", pandas.Series(pandas.to_datetime(["2020-01-01", None] * 2))).kind == "time"
    )
    aware = pandas.Series(pandas.to_datetime(["2020-01-01"] * 4, utc=True))
    assert read_column(small(), "t", aware).values[0] == 1577836800.0
    polars = pytest.importorskip("polars")
    assert read_column(small(), "topic", polars.Series(["x", None, "y", "x"])).values.tolist() == [
        0,
        MISSING,
        1,
        0,
    ]
    assert read_column(small(), "t", polars.Series([datetime.date(2020, 1, 1), None] * 2)).kind == "time"


def test_arrow_columns_are_read():
    arrow = pytest.importorskip("pyarrow")
    assert read_column(small(), "topic", arrow.array(["x", None, "y", "x"])).values.tolist() == [
        0,
        MISSING,
        1,
        0,
    ]


def test_integers_that_count_are_numbers_and_codes_are_categories():
    tree = random_tree(12, np.random.default_rng(0))
    assert read_column(tree, "points", np.arange(12) % 3 + 36).kind == "number"
    assert read_column(tree, "digit", np.arange(12) % 3).kind == "category"
    assert read_column(tree, "stage", np.arange(12) % 3 + 1).kind == "category"
    assert read_column(tree, "points", np.arange(12) % 3 + 36, as_classes=True).categories == [
        "36",
        "37",
        "38",
    ]


def test_classes_given_as_numbers_keep_their_order():
    column = read_column(small(), "level", [10, 9, 10, 100], as_classes=True)
    assert column.categories == ["9", "10", "100"]


def test_text_that_is_nearly_always_different_is_read_not_colored(tree):
    column = read_column(tree, "text", [f"text {k}" for k in range(60)])
    assert column.kind == "text"
    assert not column.scores
    leaf = int(tree.leaf_order[3])
    assert column.summary(leaf) == {"text": f"text {leaf}"}
    assert column.summary(tree.root) == {}
    assert read_column(tree, "text", [f"text {k}" for k in range(60)], as_classes=True).kind == "category"


def test_lumped_columns_score_nothing():
    tree = random_tree(10_000, np.random.default_rng(0))
    column = read_column(tree, "id", np.arange(10_000) // 2, as_classes=True)
    assert column.lumped
    assert not column.scores
    assert column.categories[-1] == "other"


def test_missing_values_count_neither_for_purity_nor_for_means():
    column = read_column(small(), "topic", ["x", None, None, "y"])
    assert column.summary(6) == {"known": 2, "mix": [[0, 1], [1, 1]]}
    assert column.of_nodes[1][4] == 255
    numbers = read_column(small(), "n", [1.0, np.nan, 3.0, 8.0])
    summary = numbers.summary(6)
    bins = summary.pop("bins")
    assert summary == {"known": 3, "mean": 4.0, "least": 1.0, "most": 8.0}
    assert sum(bins) == 3
    assert bins[0] == bins[-1] == 1
    assert numbers.summary(1) == {"known": 0}


def test_a_scale_is_clipped_where_outliers_decide_it(tree):
    values = np.arange(60.0)
    assert read_column(tree, "n", values).range == (0.0, 59.0)
    values[7] = 1e9
    low, high = read_column(tree, "n", values).range
    assert high < 100
    assert low >= 0


def test_values_keep_all_their_digits():
    column = read_column(small(), "id", [123456789.0, 1.5, 0.1, 2.0])
    assert column.values[:1].tolist() == [123456789.0]
    assert column.summary(2)["mean"] == 0.1


def test_decimals_and_booleans_are_read():
    assert read_values([Decimal("1.5"), None], "price", 2).data.tolist()[0] == 1.5
    assert read_column(small(), "is", [True, False, True, None]).categories == ["False", "True"]
    masked = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[True, False, False, False])
    assert read_column(small(), "m", masked).summary(0) == {"known": 0}


def test_titles_of_classes_and_metadata():
    pandas = pytest.importorskip("pandas")
    tree = small()
    series = pandas.Series(list("xxyy"), name="species")
    assert [c.name for c in read_columns(tree, series)] == ["species"]
    assert [c.name for c in read_columns(tree, list("xxyy"))] == ["class"]
    assert [c.name for c in read_columns(tree, {"digit": [0, 0, 1, 1]}, {"ink": [1.5] * 4})] == [
        "digit",
        "ink",
    ]
    frame = pandas.DataFrame({"a": list("xxyy"), "b": [1.5] * 4})
    assert [c.name for c in read_columns(tree, None, frame)] == ["a", "b"]
    with pytest.raises(ValueError, match="Two columns"):
        read_columns(tree, {"a": list("xxyy")}, {"a": list("xxyy")})
    with pytest.raises(TypeError, match="metadata must map titles"):
        read_columns(tree, None, [1, 2, 3, 4])


def test_wrong_lengths_are_named():
    with pytest.raises(ValueError, match=r"'digit' must have one value per leaf, shape \(4,\)"):
        read_columns(small(), {"digit": [1, 2]})
    with pytest.raises(ValueError, match="complex"):
        read_column(small(), "z", np.zeros(4, dtype=complex))


@given(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=20, max_size=20), st.integers(0, 50))
def test_the_majority_of_every_node_equals_its_definition(values, seed):
    tree = random_tree(20, np.random.default_rng(seed), max_branching=4)
    column = read_column(tree, "c", values, as_classes=True)
    winner, share = column.of_nodes
    for node in range(tree.n_nodes):
        known = [values[leaf] for leaf in tree.leaves(node) if values[leaf] is not None]
        counts = {name: known.count(name) for name in set(known)}
        if not counts:
            assert winner[node] == MISSING
            continue
        assert counts[column.categories[winner[node]]] == max(counts.values())
        assert share[node] == round(255 * max(counts.values()) / len(known))


def test_columns_of_one_name_are_told_apart():
    import pandas as pd

    tree = Tree.from_newick("((a,b),c);")
    frame = pd.DataFrame([[1, "x"], [2, "y"], [3, "x"]], columns=["seen", "seen"])
    assert [column.name for column in read_columns(tree, metadata=frame)] == ["seen", "seen.1"]
