"""Frames are matrices with names, or refused by the names of their columns."""

import numpy as np
import pytest

import arbora as ab
from arbora._base.arrays import as_matrix, as_vectors, frame_columns, is_dataset, row_names, unwrap

X = np.array([[1.0, 2.5], [3.0, -4.0], [0.5, 6.0]])


def frame_of(library, columns):
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_numbers_and_vectors_of_a_frame_are_one_matrix(library):
    frame = frame_of(
        library, {"a": [1.0, 3.0, 0.5], "n": [1, 2, 3], "e": [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]}
    )
    matrix = as_matrix(frame)
    assert matrix.values.tolist() == [[1, 1, 0.5, 1.5], [3, 2, 2.5, 3.5], [0.5, 3, 4.5, 5.5]]
    assert matrix.column_names == ["a", "n", "e"]
    assert list(frame_columns(frame)) == ["a", "n", "e"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_text_and_dates_are_refused_by_name(library):
    import datetime

    columns = {"a": [1.0, 2.0], "town": ["Ulm", "Bonn"], "day": [datetime.date(2024, 1, 1)] * 2}
    with pytest.raises(TypeError, match="'town'") as caught:
        as_vectors(frame_of(library, columns))
    assert "arbora.read" in str(caught.value)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_of_vectors_is_a_matrix(library):
    series = frame_of(library, {"e": X.tolist()})["e"]
    assert np.array_equal(as_vectors(series), X)


def test_nullable_numbers_are_numbers_and_missing_ones_are_refused():
    pandas = pytest.importorskip("pandas")
    whole = pandas.DataFrame({"a": pandas.array([1, 2, 3], dtype="Int64")})
    assert as_vectors(whole).tolist() == [[1], [2], [3]]
    with pytest.raises(ValueError, match="row 1, column 0"):
        as_vectors(pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64")}))


def test_an_index_that_only_counts_gives_no_names():
    pandas = pytest.importorskip("pandas")
    assert row_names(pandas.DataFrame(X)) is None
    assert row_names(pandas.DataFrame(X, index=["0", "1", "2"])) is None
    assert row_names(pandas.DataFrame(X, index=list("pqr"))) == ["p", "q", "r"]
    assert row_names(X) is None


def test_a_dataset_opens_to_its_vectors_and_names():
    data = ab.read({"id": ["p", "q", "r"], "a": X[:, 0], "b": X[:, 1]})
    assert is_dataset(data) and not is_dataset(X)
    values, names = unwrap(data)
    assert np.array_equal(values, X)
    assert names == ["p", "q", "r"]
    matrix = as_matrix(data)
    assert (matrix.row_names, matrix.column_names) == (["p", "q", "r"], ["a", "b"])
    assert np.array_equal(np.asarray(data), X)


def test_a_graph_that_was_read_is_no_matrix_of_vectors():
    data = ab.read({"source": ["a", "b"], "target": ["b", "c"]})
    with pytest.raises(TypeError, match="must be vectors"):
        as_matrix(data)
    assert unwrap(data)[0].n_points == 3


ESTIMATORS = [
    lambda: ab.OnlineTree(),
    lambda: ab.HypHC(max_epochs=1),
    lambda: ab.GHHC(max_steps=1),
    lambda: ab.FPH(max_epochs=1),
    lambda: ab.L2H(),
    lambda: ab.TURTLE(2, max_steps=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_do_not_take_masked_entries_as_data(estimator):
    with pytest.raises(ValueError, match="X has masked entries"):
        estimator().fit(np.ma.masked_array(X, mask=X < 0))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_name_their_input_whatever_it_is(estimator):
    with pytest.raises((TypeError, ValueError), match="X"):
        estimator().fit({"a": 1})


def test_a_subclass_of_a_frame_is_a_frame():
    pandas = pytest.importorskip("pandas")

    class Survey(pandas.DataFrame):
        """As geopandas and AnnData's views derive their own."""

        __module__ = "elsewhere.frames"

        @property
        def _constructor(self):
            return Survey

    frame = Survey({"a": [1.0, 3.0, 0.5], "b": [2, 4, 6]}, index=["x", "y", "z"])
    matrix = as_matrix(frame)
    assert (matrix.row_names, matrix.column_names) == (["x", "y", "z"], ["a", "b"])
    assert ab.read(frame).feature_names == ["a", "b"]


def test_some_rows_of_a_frame_without_names_go_by_their_numbers():
    """However they were chosen: a slice keeps a range as its index, a mask does not."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(6.0)})
    assert row_names(frame) is row_names(frame[:4]) is None
    assert row_names(frame[2:4]) == row_names(frame[(frame["a"] > 1) & (frame["a"] < 4)]) == ["2", "3"]
    assert row_names(frame[::-1]) == ["5", "4", "3", "2", "1", "0"]


@pytest.mark.parametrize("kind", ["with a gradient", "bfloat16"])
@pytest.mark.parametrize("model", ["TreeClustering", "OnlineTree", "HypHC", "L2H"])
def test_estimators_take_tensors_as_training_leaves_them(model, kind):
    torch = pytest.importorskip("torch")
    values = np.round(np.random.default_rng(0).normal(size=(20, 4)) * 8) / 8
    options = {} if model == "L2H" else {"random_state": 0}
    tensor = torch.tensor(values, dtype=torch.float32, requires_grad=kind == "with a gradient")
    tensor = tensor.bfloat16() if kind == "bfloat16" else tensor
    fitted = getattr(ab, model)(**options).fit(tensor)
    expected = getattr(ab, model)(**options).fit(values.astype(np.float32))
    assert np.array_equal(fitted.tree_.parent, expected.tree_.parent)


@pytest.mark.parametrize("model", ["TreeClustering", "OnlineTree", "HypHC", "GHHC", "L2H"])
def test_estimators_know_the_columns_of_what_read_returns(model):
    pandas = pytest.importorskip("pandas")
    if model in ("HypHC", "GHHC"):
        pytest.importorskip("torch")
    values = np.random.default_rng(0).normal(size=(20, 3)) + 5 * np.eye(3)[np.arange(20) % 3]
    frame = pandas.DataFrame(values, columns=list("abc"), index=[f"row {k}" for k in range(20)])
    options = {} if model == "L2H" else {"random_state": 0}
    fitted = getattr(ab, model)(**options).fit(ab.read(frame))
    assert fitted.feature_names_in_.tolist() == list("abc") and fitted.n_features_in_ == 3
    assert fitted.tree_.leaf_names == (list("abc") if model == "L2H" else frame.index.tolist())
    assert np.array_equal(fitted.predict(ab.read(frame)), fitted.predict(frame))
    with pytest.raises(ValueError, match="Fit saw 'a', 'b', 'c'; X has 'b', 'a', 'c'"):
        fitted.predict(ab.read(frame[list("bac")]))


@pytest.mark.parametrize(
    ("data", "words"),
    [({"x": [1.0, 2.0]}, "Got a mapping; arbora.read"), (None, "Got None"), ("x.csv", "Got a string")],
)
def test_what_is_no_array_is_named(data, words):
    with pytest.raises(TypeError, match=f"data must be an array of numbers. {words}"):
        as_matrix(data, argument="data")
