"""Pictures made from records: curves, maps, trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.files import written_whole
from arbora._base.optional import require
from arbora.reproduce import data as published
from arbora.reproduce.marks import Row, rows_of
from arbora.reproduce.records import Record
from arbora.reproduce.table import Table
from arbora.reproduce.tables import find
from arbora.tree import Tree


def draw(table: Table, found: Sequence[Record], folder: Path) -> Path | None:
    """The picture of a table in a folder; None where it has none, or nothing to show yet."""
    painter = PAINTERS.get(table.key)
    rows = [row for row in rows_of(table, found) if row.records]
    if painter is None or not rows:
        return None
    pyplot = _pyplot()
    figure = painter(pyplot, rows)
    path = folder / f"{table.paper}_{table.name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        figure.savefig(file, format="png", dpi=90, bbox_inches="tight")
    pyplot.close(figure)
    return path


def _pyplot() -> Any:
    require("matplotlib", "Drawing the pictures of a table").use("Agg")
    return require("matplotlib.pyplot", "Drawing the pictures of a table")


def _curves(rows: Sequence[Row], axes: Any, metric: int, value_of: Callable[[Row], float | None]) -> None:
    """A line per data set."""
    for name in dict.fromkeys(row.data.name for row in rows):
        points = [
            (value_of(row), row.figures[metric].mean)
            for row in rows
            if row.data.name == name and value_of(row) is not None and row.figures[metric].values
        ]
        if points:
            axes.plot(*zip(*sorted(points)), "o-", label=name)


def _triples(pyplot: Any, rows: Sequence[Row]) -> Any:
    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    _curves(rows, axes, 0, lambda row: float(row.method.parameters["share"]))
    axes.set(
        xscale="log", yscale="log", xlabel="triples per epoch / n²", ylabel="cost, 0 and 1 at its bounds"
    )
    axes.legend(frameon=False)
    return figure


def _nodes(pyplot: Any, rows: Sequence[Row]) -> Any:
    figure, grid = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for metric, axes in enumerate(grid):
        for kind, style in (("as published", "o-"), ("baseline", "s--")):
            own = [row for row in rows if row.method.kind == kind and row.figures[metric].values]
            for name in dict.fromkeys(row.data.name for row in own):
                points = [
                    (row.method.parameters["n_internal"], row.figures[metric].mean)
                    for row in own
                    if row.data.name == name
                ]
                label = f"{name}, {'FPH' if kind == 'as published' else 'average linkage'}"
                axes.plot(*zip(*sorted(points)), style, label=label)
        axes.set(xscale="log", xlabel="internal nodes", ylabel=rows[0].figures[metric].metric.title)
    grid[1].legend(frameon=False, fontsize=7)
    return figure


def _clusters(pyplot: Any, rows: Sequence[Row]) -> Any:
    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    for metric in range(len(rows[0].figures)):
        points = sorted((row.method.parameters["n_clusters"], row.figures[metric].mean) for row in rows)
        axes.plot(*zip(*points), "o-", label=rows[0].figures[metric].metric.title)
    axes.set(xlabel="clusters", ylabel="score")
    axes.legend(frameon=False, fontsize=7)
    return figure


def _maps(pyplot: Any, rows: Sequence[Row]) -> Any:
    longitude, latitude = published.arrays("graphs/openflight.npz")["lonlat"].T
    figure, grid = pyplot.subplots(
        len(rows),
        2,
        figsize=(11, 3.1 * len(rows)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for line, row in zip(grid, rows):
        for axes, (count, found) in zip(line, row.records[0].facts["labels"].items()):
            labels = np.asarray(found)
            # clusters of neighboring sizes get distant colors
            rank = np.argsort(np.argsort(-np.bincount(labels)))
            axes.scatter(longitude, latitude, c=(rank[labels] * 7) % 20, cmap="tab20", s=3, linewidths=0)
            axes.set_title(f"{row.method.name}, {count} clusters", fontsize=10)
            axes.set(xticks=[], yticks=[], xlim=(-180, 180), ylim=(-60, 80))
    return figure


def _tree_of(row: Row) -> Tree:
    parent = np.asarray(row.records[0].facts["parent"])
    return Tree(parent, n_leaves=int(parent[:-1].min()))


def _imagenet(pyplot: Any, rows: Sequence[Row]) -> Any:
    from arbora.reproduce.tables.l2h_classes import kinds, load_wordnet

    problem = load_wordnet("imagenet-1k", 0, False)
    colors = np.array(["artifact", "organism", "other"])[kinds(problem)]
    words = ("bird", "dog", "clothing")
    taxa = np.select([problem.below[word] for word in words], list(words), "other")
    row = next((row for row in rows if row.method.name == "L2H (Algorithm 1)"), rows[0])
    figure, axes = pyplot.subplots(figsize=(9, 9))
    _tree_of(row).plot(
        "circular",
        ax=axes,
        classes=colors,
        metadata={"taxa": taxa},
        names=False,
        scale="size",
        max_leaves=1000,
    )
    axes.set_title(f"ImageNet classes by {row.method.name}, colored by WordNet")
    return figure


def _cifar(pyplot: Any, rows: Sequence[Row]) -> Any:
    found = published.arrays("logits/cifar100_wrn16-4_test.npz")
    names, coarse = found["class_names"].tolist(), found["coarse_names"][found["coarse_of_fine"]]
    figure, axes = pyplot.subplots(figsize=(9, 9))
    tree = _tree_of(rows[0]).replace(name=names)
    tree.plot("circular", ax=axes, classes=coarse, names=True, scale="size")
    axes.set_title(f"CIFAR-100 classes by {rows[0].method.name}, colored by superclass")
    return figure


PAINTERS: dict[str, Callable[[Any, Sequence[Row]], Any]] = {
    "hyphc/3a": _triples,
    "fph/fig2": _nodes,
    "fph/fig5": _maps,
    "l2h/fig2": _cifar,
    "l2h/fig5": _clusters,
    "l2h/wordnet": _imagenet,
}


def draw_all(keys: Sequence[str], found: Sequence[Record], folder: Path) -> list[Path]:
    """Pictures of these tables, where there are any."""
    drawn = (draw(find(key), found, folder) for key in keys)
    return [path for path in drawn if path is not None]
