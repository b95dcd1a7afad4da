"""Progress of a long fit, kept in a folder: run the same command again and it goes on from there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import plain
from arbora.cli._exit import Unusable, Unwritable
from arbora.cli.reading import Data
from arbora.cli.writing import write_json, writing
from arbora.tree import Tree


class Checkpoint:
    """Trees finished so far, and where a method keeps its own state.

    A folder belongs to one data set and one set of options: another is refused rather than mixed up.

    Parameters
    ----------
    folder : Path or None
        None keeps nothing.
    data : Data
    **options
        What decides the result.
    """

    def __init__(self, folder: Path | None, data: Data, **options: Any) -> None:
        self.folder = folder
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{folder} cannot be made: {error.strerror}.") from error
        identity = {"data": fingerprint(data), "options": plain(options)}
        path = folder / "state.json"
        if path.exists():
            if self._read(path).get("identity") != identity:
                raise Unusable(
                    f"{folder} keeps another fit: data or options differ. Choose another folder or delete it."
                )
        else:
            write_json(path, {"identity": identity})

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Unusable(f"{path} is damaged ({error}). Delete the folder to start anew.") from error

    def inner_path(self, name: str) -> str | None:
        """File or folder in which a method that can resume keeps its own state."""
        return None if self.folder is None else str(self.folder / name)

    def tree(self, stage: str) -> Tree | None:
        """The tree a stage left, if it got so far."""
        if self.folder is None:
            return None
        path = self.folder / f"{stage}.npz"
        return Tree.load(path) if path.exists() else None

    def keep(self, stage: str, tree: Tree) -> None:
        """Keep a stage's tree."""
        if self.folder is None:
            return
        with writing(self.folder):
            tree.save(self.folder / f"{stage}.npz")


def fingerprint(data: Data) -> str:
    """Short name of a data set: its shape and every number in it."""
    digest = hashlib.sha256(f"{data.kind} {data.n_points}".encode())
    values = data.values
    if data.kind == "tree":
        parts = [values.parent]
    elif hasattr(values, "tocsr"):
        csr = values.tocsr()
        parts = [csr.indptr, csr.indices, csr.data]
    else:
        parts = [values]
    for part in parts:
        digest.update(str((part.dtype, part.shape)).encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:32]
