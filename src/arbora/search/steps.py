"""Steps of a long search, kept in a folder: the same search started again takes up where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.checkpoint import identity_of as identity_of_parts
from arbora._base.files import read_archive, write_archive, write_whole
from arbora.errors import FormatError
from arbora.tree import Tree

MARKER = "arbora.search"


class Steps:
    """Trees that the steps of a search ended with, in the order in which the steps are taken.

    A step depends only on the steps before it and on the random numbers drawn so far, both of which are kept. A
    search that is repeated reads what is there and computes the rest: the result is that of an undisturbed search.

    Parameters
    ----------
    folder : path
        Made if absent. It belongs to one search: with another `identity` it is refused.
    identity : str
        What decides the result, the seed aside.
    seed : int
        Kept with the first use and taken from there afterwards, unless it `is_chosen`: then it must be the same.
    """

    def __init__(
        self, folder: str | os.PathLike[str], identity: str, seed: int, *, is_chosen: bool = True
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._taken = 0
        path = self.folder / "search.json"
        known: dict[str, Any] = _read_json(path) if path.exists() else {"identity": identity, "seed": seed}
        if known.get("identity") != identity or (is_chosen and known.get("seed") != seed):
            raise ValueError(
                f"checkpoint={str(folder)!r} keeps another search: its data or settings differ. "
                "Choose another folder, or delete it."
            )
        self.seed = int(known["seed"])
        if not path.exists():
            write_whole(path, json.dumps(known).encode())

    def take(
        self, compute: Callable[[], Tree], rng: np.random.Generator | None, is_whole: Callable[[], bool]
    ) -> Tree:
        """The next step's tree: as kept, or computed and then kept if the step `is_whole`."""
        path = self.folder / f"step{self._taken:04d}.npz"
        self._taken += 1
        if path.exists():
            return _read_step(path, rng)
        tree = compute()
        if is_whole():
            state = json.dumps(None if rng is None else rng.bit_generator.state)
            kept = {"parent": tree.parent, "n_leaves": tree.n_leaves, "rng": np.array(state)}
            write_archive(path, MARKER, kept)
        return tree


def identity_of(*parts: Any) -> str:
    """Short name of what decides a result: numbers, words, arrays, trees and similarities, by their values."""
    digest = hashlib.sha256()
    for part in parts:
        for value in _values_of(part):
            if isinstance(value, np.ndarray):
                digest.update(str((value.dtype, value.shape)).encode())
                digest.update(np.ascontiguousarray(value).data)
            else:
                digest.update(repr(value).encode())
    return digest.hexdigest()[:32]


def _values_of(part: Any) -> list[Any]:
    if isinstance(part, Tree):
        return [part.parent]
    if callable(getattr(part, "identity", None)):
        return [identity_of_parts(part=part)]
    return [part]


def _read_step(path: Path, rng: np.random.Generator | None) -> Tree:
    try:
        file = read_archive(path, MARKER)
        tree = Tree(file["parent"], int(file["n_leaves"]))
        state = json.loads(str(file["rng"]))
        if rng is not None:
            rng.bit_generator.state = state
    except (FormatError, KeyError) as problem:
        raise FormatError(
            f"{path} is not a whole step of a search: {problem}. Delete it to repeat the step."
        ) from problem
    return tree


def _read_json(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(known, dict) or not isinstance(known.get("seed"), int):
            raise ValueError("a seed is missing")
    except (OSError, ValueError) as problem:
        raise FormatError(f"{path} is damaged ({problem}). Delete the folder to start anew.") from problem
    return known
