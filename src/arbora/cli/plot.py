"""``arbora plot``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._shared import data_for_tree, named, options_for
from arbora.cli.reading import ReadOptions, read_tree
from arbora.cli.writing import check_writable, write_bytes
from arbora.tree import Tree

_SUFFIXES = (".png", ".pdf", ".svg")


def run_plot(
    *,
    tree_source: str,
    out: Path,
    kind: str,
    source: str | None,
    clusters: int | None,
    support: bool,
    max_leaves: int,
    dpi: int,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Read, draw, write."""
    console = Console(quiet, as_json)
    check_writable(out)
    tree = read_tree(tree_source, ReadOptions(delimiter=reading.get("delimiter")))
    data = data_for_tree(tree, source, options_for(reading.pop("format"), **reading))
    classes = None if data is None or data.labels is None else {str(data.label_name or "label"): data.labels}
    tree = named(tree, None if data is None else data.names)
    drawn = picture_bytes(
        tree,
        out,
        kind=kind,
        classes=classes,
        n_clusters=clusters,
        support=support,
        max_leaves=max_leaves,
        dpi=dpi,
    )
    write_bytes(out, drawn)
    console.say(f"wrote {out}")
    console.result({"written": [str(out)], "kind": kind})


def picture_bytes(
    tree: Tree, path: Path, *, kind: str = "dendrogram", dpi: int = 200, **options: Any
) -> bytes:
    """A picture in the format of the file's name."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise Unusable(f"{path}: name the picture .png, .pdf or .svg.")
    import matplotlib

    matplotlib.use("Agg")
    from arbora.view import plot

    figure = plot(tree, kind, **options).figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=dpi, bbox_inches="tight")
    return buffer.getvalue()
