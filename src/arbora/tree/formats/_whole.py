"""Files that are whole or not there: written beside, then renamed over."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` at the end.

    On any failure (disk full, interrupt) the old file stays and nothing is left behind.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_symlink():
        with open(path, "wb") as file:  # a pipe or device: nothing to rename over
            yield file
        return
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner can read
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data`, all or nothing."""
    with written_whole(path) as file:
        file.write(data)


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
