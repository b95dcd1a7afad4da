"""Promises of clustering on a cluster, kept on real processes: any number of workers, lost workers, lost clusters."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scale_worlds import SMALL_PARTS, grouped_rows, same_tree

import arbora as ab
from arbora.errors import WorkersLostError
from arbora.scale import build_on_dask
from arbora.search.cluster import Options

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

ROWS, LABELS = grouped_rows(2000)
OPTIONS = Options(random_state=0, n_jobs=1, metric="euclidean")
# dying processes leave unclosed sockets behind; whether results are right is what matters here
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


@contextlib.contextmanager
def local_cluster(n_workers, **options):
    """Worker processes of one thread each, on loopback, without a dashboard."""
    cluster = distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
        **options,
    )
    try:
        with distributed.Client(cluster) as client:
            yield client
    finally:
        # on a busy machine a process may take longer to end than Dask waits: no result depends on it
        with contextlib.suppress(TimeoutError):
            cluster.close()


def rows_in_chunks(size=500):
    return da.from_array(ROWS, chunks=(size, -1))


def built(size=500, **options):
    return build_on_dask(rows_in_chunks(size), replace(OPTIONS, **options), limits=SMALL_PARTS)


@pytest.fixture(scope="module")
def expected():
    """The tree that threads of this process build."""
    with dask.config.set(scheduler="threads"):
        return built().tree


def worker_pids(client):
    """As the nannies know them: asking workers would fail in the moment in which one dies."""
    return [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid is not None]


def kill_one_after(client, seconds):
    """Kill one worker process a while from now; returns the thread that does."""
    pid = worker_pids(client)[0]

    def kill():
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_two_workers_build_the_tree_of_threads_and_go_on_when_one_is_killed(expected):
    with local_cluster(2) as client:
        assert same_tree(built(700).tree, expected)
        for seconds in (0.1, 0.6):
            killer = kill_one_after(client, seconds)
            assert same_tree(built().tree, expected)
            killer.join()
        model = ab.TreeClustering(5, random_state=0).fit(rows_in_chunks()[:600])
        assert model.predict(rows_in_chunks()).compute().shape == (len(ROWS),)


def test_a_cluster_without_workers_is_an_error_and_the_checkpoint_goes_on(expected, tmp_path):
    folder = tmp_path / "kept"

    def stop_workers(stage, done, total):
        if stage == "top":
            cluster.scale(0)

    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "3s"}),
        local_cluster(1) as client,
    ):
        cluster = client.cluster
        with pytest.raises(WorkersLostError, match="checkpoint=folder the same call resumes"):
            build_on_dask(
                rows_in_chunks(), replace(OPTIONS, checkpoint=folder), stop_workers, limits=SMALL_PARTS
            )
    assert (folder / "neighbors-0.npz").exists()
    assert not (folder / "second-0.npz").exists()
    with dask.config.set(scheduler="threads"):
        assert same_tree(built(checkpoint=folder).tree, expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_number_of_workers_does_not_matter(expected, n_workers):
    with local_cluster(n_workers):
        assert same_tree(built().tree, expected)


@pytest.mark.slow
def test_ten_workers_killed_at_random_moments_do_not_matter(expected):
    rng = np.random.default_rng(0)
    with local_cluster(3):
        began = time.monotonic()
        built()
        spent = time.monotonic() - began
    for moment in rng.uniform(0, spent, size=10):
        # a new cluster each time: on a busy machine Dask's nannies may give up restarting a process
        with local_cluster(3) as client:
            killer = kill_one_after(client, float(moment))
            assert same_tree(built().tree, expected)
            killer.join()


@pytest.mark.slow
def test_a_scheduler_that_dies_is_an_error_and_the_checkpoint_goes_on(expected, tmp_path):
    """The scheduler runs in a process of its own, as on a real cluster, and is killed."""
    import subprocess
    import sys

    folder = tmp_path / "kept"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    address_file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [*command, "--no-dashboard", "--scheduler-file", str(address_file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address_file)]
        + ["--nthreads", "1", "--no-dashboard", "--death-timeout", "60"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def kill_scheduler(stage, done, total):
        if stage == "top":
            scheduler.kill()

    try:
        while not address_file.exists():
            time.sleep(0.1)
        with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
            client = distributed.Client(scheduler_file=str(address_file), timeout=10)
            client.wait_for_workers(1, timeout=120)
            with pytest.raises(WorkersLostError, match="resumes"):
                build_on_dask(
                    rows_in_chunks(), replace(OPTIONS, checkpoint=folder), kill_scheduler, limits=SMALL_PARTS
                )
            client.close()
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    with dask.config.set(scheduler="threads"):
        assert same_tree(built(checkpoint=folder).tree, expected)


@pytest.mark.slow
def test_no_worker_passes_its_memory_limit():
    """Rows without groups are candidates in many parts: what moves does not fit beside what a task needs.

    The nanny would kill a worker at 95 % of its limit, and the tree would come from another process.
    """
    X = da.random.default_rng(0).normal(size=(300_000, 64), chunks=(50_000, 64)).astype(np.float32)
    with local_cluster(1, memory_limit="700MB") as client:
        pids = worker_pids(client)
        tree = ab.cluster(X, metric="euclidean", random_state=0, n_neighbors=5)
        assert tree.n_leaves == len(X)
        assert worker_pids(client) == pids
