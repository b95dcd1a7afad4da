"""Trees in files: which format a file has, by its contents and its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from arbora._base.files import write_whole
from arbora._base.types import PathLike
from arbora.errors import FormatError
from arbora.tree._tree import Tree
from arbora.tree.formats import hclust, nested, networkx, newick, nexus, npz, phyloxml

Kind: TypeAlias = Literal["npz", "newick", "nexus", "phyloxml", "graphml", "json", "hclust"]

_KIND_OF_SUFFIX: dict[str, Kind] = {
    ".npz": "npz",
    ".nwk": "newick",
    ".newick": "newick",
    ".tre": "newick",
    ".tree": "newick",
    ".treefile": "newick",
    ".nex": "nexus",
    ".nexus": "nexus",
    ".xml": "phyloxml",
    ".phyloxml": "phyloxml",
    ".graphml": "graphml",
    ".json": "json",
    ".r": "hclust",
}


def load(path: PathLike) -> Tree:
    """The tree of a file: arbora's own, Newick, Nexus, phyloXML, GraphML or JSON.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from arbora import Tree
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tree.nwk"
    ...     Tree.from_newick("((a,b),c);").save(path)
    ...     Tree.load(path).to_newick()
    '((a,b),c);'
    """
    kind, data = _opened(path)
    if kind == "npz":
        return npz.read(path)
    found = _trees(path, kind, data)
    if len(found) > 1:
        raise FormatError(f"{path} holds {len(found)} trees. Use Tree.load_all(path).")
    return found[0]


def load_all(path: PathLike) -> list[Tree]:
    """All trees of a file, in its order; Newick, Nexus and phyloXML files can hold several."""
    kind, data = _opened(path)
    return [npz.read(path)] if kind == "npz" else _trees(path, kind, data)


def save(tree: Tree, path: PathLike) -> None:
    """Write a tree in the format of the file's name; arbora's own where it says nothing else."""
    kind = _KIND_OF_SUFFIX.get(Path(path).suffix.lower(), "npz")
    if kind == "npz":
        npz.write(tree, path)
    else:
        write_whole(path, _bytes([tree], kind))


def save_all(trees: Sequence[Tree], path: PathLike) -> None:
    """Write several trees into one Newick, Nexus or phyloXML file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from arbora import Tree
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "trees.nex"
    ...     Tree.save_all([Tree.from_newick("((a,b),c);"), Tree.from_newick("(a,(b,c));")], path)
    ...     [tree.to_newick() for tree in Tree.load_all(path)]
    ['((a,b),c);', '(a,(b,c));']
    """
    kind = _KIND_OF_SUFFIX.get(Path(path).suffix.lower(), "npz")
    chosen = list(trees)
    if not chosen or not all(isinstance(tree, Tree) for tree in chosen):
        raise TypeError(f"trees must be a list of at least one Tree. Got {trees!r:.60}.")
    if kind in ("npz", "json", "graphml", "hclust"):
        raise ValueError(f"{path} can hold one tree. Use .nwk, .nex or .xml for several, or tree.save(path).")
    write_whole(path, _bytes(chosen, kind))


def _bytes(trees: Sequence[Tree], kind: Kind) -> bytes:
    if kind == "newick":
        return "".join(tree.to_newick() + "\n" for tree in trees).encode("utf-8")
    if kind == "nexus":
        return nexus.write(trees).encode("utf-8")
    if kind == "phyloxml":
        return phyloxml.write(trees)
    if kind == "graphml":
        return networkx.write_graphml(trees[0])
    if kind == "hclust":
        return hclust.to_r(trees[0]).encode("utf-8")
    return (nested.write(trees[0]) + "\n").encode("utf-8")


def _opened(path: PathLike) -> tuple[Kind, bytes]:
    """Format and contents of a file (no contents for arbora's own, which is read in its own way)."""
    path = Path(path)
    with open(path, "rb") as file:
        start = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
        kind = _KIND_OF_SUFFIX.get(path.suffix.lower())
        if start.startswith(b"PK"):
            kind = "npz"
        elif start[:6].upper() == b"#NEXUS":
            kind = "nexus"
        elif start.startswith(b"<"):
            kind = "graphml" if b"<graphml" in start else "phyloxml"
        elif start.startswith(b"{"):
            kind = "json"
        elif start.startswith((b"(", b"[")) and kind in (None, "nexus"):
            kind = "newick"
        if kind is None or kind == "npz":
            return "npz", b""
        file.seek(0)
        return kind, file.read()


def _trees(path: PathLike, kind: Kind, data: bytes) -> list[Tree]:
    if kind == "hclust":
        raise FormatError(
            f"{path} is R code. In R write the tree as a linkage or as Newick, or pass its parts to Tree.from_hclust."
        )
    try:
        if kind == "phyloxml":
            return phyloxml.read(data)
        if kind == "graphml":
            return [networkx.read_graphml(data)]
        text = data.decode("utf-8-sig")
        if kind == "newick":
            return newick.read_all(text)
        return list(nexus.read(text).values()) if kind == "nexus" else [nested.read(text)]
    except (FormatError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from error
