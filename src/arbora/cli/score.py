"""``arbora score``, and the scores that other commands print."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._matching import matched, matched_tree
from arbora.cli._options import Reading, Running
from arbora.cli._run import Run, limit_threads, neighbor_graph, read_tree_file
from arbora.cli._tables import columns, number
from arbora.cli.methods import run_on_graph
from arbora.cli.pages import tree_facts
from arbora.errors import FormatError
from arbora.reading import Dataset, read_tree
from arbora.reading.roles import classes_of
from arbora.tree import Tree

_LOWER = (
    "cost",
    "dasgupta",
    "wang",
    "share_of_bounds",
    "least_hierarchical",
    "robinson",
    "triplet",
    "crossings",
)


@dataclass(frozen=True)
class ScoreTask:
    """What to score, and against what."""

    tree: str
    source: str | None
    labels: Path | None
    compare: str | None
    metric: str | None
    all_pairs: bool


def run_score(task: ScoreTask, reading: Reading, running: Running, console: Console) -> None:
    """Every score that the given files allow."""
    limit_threads(running)
    if task.source is None and task.labels is None and task.compare is None:
        raise WrongOption("There is nothing to score against: use --data, --labels or --compare.")
    tree = read_tree_file(task.tree, reading)
    scores: dict[str, float] = {}
    metric = None
    if task.source is not None:
        run = run_on_graph(task.source, "score", task.metric, reading, running, console)
        tree = matched(tree, run.data)
        with console.stage("score"):
            scores |= _on_data(run, tree, task.all_pairs)
            scores |= class_scores(tree, run.data, console) if task.labels is None else {}
        metric = run.compared_by
    if task.labels is not None:
        scores |= _against(tree, read_labels(task.labels, tree.n_leaves), console)
    if task.compare is not None:
        other = matched_tree(read_tree(task.compare), tree, (task.tree, task.compare))
        scores |= _against_tree(tree, other)
    print_scores(console, scores)
    console.result({"tree": tree_facts(tree), "metric": metric, "scores": scores, "seconds": console.seconds})


def _on_data(run: Run, tree: Tree, all_pairs: bool) -> dict[str, float]:
    """Costs on the graph of nearest neighbors that `fit` uses or, if asked for, over all pairs of cosines."""
    from arbora import metrics, similarity

    if tree.n_leaves < 2:
        return {}
    if not all_pairs:
        distances = run.data.values if run.data.kind == "distances" and tree.height is not None else None
        return dict(metrics.score(tree, neighbor_graph(run), distances=distances))
    if run.data.kind != "vectors" or run.metric == "euclidean":
        raise WrongOption("--all-pairs compares vectors by the cosine.")
    run.data.check_usable()
    run.note_comparison("cosine", "none")
    return dict(metrics.score(tree, similarity.cosine(np.asarray(run.data))))


def class_scores(
    tree: Tree, data: Dataset, console: Console, *, is_over_columns: bool = False
) -> dict[str, float]:
    """Agreement with the known classes; the leaves of a tree over columns are the classes of a classifier."""
    from arbora import metrics

    if data.y is None or tree.n_leaves < 2 or len(known_classes(data.y)) < 2:
        return {}
    if is_over_columns:
        leaf = np.asarray(data.values).argmax(axis=1)
        return {"dendrogram_purity": float(metrics.dendrogram_purity(tree, data.y, leaf_of_point=leaf))}
    return _against(tree, data.y, console)


def known_classes(y: NDArray[Any]) -> set[Any]:
    """The classes that occur."""
    return {value for value in y.tolist() if value is not None}


def _against(tree: Tree, y: NDArray[Any], console: Console) -> dict[str, float]:
    from arbora import metrics

    known = known_classes(y)
    if len(known) < 2:
        raise Unusable(f"Scores against classes need two of them. Got {len(known)}.")
    scores = {key: float(value) for key, value in metrics.score(tree, y=y).items()}
    if not tree.is_binary and len(set(tree.cut(n_clusters=len(known), exact="nearest").tolist())) != len(
        known
    ):
        # scores of a cut that this tree does not have would mislead
        console.note(
            f"no cut of this tree has {len(known)} clusters: it is scored by dendrogram purity alone"
        )
        return {key: value for key, value in scores.items() if key.startswith("dendrogram_purity")}
    return scores


def _against_tree(tree: Tree, other: Tree) -> dict[str, float]:
    from arbora.view.tangle import crossings, face_to_face

    return {
        "robinson_foulds": float(tree.robinson_foulds(other)),
        "robinson_foulds_share": float(tree.robinson_foulds(other, normalize=True)),
        "triplet_distance": float(tree.triplet_distance(other, normalize=True)),
        "crossings": float(crossings(*face_to_face(tree, other))),
    }


def print_scores(console: Console, scores: Mapping[str, float]) -> None:
    """A table with the direction that is better."""
    if scores:
        rows = [
            [name, number(value), "lower" if name.startswith(_LOWER) else "higher"]
            for name, value in scores.items()
        ]
        console.say(columns(["score", "value", "better"], rows))


def read_labels(path: Path, n_leaves: int) -> NDArray[Any]:
    """Classes of the leaves: an npy, or one per line; an empty line means no class."""
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x93NUMPY"):
            labels = np.load(io.BytesIO(raw), allow_pickle=False)
        else:
            lines = raw.decode("utf-8").splitlines()
            labels = np.array([line.strip() or None for line in lines], dtype=object)
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read as labels: {error}.") from error
    if labels.shape != (n_leaves,):
        raise Unusable(f"{path} holds labels of shape {labels.shape}; the tree has {n_leaves:,} leaves.")
    return classes_of(labels)
