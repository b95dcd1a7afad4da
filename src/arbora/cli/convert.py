"""``arbora convert``."""

from __future__ import annotations

from pathlib import Path

from arbora.cli._console import Console
from arbora.cli._shared import tree_facts
from arbora.cli.reading import ReadOptions, read_tree
from arbora.cli.writing import check_writable, tree_format, write_tree


def run_convert(
    *, tree_source: str, out: str, to: str, format: str, delimiter: str | None, quiet: bool, as_json: bool
) -> None:
    """Read one format, write another."""
    console = Console(quiet, as_json)
    kind = tree_format(out, to)
    if out != "-":
        check_writable(Path(out))
    tree = read_tree(tree_source, ReadOptions(format=format, delimiter=delimiter))
    write_tree(tree, out, to)
    if out != "-":
        if kind == "linkage" and not tree.is_binary:
            console.note("a linkage matrix is binary: nodes with more children were split")
        console.say(f"wrote {out}")
        console.result({"tree": tree_facts(tree), "format": kind, "written": [out]})
