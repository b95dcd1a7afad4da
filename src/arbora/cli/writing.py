"""Trees, tables and reports to files: whole, or the old file stays."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.files import write_whole
from arbora.cli._console import plain
from arbora.cli._exit import Unwritable, WrongOption
from arbora.tree import Tree
from arbora.tree.formats import hclust, nexus, phyloxml

_SUFFIXES = {
    ".npz": "npz", ".nwk": "newick", ".newick": "newick", ".tree": "newick", ".tre": "newick", ".npy": "linkage",
    ".csv": "linkage", ".tsv": "linkage", ".graphml": "graphml",
}  # fmt: skip

# Newick has one label per node, which is the name; `arbora consensus` writes supports there.
_WITHOUT_SUPPORTS = ("newick", "nexus", "linkage", "hclust")


def tree_format(path: str, wanted: str = "auto") -> str:
    """Format of a tree file by its name."""
    known = ("npz", "newick", "linkage", "graphml", "itol", *TEXT_WRITERS)
    if wanted != "auto":
        if wanted not in known:
            raise WrongOption(f"--to must be auto, {', '.join(known)}. Got {wanted!r}.")
        return wanted
    if path == "-":
        return "newick"
    suffix = Path(path).suffix.lower()
    if suffix == "" and (path.endswith(os.sep) or Path(path).is_dir()):
        return "itol"
    found = {**_SUFFIXES, **{s: kind for s, kind in _TEXT_SUFFIXES.items() if kind in TEXT_WRITERS}}
    if suffix not in found:
        raise WrongOption(
            f"{path}: a tree is written as {', '.join(found)}, into a folder for iTOL (a name that ends in {os.sep}), "
            "or in the format that --to names."
        )
    return found[suffix]


def write_tree(tree: Tree, path: str, wanted: str = "auto") -> None:
    """Write a tree to a file, a folder (iTOL) or standard output ("-")."""
    kind = tree_format(path, wanted)
    if kind in TEXT_WRITERS:
        text = TEXT_WRITERS[kind](tree)
        if path == "-":
            sys.stdout.write(text.rstrip("\n") + "\n")
        else:
            write_bytes(path, (text.rstrip("\n") + "\n").encode("utf-8"))
    elif path == "-":
        if kind != "newick":
            raise WrongOption(f"Only text goes to standard output, not {kind}.")
        sys.stdout.write(tree.to_newick() + "\n")
    elif kind == "itol":
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


def notes_on(tree: Tree, kind: str) -> list[str]:
    """What a format cannot hold of a tree."""
    notes = []
    if kind in ("linkage", "hclust"):
        what = "a linkage matrix" if kind == "linkage" else "hclust"
        if not tree.is_binary:
            notes.append(f"{what} is binary: nodes with more than two children were split")
        if kind == "linkage" and tree.name is not None:
            notes.append("a linkage matrix has no names: leaves are numbered")
    if kind in _WITHOUT_SUPPORTS and tree.support is not None:
        notes.append("supports were left out: .npz, .json and .xml hold them")
    return notes


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole."""
    with writing(path):
        write_whole(Path(path), data)


def write_json(path: str | Path, facts: Mapping[str, Any]) -> None:
    """Write a JSON file whole."""
    text = json.dumps(plain(facts), indent=2, ensure_ascii=False) + "\n"
    write_bytes(path, text.encode("utf-8", "replace"))


class writing:
    """Turns an OSError while writing into one line that names the file."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise Unwritable(f"{self._path} cannot be written: the folder does not exist.") from error
        if isinstance(error, OSError):
            raise Unwritable(
                f"{self._path} cannot be written: {error.strerror or error}. What was there is unchanged."
            ) from error


def check_writable(*paths: Path | None) -> None:
    """Before long work: every output must be a file, in a folder that exists and can be written to."""
    for path in paths:
        if path is None or str(path) == "-":
            continue
        folder = Path(path).resolve().parent
        if Path(path).is_dir():
            raise Unwritable(f"{path} is a folder. Name a file in it.")
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
    from arbora._base.optional import require

    buffer = io.BytesIO()
    require("networkx", "Writing GraphML").write_graphml(tree.to_networkx(), buffer)
    return buffer.getvalue()


_TEXT_SUFFIXES = {
    ".json": "json", ".txt": "text", ".nex": "nexus", ".nexus": "nexus", ".xml": "phyloxml", ".phyloxml": "phyloxml",
    ".r": "hclust",
}  # fmt: skip
TEXT_WRITERS: dict[str, Callable[[Tree], str]] = {
    "json": lambda tree: tree.to_json(),
    "d3": lambda tree: json.dumps(tree.to_d3(), ensure_ascii=False),
    "text": lambda tree: tree.to_text(max_children=None),
    "nexus": lambda tree: nexus.write([tree]),
    "phyloxml": lambda tree: phyloxml.write([tree]).decode("utf-8"),
    "hclust": hclust.to_r,
}
