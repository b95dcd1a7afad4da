"""``arbora demo``: handwritten digits, from numbers to an explorable page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.jit import watch
from arbora.cli._console import Console
from arbora.cli._exit import Unwritable
from arbora.cli._options import Running
from arbora.cli._run import limit_threads
from arbora.cli._tables import columns
from arbora.cli.plot import picture_bytes
from arbora.cli.writing import write_bytes, write_tree, writing
from arbora.tree import Tree


def run_demo(folder: Path, running: Running, console: Console) -> None:
    """Cluster the digits three ways, print how good each tree is, write arbora's in every form."""
    from sklearn.datasets import load_digits

    limit_threads(running)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{folder} cannot be made: {error.strerror}.") from error
    digits = load_digits()
    console.say(f"{len(digits.data):,} handwritten digits, {digits.data.shape[1]} pixels each")
    compiled_before = watch.seconds
    trees, seconds = _trees(digits.data, running.seed, console)
    rows = [[name, *_quality(tree, digits).values(), seconds[name]] for name, tree in trees.items()]
    console.say(columns(["method", "dendrogram purity", "NMI at 10", "accuracy at 10", "seconds"], rows))
    compiling = round(watch.seconds - compiled_before, 2)
    if compiling > 0:
        console.say(
            f"compiling took {compiling:.1f} s in addition, only this once (arbora compile does it ahead of time)"
        )
    names = [f"{digit} (#{k})" for k, digit in enumerate(digits.target)]
    tree = trees["arbora"].replace(name=names)
    page = _write(folder, tree, trees["ward"].replace(name=names), digits)
    console.say(f"wrote tree.nwk, tree.npz and tree.png in {folder}")
    console.say(f"Open the tree in a browser:\n{page.resolve()}")
    console.result(
        {
            "scores": {name: _quality(tree, digits) for name, tree in trees.items()},
            "seconds": seconds,
            "compiling": compiling,
            "page": str(page.resolve()),
        }
    )


def _trees(X: np.ndarray, seed: int | None, console: Console) -> tuple[dict[str, Tree], dict[str, float]]:
    from arbora import cluster, linkage

    calls: dict[str, Any] = {
        "arbora": lambda: cluster(X, random_state=seed, progress=console.progress),
        "ward": lambda: linkage(X, method="ward"),
        "average": lambda: linkage(X, method="average"),
    }
    trees, seconds = {}, {}
    for name, call in calls.items():
        began, compiled_before = time.perf_counter(), watch.seconds
        with console.stage(name):
            trees[name] = call()
        compiling = watch.seconds - compiled_before
        seconds[name] = round(max(time.perf_counter() - began - compiling, 0.0), 2)
    return trees, seconds


def _quality(tree: Tree, digits: Any) -> dict[str, float]:
    from arbora import metrics

    at_ten = metrics.level_scores(tree, digits.target)["level 0"]
    return {
        "dendrogram_purity": round(float(metrics.dendrogram_purity(tree, digits.target)), 4),
        "nmi": round(float(at_ten["nmi"]), 4),
        "acc": round(float(at_ten["acc"]), 4),
    }


def _write(folder: Path, tree: Tree, ward: Tree, digits: Any) -> Path:
    from arbora.view import to_html

    write_tree(tree, str(folder / "tree.nwk"))
    write_tree(tree, str(folder / "tree.npz"))
    picture = folder / "tree.png"
    write_bytes(picture, picture_bytes(tree, picture, kind="circular", classes=digits.target, names=False))
    page = folder / "digits.html"
    with writing(page):
        to_html(
            tree,
            page,
            title="Handwritten digits",
            classes={"digit": digits.target},
            images=255 - np.round(digits.images * (255 / 16)).astype(np.uint8),
            features=digits.data,
            metadata={"ink": digits.data.mean(axis=1)},
            compare=ward,
        )
    return page
