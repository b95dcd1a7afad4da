"""L2H on a classifier's logits: superclasses of CIFAR-100, WordNet, and the pictures of Fig. 2 and 3."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import arbora as ab
from arbora.reproduce import data as published
from arbora.reproduce.table import Data, Found, Method, Metric, Table

ANIMALS = (2, 3, 4, 5, 6, 7)


class Problem(NamedTuple):
    """Logits to build a tree from, with their classes; logits to judge on with the superclasses of their points."""

    logits: NDArray[Any]
    y: NDArray[Any]
    held_out: NDArray[Any]
    coarse: NDArray[Any]


def load(dataset: str, seed: int, quick: bool) -> Problem:
    """A random half of the points builds the tree, the other half judges it."""
    name = {"cifar-100": "cifar100", "cifar-10": "cifar10"}[dataset]
    found = published.arrays(f"logits/{name}_wrn16-4_test.npz")
    logits, y = found["logits"], found["labels"].astype(np.int64)
    of_class = found["coarse_of_fine"] if name == "cifar100" else np.isin(np.arange(10), ANIMALS)
    train = np.random.default_rng(seed).permutation(len(y)) < len(y) // 2
    return Problem(logits[train], y[train], logits[~train], of_class.astype(np.int64)[y[~train]])


def _l2h(problem: Problem, seed: int, **options: Any) -> ab.Tree:
    return ab.L2H(n_bootstraps=0, **options).fit(problem.logits).tree_


def _confusion(problem: Problem, seed: int) -> ab.Tree:
    """Average linkage on 1 - symmetrized confusion rates."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    k = problem.logits.shape[1]
    rate = np.zeros((k, k))
    np.add.at(rate, (problem.y, problem.logits.argmax(axis=1)), 1)
    rate /= np.maximum(rate.sum(axis=1, keepdims=True), 1)
    distance = 1 - (rate + rate.T) / 2
    np.fill_diagonal(distance, 0)
    return ab.Tree.from_linkage(linkage(squareform(distance, checks=False), "average"))


