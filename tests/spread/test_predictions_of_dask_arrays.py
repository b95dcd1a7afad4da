"""Predictions of Dask arrays are Dask arrays: known type and shape, nothing computed before it is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

X = make_blobs(60, n_features=6, centers=3, cluster_std=0.5, random_state=0)[0].astype(np.float32)
METHODS = {
    "GHHC": ("predict", "predict_parent", "predict_proba"),
    "HypHC": ("predict",),
    "OnlineTree": ("predict",),
    "L2H": ("predict", "predict_proba", "transform"),
    "TURTLE": ("predict", "predict_proba", "decision_function"),
    "TEMI": ("predict", "predict_proba", "decision_function"),
}
OPTIONS = {
    "GHHC": {"n_internal": 15, "max_steps": 10, "random_state": 0},
    "HypHC": {"max_epochs": 2, "n_triples": 500, "random_state": 0},
    "OnlineTree": {"random_state": 0},
    "L2H": {"n_bootstraps": 0},
    "TURTLE": {"n_clusters": 3, "max_steps": 5, "inner_steps": 2, "random_state": 0},
    "TEMI": {"n_clusters": 3, "max_steps": 5, "n_heads": 2, "random_state": 0},
}


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def models():
    return {name: getattr(ab, name)(**options).fit(X) for name, options in OPTIONS.items()}


def never(block):
    raise AssertionError("computed before anybody asked")


@pytest.mark.parametrize("name", METHODS)
def test_blocks_are_predicted_as_rows_in_memory(name, models):
    for method in METHODS[name]:
        answer = getattr(models[name], method)
        expected = answer(X)
        lazy = answer(da.from_array(X, chunks=(25, -1)).map_blocks(never, dtype=np.float32, meta=X[:0]))
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        assert lazy.chunks[0] == (25, 25, 10)
        found = answer(da.from_array(X, chunks=(25, -1))).compute()
        assert found.dtype == expected.dtype
        # products of matrices round by their shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_unknown_sizes_and_empty_chunks_are_predicted_too(name, models):
    lazy = da.from_array(X, chunks=(25, -1))
    unknown = lazy[da.from_array(np.arange(60) >= 25, chunks=25)]
    found = models[name].predict(unknown)
    assert np.isnan(found.shape[0])
    assert np.array_equal(found.compute(), models[name].predict(X[25:]))


@pytest.mark.parametrize("name", METHODS)
def test_wrong_input_is_refused_at_once(name, models):
    model = models[name]
    lazy = da.from_array(X, chunks=(25, -1))
    with pytest.raises(ValueError, match=r"X.rechunk\(\{1: -1\}\)"):
        model.predict(lazy.rechunk((25, 3)))
    with pytest.raises(ValueError, match="features"):
        model.predict(lazy[:, :4])
    with pytest.raises(ValueError, match="real numbers"):
        model.predict(lazy.astype("U4"))
    if name in ("GHHC", "HypHC", "OnlineTree", "L2H"):
        with pytest.raises((TypeError, ValueError), match="n_clusters"):
            model.predict(lazy, n_clusters=0)


def test_several_spaces_are_predicted_block_by_block():
    spaces = [X, X[:, :3] ** 2]
    model = ab.TURTLE(3, max_steps=5, inner_steps=2, random_state=0).fit(spaces)
    lazy = [da.from_array(spaces[0], chunks=(25, -1)), da.from_array(spaces[1], chunks=(40, -1))]
    assert np.array_equal(model.predict(lazy).compute(), model.predict(spaces))
    with pytest.raises(TypeError, match="all or none must be Dask arrays"):
        model.predict([lazy[0], spaces[1]])


def test_workers_get_the_model_and_not_its_training_data(on_cluster):
    logits = da.from_array(X, chunks=(25, -1))
    with dask.config.set(scheduler=None):
        on_cluster(2)
        model = ab.L2H(2).fit(logits)
        assert np.array_equal(model.predict(logits).compute(), model.labels_.compute())
