"""Options of `cluster` and `TreeClustering` in combination: both work alike, or refuse alike, for every pair."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pairs import covering_table, name_of
from scipy.spatial.distance import pdist

import arbora as ab

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)) + 5 * np.repeat(np.eye(4)[:3], 8, axis=0)
W = np.triu(RNG.random((N, N)) * (RNG.random((N, N)) < 0.4), 1)
DATA = {
    "array": X,
    "float32": X.astype(np.float32),
    "frame": pd.DataFrame(X, columns=list("abcd"), index=[f"row {k}" for k in range(N)]),
    "chunks": [X[:10], X[10:]],
    "sparse rows": sp.csr_array(np.where(np.abs(X) > 0.5, X, 0)),
    "graph": sp.csr_array(W + W.T),
    "one-way graph": sp.csr_array(W),
    "edges": tuple(np.nonzero(W)),
    "similarity": ab.similarity.cosine(X),
    "distances": pdist(X),
}
VECTORS = ("array", "float32", "frame", "chunks", "sparse rows")
OPTIONS = {
    "data": tuple(DATA),
    "metric": ("auto", "cosine", "euclidean", "precomputed"),
    "similarity": ("auto", "knn", "cosine"),
    "scale": ("auto", "standard", "robust", "rank", "components", "none"),
    "n_neighbors": (3, 10),
    "n_perturbations": (None, 0, 2),
    "directed": (None, "mean"),
    "n_jobs": (1, 2),
    "random_state": (0, 7),
}
TABLE = covering_table(OPTIONS)


def must_work(case):
    """Whether the combination makes sense beyond doubt."""
    if case["data"] == "distances":
        is_compared = case["metric"] == "precomputed" and case["similarity"] != "cosine"
        return is_compared and case["directed"] is None and case["scale"] in ("auto", "none")
    if case["metric"] == "precomputed":
        return False
    if case["data"] in VECTORS:
        is_plain = case["data"] != "sparse rows" or case["scale"] in ("auto", "none")
        pairs_of_distances = case["similarity"] == "cosine" and case["metric"] != "cosine"
        return case["directed"] is None and is_plain and not pairs_of_distances
    return False


def outcome(call):
    """A tree, or how it was refused."""
    try:
        return call()
    except (ValueError, TypeError) as problem:
        return type(problem), str(problem).replace("X", "data")


@pytest.mark.parametrize("number", range(len(TABLE)), ids=[name_of(case) for case in TABLE])
def test_every_pair_of_options_gives_the_same_tree_by_function_and_estimator_or_is_refused_by_both(number):
    case = dict(TABLE[number])
    data = DATA[case.pop("data")]
    tree = outcome(lambda: ab.cluster(data, **case))
    same = outcome(lambda: ab.TreeClustering(3, **case).fit(data).tree_)
    if isinstance(tree, ab.Tree):
        assert tree == same and tree.n_leaves == N and tree.is_binary
        assert np.isfinite(tree.height).all()
        assert (tree.height[tree.parent[:-1]] >= tree.height[:-1] - 1e-9).all()
        assert tree == ab.cluster(data, **{**case, "n_jobs": 3 - case["n_jobs"]}), "threads change nothing"
    else:
        assert not must_work(TABLE[number]), tree
        assert not isinstance(same, ab.Tree) and same[0] is tree[0]
        assert tree[1].endswith(".") and len(tree[1]) > 20, "a sentence"


@pytest.mark.parametrize("kind", VECTORS)
def test_what_was_given_stays_as_it_is(kind):
    data = DATA[kind]
    before = [chunk.copy() for chunk in data] if kind == "chunks" else data.copy()
    for scale in ("standard", "rank") if kind != "sparse rows" else ("none",):
        ab.cluster(data, scale=scale, random_state=0)
    if kind == "chunks":
        assert all((a == b).all() for a, b in zip(before, data))
    elif kind == "sparse rows":
        assert (before != data).nnz == 0
    else:
        assert (np.asarray(before) == np.asarray(data)).all()


def test_names_of_rows_go_to_the_leaves_whatever_else_is_chosen():
    for options in (
        {},
        {"metric": "cosine"},
        {"scale": "rank"},
        {"similarity": "cosine", "metric": "cosine"},
    ):
        tree = ab.cluster(DATA["frame"], random_state=0, **options)
        assert [tree.label(leaf) for leaf in range(3)] == ["row 0", "row 1", "row 2"]


@pytest.mark.parametrize("one", ["array", "frame", "chunks"])
def test_the_same_numbers_give_the_same_tree_in_every_form(one):
    trees = [ab.cluster(DATA[kind], random_state=0) for kind in ("array", one)]
    assert trees[0].same_topology(trees[1].replace(name=None))
