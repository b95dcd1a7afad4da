"""``arbora show``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption, check_option
from arbora.cli._matching import matched, matched_tree
from arbora.cli._options import Reading
from arbora.cli._run import read_dataset, read_tree_file
from arbora.cli.pages import page_content, tree_facts, write_page
from arbora.cli.writing import check_writable
from arbora.reading import read_tree

VIEWS = ("circular", "dendrogram", "icicle", "treemap", "disk")


@dataclass(frozen=True)
class ShowTask:
    """What to show, and how."""

    tree: str
    source: str | None
    compare: str | None
    html: Path | None
    view: str
    port: int
    browser: bool
    edit: bool


def run_show(task: ShowTask, reading: Reading, console: Console) -> None:
    """Serve the page until interrupted, or write it."""
    check_writable(task.html)
    if task.edit and task.html is None and task.tree == "-":
        raise WrongOption("--edit saves edits to the tree's file: standard input has none. Use --html too.")
    check_option("--view", task.view, VIEWS)
    tree = read_tree_file(task.tree, reading)
    data = None
    if task.source is not None:
        data = read_dataset(task.source, reading, console, only_shown=True)
        tree = matched(tree, data)
    content = page_content(tree, data, console)
    if task.compare is not None:
        content["compare"] = matched_tree(read_tree(task.compare), tree, (task.tree, task.compare))
    content["title"] = f"{Path(task.tree).name}: {tree.n_leaves:,} leaves"
    if task.html is not None:
        write_page(tree, task.html, console, view=task.view, edit=task.edit, **content)
        console.say(f"wrote {task.html}")
        console.result({"tree": tree_facts(tree), "written": [str(task.html)]})
        return
    from arbora.view import explore

    try:
        viewer: Any = explore(
            tree,
            view=cast(Any, task.view),
            port=task.port,
            open_browser=task.browser,
            edit=task.tree if task.edit else False,
            **content,
        )
    except OSError as error:
        raise Unusable(
            f"Port {task.port} on 127.0.0.1 cannot be used, probably because something else has it. "
            "Choose another, or 0 for any free one."
        ) from error
    console.say(f"{viewer.url}\nPress Ctrl-C to stop.")
    console.result({"url": viewer.url})
    sys.stdout.flush()
    viewer.wait()
