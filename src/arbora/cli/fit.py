"""``arbora fit``."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from arbora import __version__
from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._shared import limit_threads, named, options_for, page_content, tree_facts
from arbora.cli.checkpoint import Checkpoint
from arbora.cli.methods import build_tree, read_settings
from arbora.cli.reading import Data, read_data
from arbora.cli.refine import refine_tree
from arbora.cli.score import scores_of
from arbora.cli.single_cell import write_scanpy_entries
from arbora.cli.writing import check_writable, tree_format, write_bytes, write_json, write_tree, writing
from arbora.tree import Tree


def run_fit(
    *,
    source: str,
    method: str,
    out: Path | None,
    html: Path | None,
    report: Path | None,
    picture: Path | None,
    metric: str,
    settings: list[str],
    refine: bool,
    checkpoint: Path | None,
    scanpy: str | None,
    seed: int | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Read, build, score, write."""
    console = Console(quiet, as_json, out)
    limit_threads(threads)
    check_writable(out, html, report, picture)
    if out is not None and scanpy is None:
        tree_format(str(out))
    chosen = read_settings(settings)
    options = options_for(reading.pop("format"), **reading)
    if scanpy is not None:
        write_scanpy_entries(source, options, scanpy, method, chosen, seed, out, console)
        return
    with console.progress():
        with console.stage("read"):
            data = read_data(source, options)
        for note in data.notes:
            console.note(note)
        kept = Checkpoint(
            checkpoint, data, method=method, metric=metric, settings=chosen, seed=seed, refine=refine
        )
        tree = _built(data, method, metric, chosen, refine, seed, threads, kept, console)
        with console.stage("score"):
            scores = scores_of(tree, data, metric, method)
        with console.stage("write"):
            _write(tree, data, out, html, picture)
    facts = _facts(data, method, metric, chosen, seed, tree, scores, console)
    facts["written"] = [
        str(path) for path in (out, html, picture, report) if path is not None and str(path) != "-"
    ]
    if report is not None:
        write_json(report, facts)
    _tell(console, facts, scores)


def _built(
    data: Data,
    method: str,
    metric: str,
    settings: dict[str, Any],
    refine: bool,
    seed: int | None,
    threads: int | None,
    kept: Checkpoint,
    console: Console,
) -> Tree:
    tree = kept.tree("fit")
    if tree is not None:
        console.note(f"taking up the fit kept in {kept.folder}")
    else:
        tree = build_tree(
            data, method, metric=metric, settings=settings, seed=seed, threads=threads, console=console, kept=kept,
        )  # fmt: skip
        kept.keep("fit", tree)
    if refine:
        tree = refine_tree(tree, data, metric, "dasgupta", 100, seed, kept, console)
    return named(tree, data.feature_names if method == "l2h" else data.names)


def _write(tree: Tree, data: Data, out: Path | None, html: Path | None, picture: Path | None) -> None:
    if out is not None:
        write_tree(tree, str(out))
    content = page_content(tree, data)
    if html is not None:
        from arbora.view.content import Content
        from arbora.view.page import MOST_LEAVES_IN_PAGE, write_page

        if tree.n_leaves > MOST_LEAVES_IN_PAGE:
            raise Unusable(
                f"A page holds at most {MOST_LEAVES_IN_PAGE:,} leaves, the tree has {tree.n_leaves:,}. "
                "The tree is written; look at it with: arbora show TREE"
            )
        title = f"{Path(data.source).name}: {tree.n_leaves:,} leaves"
        with writing(html):
            write_page(Content(tree, title=title, **content), html)
    if picture is not None:
        from arbora.cli.plot import picture_bytes

        labels = data.labels if data.n_points == tree.n_leaves else None
        write_bytes(picture, picture_bytes(tree, picture, classes=labels))


def _facts(
    data: Data,
    method: str,
    metric: str,
    settings: dict[str, Any],
    seed: int | None,
    tree: Tree,
    scores: dict[str, float],
    console: Console,
) -> dict[str, Any]:
    return {
        "arbora": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "data": data.facts(),
        "method": {"name": method, "metric": metric, "seed": seed, "settings": settings},
        "tree": tree_facts(tree),
        "scores": scores,
        "seconds": dict(console.seconds),
    }


def _tell(console: Console, facts: dict[str, Any], scores: dict[str, float]) -> None:
    data, tree = facts["data"], facts["tree"]
    console.say(
        f"{facts['method']['name']}: {tree['leaves']:,} leaves, {tree['internal nodes']:,} internal nodes "
        f"from {data['source']} ({data['kind']})"
    )
    if scores:
        console.table(scores)
    for path in facts["written"]:
        console.say(f"wrote {path}")
    console.result(facts)
