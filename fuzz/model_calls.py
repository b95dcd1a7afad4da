"""Models after they were fitted, rows in chunks, and the systems to compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import checks
import inputs
import numpy as np
from calls import Generator, Note, options, refused_if_not_finite
from inputs import chance, one_of

import arbora as ab

# ---- TreeClustering in use -------------------------------------------------------------------------------


def fitted(rng: Generator, note: Note) -> None:
    """A fitted `TreeClustering` places, grows, is refined, saved and loaded: the same answers before and after."""
    _, X = inputs.numbers(rng, int(one_of(rng, 2, 5, 12, 33)), tame=chance(rng, 0.8))
    given = {"n_neighbors": 4, "n_perturbations": one_of(rng, 0, 0, 0, 1), "random_state": 0, "n_jobs": 1}
    model = ab.TreeClustering(one_of(rng, 1, 2, "auto"), **given).fit(X)
    n = len(X)
    for _ in range(int(rng.integers(1, 4))):
        action = one_of(rng, *ACTIONS)
        new = _new_rows(rng, X)
        note(action.__name__, getattr(new, "shape", new))
        action(model, new, rng, note)
        grew = len(new) if action is _grow and isinstance(new, np.ndarray) else 0
        n += grew
        checks.valid_tree(model.tree_, n)
        checks.require(model.labels_.shape == (n,), "one label per point, of fit or of partial_fit")
    refused_if_not_finite(X)


def _new_rows(rng: Generator, X: np.ndarray) -> Any:
    if chance(rng, 0.1):
        return inputs.wrong(rng)
    _, rows = inputs.numbers(rng, int(one_of(rng, 1, 2, 5)), tame=chance(rng, 0.7))
    return rows if chance(rng, 0.1) else np.resize(rows, (len(rows), X.shape[1]))


def _place(model: Any, new: Any, rng: Generator, note: Note) -> None:
    given = options(rng, note, n_clusters=(1, 2, "auto", 1000))
    placed = model.place(new, **given)
    n = len(new)
    parts = (placed.node, placed.label, placed.confidence, placed.outlier_score)
    checks.require(all(len(part) == n for part in parts), "one node, label and score per new row")
    for share in (placed.confidence, placed.outlier_score):
        checks.require(
            ((share >= 0) & (share <= 1)).all(), f"confidence and outlier score are shares: {share}"
        )
    checks.require(np.array_equal(placed.label, model.predict(new, **given)), "place and predict agree")


def _grow(model: Any, new: Any, rng: Generator, note: Note) -> None:
    model.partial_fit(new)


def _refine(model: Any, new: Any, rng: Generator, note: Note) -> None:
    model.refine(**options(rng, note, n_perturbations=(0, 1), max_sweeps=(1,), max_seconds=(0.01,)))


def _score(model: Any, new: Any, rng: Generator, note: Note) -> None:
    checks.require(len(model.score_samples(new)) == len(new), "one score per new row")


def _save(model: Any, new: Any, rng: Generator, note: Note) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        twin = ab.TreeClustering.load(path)
    checks.same_topology(model.tree_, twin.tree_)
    checks.require(np.array_equal(model.labels_, twin.labels_), "a loaded model has the same labels")
    answers = [_said(each, new) for each in (model, twin)]
    checks.require(answers[0] == answers[1], f"a loaded model says the same: {answers}")


def _said(model: Any, new: Any) -> list[int] | str:
    try:
        return [int(label) for label in model.predict(new)]
    except (ValueError, TypeError) as refused:
        return str(refused)


ACTIONS = (_place, _place, _grow, _refine, _score, _save)


# ---- rows in chunks --------------------------------------------------------------------------------------


def chunks(rng: Generator, note: Note) -> None:
    """Dask arrays, other chunks, lists of chunks and functions: the tree of the same rows in memory."""
    import dask
    import dask.array as da

    kind, X = inputs.numbers(rng, int(one_of(rng, 1, 2, 5, 12, 33)), tame=chance(rng, 0.7))
    size = int(rng.integers(1, len(X) + 1))
    estimator = one_of(rng, *IN_CHUNKS)
    form = one_of(rng, "dask", "dask", "dask", "unknown sizes", "columns", "list")
    note(estimator, kind, form, X.shape, size)
    whole = IN_CHUNKS[estimator]
    if form == "list":
        data: Any = [X[first : first + size] for first in range(0, len(X), size)]
    else:
        width = 1 if form == "columns" else X.shape[1]
        data = da.from_array(X.copy(), chunks=(size, width))
        data = data[da.from_array(np.ones(len(X), bool), chunks=size)] if form == "unknown sizes" else data
    with dask.config.set(scheduler="synchronous"):
        tree = whole(data)
        checks.valid_tree(tree, X.shape[1] if estimator == "L2H" else len(X))
        refused_if_not_finite(X)
        if chance(rng, 0.3):
            checks.same_topology(tree, whole(data))
    if estimator == "L2H":
        checks.same_topology(tree, whole(X))


IN_CHUNKS: dict[str, Callable[[Any], ab.Tree]] = {
    "cluster": lambda data: ab.cluster(data, random_state=0, n_neighbors=4, n_perturbations=0),
    "TreeClustering": lambda data: ab.TreeClustering(n_perturbations=0, random_state=0).fit(data).tree_,
    "L2H": lambda data: ab.L2H(n_bootstraps=0, random_state=0).fit(data).tree_,
    "GHHC": lambda data: ab.GHHC(n_internal=4, max_steps=1, random_state=0).fit(data).tree_,
}


# ---- systems to compare with -----------------------------------------------------------------------------

# Options with which a system ends at once; those of libraries that compile for long are left out.
VECTORS: dict[str, dict[str, Any]] = {
    "average": {}, "ward": {}, "single": {}, "complete": {}, "weighted": {}, "centroid": {}, "median": {},
    "birch": {}, "bisecting-kmeans": {}, "hierarchical-kmeans": {}, "scc": {}, "perch": {},
    "ufit": {"max_epochs": 1}, "tcl": {"max_steps": 1, "hidden": 4}, "turtle": {"max_steps": 1},
    "temi": {"max_steps": 1}, "deepect": {"max_steps": 1, "pretrain_epochs": 1, "hidden": (4,), "latent": 2},
    "rghc": {"max_steps": 1, "n_internal": 4, "hidden": 4}, "ghhc": {"max_steps": 1},
    "hyphc": {"max_epochs": 1, "n_triples": 100},
}  # fmt: skip
GRAPHS: dict[str, dict[str, Any]] = {
    "paris": {}, "louvain": {}, "dcsbm": {}, "average": {}, "eph": {"max_epochs": 1, "n_internal": 4},
    "fph": {"max_epochs": 1, "n_internal": 4}, "vgae-ward": {"max_epochs": 1},
}  # fmt: skip
LINKS = ("adamic-adar", "dcsbm-links")


def system(rng: Generator, note: Note) -> None:
    """One of the systems by name: what it says that it gives, for all points."""
    name = one_of(rng, *VECTORS, *GRAPHS, *LINKS, "label-propagation", "single-task", "nothing")
    of_vectors = name in VECTORS and not (name in GRAPHS and chance(rng, 0.5))
    given = {**(VECTORS if of_vectors else GRAPHS).get(name, {})}
    k = one_of(rng, None, None, 1, 2, inputs.wrong(rng))
    data, n, finite = _data_for(name, of_vectors, rng, note)
    if name in LINKS:
        given["pairs"] = rng.integers(0, max(1, n), (3, 2)) if chance(rng, 0.9) else inputs.wrong(rng)
    note(name, given, k)
    note.words = {name, "system", "pairs"}
    before = checks.frozen(data)
    found = ab.baselines.fit(name, data, n_clusters=k, random_state=0, **given)
    checks.unchanged(before, data)
    checks.require(finite, f"{name} took numbers that are not finite")
    gives = ab.baselines.describe(name).gives
    if isinstance(found, ab.Tree):
        checks.valid_tree(found, n)
    elif gives in ("tree", "labels"):
        checks.require(found.shape == (n,) and np.issubdtype(found.dtype, np.integer), "one label per point")
    else:
        checks.require(np.isfinite(found).all(), f"the {gives} are finite")


def _data_for(name: str, of_vectors: bool, rng: Generator, note: Note) -> tuple[Any, int, bool]:
    """(data, number of points, whether all of it is finite)."""
    if name in ("label-propagation", "single-task"):
        X = inputs.numbers(rng, int(one_of(rng, 5, 12)), tame=True)[1]
        y = rng.integers(-1, 2, len(X))
        rest = (y,) if name == "label-propagation" else (y.astype(float), rng.integers(0, 2, len(X)))
        return (X, *rest), len(X), True
    if of_vectors:
        kind, X = inputs.numbers(rng, int(one_of(rng, 1, 2, 5, 12)), tame=chance(rng, 0.6))
        note(kind, X.shape)
        return X, len(X), bool(np.isfinite(X).all())
    W = inputs.weights(rng, int(one_of(rng, 1, 2, 5, 12)))
    form = one_of(rng, "csr", "coo", "edges", "dia")
    # edges say nothing of nodes beyond the last that has one
    n = int(np.max(np.nonzero(W), initial=-1)) + 1 if form == "edges" else len(W)
    return inputs.GRAPHS[form](W), n, True


MODELS: dict[Callable[[Generator, Note], None], int] = {fitted: 4, chunks: 2, system: 4}
