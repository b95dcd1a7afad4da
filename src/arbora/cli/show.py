"""``arbora show``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._shared import data_for_tree, options_for, page_content, tree_facts
from arbora.cli.reading import ReadOptions, read_tree
from arbora.cli.writing import check_writable, writing


def run_show(
    *,
    tree_source: str,
    source: str | None,
    compare: str | None,
    html: Path | None,
    view: str,
    port: int,
    browser: bool,
    edit: bool,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Serve the page until interrupted, or write it."""
    from arbora.view import explore, to_html

    if edit and (html is not None or tree_source == "-"):
        raise Unusable(
            "--edit saves edits to the tree's file: it goes neither with --html nor with standard input."
        )
    console = Console(quiet, as_json)
    check_writable(html)
    tree = read_tree(tree_source, ReadOptions(delimiter=reading.get("delimiter")))
    data = data_for_tree(tree, source, options_for(reading.pop("format"), **reading))
    content = page_content(tree, data)
    if compare is not None:
        content["compare"] = read_tree(compare, ReadOptions())
    content["title"] = f"{Path(tree_source).name}: {tree.n_leaves:,} leaves"
    if html is not None:
        with writing(html):
            to_html(tree, html, view=view, **content)
        console.say(f"wrote {html}")
        console.result({"tree": tree_facts(tree), "written": [str(html)]})
        return
    viewer = explore(
        tree, view=view, port=port, open_browser=browser, edit=tree_source if edit else False, **content
    )
    console.say(f"{viewer.url}\nCtrl-C ends it.")
    console.result({"url": viewer.url})
    import sys

    sys.stdout.flush()
    viewer.wait()
