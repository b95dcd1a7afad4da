"""Kills, signals, full disks, read-only folders: the old file or the new one, and fits that resume to the same tree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# One thread: a copy of a process has only the thread that made it, and would wait for the others for ever.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks and signals are those of POSIX")


def run(*options):
    """What `faults.py` prints; it must find nothing."""
    script = Path(__file__).parent / "faults.py"
    done = subprocess.run(
        [sys.executable, script, *map(str, options)],
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_THREAD},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_kills_signals_and_full_disks_leave_whole_files_and_fits_that_resume():
    found = run("kills", "signals", "disks", "--count", 2)
    for what in ("resumed to the same tree", "SIGINT", "SIGTERM", "full disk", "read-only folder"):
        assert what in found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("kills", 100), ("signals", 40)])
def test_many_kills_and_signals(kind, count):
    run(kind, "--count", count)
