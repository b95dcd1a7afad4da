"""Arbora's own file: the arrays of a tree in NumPy's ``.npz``, with a marker and a version."""

from __future__ import annotations

import os
import tempfile
import zipfile
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from arbora.errors import FormatError, TreeError
from arbora.tree._tree import Tree

MARKER = "arbora.tree"
VERSION = 1


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
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **_arrays(tree))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files only their owner can read
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _arrays(tree: Tree) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "format": np.array(MARKER),
        "version": np.array(VERSION),
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
    path = Path(path)
    if path.is_file() and not zipfile.is_zipfile(path):
        raise FormatError(f"{path} is not a tree that arbora saved, or it was cut short.")
    try:
        with np.load(path, allow_pickle=False) as file:
            return _tree(path, file)
    except (zipfile.BadZipFile, EOFError, KeyError, TreeError, TypeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path} is damaged, or not a tree that arbora saved: {error}") from error


def _tree(path: Path, file: Any) -> Tree:
    if not {"format", "version", "n_leaves", "parent"} <= set(file.files) or str(file["format"]) != MARKER:
        raise FormatError(f"{path} holds arrays, but not a tree that arbora saved. It has {file.files[:8]}.")
    version = int(file["version"])
    if version > VERSION:
        raise FormatError(f"{path} has version {version}; this arbora reads up to {VERSION}. Update arbora.")
    optional = {key: file[key] for key in ("height", "support", "order") if key in file.files}
    if "name_bytes" in file.files:
        optional["name"] = _names(file["name_bytes"], file["name_offsets"])
    return Tree(file["parent"], int(file["n_leaves"]), **optional)


def _names(name_bytes: np.ndarray, offsets: np.ndarray) -> list[str]:
    raw, bounds = name_bytes.tobytes(), offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(raw):
        raise FormatError("The names do not fit their offsets.")
    return [raw[start:end].decode("utf-8") for start, end in pairwise(bounds)]
