"""Dask arrays are checked before any work, and their tasks run on whatever is there."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from itertools import chain

import numpy as np
import pytest

from arbora._base.distributed import (
    Workers,
    check_finite_chunks,
    checked_array,
    in_even_chunks,
    is_dask,
    row_blocks,
    sum_as_tree,
    workers_for,
)
from arbora._base.progress import Stage

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

THREADS = Workers(None)
ROWS = np.arange(40.0).reshape(20, 2)


def test_a_dask_array_is_recognized_and_nothing_else_is():
    assert is_dask(da.from_array(ROWS, chunks=5))
    assert not is_dask(ROWS)
    assert not is_dask(None)


def test_asking_whether_something_is_a_dask_array_imports_nothing_of_dask():
    code = (
        "import sys, arbora, arbora._base.distributed as d; assert not d.is_dask([1]); "
        "assert not any(m.split('.')[0] in ('dask', 'distributed') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_in_chunks_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"columns in 2 chunks.*X\.rechunk\(\{1: -1\}\)"):
        checked_array(da.from_array(ROWS, chunks=(5, 1)), THREADS)


def test_text_objects_and_other_shapes_are_refused():
    with pytest.raises(ValueError, match="real numbers"):
        checked_array(da.from_array(ROWS.astype(str), chunks=5), THREADS)
    with pytest.raises(ValueError, match="select_dtypes"):
        checked_array(da.from_array(ROWS.astype(object), chunks=5), THREADS)
    with pytest.raises(ValueError, match="shape"):
        checked_array(da.ones(4, chunks=2), THREADS)
    with pytest.raises(ValueError, match="empty"):
        checked_array(da.ones((0, 4), chunks=(2, 4)), THREADS)


def test_unknown_chunk_sizes_are_computed_and_empty_chunks_dropped():
    X = da.from_array(ROWS, chunks=5)
    some = checked_array(X[X[:, 0] > 11], THREADS)
    assert some.chunks == ((4, 5, 5), (2,))
    assert np.array_equal(np.concatenate(dask.compute(*row_blocks(some))), ROWS[6:])


def test_a_value_that_is_not_finite_is_found_in_the_last_chunk_and_named_by_its_row():
    rows = ROWS.copy()
    rows[18, 1] = np.nan
    rows[19] = np.inf
    with pytest.raises(ValueError, match=r"3 NaN or infinite values, the first in row 18"):
        check_finite_chunks(da.from_array(rows, chunks=7), THREADS)
    check_finite_chunks(da.from_array(ROWS, chunks=7), THREADS)
    check_finite_chunks(da.from_array(ROWS.astype(int), chunks=7), THREADS)


@pytest.mark.parametrize("n_tasks", [1, 2, 8, 9, 70])
def test_a_tree_reduction_adds_in_one_order(n_tasks):
    tasks = [dask.delayed(lambda k: [k])(k) for k in range(n_tasks)]
    assert sum_as_tree(tasks, lambda parts: list(chain(*parts))).compute() == list(range(n_tasks))


def test_chunks_of_the_caller_do_not_change_even_chunks():
    sums = [
        THREADS.gather([dask.delayed(np.sum)(block) for block in row_blocks(in_even_chunks(X, 6))])
        for X in (da.from_array(ROWS, chunks=5), da.from_array(ROWS, chunks=20))
    ]
    assert sums[0] == sums[1]
    assert len(sums[0]) == 4


def test_progress_begins_at_nothing_grows_and_ends_with_all():
    heard = []
    with Stage(lambda *said: heard.append(said), "sums") as stage:
        THREADS.gather(
            [dask.delayed(np.sum)(block) for block in row_blocks(da.from_array(ROWS, chunks=2))], stage
        )
    shares = [done for _, done, _ in heard]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert len(shares) > 4


def test_without_a_client_tasks_run_in_threads():
    with dask.config.set(scheduler="threads"):
        assert workers_for(da.from_array(ROWS, chunks=5)).client is None


def test_tasks_run_one_after_another_in_the_calling_thread_where_dask_is_set_to_that():
    tasks = [dask.delayed(threading.get_ident, pure=False)() for _ in range(8)]
    with dask.config.set(scheduler="sync"):
        workers = workers_for()
        assert set(workers.gather(tasks)) == {threading.get_ident()}
        assert set(dask.compute(*workers.persist(tasks))) == {threading.get_ident()}
    with dask.config.set(scheduler="threads"):
        assert threading.get_ident() not in workers_for().gather(tasks)


def test_a_cluster_begins_with_the_heaviest_tasks():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as client:
        tasks = [dask.delayed(time.monotonic, pure=False)() for _ in range(6)]
        kept = Workers(client).persist(tasks, weights=[3.0, 1.0, 6.0, 2.0, 5.0, 4.0])
        begun = Workers(client).gather(kept)
    assert np.argsort(begun).tolist() == [2, 4, 5, 0, 3, 1]


def test_a_closed_client_is_refused_where_it_holds_the_data_or_is_the_current_one():
    distributed = pytest.importorskip("distributed")
    X = da.from_array(ROWS, chunks=5)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as client:
        assert workers_for(X).client is client
        assert workers_for(X).gather([dask.delayed(np.sum)(ROWS)]) == [780.0]
        kept = workers_for(X).persist(row_blocks(X))
        assert np.array_equal(np.concatenate(workers_for(X).gather(kept)), ROWS)
    words = r"client is closed.*Client\(address\)"
    with pytest.raises(ValueError, match=words):
        workers_for(*kept)
    with client.as_current(), pytest.raises(ValueError, match=words):
        workers_for(X)
    # a client of earlier work does not matter
    assert workers_for(X).client is None
