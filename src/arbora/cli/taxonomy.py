"""``arbora taxonomy``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arbora.cli._console import Console
from arbora.cli._exit import check_option
from arbora.cli._options import ReadingTree
from arbora.cli._run import read_tree_file
from arbora.cli._tables import columns
from arbora.cli.cut import OBJECTIVES, numbers
from arbora.cli.pages import tree_facts
from arbora.cli.writing import check_writable, tree_format, write_tree
from arbora.tree import Tree


def run_taxonomy(
    source: str,
    clusters: str,
    min_size: int | None,
    by: str,
    out: Path | None,
    reading: ReadingTree,
    console: Console,
) -> None:
    """A tree of a few levels, and how large its groups are."""
    console.give_way_to(out)
    levels = numbers(clusters)
    check_option("--by", by, OBJECTIVES)
    check_writable(out)
    if out is not None:
        tree_format(str(out))
    tree = read_tree_file(source, reading, own_format=True)
    reduced = tree.taxonomy(levels, min_size="auto" if min_size is None else min_size, by=cast(Any, by))
    # the level of 1 is the root, that of n the leaves themselves
    labels = {1: np.zeros(tree.n_leaves, np.int64), tree.n_leaves: np.arange(tree.n_leaves)}
    labels |= zip([level for level in levels if 1 < level < tree.n_leaves], level_labels(reduced))
    sizes = {level: np.bincount(labels[level]) for level in levels}
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


def level_labels(tree: Tree) -> list[NDArray[np.int64]]:
    """Group of each leaf on each level of a taxonomy, from the top; every leaf lies equally deep."""
    place = np.arange(tree.n_leaves)
    above = []
    while tree.parent[place[0]] != -1:
        place = tree.parent[place]
        if tree.parent[place[0]] != -1:
            above.append(np.unique(place, return_inverse=True)[1])
    return above[::-1]
