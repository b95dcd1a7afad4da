"""``arbora cut``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli.reading import ReadOptions, read_tree
from arbora.cli.writing import check_writable, write_bytes
from arbora.tree import Tree


def run_cut(
    *,
    tree_source: str,
    clusters: int | None,
    height: float | None,
    max_size: int | None,
    min_size: int | None,
    out: Path | None,
    format: str,
    delimiter: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Labels of the leaves."""
    console = Console(quiet, as_json)
    check_writable(out)
    given: dict[str, Any] = {
        "n_clusters": clusters,
        "height": height,
        "max_size": max_size,
        "min_size": min_size,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise Unusable("Give exactly one of --clusters, --height, --max-size, --min-size.")
    tree = read_tree(tree_source, ReadOptions(format=format, delimiter=delimiter))
    labels = tree.cut(**given)
    sizes = np.bincount(labels)
    if out is not None:
        write_bytes(out, _bytes(tree, labels, out))
    elif not as_json and not quiet:
        print(_text(tree, labels, ","), end="")
        return
    console.say(f"{len(sizes):,} clusters of {sizes.min():,} to {sizes.max():,} leaves")
    if out is not None:
        console.say(f"wrote {out}")
    facts: dict[str, Any] = {"clusters": len(sizes), "sizes": sizes, "written": [str(out)] if out else []}
    console.result(facts if out is not None else {**facts, "labels": labels})


def _bytes(tree: Tree, labels: np.ndarray, path: Path) -> bytes:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, labels, allow_pickle=False)
        return buffer.getvalue()
    if suffix not in (".csv", ".tsv", ".txt"):
        raise Unusable(f"{path}: name the clusters .csv, .tsv or .npy.")
    return _text(tree, labels, "\t" if suffix == ".tsv" else ",").encode("utf-8")


def _text(tree: Tree, labels: np.ndarray, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["leaf", "name", "cluster"])
    writer.writerows([leaf, tree.label(leaf), int(label)] for leaf, label in enumerate(labels))
    return text.getvalue()
