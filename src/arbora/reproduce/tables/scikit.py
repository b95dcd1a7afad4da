"""What a clone without any file can run: sets that ship with scikit-learn, and mixtures of growing size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import arbora as ab
from arbora.reproduce import data as published
from arbora.reproduce.systems import LEAST_SIZE, WithOutliers, baseline, cut
from arbora.reproduce.table import Data, Method, Metric, Table


def _load(dataset: str, seed: int, quick: bool) -> published.Vectors:
    return published.bundled(dataset)


def _X(problem: published.Vectors) -> NDArray[Any]:
    return problem.X


def _cluster(problem: published.Vectors, seed: int, **options: Any) -> ab.Tree:
    return ab.cluster(problem.X, random_state=seed, **options)


def _hyphc(problem: published.Vectors, seed: int, **options: Any) -> ab.Tree:
    return ab.HypHC(random_state=seed, **options).fit(published.standardized(problem.X)).tree_


def _ghhc(problem: published.Vectors, seed: int, **options: Any) -> ab.Tree:
    return ab.GHHC(random_state=seed, **options).fit(problem.X).tree_


def _score(problem: published.Vectors, result: Any) -> dict[str, float]:
    if isinstance(result, ab.Tree | WithOutliers):
        labels = cut(result, len(np.unique(problem.y)))
        tree = result.tree if isinstance(result, WithOutliers) else result
        purity = {"dendrogram_purity": ab.metrics.dendrogram_purity(tree, problem.y)}
        return {**purity, "nmi": ab.metrics.flat_scores(problem.y, labels)["nmi"]}
    return {"nmi": ab.metrics.flat_scores(problem.y, result)["nmi"]}


PURITY = Metric("dendrogram_purity", "dendrogram purity", "higher")
NMI = Metric("nmi", "NMI at the number of classes", "higher")
BUNDLED = Table(
    "arbora",
    "bundled",
    "Sets that ship with scikit-learn",
    (Data("iris"), Data("wine"), Data("breast-cancer", seconds=4), Data("digits", seconds=8)),
    (PURITY, NMI),
    (
        Method("cluster", _cluster, "with tree search"),
        Method("HypHC", _hyphc, "as published", parameters={"max_epochs": 20}, quick={"max_epochs": 2},
               note="On z-scored columns; the other methods see the columns as they are."),
        Method("gHHC", _ghhc, "as published", parameters={"max_steps": 500}, quick={"max_steps": 20}),
        *(
            baseline(system, name, of=_X, **facts)
            for system, name, facts in (
                ("ward", "Ward linkage", {"is_random": False}),
                ("average", "Average linkage", {"is_random": False}),
                ("bisecting-kmeans", "Bisecting k-means", {}),
                ("birch", "BIRCH", {"is_random": False}),
                ("perch", "PERCH", {"slower": 0.2}),
                ("scc", "SCC", {"slower": 0.2}),
                ("fast-hdbscan", "fast_hdbscan", {"is_random": False, "has_outliers": True, "note": LEAST_SIZE}),
                ("evoc", "EVoC", {"has_outliers": True, "note": LEAST_SIZE}),
                ("genie", "genieclust", {"is_random": False}),
                ("umap-ward", "UMAP + Ward", {}),
            )
        ),
    ),
    _load,
    _score,
    n_seeds=3,
    note="No paper prints these. The defaults of `cluster` were chosen with iris, breast cancer and digits in "
    "view; wine was "
    "set apart.",
)  # fmt: skip

N_ROWS = (1000, 3000, 10_000, 30_000)


def _load_mixture(dataset: str, seed: int, quick: bool) -> published.Vectors:
    n = int(dataset.split()[0].replace(",", "")) // (10 if quick else 1)
    rng = np.random.default_rng(seed)
    top, low = rng.normal(size=(10, 32)), rng.normal(size=(100, 32))
    y = rng.integers(0, 100, n)
    X = 2 * top[y % 10] + low[y] + 0.7 * rng.normal(size=(n, 32))
    return published.Vectors(X, y)


SCALE = Table(
    "arbora",
    "scale",
    "Mixtures of growing size",
    tuple(Data(f"{n:,} rows", seconds=n / 1500) for n in N_ROWS),
    (PURITY,),
    (
        Method("cluster", _cluster, "with tree search"),
        Method("gHHC", _ghhc, "as published", parameters={"max_steps": 200, "n_internal": 255},
               quick={"max_steps": 20}),
        baseline("ward", "Ward linkage", of=_X, is_random=False),
        baseline("average", "Average linkage", of=_X, is_random=False),
        baseline("bisecting-kmeans", "Bisecting k-means", of=_X),
        baseline("birch", "BIRCH", of=_X, is_random=False),
        baseline("fast-hdbscan", "fast_hdbscan", of=_X, is_random=False),
    ),
    _load_mixture,
    _score,
    n_seeds=1,
    note="Ten groups of ten groups, 32 columns. CPU seconds and memory are what this table is about.",
)  # fmt: skip

TABLES = (BUNDLED, SCALE)