def _mean_logits(problem: Problem, seed: int, *, metric: str) -> ab.Tree:
    """Average linkage on the mean logits of the points assigned to each class."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    logits = problem.logits.astype(np.float64)
    own = logits.argmax(axis=1)
    means = [
        logits[own == c].mean(axis=0) if (own == c).any() else logits.mean(axis=0)
        for c in range(logits.shape[1])
    ]
    return ab.Tree.from_linkage(linkage(pdist(np.array(means), metric), "average"))


def _score(problem: Problem, tree: ab.Tree) -> dict[str, float]:
    scores = ab.logits.evaluate_tree(tree, problem.coarse, problem.held_out.argmax(axis=1))
    return {key: scores[key] for key in ("dendrogram_purity", "lhd", "acc")}


_PUBLISHED = {"refine": False}
METHODS = (
    Method("L2H", _l2h, "with tree search", is_random=False,
           note="The default: Algorithm 1, refined. That it is better on every set here is why it is the default."),
    Method("L2H (Algorithm 1)", _l2h, "as published", None, _PUBLISHED, is_random=False),
    Method("L2H (sum)", _l2h, "as published", None, {**_PUBLISHED, "aggregation": "sum"}, is_random=False),
    Method("L2H (mean of means)", _l2h, "as published", None, {**_PUBLISHED, "aggregation": "mean_of_means"},
           is_random=False),
    Method("L2H (all pairs)", _l2h, "as published", None, {**_PUBLISHED, "merging": "all_pairs"}, is_random=False),
    Method("average linkage, confusion", _confusion, is_random=False),
    Method("average linkage, mean logits, Euclidean", _mean_logits, parameters={"metric": "euclidean"},
           is_random=False),
    Method("average linkage, mean logits, cosine", _mean_logits, parameters={"metric": "cosine"}, is_random=False),
)  # fmt: skip
CLASSES = Table(
    "l2h",
    "classes",
    "Algorithm 1 against average linkage of mean logits",
    (
        Data("cifar-100", ("logits/cifar100_wrn16-4_test.npz",)),
        Data("cifar-10", ("logits/cifar10_wrn16-4_test.npz",)),
    ),
    (
        Metric("dendrogram_purity", "DP", "higher"),
        Metric("lhd", "LHD", "lower"),
        Metric("acc", "ACC", "higher"),
    ),
    METHODS,
    load,
    _score,
    n_seeds=10,
    draws=True,
    note="Logits of a WideResNet: the tree from a random half of the test points, scores on the other half "
    "against the 20 "
    "superclasses (CIFAR-10: animals and vehicles).",
)


class Taxonomy(NamedTuple):
    """Logits on ImageNet, and what WordNet says of its classes."""

    logits: NDArray[Any]
    y: NDArray[Any]
    tree: ab.Tree
    below: dict[str, NDArray[np.bool_]]


def load_wordnet(dataset: str, seed: int, quick: bool) -> Taxonomy:
    """Five images per class."""
    found = published.arrays("logits/imagenet_val5k_efficientnetlite2.npz")
    facts = json.loads(published.path("logits/imagenet1k_classes_wordnet.json").read_text())
    names, paths = facts["node_names"], facts["hypernym_path_first"]
    below = {
        word: np.array([any(names.get(taxon) == word for taxon in path) for path in paths])
        for word in ("artifact", "organism", "bird", "dog", "clothing")
    }
    tree = ab.logits.taxonomy_tree(paths, 1000)
    return Taxonomy(found["logits"].astype(np.float32), found["labels"].astype(np.int64), tree, below)


def kinds(problem: Taxonomy) -> NDArray[np.int64]:
    """0 for artifacts, 1 for organisms, -1 for the rest."""
    return np.where(problem.below["artifact"], 0, np.where(problem.below["organism"], 1, -1))


def _agreement(problem: Taxonomy, tree: ab.Tree) -> Found:
    from scipy.stats import spearmanr

    i, j = np.triu_indices(1000, 1)
    depth = problem.tree.depths[problem.tree.lca(i, j)]
    meet = -np.log(tree.sizes[tree.lca(i, j)])
    values = {
        "lca_correlation": float(spearmanr(meet, depth)[0]),
        "robinson_foulds": float(tree.robinson_foulds(problem.tree, normalize=True)),
        "organism_artifact_purity": ab.metrics.dendrogram_purity(tree, kinds(problem)),
    }
    return Found(values, {"parent": tree.parent.tolist()})


WORDNET = Table(
    "l2h",
    "wordnet",
    "The classes of ImageNet against WordNet (Fig. 3)",
    (Data("imagenet-1k", ("logits/imagenet_val5k_efficientnetlite2.npz",
                          "logits/imagenet1k_classes_wordnet.json"), seconds=10),),
    (
        Metric("lca_correlation", "LCA correlation", "higher"),
        Metric("robinson_foulds", "Robinson-Foulds", "lower"),
        Metric("organism_artifact_purity", "purity of organisms", "higher"),
    ),
    METHODS,
    load_wordnet,
    _agreement,
    n_seeds=1,
    note="An EfficientNet-Lite2, 5 images per class. The paper shows a picture of InternImage's tree and no figures.",
)  # fmt: skip


def load_all_points(dataset: str, seed: int, quick: bool) -> Problem:
    """Every point both builds and judges: only the picture is of interest."""
    found = published.arrays("logits/cifar100_wrn16-4_test.npz")
    y = found["labels"].astype(np.int64)
    return Problem(found["logits"], y, found["logits"], found["coarse_of_fine"].astype(np.int64)[y])


FIGURE_2 = Table(
    "l2h",
    "fig2",
    "The classes of CIFAR-100 as a circular tree",
    (Data("cifar-100", ("logits/cifar100_wrn16-4_test.npz",)),),
    (Metric("dendrogram_purity", "DP", "higher"),),
    METHODS[:2],
    load_all_points,
    lambda problem, tree: Found(
        {"dendrogram_purity": _score(problem, tree)["dendrogram_purity"]}, {"parent": tree.parent.tolist()}
    ),
    n_seeds=1,
    note="The paper's picture is of L2H-TURTLE's clusters; this one of a classifier's classes, built and judged "
    "on the "
    "same points.",
)

TABLES = (CLASSES, WORDNET, FIGURE_2)
