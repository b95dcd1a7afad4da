"""``arbora taxonomy``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arbora.cli._console import Console
from arbora.cli._options import ReadingTree
from arbora.cli._run import read_tree_file
from arbora.cli._tables import columns
from arbora.cli.cut import numbers
from arbora.cli.pages import tree_facts
from arbora.cli.writing import check_writable, tree_format, write_tree


def run_taxonomy(
    source: str, clusters: str, out: Path | None, reading: ReadingTree, console: Console
) -> None:
    """A tree of a few levels, and how large its groups are."""
    console.give_way_to(out)
    levels = numbers(clusters)
    check_writable(out)
    if out is not None:
        tree_format(str(out))
    tree = read_tree_file(source, reading, own_format=True)
    reduced = tree.taxonomy(levels)
    sizes = {level: np.bincount(tree.cut(n_clusters=level)) for level in levels}
    rows = [
        [f"{level:,}", int(size.min()), int(np.median(size)), int(size.max())]
        for level, size in sizes.items()
    ]
    if out is not None:
        write_tree(reduced, str(out))
    console.say(columns(["groups", "smallest", "median", "largest"], rows))
    if out is not None and str(out) != "-":
        console.say(f"wrote {out}")
    console.result(
        {
            "tree": tree_facts(reduced),
            "levels": [{"groups": level, "sizes": size} for level, size in sizes.items()],
            "written": [] if out is None else [str(out)],
        }
    )
