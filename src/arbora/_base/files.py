"""Files that are complete or absent, and archives of arrays that say what they are.

A file is written beside its place and then renamed over it, so that a crash, a full disk or an interrupt leaves the
old one in place. Archives are NumPy's ``.npz`` with a marker and a version; reading one never unpickles, and never
takes more memory than the file is long.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import socket
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from arbora._base.types import PathLike
from arbora.errors import FormatError

VERSION = 1
_HEADER = ("format", "version", "n_arrays")


@contextlib.contextmanager
def written_whole(path: PathLike) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` at the end.

    On any failure (disk full, interrupt) the old file stays and nothing is left behind.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        # a pipe or device: nothing to rename over
        with open(path, "wb") as file:
            yield file
        return
    target = _resolved(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder to write into", str(path.parent))
    _remove_what_a_crash_left(target)
    # its name is known before it is there, so that an interrupt at any moment can remove it
    temporary = target.parent / f"{_prefix(target)}{secrets.token_hex(8)}.part"
    try:
        # until it is whole only its owner can read it
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(problem, OSError) and problem.errno is not None and problem.filename is None:
            # a full disk shows while writing, where the file's name is unknown; without an errno the message would
            # be lost
            problem.filename = str(path)
        raise


def write_whole(path: PathLike, data: bytes) -> None:
    """Write `data`, all or nothing."""
    with written_whole(path) as file:
        file.write(data)


def write_archive(path: PathLike, marker: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays under a marker that `read_archive` checks, all or nothing."""
    header = {
        "format": np.array(marker),
        "version": np.array(VERSION),
        # so that a damaged list of contents is noticed
        "n_arrays": np.array(len(arrays)),
    }
    with written_whole(path) as file:
        np.savez(file, allow_pickle=False, **header, **arrays)


def read_archive(path: PathLike, marker: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `write_archive` wrote; `FormatError` for any other, or a damaged one."""
    path = Path(path)
    with open(path, "rb") as handle:
        if not zipfile.is_zipfile(handle):
            raise FormatError(f"{path} is not a file that arbora saved, or it was cut short.")
        try:
            with zipfile.ZipFile(handle) as archive:
                arrays = {name.removesuffix(".npy"): _member(archive, name) for name in archive.namelist()}
        except FormatError:
            raise
        # a damaged archive can make zipfile, the tokenizer of headers and NumPy raise almost anything
        except Exception as error:
            raise FormatError(f"{path} is damaged, or not what arbora saved: {error}") from error
    _check_header(path, arrays, marker)
    return {name: array for name, array in arrays.items() if name not in _HEADER}


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array, refused if it is packed (arbora packs nothing) or announces more than there is."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise FormatError(
            f"{archive.filename or 'The file'} holds packed arrays, which arbora does not write."
        )
    with archive.open(info) as file:
        version = npy.read_magic(file)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read_header(file)
        # Python's integers do not overflow
        n_bytes = dtype.itemsize
        for length in shape:
            n_bytes *= int(length)
        if dtype.hasobject or n_bytes > info.file_size:
            raise FormatError(f"The array {name!r} does not fit its announcement.")
        data = file.read()
    if len(data) != n_bytes:
        raise FormatError(f"The array {name!r} is cut short.")
    if dtype.kind == "U" and not _is_text(data, dtype):
        raise FormatError(f"The array {name!r} holds characters that do not exist.")
    array = np.frombuffer(data, dtype=dtype).copy() if n_bytes else np.empty(0, dtype=dtype)
    return array.reshape(shape, order="F" if is_fortran else "C")


def _is_text(data: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether all code points exist; Python's own error for others says nothing of the file."""
    codes = np.frombuffer(data, dtype=np.dtype(np.uint32).newbyteorder(dtype.byteorder))
    return bool((codes <= sys.maxunicode).all())


def _check_header(path: Path, arrays: dict[str, NDArray[Any]], marker: str) -> None:
    if not {"format", "version"} <= arrays.keys() or str(arrays["format"]) != marker:
        raise FormatError(f"{path} is not an {marker} file. It holds {list(arrays)[:8]}.")
    try:
        version, n_arrays = int(arrays["version"]), int(arrays["n_arrays"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is damaged: its header does not say what it holds.") from error
    if version > VERSION:
        raise FormatError(f"{path} has version {version}; this arbora reads up to {VERSION}. Update arbora.")
    if n_arrays != len(arrays) - len(_HEADER):
        raise FormatError(f"{path} is damaged: it was saved with {n_arrays} arrays.")


def _resolved(path: Path) -> Path:
    """The file that links lead to; refused where they lead in a circle."""
    try:
        return path.resolve(strict=False)
    except (OSError, RuntimeError) as error:
        raise OSError(f"{path} is a link that leads back to itself.") from error


def _prefix(target: Path) -> str:
    """Names the writing process, so that what a killed one left behind can be distinguished from work in progress."""
    host = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]
    return f".{target.name[:100]}.{host}-{os.getpid()}."


def _remove_what_a_crash_left(target: Path) -> None:
    """Remove unfinished files of this target whose process, on this machine, no longer exists."""
    ours = _prefix(target).rsplit("-", 1)[0] + "-"
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(ours) and name.endswith(".part") and not _is_running(name[len(ours) :]):
                with contextlib.suppress(OSError):
                    os.unlink(target.parent / name)


def _is_running(rest: str) -> bool:
    """Whether the process whose number `rest` begins with exists; yes, when in doubt."""
    number = rest.split(".", 1)[0]
    if os.name != "posix" or not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
