"""What HypHC's paper leaves open: the settings of UFit, and whether a lower cost means purer clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import arbora as ab
from arbora.reproduce import data as published
from arbora.reproduce.papers import printed
from arbora.reproduce.systems import baseline
from arbora.reproduce.table import Data, Method, Metric, Table
from arbora.reproduce.tables.hyphc import COST, load, ordered_cost

_PRINTED = {name: printed("hyphc", "1", name, "UFit", COST.key) for name in ("zoo", "glass")}
_SAID = " and ".join(f"{found.value:,.0f} on {name}" for name, found in _PRINTED.items() if found)
# more than there are points: all pairs are edges
_ALL = 1000
UFIT = Table(
    "hyphc",
    "ufit",
    "How much of UFit's cost its settings decide",
    (Data("zoo", ("vectors/zoo.npz",)), Data("glass", ("vectors/glass.npz",))),
    (COST,),
    tuple(
        baseline(
            "ufit",
            f"{cost}, {'all pairs' if n_neighbors == _ALL else f'{n_neighbors} neighbors'}",
            of=lambda problem: problem.X,
            parameters={"cost": cost, "n_neighbors": n_neighbors},
            kind="experiment",
            is_random=False,
        )
        for cost in ("closest", "closest+size", "dasgupta")
        for n_neighbors in (5, 10, 20, _ALL)
    ),
    load,
    ordered_cost,
    n_seeds=1,
    note=f"HypHC's paper prints {_SAID} and names neither the cost nor the graph that UFit was given. The "
    "defaults of UFit's authors (closest+size, 5 neighbors) are the row of hyphc/1. No setting is best on both "
    "sets, and choosing one by these figures would be choosing it on what is reported.",
)  # fmt: skip


class Labelled(NamedTuple):
    """Points as vectors, their classes, and how they are compared."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    similarity: Any


def _load_labelled(dataset: str, seed: int, quick: bool) -> Labelled:
    name, _, form = dataset.partition(", ")
    X, y = published.bundled(name)
    if name == "digits":
        # the half that l2h/1 judges on
        X, y = X[1::2], y[1::2]
    if form == "z-scored":
        X = published.standardized(X)
    return Labelled(X, y, ab.similarity.cosine(X))


def _average(problem: Labelled, seed: int) -> ab.Tree:
    n = problem.similarity.n_points
    similarity = np.clip(problem.similarity.pairs(*np.indices((n, n))), 0, 1)
    return ab.linkage(ab.similarity.dense(similarity), "average")


def _search(problem: Labelled, seed: int) -> ab.Tree:
    return ab.refine(_average(problem, seed), problem.similarity, random_state=seed)


def _hyphc(problem: Labelled, seed: int, **parameters: Any) -> ab.Tree:
    return ab.HypHC(random_state=seed, **parameters).fit(problem.similarity).tree_


def _cost_and_purity(problem: Labelled, tree: ab.Tree) -> dict[str, float]:
    from sklearn.metrics import normalized_mutual_info_score

    low, high = ab.metrics.dasgupta_bounds(problem.similarity)
    clusters = tree.cut(n_clusters=len(np.unique(problem.y)), exact="nearest", min_size=1)
    return {
        "relative_cost": (ab.metrics.dasgupta_cost(tree, problem.similarity) - low) / (high - low),
        "dendrogram_purity": ab.metrics.dendrogram_purity(tree, problem.y),
        "nmi": float(normalized_mutual_info_score(problem.y, clusters)),
    }


PURITY = Table(
    "hyphc",
    "purity",
    "Does a lower cost over all pairs mean purer clusters?",
    tuple(
        Data(f"{name}, {form}", seconds=10 if name == "digits" else 2)
        for name in ("digits", "wine")
        for form in ("as given", "z-scored")
    ),
    (
        Metric("relative_cost", "cost between its bounds", "lower", decimals=4),
        Metric("dendrogram_purity", "DP", "higher"),
        Metric("nmi", "NMI", "higher"),
    ),
    (
        Method("Average linkage", _average, is_random=False),
        Method("HypHC", _hyphc, "as published", None, {"max_epochs": 20}, {"max_epochs": 2}),
        Method("tree search", _search, "with tree search"),
    ),
    _load_labelled,
    _cost_and_purity,
    n_seeds=2,
    note="Dendrogram purity of the whole tree, NMI at as many clusters as classes. Cosine similarities of all pairs. "
    "On digits, HypHC and tree search cost less than average linkage and are less pure: where all pairs are alike to "
    "some degree, the cost rewards even splits, and a search that lowers it further does not help. What HypHC scores "
    "on digits in l2h/1 is the objective, not its training. Z-scored columns, as in HypHC's paper, spread the "
    "similarities.",
)  # fmt: skip

TABLES = (UFIT, PURITY)
