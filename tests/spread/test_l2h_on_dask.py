"""L2H on a Dask array makes the merges of the same array in memory, to the last bit, wherever its blocks are."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from logits.l2h_by_definition import clustered_logits
from spread.conftest import WORKERS

import arbora as ab
from arbora.logits import ProbabilityWarning, class_report

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

LOGITS = clustered_logits(3000, 40, 0, np.float32)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def same(found, expected):
    """Whether two models agree in every bit."""
    return (
        np.array_equal(found.tree_.parent, expected.tree_.parent)
        and np.array_equal(found.tree_.height, expected.tree_.height)
        and np.array_equal(found.merge_scores_, expected.merge_scores_)
        and np.array_equal(found.merge_shares_, expected.merge_shares_, equal_nan=True)
        and np.array_equal(found.class_counts_, expected.class_counts_)
        and np.array_equal(found.labels_.compute(), expected.labels_)
        and np.array_equal(found.confidences_.compute(), expected.confidences_)
    )


@pytest.mark.parametrize(
    ("dtype", "n", "k", "all_classes"),
    [(np.float32, 900, 40, True), (np.float16, 700, 60, False), (np.float64, 300, 120, False)],
)
@pytest.mark.parametrize(
    "options", [{}, {"merging": "all_pairs"}, {"aggregation": "sum", "temperature": 2.0}], ids=str
)
def test_the_merges_are_those_in_memory_whatever_the_chunks(dtype, n, k, all_classes, options):
    X = clustered_logits(n, k, 1, dtype, all_classes=all_classes)
    expected = ab.L2H(5, n_bootstraps=0, **options).fit(X)
    for height in (n, 251, 64):
        assert same(ab.L2H(5, **options).fit(da.from_array(X, chunks=(height, -1))), expected)


def test_probabilities_and_functions_give_what_they_give_in_memory():
    P = np.exp(LOGITS[:500].astype(np.float64))
    P /= P.sum(axis=1, keepdims=True)
    spread = da.from_array(P, chunks=(200, -1))
    options = {"from_probabilities": True, "n_bootstraps": 0}
    assert same(ab.L2H(**options).fit(spread), ab.L2H(**options).fit(P))
    options |= {"aggregation": lambda parts: sum(float(np.median(part)) for part in parts)}
    assert same(ab.L2H(**options).fit(spread), ab.L2H(**options).fit(P))
    with pytest.warns(ProbabilityWarning):
        ab.L2H().fit(spread)


def test_whole_numbers_and_frames_are_read_as_in_memory():
    pd = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    whole = np.round(LOGITS[:400, :12]).astype(np.int64)
    expected = ab.L2H(n_bootstraps=0).fit(whole)
    assert same(ab.L2H().fit(da.from_array(whole, chunks=(150, -1))), expected)
    named = pd.DataFrame(whole, columns=[f"class {c}" for c in range(12)])
    model = ab.L2H().fit(frames.from_pandas(named, npartitions=3))
    assert same(model, expected)
    assert model.tree_.name[3] == "class 3"


@WORKERS
def test_one_and_two_workers_give_the_bits_of_memory(n_workers, on_cluster):
    expected = ab.L2H(n_bootstraps=0).fit(LOGITS)
    on_cluster(n_workers)
    with dask.config.set(scheduler=None):
        assert same(ab.L2H().fit(da.from_array(LOGITS, chunks=(400, -1))), expected)


def slow_block(block):
    time.sleep(0.15)
    return block


def test_a_worker_killed_on_the_way_changes_nothing(on_cluster):
    expected = ab.L2H(n_bootstraps=0).fit(LOGITS)
    client = on_cluster(2)
    X = da.from_array(LOGITS, chunks=(200, -1)).map_blocks(slow_block, dtype=np.float32)
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with dask.config.set(scheduler=None):
        model = ab.L2H().fit(X)
        killer.join()
        client.wait_for_workers(2)
    assert same(model, expected)


def test_points_are_labeled_when_asked_and_not_before():
    seen = []

    def count(block):
        seen.append(len(block))
        return block

    X = da.from_array(LOGITS, chunks=(500, -1)).map_blocks(count, dtype=np.float32, meta=LOGITS[:0])
    model = ab.L2H(3).fit(X)
    seen.clear()
    assert model.labels_.shape == (3000,)
    assert model.labels_.dtype == np.int64
    assert seen == []
    model.labels_[:500].compute()
    assert seen == [500]


def test_reports_and_files_take_models_of_dask_arrays(tmp_path):
    X = da.from_array(LOGITS, chunks=(700, -1))
    model = ab.L2H(4).fit(X)
    model.save(tmp_path / "model.l2h")
    loaded = ab.L2H.load(tmp_path / "model.l2h")
    assert np.array_equal(loaded.labels_, model.labels_.compute())
    y = LOGITS.argmax(axis=1)
    in_memory = class_report(ab.L2H(4, n_bootstraps=0).fit(LOGITS), LOGITS, y)
    assert str(class_report(model, X, y)) == str(in_memory)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (da.from_array(LOGITS, chunks=(500, 20)), r"X.rechunk\(\{1: -1\}\)"),
        (da.from_array(LOGITS[:0], chunks=(1, -1)), "0 sample"),
        (da.from_array(LOGITS[:, 0], chunks=500), "shape"),
        (da.from_array(LOGITS.astype("U8"), chunks=(500, -1)), "real numbers"),
        (da.concatenate([da.from_array(LOGITS, chunks=(500, -1)), da.full((1, 40), np.nan)]), "row 3000"),
    ],
    ids=["columns", "empty", "one-dimensional", "text", "NaN at the end"],
)
def test_what_cannot_be_used_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        ab.L2H().fit(X)


def test_unknown_sizes_and_empty_chunks_are_no_obstacle():
    expected = ab.L2H(n_bootstraps=0).fit(LOGITS)
    X = da.from_array(LOGITS, chunks=(500, -1))
    unknown = X[da.from_array(np.ones(3000, bool), chunks=500)]
    assert np.isnan(unknown.shape[0])
    assert same(ab.L2H().fit(unknown), expected)
    assert same(ab.L2H().fit(da.concatenate([X[:0], X[:500], X[500:500], X[500:]])), expected)


def test_replicates_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"X\[rows\].compute"):
        ab.L2H(n_bootstraps=3).fit(da.from_array(LOGITS, chunks=(500, -1)))


def test_a_closed_client_is_refused(on_cluster):
    client = on_cluster(2)
    X = client.persist(da.from_array(LOGITS, chunks=(1000, -1)))
    client.close()
    with dask.config.set(scheduler=None), pytest.raises(ValueError, match="closed"):
        ab.L2H().fit(X)
