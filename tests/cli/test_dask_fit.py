"""``arbora fit`` on worker processes and on a scheduler: rows are read by workers, the tree is that of memory."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scale_worlds import grouped_rows, same_tree

import arbora as ab

pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from cli.in_process import run  # noqa: E402

ROWS, _ = grouped_rows(400)


@pytest.fixture(scope="module")
def scheduler():
    """A cluster of threads of this process, with an address like any other."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def stores(tmp_path):
    """The same rows as .npy, zarr and Parquet."""
    pa = pytest.importorskip("pyarrow")
    zarr = pytest.importorskip("zarr")
    import pyarrow.parquet

    np.save(tmp_path / "rows.npy", ROWS)
    zarr.save_array(str(tmp_path / "rows.zarr"), ROWS)
    table = pa.table({f"f{k}": ROWS[:, k] for k in range(ROWS.shape[1])})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    return tmp_path


def test_a_scheduler_builds_the_tree_of_memory_from_every_kind_of_store(stores, scheduler):
    expected = ab.cluster(ROWS, random_state=0)
    for name in ("rows.npy", "rows.zarr", "rows.parquet"):
        out = stores / f"{name}.tree.npz"
        report = stores / "report.json"
        page = stores / "tree.html"
        run("fit", stores / name, "--scheduler", scheduler, "--out", out, "--report", report, "--html", page)
        assert page.stat().st_size > 0
        assert same_tree(ab.Tree.load(out), expected)
        assert json.loads(report.read_text())["tree"]["leaves"] == len(ROWS)


@pytest.mark.slow
def test_workers_are_started_and_their_dashboard_is_named(stores):
    out = stores / "tree.npz"
    done = run("fit", stores / "rows.npy", "--workers", 2, "--out", out)
    assert "2 workers" in done.err
    assert "dashboard at http://127.0.0.1" in done.err
    assert same_tree(ab.Tree.load(out), ab.cluster(ROWS, random_state=0))


def test_what_needs_rows_in_memory_is_refused_before_a_cluster_starts(stores):
    rows = stores / "rows.npy"
    for options, words in (
        (("--method", "average"), "--method auto"),
        (("--refine",), "--refine"),
        (("--model", "model.npz"), "--model"),
        (("--scheduler", "tcp://127.0.0.1:1"), "one of them"),
    ):
        assert words in run("fit", rows, "--workers", 2, *options, code=2).err
    assert "at least 1" in run("fit", rows, "--workers", 0, code=2).err


def test_a_scheduler_that_does_not_answer_is_named(stores, monkeypatch):
    def refuses(address, timeout):
        raise OSError(f"Timed out trying to connect to {address}")

    monkeypatch.setattr(distributed, "Client", refuses)
    done = run("fit", stores / "rows.npy", "--scheduler", "tcp://127.0.0.1:1", code=4)
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in done.err
