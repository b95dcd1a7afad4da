"""Methods that answer row by row take Dask arrays: lazily, in the chunks they come in, with the same answers."""

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from arbora._base.lazily import answered_by, lazily, mapped_rows  # noqa: E402

X = np.random.default_rng(0).normal(size=(23, 3))


class Model:
    """Answers every row by itself, and counts how often it was asked."""

    takes_spaces = False

    def __init__(self):
        self.n_calls = 0
        self.training_data_ = da.zeros((4, 2))

    @lazily
    def labels(self, X, offset=0):
        """Sign of the sum."""
        self.n_calls += 1
        return (np.asarray(X).sum(axis=1) > 0).astype(np.int32) + offset

    @lazily
    def scores(self, X):
        return np.asarray(X, np.float32)[:, :2] * 2

    @lazily
    def refuses(self, X, *, n_clusters):
        raise ValueError(f"n_clusters must be 2. Got {n_clusters}.")


class Spaces:
    takes_spaces = True

    @lazily
    def labels(self, X):
        first, second = X
        return np.asarray(first).sum(axis=1) + np.asarray(second).sum(axis=1)


@pytest.mark.parametrize("chunks", [(23, 3), (5, 3), ((1, 0, 20, 2), 3)])
def test_answers_are_those_of_the_array_in_the_chunks_of_the_array(chunks):
    model, lazy = Model(), da.from_array(X, chunks=chunks)
    labels, scores = model.labels(lazy, 7), model.scores(lazy)
    assert labels.chunks[0] == scores.chunks[0] == lazy.chunks[0]
    assert labels.dtype == np.int32 and scores.dtype == np.float32 and scores.shape == (23, 2)
    np.testing.assert_array_equal(labels.compute(), model.labels(X, 7))
    np.testing.assert_array_equal(scores.compute(), model.scores(X))


def test_nothing_but_one_row_of_ones_is_asked_before_computing():
    model = Model()
    seen = []
    lazy = da.from_array(X, chunks=(5, 3)).map_blocks(
        lambda block: seen.append(len(block)) or block, dtype=float
    )
    model.labels(lazy)
    assert model.n_calls == 1 and not any(seen), "Dask asks about a block without rows"


def test_wrong_arguments_are_refused_at_once():
    with pytest.raises(ValueError, match=r"n_clusters must be 2. Got 5"):
        Model().refuses(da.from_array(X, chunks=(5, 3)), n_clusters=5)


def test_arrays_in_memory_are_answered_at_once_and_the_method_keeps_its_name():
    assert isinstance(Model().labels(X), np.ndarray)
    assert Model.labels.__name__ == "labels" and Model.labels.__doc__ == "Sign of the sum."


def test_what_is_lazy_itself_is_not_sent_to_workers_and_stays_with_the_model():
    model = Model()
    np.testing.assert_array_equal(model.labels(da.from_array(X, chunks=(5, 3))).compute(), model.labels(X))
    assert model.training_data_.shape == (4, 2)


def test_unknown_numbers_of_rows_are_answered_all_the_same():
    lazy = da.from_array(X, chunks=(5, 3))
    some = lazy[lazy[:, 0] > 0]
    np.testing.assert_array_equal(Model().labels(some).compute(), Model().labels(X[X[:, 0] > 0]))


def test_a_frame_is_its_columns():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    np.testing.assert_array_equal(Model().labels(frame).compute(), Model().labels(X))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (da.zeros(4), r"X must have shape \(n_points, n_features\). Got 1 dimensions"),
        (da.zeros((4, 3), chunks=(4, 2)), r"X has its columns in 2 chunks.* pass X.rechunk\(\{1: -1\}\)"),
        (da.from_array(np.array([["a", "b"]])), "X must hold real numbers. Got dtype <U1"),
    ],
)
def test_arrays_that_cannot_be_answered_row_by_row_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        Model().labels(data)


def test_several_spaces_are_answered_together_in_the_chunks_of_the_first():
    lazy = [da.from_array(X, chunks=(5, 3)), da.from_array(X[:, :2], chunks=(9, 2))]
    answer = Spaces().labels(lazy)
    assert answer.chunks == (lazy[0].chunks[0],)
    np.testing.assert_allclose(answer.compute(), Spaces().labels([X, X[:, :2]]))


def test_of_several_spaces_all_are_lazy_or_none():
    with pytest.raises(TypeError, match=r"all or none must be Dask arrays. Got a ndarray"):
        Spaces().labels([da.from_array(X, chunks=(5, 3)), X])


def test_a_function_answers_rows_with_what_it_holds():
    answer = answered_by(
        lambda block: block.sum(axis=1), da.from_array(X, chunks=(5, 3)), np.float32, n_features=3
    )
    assert answer.dtype == np.float32
    np.testing.assert_allclose(answer.compute(), X.sum(axis=1), rtol=1e-6)
    with pytest.raises(ValueError, match="X has 3 features, but 4 were expected, as in fit"):
        answered_by(len, da.from_array(X, chunks=(5, 3)), np.float32, n_features=4)


def test_rows_of_several_arrays_go_through_one_function():
    one, other = da.from_array(X, chunks=(5, 3)), da.from_array(X + 1, chunks=(23, 3))
    joined = mapped_rows([one, other], np.empty((0, 6)), lambda a, b: np.hstack([a, b]))
    assert joined.shape == (23, 6)
    np.testing.assert_array_equal(joined.compute(), np.hstack([X, X + 1]))
