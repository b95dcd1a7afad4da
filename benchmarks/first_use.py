"""Seconds that the first `cluster` call spends compiling, on a machine that has never run arbora.

Each run starts Python anew with an empty cache of compiled kernels, and takes what the second call costs from
what the first one does: python benchmarks/first_use.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

TARGET = 6.0
CALLS = """
import time
from sklearn.datasets import load_digits
import arbora as ab
rows = load_digits().data
for _ in range(2):
    before = time.process_time(), time.perf_counter()
    ab.cluster(rows, random_state=0)
    print(time.process_time() - before[0], time.perf_counter() - before[1])
"""


def measure() -> tuple[float, float]:
    """CPU and wall seconds of compilation."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", CALLS],
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    first, second = ([float(word) for word in line.split()] for line in done.stdout.splitlines())
    return first[0] - second[0], first[1] - second[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run instead of three")
    for _ in range(1 if parser.parse_args().quick else 3):
        cpu, wall = measure()
        verdict = "met" if cpu < TARGET else "missed"
        print(
            f"compilation of cluster(digits): {cpu:.1f} CPU s, {wall:.1f} s; target {TARGET:.0f} CPU s {verdict}"
        )


if __name__ == "__main__":
    main()
