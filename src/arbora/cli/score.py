"""``arbora score``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unreadable, Unusable
from arbora.cli._shared import data_for_tree, limit_threads, options_for, tree_facts
from arbora.cli.methods import similarity_of
from arbora.cli.reading import Data, ReadOptions, read_tree
from arbora.tree import Tree


def run_score(
    *,
    tree_source: str,
    source: str | None,
    labels_file: Path | None,
    compare: str | None,
    metric: str,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Every score that the given files allow."""
    console = Console(quiet, as_json)
    limit_threads(threads)
    if source is None and labels_file is None and compare is None:
        raise Unusable("Nothing to score against: give --data, --labels or --compare.")
    tree = read_tree(tree_source, ReadOptions(delimiter=reading.get("delimiter")))
    data = data_for_tree(tree, source, options_for(reading.pop("format"), **reading))
    labels = None if labels_file is None else read_labels(labels_file, tree.n_leaves)
    scores: dict[str, float] = {}
    with console.stage("score"):
        if data is not None:
            if labels is not None:
                data.labels = labels
            scores |= scores_of(tree, data, metric, "")
        elif labels is not None:
            scores |= _against_labels(tree, labels)
        if compare is not None:
            scores |= _against_tree(tree, read_tree(compare, ReadOptions()))
    console.table(scores)
    console.result({"tree": tree_facts(tree), "scores": scores, "seconds": console.seconds})


def scores_of(tree: Tree, data: Data, metric: str, method: str) -> dict[str, float]:
    """Cost on the data and, with labels, agreement with them. The leaves of an l2h tree are the classes."""
    from arbora import metrics

    if method == "l2h":
        if data.labels is None:
            return {}
        leaf = np.asarray(data.values).argmax(axis=1)
        return {"dendrogram_purity": float(metrics.dendrogram_purity(tree, data.labels, leaf_of_point=leaf))}
    if tree.n_leaves != data.n_points:
        return {}
    if tree.n_leaves == 1:
        return {}
    similarity = similarity_of(data, metric, neighbors=False)
    return {key: float(value) for key, value in metrics.score(tree, similarity, y=data.labels).items()}


def _against_labels(tree: Tree, labels: np.ndarray) -> dict[str, float]:
    from arbora import metrics

    return {key: float(value) for key, value in metrics.score(tree, y=labels).items()}


def _against_tree(tree: Tree, other: Tree) -> dict[str, float]:
    from arbora.view.tangle import crossings, face_to_face

    other = other.matched_to(tree)
    return {
        "robinson_foulds": float(tree.robinson_foulds(other)),
        "robinson_foulds_share": float(tree.robinson_foulds(other, normalize=True)),
        "triplet_distance": float(tree.triplet_distance(other, normalize=True)),
        "crossings": float(crossings(*face_to_face(tree, other))),
    }


def read_labels(path: Path, n_leaves: int) -> np.ndarray:
    """Classes of the leaves: an npy, or one a line."""
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x93NUMPY"):
            labels = np.load(io.BytesIO(raw), allow_pickle=False)
        else:
            labels = np.array(raw.decode("utf-8").splitlines(), dtype=object)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path} cannot be read as labels: {error}.") from error
    if labels.shape != (n_leaves,):
        raise Unusable(f"{path} holds labels of shape {labels.shape}; the tree has {n_leaves:,} leaves.")
    return labels
