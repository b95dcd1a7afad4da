"""Arbora's own file: the arrays of a tree in NumPy's ``.npz``, with a marker and a version."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from arbora.errors import FormatError
from arbora.tree._tree import Tree
from arbora.tree.formats._whole import written_whole

MARKER = "arbora.tree"
VERSION = 1
# What reading a damaged archive can raise: from zipfile (a method or encryption it does not know included),
# from NumPy, and from arrays that do not fit each other.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError)
_TREE_ARRAYS = {"n_leaves", "parent", "height", "support", "order", "name_bytes", "name_offsets"}


def write(tree: Tree, path: str | PathLike[str]) -> None:
    """Write a tree; an existing file stays whole until the new one is complete.

    Names are stored as UTF-8 bytes, so that reading never has to unpickle.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from arbora import Tree
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tree.npz"
    ...     Tree.from_newick("((a,b),c);").save(path)
    ...     Tree.load(path).to_newick()
    '((a,b),c);'
    """
    write_archive(path, MARKER, _arrays(tree))


def write_archive(path: str | PathLike[str], marker: str, arrays: dict[str, Any]) -> None:
    """Write arrays under a marker that `open_archive` checks, all or nothing."""
    with written_whole(path) as file:
        np.savez(file, allow_pickle=False, **_header(marker, arrays), **arrays)


@contextmanager
def open_archive(path: str | PathLike[str], marker: str) -> Iterator[Any]:
    """The arrays of a file that `write_archive` wrote; `FormatError` for any other, or a damaged one."""
    path = Path(path)
    if path.is_file() and not zipfile.is_zipfile(path):
        raise FormatError(f"{path} is not a file that arbora saved, or it was cut short.")
    try:
        # NumPy leaves a file open that it opened itself and cannot read
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as file:
            _check_marker(path, file, marker)
            yield file
    except _DAMAGE as error:
        if isinstance(error, (FormatError, FileNotFoundError, PermissionError, IsADirectoryError)):
            raise
        raise FormatError(f"{path} is damaged, or not what arbora saved: {error}") from error


def _header(marker: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": np.array(marker),
        "version": np.array(VERSION),
        "n_arrays": np.array(len(arrays)),  # so that a damaged list of contents is noticed
    }


def _check_marker(path: Path, file: Any, marker: str) -> None:
    if not {"format", "version"} <= set(file.files) or str(file["format"]) != marker:
        raise FormatError(f"{path} is not an {marker} file. It holds {file.files[:8]}.")
    version = int(file["version"])
    if version > VERSION:
        raise FormatError(f"{path} has version {version}; this arbora reads up to {VERSION}. Update arbora.")
    if int(file["n_arrays"]) != len(file.files) - len(_header(marker, {})):
        raise FormatError(f"{path} is damaged: it was saved with {int(file['n_arrays'])} arrays.")


def _arrays(tree: Tree) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "n_leaves": np.array(tree.n_leaves),
        "parent": tree.parent,
    }
    optional = {"height": tree.height, "support": tree.support, "order": tree._order}
    arrays.update({key: values for key, values in optional.items() if values is not None})
    if tree.name is not None:
        encoded = [name.encode("utf-8") for name in tree.name]
        arrays["name_bytes"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["name_offsets"] = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return arrays


def read(path: str | PathLike[str]) -> Tree:
    """Tree from a file that `write` wrote; `FormatError` for any other, or a damaged one."""
    with open_archive(path, MARKER) as file:
        unknown = sorted(set(file.files) - _TREE_ARRAYS - set(_header(MARKER, {})))
        if unknown:  # a damaged name in the archive's list would otherwise lose an array silently
            raise FormatError(f"{path} is damaged: a tree has no array {unknown[0]!r}.")
        return _tree(file)


def _tree(file: Any) -> Tree:
    optional = {key: file[key] for key in ("height", "support", "order") if key in file.files}
    if "name_bytes" in file.files:
        optional["name"] = _names(file["name_bytes"], file["name_offsets"])
    return Tree(file["parent"], int(file["n_leaves"]), **optional)


def _names(name_bytes: np.ndarray, offsets: np.ndarray) -> list[str]:
    raw, bounds = name_bytes.tobytes(), offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(raw):
        raise FormatError("The names do not fit their offsets.")
    return [raw[start:end].decode("utf-8") for start, end in pairwise(bounds)]
