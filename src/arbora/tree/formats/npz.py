"""Arbora's own file: the arrays of a tree in NumPy's ``.npz``, with a marker and a version."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from arbora._base.files import read_archive, write_archive
from arbora._base.types import PathLike
from arbora.errors import FormatError
from arbora.tree._tree import Tree

MARKER = "arbora.tree"
_TREE_ARRAYS = {"n_leaves", "parent", "height", "support", "order", "name_bytes", "name_offsets"}


def write(tree: Tree, path: PathLike) -> None:
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
    write_archive(path, MARKER, tree_to_arrays(tree))


def tree_to_arrays(tree: Tree) -> dict[str, Any]:
    """Everything in a tree, as arrays that `tree_from_arrays` takes; for archives that hold more than a tree."""
    arrays: dict[str, Any] = {
        "n_leaves": np.array(tree.n_leaves),
        "parent": tree.parent,
    }
    optional = {"height": tree.height, "support": tree.support, "order": tree.order}
    arrays.update({key: values for key, values in optional.items() if values is not None})
    if tree.name is not None:
        encoded = [name.encode("utf-8") for name in tree.name]
        arrays["name_bytes"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["name_offsets"] = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return arrays


def read(path: PathLike) -> Tree:
    """Tree from a file that `write` wrote; `FormatError` for any other, or a damaged one."""
    arrays = read_archive(path, MARKER)
    unknown = sorted(arrays.keys() - _TREE_ARRAYS)
    # a damaged name in the archive's list would otherwise lose an array silently
    if unknown:
        raise FormatError(f"{path} is damaged: a tree has no array {unknown[0]!r}.")
    try:
        return tree_from_arrays(arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is damaged, or not what arbora saved: {error}") from error


def tree_from_arrays(arrays: dict[str, Any]) -> Tree:
    """The tree that `tree_to_arrays` was given."""
    optional: dict[str, Any] = {key: arrays[key] for key in ("height", "support", "order") if key in arrays}
    if "name_bytes" in arrays:
        optional["name"] = _names(arrays["name_bytes"], arrays["name_offsets"])
    return Tree(arrays["parent"], int(arrays["n_leaves"]), **optional)


def _names(name_bytes: np.ndarray, offsets: np.ndarray) -> list[str]:
    raw, bounds = name_bytes.tobytes(), offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(raw):
        raise FormatError("The names do not fit their offsets.")
    return [raw[start:end].decode("utf-8") for start, end in pairwise(bounds)]
