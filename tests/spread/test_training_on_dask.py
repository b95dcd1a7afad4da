"""Training on Dask arrays: batches in shares, the same result however many workers there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from spread.conftest import WORKERS

import arbora as ab
from arbora._base.sharing import Shares, share_bounds
from arbora.errors import TooLargeError
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import ranking_cost
from arbora.hyperbolic.ghhc.shares import SharedRankingCost

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

X, Y = make_blobs(3000, n_features=8, centers=6, random_state=0)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def spread(array=X, height=700):
    return da.from_array(array, chunks=(height, -1))


# ---- GHHC ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"projection": "learned", "n_components": 4}, {"optimizer": "adam", "n_candidates": 10}],
    ids=str,
)
def test_ghhc_is_that_of_memory_up_to_rounding(options):
    options = {"n_internal": 31, "max_steps": 30, "random_state": 0, **options}
    expected, found = ab.GHHC(**options).fit(X), ab.GHHC(**options).fit(spread())
    np.testing.assert_allclose(found.nodes_, expected.nodes_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(found.tree_.parent, expected.tree_.parent)
    assert np.array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("n_candidates", [None, 5])
def test_shares_of_a_batch_add_up_to_the_batch(n_candidates):
    rng = np.random.default_rng(0)
    table = NodeTable(0.3 * rng.normal(size=(12, 3)) / np.sqrt(3))
    points = rng.normal(size=(3, 29, 3))
    points *= 0.9 / np.linalg.norm(points, axis=2, keepdims=True)
    options = {"temperature": 0.3, "n_candidates": n_candidates, "with_points": True}
    options["noise"] = rng.normal(size=(29, n_candidates or 12))
    whole, shared = (
        ranking_cost(table, points, **options),
        SharedRankingCost(Shares(None))(table, points, **options),
    )
    np.testing.assert_allclose(shared.cost, whole.cost, rtol=1e-12)
    assert np.array_equal(shared.nodes.rows, whole.nodes.rows)
    np.testing.assert_allclose(shared.nodes.values, whole.nodes.values, atol=1e-12)
    np.testing.assert_allclose(shared.points, whole.points, atol=1e-12)


@WORKERS
def test_ghhc_on_one_and_two_workers_is_the_same_to_the_last_bit(n_workers, on_cluster, monkeypatch):
    options = {"n_internal": 31, "max_steps": 6, "batch_size": 200, "random_state": 0}
    here = ab.GHHC(**options).fit(spread())
    # every batch is worth sending
    monkeypatch.setattr("arbora.hyperbolic.ghhc.shares._WORTH_SENDING", 0)
    on_cluster(n_workers)
    with dask.config.set(scheduler=None):
        found = ab.GHHC(**options).fit(spread())
    assert np.array_equal(found.nodes_, here.nodes_)
    assert np.array_equal(found.history_["loss"], here.history_["loss"])
    assert np.array_equal(found.tree_.parent, here.tree_.parent)
    assert np.array_equal(found.tree_.support, here.tree_.support)


def test_ghhc_never_fetches_all_rows(monkeypatch):
    from arbora._base.dask_rows import DaskRows

    fetched = []
    monkeypatch.setattr(DaskRows, "chunks", lambda self, *_, **__: pytest.fail("rows came chunk by chunk"))
    take = DaskRows.take
    monkeypatch.setattr(DaskRows, "take", lambda self, rows: fetched.append(len(rows)) or take(self, rows))
    ab.GHHC(n_internal=15, max_steps=5, pool_size=256, random_state=0).fit(spread())
    assert max(fetched) <= 256


# ---- HypHC ---------------------------------------------------------------------------------------------------


def test_hyphc_is_that_of_memory_to_the_last_bit(on_cluster, monkeypatch):
    some = X[:2100].astype(np.float32)
    options = {
        "max_epochs": 2,
        "n_triples": 40_000,
        "random_state": 0,
        "init": "random",
        "batch_size": 20_000,
    }
    expected = ab.HypHC(**options).fit(some)
    assert np.array_equal(ab.HypHC(**options).fit(spread(some)).tree_.parent, expected.tree_.parent)
    monkeypatch.setattr("arbora.hyperbolic.hyphc.circle.WORTH_SENDING", 0)
    with dask.config.set(scheduler=None):
        on_cluster(2)
        found = ab.HypHC(**options).fit(spread(some))
    assert np.array_equal(found.embedding_, expected.embedding_)
    assert np.array_equal(found.tree_.parent, expected.tree_.parent)


def test_hyphc_refuses_what_does_not_fit(monkeypatch):
    monkeypatch.setattr("arbora._base.memory.available_memory", lambda: 1000)
    with pytest.raises(TooLargeError, match=r"X\[rows\]"):
        ab.HypHC().fit(spread())


# ---- FPH -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"objective": "tsd"}, marks=pytest.mark.slow),
        {"batch_size": 20},
    ],
    ids=str,
)
def test_fph_is_that_of_memory_to_the_last_bit(options, on_cluster, monkeypatch):
    pd = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    whole = ab.similarity.knn(X[:150], n_neighbors=5)
    edges = sp.coo_array(sp.triu(whole.csr))
    table = pd.DataFrame({"source": edges.row, "target": edges.col, "weight": edges.data})
    options = {"n_internal": 10, "max_epochs": 3, "random_state": 0, **options}
    expected = ab.FPH(**options).fit(ab.similarity.graph(whole.csr))
    monkeypatch.setattr("arbora.probabilistic.row_blocks.WORTH_SENDING", 0)
    with dask.config.set(scheduler=None):
        on_cluster(2)
        found = ab.FPH(**options).fit(frames.from_pandas(table, npartitions=3))
    assert np.array_equal(found.tree_.parent, expected.tree_.parent)
    assert np.array_equal(found.A_.toarray(), expected.A_.toarray())
    assert np.array_equal(found.B_, expected.B_)


# ---- all -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_items", [0, 1, 7, 8, 29])
def test_shares_cover_everything_once(n_items):
    assert [item for first, last in share_bounds(n_items) for item in range(first, last)] == list(
        range(n_items)
    )


@pytest.mark.parametrize(
    "model", [ab.GHHC(n_internal=15, max_steps=3), ab.HypHC(max_epochs=1)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (da.from_array(X, chunks=(700, 4)), r"X.rechunk\(\{1: -1\}\)"),
        (da.from_array(X.astype("U8"), chunks=(700, -1)), "real numbers"),
        (da.concatenate([da.from_array(X, chunks=(700, -1)), da.full((1, 8), np.nan)]), "NaN"),
    ],
    ids=["columns", "text", "NaN at the end"],
)
def test_what_cannot_be_trained_on_is_refused(model, bad, words):
    with pytest.raises(ValueError, match=words):
        model.fit(bad)


def test_unknown_sizes_and_empty_chunks_are_no_obstacle():
    options = {"n_internal": 15, "max_steps": 5, "random_state": 0}
    expected = ab.GHHC(**options).fit(spread())
    unknown = spread()[da.from_array(np.ones(3000, bool), chunks=700)]
    holes = da.concatenate([spread()[:0], spread()])
    for array in (unknown, holes):
        assert np.array_equal(ab.GHHC(**options).fit(array).tree_.parent, expected.tree_.parent)


@pytest.mark.parametrize("model", [ab.TURTLE(3), ab.TEMI(3)], ids=lambda m: type(m).__name__)
def test_models_that_need_vectors_in_memory_say_so(model):
    with pytest.raises(TypeError, match=r"X.compute\(\)"):
        model.fit(spread())
