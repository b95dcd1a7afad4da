"""Ctrl-C is answered within a second, whatever is computing: real signals to processes with large inputs."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from long_computations import START, WORK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU seconds are read from /proc"),
]

# CPU seconds: a busy machine changes the clock
WORKED, ANSWERED = 1.5, 1.0


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_is_answered_within_a_second_of_computing(work, tmp_path):
    one_thread = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    with (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", START + WORK[work]],
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **one_thread, "TMPDIR": str(tmp_path)},
        )

    def said():
        return process.stdout.readline(), (tmp_path / "errors").read_text()[-2000:]

    try:
        assert said() == (b"ready\n", "")
        begun = cpu_seconds(process)
        while cpu_seconds(process) < begun + WORKED and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        signaled = cpu_seconds(process)
        while not (answered := select.select([process.stdout], [], [], 0.01)[0]):
            if cpu_seconds(process) > signaled + ANSWERED:
                break
        assert answered, f"{work} goes on after Ctrl-C"
        assert said() == (b"stopped\n", "")
    finally:
        process.kill()
        process.communicate()
