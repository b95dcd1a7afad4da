"""Trees and reports to files: whole, or the old file stays."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.files import write_whole
from arbora.cli._console import plain
from arbora.cli._exit import Unusable, Unwritable
from arbora.tree import Tree

_TREE_SUFFIXES = {
    ".npz": "npz", ".nwk": "newick", ".newick": "newick", ".tree": "newick", ".tre": "newick",
    ".npy": "linkage", ".csv": "linkage", ".tsv": "linkage", ".graphml": "graphml",
}  # fmt: skip


def tree_format(path: str, wanted: str = "auto") -> str:
    """Format of a tree file by its name."""
    if wanted != "auto":
        if wanted not in {*_TREE_SUFFIXES.values(), "itol"}:
            raise Unusable(f"--to must be auto, npz, newick, linkage, graphml or itol. Got {wanted!r}.")
        return wanted
    if path == "-":
        return "newick"
    suffix = Path(path).suffix.lower()
    if suffix not in _TREE_SUFFIXES:
        raise Unusable(f"{path}: name the tree .npz, .nwk, .npy, .csv or .graphml (or say the format).")
    return _TREE_SUFFIXES[suffix]


def write_tree(tree: Tree, path: str, wanted: str = "auto") -> None:
    """Write a tree to a file, a folder (iTOL) or standard output ("-", Newick)."""
    kind = tree_format(path, wanted)
    if path == "-":
        if kind != "newick":
            raise Unusable("Only Newick goes to standard output.")
        sys.stdout.write(tree.to_newick() + "\n")
        return
    if kind == "itol":
        with writing(path):
            tree.to_itol(path)
    elif kind == "npz":
        with writing(path):
            tree.save(path)
    elif kind == "newick":
        write_bytes(path, (tree.to_newick() + "\n").encode("utf-8"))
    elif kind == "graphml":
        write_bytes(path, _graphml(tree))
    else:
        write_bytes(path, _linkage(tree, Path(path).suffix.lower()))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole."""
    with writing(path):
        write_whole(Path(path), data)


def write_json(path: str | Path, facts: Mapping[str, Any]) -> None:
    """Write a JSON file whole."""
    write_bytes(path, (json.dumps(plain(facts), indent=2, ensure_ascii=False) + "\n").encode("utf-8"))


class writing:
    """Turns an OSError while writing into one line that names the file."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, FileNotFoundError):
            raise Unwritable(f"{self._path} cannot be written: the folder does not exist.") from error
        if isinstance(error, OSError):
            raise Unwritable(
                f"{self._path} cannot be written: {error.strerror or error}. What was there is unchanged."
            ) from error


def check_writable(*paths: Path | None) -> None:
    """Before long work: every output's folder must exist and take files."""
    import os

    for path in paths:
        if path is None or str(path) == "-":
            continue
        folder = Path(path).resolve().parent
        if not folder.is_dir():
            raise Unwritable(f"{path} cannot be written: the folder {folder} does not exist.")
        if not os.access(folder, os.W_OK):
            raise Unwritable(f"{path} cannot be written: permission denied in {folder}.")


def _linkage(tree: Tree, suffix: str) -> bytes:
    matrix = (tree if tree.is_binary else tree.binarize()).to_linkage()
    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, matrix, allow_pickle=False)
        return buffer.getvalue()
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(["left", "right", "height", "size"])
    writer.writerows([int(a), int(b), repr(float(h)), int(s)] for a, b, h, s in matrix)
    return text.getvalue().encode("utf-8")


def _graphml(tree: Tree) -> bytes:
    import networkx

    buffer = io.BytesIO()
    networkx.write_graphml(tree.to_networkx(), buffer)
    return buffer.getvalue()
