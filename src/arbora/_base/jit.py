"""How kernels are compiled: on first use, kept on disk, in a folder that can be written to."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import numba

# numba's settings are attributes that it makes at run time
_config: Any = numba.config
_PACKAGE = Path(__file__).resolve().parent.parent


def kernel(**options: Any) -> Any:
    """Decorator: compile a function of plain arrays; the compiled code is kept on disk for the next process."""
    return numba.njit(cache=True, **options)


# For functions that only kernels call: without a way in from Python and a place in the cache of their own (they are
# part of their caller's), they compile in half the time.
inner: Any = cast(Any, numba.njit)(no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _cache_folder() -> str | None:
    """Where to keep compiled code if not beside the source: None where that can be written to, or a folder was set."""
    if _config.CACHE_DIR or _is_writable(_PACKAGE):
        return None
    for folder in (
        _user_cache(),
        Path(tempfile.gettempdir()) / f"arbora-{os.getuid() if os.name == 'posix' else 0}",
    ):
        if folder is not None and _is_private_folder(folder):
            return str(folder)
    return None


def _user_cache() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "arbora" if os.path.isabs(base) else None


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private_folder(folder: Path) -> bool:
    """Make the folder if need be; whether it is ours alone. Compiled code is run, so nobody else may put it there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode) or not _is_writable(folder):
        return False
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


_folder = _cache_folder()
if _folder is not None:
    _config.CACHE_DIR = _folder
    print(
        f"arbora: compiled code is kept in {_folder}, because {_PACKAGE} cannot be written to.",
        file=sys.stderr,
    )
