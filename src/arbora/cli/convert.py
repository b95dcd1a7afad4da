"""``arbora convert``."""

from __future__ import annotations

from pathlib import Path

from arbora.cli._console import Console
from arbora.cli._options import ReadingTree
from arbora.cli._run import read_tree_file
from arbora.cli.pages import tree_facts
from arbora.cli.writing import check_writable, notes_on, tree_format, write_tree


def run_convert(source: str, out: str, to: str, reading: ReadingTree, console: Console) -> None:
    """Read one format, write another."""
    console.give_way_to(out)
    kind = tree_format(out, to)
    if kind != "itol":
        check_writable(Path(out))
    tree = read_tree_file(source, reading, own_format=True)
    write_tree(tree, out, to)
    for note in notes_on(tree, kind):
        console.note(note)
    if out != "-":
        console.say(f"wrote {out}")
        console.result({"tree": tree_facts(tree), "format": kind, "written": [out]})
