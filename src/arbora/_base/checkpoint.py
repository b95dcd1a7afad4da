"""Long work saved in a folder that knows what it belongs to.

The same call finds what is there and resumes, with the same result as an uninterrupted run. A call with other data
or other options is refused, by every method in the same words: what decides the result is hashed into an identity,
which the folder holds along with the seed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.files import read_archive, write_archive, write_whole
from arbora._base.random import is_reproducible, seed_of
from arbora._base.types import PathLike, RandomState
from arbora.errors import FormatError

_FORMAT = "arbora.checkpoint"


class Checkpoint:
    """Named groups of arrays, saved under the identity of the work they belong to.

    Parameters
    ----------
    folder : path
        Created if absent. It belongs to one piece of work: with another method or identity it is refused.
    method : str
        Who saves to it: "refine", "HypHC", ...
    identity : str
        What decides the result, the seed aside; see `identity_of`.
    random_state : int, RandomState, Generator or None
        A whole number must be the same each time. With anything else, the seed drawn at first use is saved and used
        again, so that the work can resume.

    Attributes
    ----------
    seed : int
        To draw from, instead of `random_state`.
    """

    def __init__(
        self, folder: PathLike, *, method: str, identity: str, random_state: RandomState = None
    ) -> None:
        self.folder = Path(folder)
        self._method = method
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"checkpoint={str(folder)!r} is a file. Name a folder, which may be a new one.")
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "identity.json"
        if path.exists():
            self.seed = self._seed_of(_read_json(path), identity, random_state)
            return
        self.seed = seed_of(random_state)
        known = {"format": _FORMAT, "method": method, "identity": identity, "seed": self.seed}
        write_whole(path, json.dumps(known, indent=1).encode())

    def _seed_of(self, known: dict[str, Any], identity: str, random_state: RandomState) -> int:
        problem = None
        if known["method"] != self._method:
            problem = f"it was saved by {known['method']}, not by {self._method}"
        elif known["identity"] != identity:
            problem = "its data or options differ"
        elif is_reproducible(random_state) and seed_of(random_state) != known["seed"]:
            problem = "its random_state differs"
        if problem is not None:
            raise ValueError(
                f"checkpoint={str(self.folder)!r} belongs to other work: {problem}. "
                "Choose another folder, or delete this one."
            )
        return int(known["seed"])

    def load(self, name: str = "state") -> dict[str, NDArray[Any]] | None:
        """The arrays last saved under a name; None if there are none."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            return read_archive(path, f"{_FORMAT}.{self._method}")
        except FormatError as problem:
            raise FormatError(f"{problem} Delete {path} to repeat that part of the work.") from problem

    def keep(self, arrays: Mapping[str, Any], name: str = "state") -> None:
        """Replace what is saved under a name; what is on disk is complete at all times."""
        write_archive(self.folder / f"{name}.npz", f"{_FORMAT}.{self._method}", arrays)


def identity_of(**parts: Any) -> str:
    """A short digest of everything that decides a result.

    A part is a number, text, None, an array, a sparse matrix, a path, a list, tuple or dict of parts, or an object
    with a method ``identity()`` that returns parts (trees and similarities have it).

    Examples
    --------
    >>> from arbora._base.checkpoint import identity_of
    >>> identity_of(a=1, b=12) == identity_of(a=11, b=2)
    False
    """
    digest = hashlib.sha256()
    _add(digest, parts)
    return digest.hexdigest()[:32]


def _add(digest: Any, part: Any) -> None:
    """Add a value, preceded by its kind and length, so that no two values run into each other."""
    if callable(getattr(part, "identity", None)):
        _add_text(digest, type(part).__name__)
        _add(digest, part.identity())
    elif isinstance(part, Mapping):
        _add_text(digest, f"mapping {len(part)}")
        for key in sorted(part, key=str):
            _add_text(digest, str(key))
            _add(digest, part[key])
    elif isinstance(part, (list, tuple)):
        _add_text(digest, f"sequence {len(part)}")
        for item in part:
            _add(digest, item)
    elif hasattr(part, "tocsr") and hasattr(part, "nnz"):
        csr = part.tocsr()
        _add(digest, ("sparse", csr.shape, csr.indptr, csr.indices, csr.data))
    elif isinstance(part, np.ndarray):
        _add_array(digest, part)
    elif isinstance(part, (np.generic, int, float, str, bytes, bool, type(None))):
        value = part.item() if isinstance(part, np.generic) else part
        _add_text(digest, f"{type(value).__name__} {value!r}")
    elif isinstance(part, os.PathLike):
        _add_text(digest, f"path {os.fspath(part)!r}")
    elif hasattr(part, "__array__"):
        _add_array(digest, np.asarray(part))
    else:
        raise TypeError(
            f"What decides the result must be plain values and arrays. Got {type(part).__name__}."
        )


def _add_array(digest: Any, array: NDArray[Any]) -> None:
    if array.dtype.hasobject:
        _add(digest, ("objects", array.shape, [repr(value) for value in array.ravel().tolist()]))
        return
    _add_text(digest, f"array {array.dtype.str} {array.shape}")
    digest.update(np.ascontiguousarray(array).data)


def _add_text(digest: Any, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    digest.update(len(data).to_bytes(8, "little"))
    digest.update(data)


def rng_to_array(rng: np.random.Generator) -> NDArray[Any]:
    """State of a generator, as an array that a checkpoint can keep."""
    return np.array(json.dumps(rng.bit_generator.state))


def rng_from_array(rng: np.random.Generator, state: NDArray[Any]) -> None:
    """Put a generator into the state that `rng_to_array` gave."""
    rng.bit_generator.state = json.loads(str(state))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["format"] != _FORMAT or not isinstance(known["seed"], int) or "identity" not in known:
            raise ValueError("it does not say what it belongs to")
        known["method"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise FormatError(
            f"{path} does not belong to a checkpoint, or it is damaged ({problem}). Delete the folder to start over."
        ) from problem
    return dict(known)
