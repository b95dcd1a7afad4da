"""Refusing what would exhaust memory, before it does."""

from __future__ import annotations

import os
from pathlib import Path

from arbora.errors import TooLargeError

# of the free memory that one request may take
_SHARE = 0.8


def available_memory() -> int | None:
    """Bytes that can still be allocated, limits of the process and its container included; None where unknown."""
    found = [_free_of_system(), _free_of_container(), _free_of_process()]
    known = [value for value in found if value is not None]
    return max(0, min(known)) if known else None


def _free_of_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _free_of_container(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Memory below the limit of a control group, of version 2 or 1. Cached files do not count as used."""
    for limit, usage, statistics in (
        ("memory.max", "memory.current", "memory.stat"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
    ):
        try:
            used = int((folder / usage).read_text()) - _cached_files(folder / statistics)
            return int((folder / limit).read_text()) - used
        # no such file, or "max"
        except (OSError, ValueError):
            continue
    return None


def _cached_files(statistics: Path) -> int:
    """Bytes of files that the kernel holds only as long as nobody needs the memory."""
    try:
        lines = [line.split() for line in statistics.read_text().splitlines()]
        sizes = {name: int(size) for name, size in lines}
    except (OSError, ValueError):
        return 0
    kind = "total_" if "total_active_file" in sizes else ""
    return sizes.get(f"{kind}active_file", 0) + sizes.get(f"{kind}inactive_file", 0)


def _free_of_process() -> int | None:
    """Addresses below the limit that `ulimit -v` sets."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError):
        return None


def refuse_if_too_large(n_bytes: int, what: str, instead: str) -> None:
    """Raise TooLargeError when `n_bytes` would not fit."""
    available = available_memory()
    if available is not None and n_bytes > _SHARE * available:
        raise TooLargeError(
            f"{what} take {n_bytes / 2**30:.3g} GiB; {available / 2**30:.3g} GiB are free. {instead}"
        )
