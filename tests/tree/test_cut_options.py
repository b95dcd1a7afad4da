"""Options of `Tree.cut` and `Tree.taxonomy` in combination: every pair, each result checked by plain properties."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import covering_table, name_of
from trees import leaf_sets, random_tree

import arbora as ab

N = 30
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3)) + 4 * np.repeat(np.eye(3), 10, axis=0)
W = np.triu(RNG.random((N, N)) * (RNG.random((N, N)) < 0.5), 1)
GRAPH = ab.similarity.graph(sp.csr_array(W + W.T))
TREES = {
    "binary": ab.linkage(X, "average"),
    "binary without heights": random_tree(N, RNG),
    "wide": random_tree(N, RNG, max_branching=5),
}
OPTIONS = {
    "tree": tuple(TREES),
    "n_clusters": (None, 1, 4, 30, "auto"),
    "height": (None, 2.0),
    "max_size": (None, 7),
    "min_size": (None, 1, 3, "auto"),
    "by": ("height", "information", "modularity", "density", "variance", "balance"),
    "similarity": (None, "given"),
    "data": (None, "given"),
    "exact": ("raise", "nearest", "binarize"),
    "outliers": (False, True),
}


def is_sensible(case):
    """Whether the combination asks for one cut, and brings what that needs."""
    criteria = [case[name] for name in ("n_clusters", "height", "max_size") if case[name] is not None]
    if case["n_clusters"] is None:
        alone = len(criteria) + (case["min_size"] is not None) == 1
        return alone and case["by"] == "height" and not case["outliers"] and case["min_size"] != "auto"
    needs = {"information": "similarity", "modularity": "similarity", "variance": "data"}
    given_enough = case["by"] not in needs or case[needs[case["by"]]] is not None
    return len(criteria) == 1 and given_enough


SENSIBLE = covering_table(OPTIONS, is_sensible, n_drawn=20_000)
# one thing wrong at a time, among things that are right
WRONG = covering_table(OPTIONS, lambda case: not is_sensible(case), n_drawn=1500)


def cut(case):
    options = dict(case)
    tree = TREES[options.pop("tree")]
    if options["similarity"]:
        options["similarity"] = GRAPH
    if options["data"]:
        options["data"] = X
    return tree, tree.cut(**options)


def check_labels(labels, outliers):
    """Numbers from 0 in the order of first leaves; -1 for outliers alone."""
    known = labels[labels >= 0]
    first = [int(np.flatnonzero(labels == k)[0]) for k in range(known.max(initial=-1) + 1)]
    assert first == sorted(first) and labels.min(initial=0) >= (-1 if outliers else 0)
    return len(first)


@pytest.mark.parametrize("number", range(len(SENSIBLE)), ids=[name_of(case) for case in SENSIBLE])
def test_every_pair_of_options_that_go_together_gives_the_cut_that_was_asked_for(number):
    case = SENSIBLE[number]
    try:
        tree, labels = cut(case)
    except ValueError as problem:
        # a number that no cut has, or an objective that cannot find one
        assert any(word in str(problem) for word in ("n_clusters", "min_size", "exact", "by=", "similarity"))
        is_plain = case["tree"] != "wide" and case["n_clusters"] in (1, 4) and case["min_size"] in (None, 1)
        assert not (is_plain and case["by"] in ("height", "balance")), problem
        return
    n_found = check_labels(labels, case["outliers"])
    if isinstance(case["n_clusters"], int) and case["exact"] != "nearest":
        assert n_found == case["n_clusters"]
    if case["height"] is not None and tree.height is not None:
        for k in range(n_found):
            members = np.flatnonzero(labels == k)
            assert all(
                tree.height[tree.lca(int(members[0]), int(other))] <= case["height"] for other in members[1:]
            )
    if case["max_size"] is not None:
        assert np.bincount(labels).max() <= case["max_size"] or tree.n_children.max() > 2
    if isinstance(case["min_size"], int) and case["n_clusters"] != 30:
        assert np.bincount(labels[labels >= 0]).min() >= case["min_size"]
    np.testing.assert_array_equal(cut(case)[1], labels)


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[name_of(case) for case in WRONG])
def test_options_that_do_not_go_together_are_refused_or_not_needed(number):
    case = WRONG[number]
    try:
        _, labels = cut(case)
    except (ValueError, TypeError) as problem:
        assert str(problem).endswith(".") and any(name in str(problem) for name in OPTIONS)
        return
    check_labels(labels, case["outliers"])
    criteria = sum(case[name] is not None for name in ("n_clusters", "height", "max_size"))
    assert criteria <= 1, "two criteria are one too many"


@settings(max_examples=40)
@given(
    st.integers(6, 25),
    st.integers(0, 1000),
    st.sampled_from(["height", "density", "balance"]),
    st.sampled_from(["auto", 1]),
    st.booleans(),
)
def test_a_taxonomy_nests_and_has_the_levels_of_every_combination(n, seed, by, min_size, has_heights):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    if has_heights:
        tree = tree.replace(height=np.maximum(tree.sizes - 1, 0) * 1.5)
    levels = [2, min(4, n // 2)] if n >= 8 else [2]
    found = tree.taxonomy(levels, by=by, min_size=min_size)
    assert found.n_leaves == n
    depths = found.depths
    assert len(set(depths[:n])) == 1, "every leaf lies equally deep"
    assert [int((depths[n:] == d + 1).sum()) for d in range(len(levels))] == levels
    sets = leaf_sets(found)
    for node in range(n, found.n_nodes - 1):
        assert sets[node] <= sets[found.parent[node]]


@pytest.mark.parametrize(
    ("levels", "options", "error", "message"),
    [
        (3, {}, TypeError, "n_clusters must be a list of increasing numbers"),
        ("3", {}, TypeError, "n_clusters must be a list"),
        ([], {}, ValueError, "n_clusters must be a list of increasing numbers"),
        ([3, 3], {}, ValueError, r"Got \[3, 3\]"),
        ([5, 2], {}, ValueError, r"Got \[5, 2\]"),
        ([2, 31], {}, ValueError, "n_clusters"),
        ([2.5], {}, TypeError, "n_clusters must be a whole number"),
        ([2], {"by": "modularity"}, ValueError, "by must be one of 'height', 'density', 'balance'"),
        ([2], {"min_size": 0}, ValueError, "min_size"),
    ],
)
def test_levels_that_make_no_taxonomy_are_refused(levels, options, error, message):
    with pytest.raises(error, match=message):
        TREES["binary"].taxonomy(levels, **options)
