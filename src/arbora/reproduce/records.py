"""Raw results: one JSON file per cell of a table, written whole, with everything that decided it."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from arbora._base.files import write_whole

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch")


@dataclass(frozen=True)
class Record:
    """One run of one method on one data set with one seed.

    Examples
    --------
    >>> from arbora.reproduce import Record
    >>> record = Record("hyphc", "1", "zoo", "HypHC", 0, False, {"max_epochs": 50}, {"cost": 2.8e5}, arbora="0.1.0")
    >>> record.is_done, record.answers({"max_epochs": 50}, "0.1.0"), record.answers({"max_epochs": 60}, "0.1.0")
    (True, True, False)
    """

    paper: str
    table: str
    dataset: str
    method: str
    seed: int
    quick: bool
    parameters: Mapping[str, Any]
    values: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    peak_megabytes: float = 0.0
    failure: str = ""
    arbora: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    machine: str = ""
    threads: int = 1

    @property
    def is_done(self) -> bool:
        """Whether the run ended with values."""
        return not self.failure

    def answers(self, parameters: Mapping[str, Any], arbora: str) -> bool:
        """Whether it need not be run again: finished, by this version, with these parameters."""
        return self.is_done and self.arbora == arbora and dict(self.parameters) == _as_json(parameters)


def path_of(folder: Path, record: Record) -> Path:
    """Where a record is kept below a folder of results."""
    seed = f"{record.seed}-quick" if record.quick else f"{record.seed}"
    name = f"{_slug(record.dataset)}--{_slug(record.method)}--{seed}.json"
    return folder / record.paper / record.table / name


def save(folder: Path, record: Record) -> Path:
    """Write a record, all or nothing."""
    path = path_of(folder, record)
    path.parent.mkdir(parents=True, exist_ok=True)
    # a line per entry: long facts stay on one
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in asdict(record).items()]
    write_whole(path, ("{" + ",\n ".join(lines) + "}\n").encode("utf-8"))
    return path


def load(path: Path) -> Record:
    """The record in a file."""
    return Record(**json.loads(path.read_text(encoding="utf-8")))


def load_all(folder: Path, *, quick: bool = False) -> list[Record]:
    """All records below a folder, of full runs or of quick ones, in the order of their files."""
    return [record for record in _records(folder) if record.quick == quick]


def _records(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.glob("*/*/*--*--*.json")):
        try:
            yield load(path)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is not a result of arbora reproduce: {error}. Remove it.") from error


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they come back from a file: tuples as lists."""
    found: dict[str, Any] = json.loads(json.dumps(dict(value)))
    return found


@cache
def surroundings() -> dict[str, Any]:
    """Versions, commit and machine of this process."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"versions": versions, "commit": _commit(), "machine": _machine()}


def _commit() -> str:
    """Commit of the clone that arbora is imported from; with + where files of it differ; empty outside of one."""
    here = Path(__file__).parents[1]
    try:
        call = {"cwd": here, "capture_output": True, "text": True, "check": True}
        commit = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], **call).stdout.strip()  # type: ignore[call-overload]
        changed = subprocess.run(["git", "status", "--porcelain", "--", "."], **call).stdout.strip()  # type: ignore[call-overload]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+" if changed else str(commit)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
