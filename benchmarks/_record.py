"""The one writer of figures: what was measured, with which versions, on which machine; and what got slower since."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("arbora", "numpy", "scipy", "scikit-learn", "numba", "fastcluster", "faiss-cpu", "torch")
# what a ratio may grow by before it counts as slower: runs on the same code differ by less
TOLERANCE = 0.2


class Measured:
    """Seconds by the clock, CPU seconds and the process's peak memory of what happens inside.

    >>> with Measured() as spent:
    ...     work()
    >>> spent.cpu
    """

    def __enter__(self) -> Measured:
        self._began = time.perf_counter(), _cpu_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began[0]
        self.cpu = _cpu_seconds() - self._began[1]
        self.peak_megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def row(self) -> dict[str, float]:
        return {"seconds": self.seconds, "cpu_seconds": self.cpu, "peak_megabytes": self.peak_megabytes}


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def record(name: str, results: Any, *, quick: bool = False) -> Path:
    """Write results to benchmarks/results/<name>.json, or <name>-quick.json."""
    RESULTS.mkdir(exist_ok=True)
    path = _path(name, quick)
    about = {"versions": versions(), "commit": commit(), "machine": machine(), "quick": quick}
    path.write_text(json.dumps({**about, "results": results}, indent=1, default=_plain) + "\n")
    return path


def recorded(name: str, *, quick: bool = False) -> Any:
    """The results last written; None where there are none, or from before they had a common form."""
    path = _path(name, quick)
    kept = json.loads(path.read_text()) if path.exists() else {}
    return kept.get("results") if isinstance(kept, dict) else None


def _path(name: str, quick: bool) -> Path:
    return RESULTS / f"{name}{'-quick' if quick else ''}.json"


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """The commit of the working tree, with a plus if something was changed since."""
    here = Path(__file__).parent
    try:
        name = _git("rev-parse", "--short=12", "HEAD", folder=here)
        return name + ("+" if _git("status", "--porcelain", "--untracked-files=no", folder=here) else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str, folder: Path) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    return {
        "cpu": _line_of("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _line_of("/proc/meminfo", "MemTotal"),
        "system": platform.system(),
    }


def _line_of(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)


def what_changed(
    old: dict[str, float], new: dict[str, float], tolerance: float = TOLERANCE
) -> tuple[list[str], list[str]]:
    """Lines on all ratios, and on those that grew by more than the tolerance, or are gone.

    A ratio is CPU seconds over those of a peer in the same run, so that the speed of the machine cancels out.
    """
    lines, slower = [], []
    for task, ratio in new.items():
        if task not in old:
            lines.append(f"{task}: {ratio:.2f} times its peer (new)")
            continue
        change = ratio / old[task] - 1
        lines.append(f"{task}: {ratio:.2f} times its peer, {old[task]:.2f} before ({change:+.0%})")
        if change > tolerance:
            slower.append(f"{task} got slower by {change:.0%}: {old[task]:.2f} -> {ratio:.2f} times its peer")
    slower.extend(f"{task} was not measured" for task in old if task not in new)
    return lines, slower
