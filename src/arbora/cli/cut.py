"""``arbora cut``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.cli._console import Console
from arbora.cli._exit import WrongOption, check_option
from arbora.cli._options import ReadingTree
from arbora.cli._run import read_tree_file
from arbora.cli.tables_out import SUFFIXES, check_table, print_table, write_obs, write_table
from arbora.cli.writing import check_writable
from arbora.tree import Tree

OBJECTIVES = ("height", "density", "balance")


@dataclass(frozen=True)
class CutTask:
    """Which tree to cut, how, and where the clusters go."""

    tree: str
    clusters: str | None
    height: float | None
    max_size: int | None
    min_size: str | None
    by: str
    out: Path | None
    into: str | None

    def criteria(self) -> list[dict[str, Any]]:
        """Arguments of `Tree.cut`, one per level."""
        check_option("--by", self.by, OBJECTIVES)
        single: dict[str, Any] = {
            "height": self.height,
            "max_size": self.max_size,
            "min_size": least(self.min_size),
        }
        given: dict[str, Any] = {name: value for name, value in single.items() if value is not None}
        if self.clusters is None:
            if len(given) != 1:
                raise WrongOption("Use exactly one of --clusters, --height, --max-size, --min-size.")
            if self.by != "height":
                raise WrongOption("--by needs --clusters.")
            return [given]
        if set(given) - {"min_size"}:
            raise WrongOption(
                "Use exactly one of --clusters, --height, --max-size; --min-size can be combined with --clusters."
            )
        return [{"n_clusters": level, "by": self.by, **given} for level in levels_of(self.clusters)]


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise WrongOption(
            f"--clusters must be a positive whole number, or several as in 3,5,10. Got {text!r}."
        )
    return [int(part) for part in parts]


def least(text: str | None) -> int | str | None:
    """Fewest leaves of a cluster: a whole number, or auto."""
    if text is None or text.strip() == "auto":
        return None if text is None else "auto"
    if not text.strip().isdecimal() or int(text) < 1:
        raise WrongOption(f"--min-size must be a positive whole number or auto. Got {text!r}.")
    return int(text)


def levels_of(text: str) -> list[int] | list[str]:
    """Numbers of clusters, or "auto"."""
    return ["auto"] if text.strip() == "auto" else numbers(text)


def run_cut(task: CutTask, reading: ReadingTree, console: Console) -> None:
    """Labels of the leaves, one column per level."""
    criteria = task.criteria()
    check_writable(task.out)
    if task.into is not None and (task.out is None or task.out.suffix.lower() != ".h5ad"):
        raise WrongOption("--into needs --out with the name of the new .h5ad file.")
    check_table(task.out, suffixes=(*SUFFIXES, ".h5ad") if task.into is not None else SUFFIXES)
    tree = read_tree_file(task.tree, reading, own_format=True)
    labels = [tree.cut(**criterion) for criterion in criteria]
    columns = _columns(tree, labels, criteria)
    if task.out is not None:
        _write(task, tree, columns, labels)
    elif not console.as_json:
        if not console.quiet:
            print_table(columns)
        return
    for level in labels:
        sizes = np.bincount(level)
        console.say(f"{len(sizes):,} clusters of {sizes.min():,} to {sizes.max():,} leaves")
    if task.out is not None:
        console.say(f"wrote {task.out}")
    console.result(_facts(task, columns, labels))


def _columns(tree: Tree, labels: list[NDArray[np.int64]], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "leaf": list(range(tree.n_leaves)),
        "name": [tree.label(leaf) for leaf in range(tree.n_leaves)],
    }
    for level, criterion in zip(labels, criteria):
        title = "cluster" if len(labels) == 1 else f"cluster_{criterion['n_clusters']}"
        columns[title] = level.tolist()
    return columns


def _write(task: CutTask, tree: Tree, columns: dict[str, Any], labels: list[NDArray[np.int64]]) -> None:
    assert task.out is not None
    if task.into is not None:
        found = {f"arbora_{name}": values for name, values in columns.items() if name.startswith("cluster")}
        write_obs(task.into, task.out, columns["name"], found)
        return
    write_table(task.out, columns, numbers=labels[0] if len(labels) == 1 else np.column_stack(labels))


def _facts(task: CutTask, columns: dict[str, Any], labels: list[NDArray[np.int64]]) -> dict[str, Any]:
    levels = [{"clusters": int(level.max()) + 1, "sizes": np.bincount(level)} for level in labels]
    facts: dict[str, Any] = levels[0] if len(levels) == 1 else {"levels": levels}
    facts["written"] = [] if task.out is None else [str(task.out)]
    if task.out is not None:
        return facts
    rows = {
        ("labels" if name == "cluster" else name): values
        for name, values in columns.items()
        if name != "leaf"
    }
    return {**facts, "names": rows.pop("name"), **rows}
