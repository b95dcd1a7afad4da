"""Public calls with drawn options, and what each result must satisfy.

A call is a function of a generator and a `Note`; it raises what the library raises, or `WrongResult`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import checks
import inputs
import numpy as np
from inputs import chance, one_of

import arbora as ab

Generator = np.random.Generator


@dataclass
class Note:
    """What a case did, for the reader of a failure."""

    said: list[str] = field(default_factory=list)
    # A tree or file was given that may be invalid: then TreeError is the right answer, elsewhere it is a bug.
    gives_tree: bool = False
    file: str | None = None
    # Other words by which an error may name what is wrong.
    words: set[str] = field(default_factory=set)

    def __call__(self, *words: Any) -> None:
        """Add words to what is shown."""
        self.said.append(" ".join(str(word)[:200] for word in words))


def options(rng: Generator, note: Note, **choices: tuple[Any, ...]) -> dict[str, Any]:
    """Each option left out, drawn from its choices, or (rarely) a wrong value."""
    drawn: dict[str, Any] = {}
    for name, values in choices.items():
        if chance(rng, 0.4):
            drawn[name] = inputs.wrong(rng) if chance(rng, 0.06) else one_of(rng, *values)
    if isinstance(drawn.get("max_seconds"), (int, float)) and drawn["max_seconds"] > 1:
        # a search takes the time it is given
        drawn["max_seconds"] = 0.01
    note(drawn)
    return drawn


def refused_if_masked(data: Any) -> None:
    """After a call that returned: no entry may have been masked."""
    masked = isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any()
    checks.require(not masked, "masked entries were taken as data")


def refused_if_not_finite(X: np.ndarray | None) -> None:
    """After a call that returned: its numbers must have been finite."""
    checks.require(X is None or np.isfinite(X).all(), "numbers that are not finite were accepted")


# ---- trees from data -------------------------------------------------------------------------------------


def _data(rng: Generator, note: Note) -> tuple[Any, np.ndarray | None, int | None]:
    """(data, its vectors if any, number of points if known)."""
    if chance(rng, 0.25):
        form, graph, W = inputs.graphs(rng)
        note("graph", form, W.shape, "scale", W.max(initial=0))
        return graph, None, None if form == "edges" else len(W)
    if chance(rng, 0.06):
        note("a graph to refuse")
        return inputs.bad_graph(rng), None, None
    kind, data, X = inputs.vectors(rng)
    note(kind, None if X is None else X.shape)
    return data, X, None if X is None else len(X)


def cluster(rng: Generator, note: Note) -> None:
    """`arbora.cluster` of anything."""
    data, X, n = _data(rng, note)
    given = options(
        rng, note,
        metric=("auto", "cosine", "euclidean"), similarity=("auto", "knn", "cosine"), n_neighbors=(1, 3, 10, 100),
        scale=("auto", "standard", "robust", "rank", "none"), n_perturbations=(0, 1, 3), n_jobs=(1, 2),
        directed=("sum", "max"), max_seconds=(0.01,),
    )  # fmt: skip
    seed = int(rng.integers(100))
    before = checks.frozen(data)
    tree = ab.cluster(data, random_state=seed, **given)
    checks.unchanged(before, data)
    refused_if_masked(data)
    checks.valid_tree(tree, n)
    refused_if_not_finite(X)
    if chance(rng, 0.3) and "max_seconds" not in given:
        checks.same_topology(tree, ab.cluster(data, random_state=seed, **given))


def linkage(rng: Generator, note: Note) -> None:
    """`arbora.linkage` of anything; binary, over all points."""
    data, X, n = _data(rng, note)
    method = one_of(rng, "average", "ward", "complete", "single", "weighted", "centroid", "median", "paris")
    given = options(
        rng, note, metric=("euclidean", "cosine", "cityblock"), kind=("auto", "vectors", "distances")
    )
    note(method)
    before = checks.frozen(data)
    tree = ab.linkage(data, method, **given)
    checks.unchanged(before, data)
    refused_if_masked(data)
    checks.valid_tree(tree, n)
    refused_if_not_finite(X)


def kmeans(rng: Generator, note: Note) -> None:
    """The two divisive baselines."""
    kind, data, X = inputs.vectors(rng)
    function = one_of(rng, ab.bisecting_kmeans, ab.hierarchical_kmeans)
    note(function.__name__, kind)
    given = options(rng, note, min_size=(1, 3), n_init=(1, 2))
    before = checks.frozen(data)
    tree = function(data, random_state=0, **given)
    checks.unchanged(before, data)
    refused_if_masked(data)
    checks.valid_tree(tree, None if X is None else len(X))
    refused_if_not_finite(X)


# ---- similarities ----------------------------------------------------------------------------------------


def similarity(rng: Generator, note: Note) -> None:
    """Similarities of vectors: symmetric, finite, the total is the sum."""
    kind, data, X = inputs.vectors(rng)
    name = one_of(rng, "cosine", "gaussian", "knn", "knn")
    note(name, kind)
    before = checks.frozen(data)
    if name == "knn":
        given = options(
            rng,
            note,
            n_neighbors=(1, 3, 50),
            metric=("cosine", "euclidean"),
            weights=("fuzzy", "heat", "binary"),
        )
        found = ab.similarity.knn(data, random_state=0, **given)
    elif name == "gaussian":
        given = options(rng, note, scale=(0.1, 3.0, "median"), metric=("euclidean", "cosine"))
        found = ab.similarity.gaussian(data, random_state=0, **given)
    else:
        found = ab.similarity.cosine(data, **options(rng, note, affine=(True, False)))
    checks.unchanged(before, data)
    refused_if_masked(data)
    refused_if_not_finite(X)
    _sound(found)


def graph(rng: Generator, note: Note) -> None:
    """`similarity.graph` and `similarity.dense`: the weights given, no more and no less."""
    form, data, W = inputs.graphs(rng)
    if chance(rng, 0.2):
        data, W = inputs.bad_graph(rng), None
    elif chance(rng, 0.3):
        form, data = "dense", W.copy()
    note(form)
    before = checks.frozen(data)
    found = ab.similarity.dense(data) if form == "dense" else ab.similarity.graph(data)
    checks.unchanged(before, data)
    refused_if_masked(data)
    _sound(found)
    if W is not None and form != "edges":
        i, j = np.triu_indices(len(W), 1)
        checks.require(np.allclose(found.pairs(i, j), W[i, j], rtol=1e-6, atol=0), "weights are those given")


def _sound(found: Any) -> None:
    n = found.n_points
    i, j = np.triu_indices(n, 1)
    there, back = np.asarray(found.pairs(i, j)), np.asarray(found.pairs(j, i))
    checks.require(np.isfinite(there).all(), "similarities are finite")
    checks.require(np.allclose(there, back, rtol=1e-6, atol=1e-12), "a similarity is symmetric")
    there = np.concatenate([there, _loops(found)])
    size = float(np.abs(there).sum())
    if size < 1e300:
        checks.require(
            abs(found.total - there.sum()) <= 1e-5 * size + 1e-9 * n,
            f"the total {found.total} is the sum {there.sum()}",
        )


def _loops(found: Any) -> Any:
    """Weights of a point with itself, which count in the total of a graph alone."""
    return found.self_loops if isinstance(found, ab.similarity.GraphSimilarity) else []


# ---- search ----------------------------------------------------------------------------------------------


def refine(rng: Generator, note: Note) -> None:
    """`arbora.refine` of a random tree: never worse, links and kept parts respected."""
    found, _ = inputs.similarity(rng)
    n = found.n_points
    start = inputs.tree(rng, n)
    pair = (int(rng.integers(n)), int(rng.integers(n)))
    given = options(
        rng, note, n_perturbations=(0, 2), max_sweeps=(1, 5), must_link=([pair],), cannot_link=([(0, n - 1)],),
        keep_subtrees=([int(rng.integers(start.n_nodes))],), keep_top=(1, 2, 3), n_jobs=(1, 2), n_internal=(1, 3, 100),
        objective=("dasgupta", "dasgupta", "tsd"),
    )  # fmt: skip
    note(type(found).__name__, n, "points")
    seed = int(rng.integers(100))
    tree = ab.refine(start, found, random_state=seed, **given)
    checks.valid_tree(tree, n)
    checks.links_kept(tree, given.get("must_link") or [], given.get("cannot_link") or [])
    for kept in () if given.get("keep_subtrees") is None else given["keep_subtrees"]:
        clade = checks.leaf_sets(start)[kept]
        checks.require(clade in checks.leaf_sets(tree), "a kept subtree is still a subtree")
    if given.get("n_internal") is not None:
        checks.require(tree.n_internal <= given["n_internal"], "at most n_internal internal nodes")
    elif not {"must_link", "cannot_link"} & set(given) and given.get("objective", "dasgupta") == "dasgupta":
        _not_worse(found, start, tree)
    if chance(rng, 0.3):
        checks.same_topology(tree, ab.refine(start, found, random_state=seed, **given))


def _not_worse(found: Any, start: ab.Tree, tree: ab.Tree) -> None:
    n = found.n_points
    i, j = np.triu_indices(n, 1)
    W = np.zeros((n, n))
    W[i, j] = found.pairs(i, j)
    before, after = checks.dasgupta(start, W), checks.dasgupta(tree, W)
    checks.require(
        after <= before + 1e-7 * (np.abs(W).sum() * n),
        f"refine does not make a tree worse: {before} to {after}",
    )


def predict(rng: Generator, note: Note) -> None:
    """`arbora.predict` of new points: a node or a cluster that exists for each."""
    found, X = inputs.similarity(rng)
    tree = ab.linkage(found) if X is not None and chance(rng, 0.5) else inputs.tree(rng, found.n_points)
    kind, new = inputs.numbers(rng)
    if X is not None and chance(rng, 0.8):
        new = np.resize(new, (len(new), X.shape[1]))
    note(type(found).__name__, kind, new.shape)
    given = options(rng, note, n_clusters=(1, 2), n_jobs=(1,))
    before = checks.frozen(new)
    places = ab.predict(tree, found, new, **given)
    checks.unchanged(before, new)
    checks.require(len(places) == len(new), "one place per new point")
    if given.get("n_clusters") is None:
        checks.require(all(0 <= place < tree.n_nodes for place in places), "every new point gets a node")
    else:
        # -1 is the label of a point that resembles none
        existing = range(-1, given["n_clusters"])
        checks.require(all(int(place) in existing for place in places), "every label is that of a cluster")
    refused_if_not_finite(new)


def online(rng: Generator, note: Note) -> None:
    """`OnlineTree` through points that come and go."""
    _, X = inputs.numbers(rng, tame=chance(rng, 0.7))
    model = ab.OnlineTree(similarity=one_of(rng, "cosine", "cosine", "dot"), random_state=0)
    model.partial_fit(X)
    n = len(X)
    for _ in range(int(rng.integers(1, 5))):
        action = one_of(rng, "insert", "remove", "refine", "predict", "partial_fit", "wrong")
        note(action)
        if action == "wrong":
            one_of(rng, model.remove, model.insert, model.predict, model.partial_fit)(inputs.wrong(rng))
            # some values are right for some of them
            n = model.tree_.n_leaves
        elif action == "insert":
            model.insert(X[0])
            n += 1
        elif action == "partial_fit":
            model.partial_fit(X)
            n += len(X)
        elif action == "remove" and n > 1:
            model.remove(int(rng.integers(n)))
            n -= 1
        elif action == "refine":
            model.refine(max_sweeps=2)
        elif action == "predict":
            checks.require(len(model.predict(X, n_clusters=1)) == len(X), "one label per point")
        if action != "wrong":
            checks.valid_tree(model.tree_, n)
    refused_if_not_finite(X)


# ---- estimators ------------------------------------------------------------------------------------------


def tree_clustering(rng: Generator, note: Note) -> None:
    """`TreeClustering`: fit, predict, place more points."""
    kind, data, X = inputs.vectors(rng)
    note(kind)
    k = one_of(rng, 1, 2, 3, 1000, "wrong")
    k = inputs.wrong(rng) if k == "wrong" else k
    given = options(
        rng, note, metric=("auto", "cosine", "euclidean"), n_neighbors=(2, 10), n_perturbations=(0, 1)
    )
    model = ab.TreeClustering(k, random_state=0, **given).fit(data)
    checks.valid_tree(model.tree_, None if X is None else len(X))
    checks.labels(model.labels_, model.tree_.n_leaves, k if model.tree_.is_binary else None)
    refused_if_not_finite(X)
    if X is not None:
        found = model.predict(X)
        checks.require(
            found.shape == (len(X),) and (found >= 0).all() and (found < k).all(), "labels of predict exist"
        )


ESTIMATORS: dict[str, tuple[Callable[..., Any], dict[str, tuple[Any, ...]]]] = {
    "HypHC": (
        lambda **given: ab.HypHC(**{"max_epochs": 1, "n_triples": 100, **given}),
        {"similarity": ("cosine", "knn", "gaussian"), "n_init": (1, 2), "decoder": ("exact", "greedy", "circle"),
         "init": ("spectral", "random"), "refine": (True, False), "n_neighbors": (2, 10), "engine": ("circle",)},
    ),
    "GHHC": (
        lambda **given: ab.GHHC(**{"max_steps": 2, "n_internal": 5, **given}),
        {"n_internal": (1, 5, 64), "optimizer": ("sgd", "adam"), "init": ("k-means++", "farthest", "random"),
         "init_linkage": ("ward", "average"), "batch_size": (1, 7), "projection": ("random", "learned", None)},
    ),
    "FPH": (
        lambda **given: ab.FPH(**{"max_epochs": 2, "n_internal": 4, **given}),
        {"n_internal": (1, 3, 50), "objective": ("dasgupta", "tsd"), "optimizer": ("projected", "softmax"),
         "refine": (True, False), "n_neighbors": (2, 10), "metric": ("cosine", "euclidean"), "dtype": ("float32",)},
    ),
    "TURTLE": (
        lambda **given: ab.TURTLE(**{"n_clusters": 2, "max_steps": 2, **given}),
        {"inner_steps": (1, 3), "batch_size": (5, 2000), "learning_rate": (0.1,)},
    ),
    "TEMI": (
        lambda **given: ab.TEMI(**{"n_clusters": 2, "max_steps": 2, "n_heads": 2, "n_neighbors": 3, **given}),
        {"n_neighbors": (1, 50), "hidden": (0, 4), "beta": (0.5, 1.0)},
    ),
}  # fmt: skip


def estimator(rng: Generator, note: Note) -> None:
    """One of the trained estimators, for a moment: a valid tree, labels as asked, the same again."""
    name = one_of(rng, *ESTIMATORS)
    make, choices = ESTIMATORS[name]
    note(name)
    data, X, n = _data(rng, note)
    given = options(rng, note, **choices)
    before = checks.frozen(data)
    model = make(random_state=0, n_jobs=1, **given).fit(data)
    checks.unchanged(before, data)
    refused_if_masked(data)
    refused_if_not_finite(X)
    if hasattr(model, "tree_"):
        checks.valid_tree(model.tree_, n)
        # a tree of few nodes is cut as near to the number as it can be
        checks.labels(model.labels_, model.tree_.n_leaves, 2 if model.tree_.is_binary else None)
        if chance(rng, 0.2):
            checks.same_topology(model.tree_, make(random_state=0, n_jobs=1, **given).fit(data).tree_)
    elif n is not None:
        checks.require(model.labels_.shape == (n,) and (model.labels_ >= 0).all(), "one label per point")


def l2h(rng: Generator, note: Note) -> None:
    """`L2H` of logits or probabilities: a tree over the classes, probabilities that sum to one."""
    kind, data, X = inputs.vectors(rng)
    note(kind)
    given = options(
        rng, note, n_clusters=(1, 2, None), merging=("lowest", "all_pairs"), temperature=(0.5, 3.0),
        from_probabilities=(True, False), refine=(True, False), n_bootstraps=(3, 3, "auto"),
    )  # fmt: skip
    given.setdefault("n_bootstraps", 0)
    before = checks.frozen(data)
    model = ab.L2H(random_state=0, **given).fit(data)
    checks.unchanged(before, data)
    refused_if_masked(data)
    checks.valid_tree(model.tree_, None if X is None else X.shape[1])
    refused_if_not_finite(X)
    if X is not None and model.tree_.n_leaves > 1:
        share = model.predict_proba(X, n_clusters=2)
        checks.require(np.allclose(share.sum(axis=1), 1, atol=1e-6), "probabilities sum to one")


# How often each is drawn.
CALLS: dict[Callable[[Generator, Note], None], int] = {
    cluster: 5, linkage: 4, kmeans: 1, similarity: 4, graph: 3, refine: 5, predict: 3, online: 3, tree_clustering: 3,
    estimator: 4, l2h: 3,
}  # fmt: skip
