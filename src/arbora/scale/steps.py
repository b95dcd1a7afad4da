"""Results of tasks kept in the folder of a checkpoint, written by the workers that computed them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.distributed import Workers
from arbora._base.files import read_archive, write_archive
from arbora._base.optional import require

_MARKER = "arbora.scale"
Result = TypeVar("Result", bound=tuple[Any, ...])


class Steps:
    """Tasks whose results, named tuples of arrays, are read where an earlier run finished them."""

    def __init__(self, checkpoint: Checkpoint | None, workers: Workers) -> None:
        self._checkpoint = checkpoint
        self._delayed = require("dask", "A Dask array").delayed
        if checkpoint is not None:
            _check_visible(checkpoint.folder, workers)

    def task(self, name: str, kind: type[Result], function: Callable[..., Result], *arguments: Any) -> Any:
        """The delayed result of a function."""
        if self._checkpoint is None:
            return self._delayed(function)(*arguments)
        path = str(self._checkpoint.folder.resolve() / f"{name}.npz")
        if Path(path).exists():
            return self._delayed(_read)(path, kind)
        return self._delayed(_computed)(path, function, *arguments)

    def check_same(self, rows: Any) -> None:
        """Refuse to go on with other data than those the checkpoint was begun with."""
        if self._checkpoint is None:
            return
        found = identity_of(sample=rows)
        kept = self._checkpoint.load("sample")
        if kept is None:
            self._checkpoint.keep({"identity": np.array(found)}, "sample")
        elif str(kept["identity"]) != found:
            raise ValueError(
                f"checkpoint={str(self._checkpoint.folder)!r} belongs to other work: its data differ. "
                "Choose another folder, or delete this one."
            )

    def here(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Arrays that are computed on the coordinator."""
        kept = None if self._checkpoint is None else self._checkpoint.load(name)
        if kept is not None:
            return kept
        found = compute()
        if self._checkpoint is not None:
            self._checkpoint.keep(found, name)
        return found


def _computed(path: str, function: Callable[..., Any], *arguments: Any) -> Any:
    found = function(*arguments)
    write_archive(path, _MARKER, found._asdict())
    return found


def _read(path: str, kind: type[Result]) -> Result:
    arrays = read_archive(Path(path), _MARKER)
    return kind(*(arrays[name] for name in kind._fields))  # type: ignore[attr-defined]


def _check_visible(folder: Path, workers: Workers) -> None:
    """Refuse a folder that only this machine sees: workers write to it, and later ones must find it."""
    if workers.client is None:
        return
    sign = folder.resolve() / f"seen-{uuid.uuid4().hex}"
    sign.touch()
    try:
        seen = workers.client.run(_is_file, str(sign))
    finally:
        sign.unlink()
    blind = [worker for worker, sees in seen.items() if not sees]
    if blind:
        raise ValueError(
            f"checkpoint={str(folder)!r} must be a folder that all workers share. {len(blind)} of {len(seen)} do not "
            f"see it, {blind[0]} among them."
        )


def _is_file(path: str) -> bool:
    return Path(path).is_file()
