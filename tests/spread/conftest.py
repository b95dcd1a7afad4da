"""Clusters of real processes on this machine, started once."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")

# One worker gives what two give; the second cluster is only started where time allows.
WORKERS = pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.slow), 2])


def _cluster(n_workers):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit="2GB",
    )


@pytest.fixture(scope="session")
def clusters():
    """Clusters by their number of workers, each started when it is first asked for."""
    started = {}

    def cluster_of(n_workers):
        if n_workers not in started:
            started[n_workers] = _cluster(n_workers)
        return started[n_workers]

    yield cluster_of
    for cluster in started.values():
        cluster.close()


@pytest.fixture
def on_cluster(clusters):
    """Function that makes the tasks of a test run on so many workers."""
    from distributed import Client

    opened = []

    def connect(n_workers):
        client = Client(clusters(n_workers))
        opened.append(client)
        return client

    yield connect
    for client in opened:
        client.close()
