"""Refusing what would exhaust memory, before it does."""

from __future__ import annotations

import os
from pathlib import Path

from arbora.errors import TooLargeError

_SHARE = 0.8  # of the free memory that one request may take


def available_memory() -> int | None:
    """Bytes that can still be allocated, limits of a container included; None where unknown."""
    found = [value for value in (_free_of_system(), _free_of_container()) if value is not None]
    return min(found) if found else None


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


def _free_of_container() -> int | None:
    folder = Path("/sys/fs/cgroup")
    for limit, usage in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            return int((folder / limit).read_text()) - int((folder / usage).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def refuse_if_too_large(n_bytes: int, what: str, instead: str) -> None:
    """Raise TooLargeError when `n_bytes` would not fit."""
    available = available_memory()
    if available is not None and n_bytes > _SHARE * available:
        raise TooLargeError(
            f"{what} take {n_bytes / 2**30:.3g} GiB; {available / 2**30:.3g} GiB are free. {instead}"
        )
