"""Whole numbers that double precision cannot tell apart are identifiers, kept digit by digit."""

import json

import numpy as np
import pytest

import arbora as ab

# as of tweets, orders and other rows numbered by 64 bits
IDS = [2**60 + 3 * k for k in range(12)]
WORDS = [str(one) for one in IDS]
X = np.sqrt(np.arange(12.0))


def csv_of(columns, path):
    rows = zip(*columns.values())
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    return path


def json_of(columns, path):
    path.write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*columns.values())))
    return path


def frame_of(columns, path):
    return pytest.importorskip("pandas").DataFrame(columns)


def nullable_of(columns, path):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({key: pandas.array(values) for key, values in columns.items()})


def polars_of(columns, path):
    return pytest.importorskip("polars").DataFrame(columns)


def parquet_of(columns, path):
    pytest.importorskip("pyarrow")
    frame_of(columns, path).to_parquet(path)
    return path


FORMS = {
    "x.csv": csv_of, "x.jsonl": json_of, "pandas": frame_of, "nullable": nullable_of, "polars": polars_of,
    "x.parquet": parquet_of,
}  # fmt: skip


@pytest.fixture(params=FORMS)
def table(request, tmp_path):
    return lambda columns: FORMS[request.param](columns, tmp_path / request.param)


def test_long_identifiers_name_rows_exactly(table):
    data = ab.read(table({"order_id": IDS, "x": X.tolist()}))
    assert data.names == WORDS and data.feature_names == ["x"]


def test_long_numbers_of_classes_stay_apart(table):
    data = ab.read(table({"kind": [IDS[k % 3] for k in range(12)], "x": X.tolist()}), label_column="kind")
    assert data.y.tolist() == [WORDS[k % 3] for k in range(12)]


def test_nodes_of_long_numbers_stay_apart(table):
    data = ab.read(table({"source": IDS, "target": IDS[1:] + IDS[:1], "weight": X.tolist()}))
    assert data.kind == "graph" and sorted(data.names) == WORDS and data.values.nnz == 24 - 2


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_values_do_not_round_the_others(library):
    values = [*IDS[:11], None]
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"seen": pandas.array(values, dtype="Int64"), "x": X})
    elif library == "polars":
        frame = pytest.importorskip("polars").DataFrame({"seen": values, "x": X})
    else:
        frame = pytest.importorskip("pyarrow").table({"seen": values, "x": X})
    assert ab.read(frame).metadata["seen"].tolist() == [*WORDS[:11], None]


def test_small_whole_numbers_are_numbers_with_and_without_missing_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": pandas.array([1, None, 2**53, -5], dtype="Int64"), "code": list("abab")})
    with pytest.warns(UserWarning, match="1 missing"):
        assert np.array_equal(ab.read(frame).values[:, 0], [1, np.nan, 2.0**53, -5], equal_nan=True)
    assert ab.read(frame.dropna()).values[:, 0].tolist() == [1, 2.0**53, -5]


def test_numbers_declared_categories_are_no_features():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"group": pandas.Categorical([0, 1, None, 2] * 3), "x": X})
    for given in (frame, pyarrow.Table.from_pandas(frame)):
        data = ab.read(given)
        assert data.feature_names == ["x"] and data.metadata["group"].tolist() == ["0", "1", None, "2"] * 3
