"""``arbora plot``."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from arbora._base.optional import require
from arbora.cli._console import Console
from arbora.cli._exit import WrongOption, check_option
from arbora.cli._matching import matched
from arbora.cli._options import Reading
from arbora.cli._run import read_dataset, read_tree_file
from arbora.cli.writing import check_writable, write_bytes
from arbora.reading import Dataset
from arbora.reading.roles import matching
from arbora.tree import Tree

VIEWS = ("dendrogram", "circular", "disk", "icicle")
_SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True)
class PlotTask:
    """What to draw, and how."""

    tree: str
    out: Path
    view: str
    source: str | None
    clusters: int | None
    strips: str | None
    title: str | None
    lengths: str
    orientation: str
    size: str | None
    support: bool
    max_leaves: int
    dpi: int


def run_plot(task: PlotTask, reading: Reading, console: Console) -> None:
    """Read, draw, write."""
    check_writable(task.out)
    check_picture(task.out)
    check_option("--view", task.view, VIEWS)
    check_option("--lengths", task.lengths, ("auto", "height", "depth", "size"))
    check_option("--orientation", task.orientation, ("left", "top"))
    size = _inches(task.size)
    tree = read_tree_file(task.tree, reading)
    data = None
    if task.source is not None:
        data = read_dataset(task.source, reading, console, only_shown=True)
        tree = matched(tree, data)
    options: dict[str, Any] = {
        "classes": None if data is None else classes_of(data),
        "n_clusters": task.clusters,
        "support": task.support,
        "max_leaves": task.max_leaves,
        "title": task.title,
        "scale": task.lengths,
        "orientation": task.orientation,
        "metadata": _strips(task, data),
        "category_colors": None if data is None else data.category_colors,
    }
    write_bytes(task.out, picture_bytes(tree, task.out, kind=task.view, dpi=task.dpi, size=size, **options))
    console.say(f"wrote {task.out}")
    console.result({"written": [str(task.out)], "view": task.view})


def classes_of(data: Dataset) -> dict[str, Any] | None:
    """The known classes under the name of their column."""
    return None if data.y is None else {str(data.label_name or "label"): data.y}


def _strips(task: PlotTask, data: Dataset | None) -> dict[str, Any] | None:
    """Columns drawn beside the leaves."""
    if task.strips is None:
        return None
    if data is None:
        raise WrongOption("--strips needs --data.")
    wanted = tuple(part.strip() for part in task.strips.split(","))
    columns = {**_feature_columns(data), **data.metadata}
    if data.genes is not None:
        named = [gene for gene in wanted if gene not in columns and gene in data.genes.names]
        columns.update(data.genes.columns(named))
    try:
        return {name: columns[name] for name in matching(columns, wanted, "--strips", data.source)}
    except ValueError as error:
        raise WrongOption(str(error).replace("--strips=", "--strips")) from error


def _feature_columns(data: Dataset) -> dict[str, Any]:
    """The features, where they have names and are few enough to be looked for by name."""
    if data.kind != "vectors" or data.feature_names is None or sp.issparse(data.values):
        return {}
    return dict(zip(data.feature_names, np.asarray(data.values).T, strict=True))


def _inches(size: str | None) -> tuple[float, float] | None:
    if size is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", size)
    if found is None or not (0 < float(found[1]) <= 200 and 0 < float(found[2]) <= 200):
        raise WrongOption(f"--size must be width x height in inches, as in 8x6. Got {size!r}.")
    return float(found[1]), float(found[2])


def check_picture(path: Path) -> None:
    """Refuse a file name without a known picture format."""
    if path.suffix.lower() not in _SUFFIXES:
        raise WrongOption(f"{path}: a picture is written as {', '.join(_SUFFIXES)}.")


def picture_bytes(
    tree: Tree,
    path: Path,
    *,
    kind: str = "dendrogram",
    dpi: int = 200,
    size: tuple[float, float] | None = None,
    **options: Any,
) -> bytes:
    """A picture in the format of the file's name."""
    check_picture(path)
    require("matplotlib", "Drawing pictures").use("Agg")
    from arbora.view import plot

    figure: Any = plot(tree, cast(Any, kind), **options).figure
    if size is not None:
        figure.set_size_inches(size)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower()[1:], dpi=dpi, bbox_inches="tight")
    return buffer.getvalue()
