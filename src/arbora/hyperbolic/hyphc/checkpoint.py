"""The state of a fit in one file: the same fit started again takes up where it was stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.checkpoint import identity_of
from arbora._base.files import read_archive, write_archive
from arbora.errors import FormatError

MARKER = "arbora.hyphc"
# What changes how a fit runs or is cut, but not the tree that training finds
_WITHOUT_EFFECT = {
    *("n_clusters", "refine", "callback", "device", "n_jobs", "random_state", "verbose"),
    *("checkpoint", "checkpoint_every"),
}


class Checkpoint:
    """Progress of each restart, as arrays.

    Parameters
    ----------
    path : path
    identity : str
        What decides the result, the seeds aside; a file of another identity is refused.
    seeds : list of int
        One a restart. Kept with the first use and taken from there afterwards, unless they are `chosen`: then
        they must be the same.
    """

    def __init__(
        self, path: str | os.PathLike[str], identity: str, seeds: list[int], *, chosen: bool
    ) -> None:
        self._path = Path(path)
        self._kept: dict[str, np.ndarray] = {}
        if self._path.exists():
            self._kept = _read(self._path)
            same = str(self._kept["identity"]) == identity and len(self._kept["seeds"]) == len(seeds)
            if not same or (chosen and self._kept["seeds"].tolist() != seeds):
                raise ValueError(
                    f"checkpoint={str(path)!r} belongs to a fit with other data or parameters. "
                    "Give another path, or delete the file."
                )
            seeds = self._kept["seeds"].tolist()
        self.seeds = seeds
        self._kept |= {"identity": np.array(identity), "seeds": np.array(seeds, dtype=np.int64)}

    def progress(self, restart: int) -> dict[str, np.ndarray]:
        """Arrays last kept of a restart; none where it had not begun."""
        prefix = f"run{restart}_"
        return {
            key.removeprefix(prefix): value for key, value in self._kept.items() if key.startswith(prefix)
        }

    def keep(self, restart: int, arrays: dict[str, Any]) -> None:
        """Replace what is kept of a restart; the file on disk is whole at any time."""
        self._kept |= {f"run{restart}_{key}": np.asarray(value) for key, value in arrays.items()}
        write_archive(self._path, MARKER, self._kept)


def fit_identity(parameters: dict[str, Any], similarity: Any) -> str:
    """Short name of a fit: the similarity and every parameter that decides the embedding."""
    chosen = {name: value for name, value in parameters.items() if name not in _WITHOUT_EFFECT}
    return identity_of(similarity=similarity, parameters=chosen)


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        kept = read_archive(path, MARKER)
        if not {"identity", "seeds"} <= kept.keys():
            raise FormatError("arrays are missing")
    except FormatError as problem:
        raise FormatError(
            f"{path} is not a whole checkpoint of HypHC ({problem}). Delete it to start anew."
        ) from problem
    return kept
