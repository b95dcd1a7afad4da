from itertools import combinations

import higra as hg
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, lca_by_definition, leaf_sets, random_tree, trees

from arbora import Tree
from arbora.metrics import dendrogram_purity, least_hierarchical_distance

SEEDS = st.integers(0, 2**32 - 1)


def dendrogram_purity_by_definition(tree, y, leaf_of_point):
    """The papers' formula, pair by pair, over labeled points."""
    below = leaf_sets(tree)
    labeled = [p for p in range(len(y)) if y[p] >= 0]
    purities = []
    for p, q in combinations(labeled, 2):
        if y[p] != y[q]:
            continue
        node = lca_by_definition(tree, leaf_of_point[p], leaf_of_point[q])
        members = [y[r] for r in labeled if leaf_of_point[r] in below[node]]
        purities.append(members.count(y[p]) / len(members))
    return np.mean(purities) if purities else np.nan


def lhd_by_definition(tree, leaf_of_point, y):
    """The L2H paper's formula, pair by pair."""
    terms = []
    for p, q in combinations(range(len(y)), 2):
        i, j = leaf_of_point[p], leaf_of_point[q]
        if y[p] != y[q] or y[p] < 0 or i == j:
            continue
        lca = lca_by_definition(tree, i, j)
        edges = [len(tree.ancestors(v)) - len(tree.ancestors(lca)) for v in (i, j)]
        terms.append((np.log2(sum(edges)) - 1) / (np.log2(tree.n_leaves) - 1))
    return np.mean(terms) if terms else np.nan


@st.composite
def labeled_trees(draw, min_leaves=1, unary=0.2):
    """A tree, the leaf of each point, and labels, some of them missing (but never all classes but one)."""
    tree = draw(trees(min_leaves=min_leaves, max_leaves=12, unary=unary))
    rng = np.random.default_rng(draw(SEEDS))
    n_points = draw(st.integers(2, 25))
    y = rng.integers(-1 if draw(st.booleans()) else 0, draw(st.integers(2, 5)), n_points)
    y[:2] = 0, 1
    return tree, rng.integers(0, tree.n_leaves, n_points), y


@given(trees(min_leaves=2, max_leaves=14, unary=0.2), st.integers(1, 5), SEEDS)
def test_dendrogram_purity_equals_its_definition(tree, n_classes, seed):
    y = np.random.default_rng(seed).integers(0, n_classes, tree.n_leaves)
    expected = dendrogram_purity_by_definition(tree, y, np.arange(tree.n_leaves))
    np.testing.assert_allclose(dendrogram_purity(tree, y), expected, rtol=1e-12)


@given(labeled_trees())
def test_dendrogram_purity_of_points_in_leaves_equals_its_definition(case):
    tree, leaf_of_point, y = case
    expected = dendrogram_purity_by_definition(tree, y, leaf_of_point)
    np.testing.assert_allclose(dendrogram_purity(tree, y, leaf_of_point), expected, rtol=1e-12)


@pytest.mark.parametrize(("n", "n_classes", "branching"), [(50, 3, 2), (300, 17, 5), (1000, 200, 2)])
def test_dendrogram_purity_agrees_with_higra(n, n_classes, branching):
    rng = np.random.default_rng(n)
    tree = random_tree(n, rng, max_branching=branching)
    y = rng.integers(0, n_classes, n)
    parent = np.where(tree.parent < 0, tree.root, tree.parent)  # higra's root is its own parent
    assert dendrogram_purity(tree, y) == pytest.approx(hg.dendrogram_purity(hg.Tree(parent), y), rel=1e-12)


def test_dendrogram_purity_is_one_when_classes_are_subtrees_and_the_class_share_on_a_star():
    tree = random_tree(200, np.random.default_rng(1))
    assert dendrogram_purity(tree, tree.leaf_start[:200] < tree.sizes[tree.children(tree.root)[0]]) == 1
    star = Tree([10] * 10 + [-1], n_leaves=10)
    assert dendrogram_purity(star, [0] * 6 + [1] * 4) == pytest.approx((15 * 0.6 + 6 * 0.4) / 21)


def test_dendrogram_purity_of_a_long_chain_needs_no_recursion():
    n = 200_000
    y = np.arange(n) % 2
    assert dendrogram_purity(chain(n), y) == pytest.approx(0.5, abs=1e-4)


def test_unlabeled_points_count_as_absent():
    rng = np.random.default_rng(0)
    tree = random_tree(40, rng)
    y = rng.integers(0, 3, 40).astype(float)
    y[::4] = np.nan
    kept = np.flatnonzero(~np.isnan(y))
    expected = dendrogram_purity_by_definition(tree, np.nan_to_num(y, nan=-1), np.arange(40))
    assert dendrogram_purity(tree, y) == pytest.approx(expected)
    assert dendrogram_purity(tree, np.nan_to_num(y, nan=-1).astype(int)) == pytest.approx(expected)
    words = np.array(["cat", "dog", "eel", None], dtype=object)[np.nan_to_num(y, nan=3).astype(int)]
    assert dendrogram_purity(tree, words) == pytest.approx(expected)
    assert dendrogram_purity(tree, y[kept], leaf_of_point=kept) == pytest.approx(expected)


def test_missing_labels_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    expected = dendrogram_purity(chain(4), [0, 0, -1, 1])
    assert dendrogram_purity(chain(4), pandas.Series([5, 5, None, 7], dtype="Int64")) == expected
    assert dendrogram_purity(chain(4), pandas.Categorical(["a", "a", None, "b"])) == expected


@given(labeled_trees(min_leaves=3))
def test_least_hierarchical_distance_equals_its_definition(case):
    tree, leaf_of_point, y = case
    expected = lhd_by_definition(tree, leaf_of_point, y)
    np.testing.assert_allclose(least_hierarchical_distance(tree, y, leaf_of_point), expected, atol=1e-12)


def test_least_hierarchical_distance_ranges_from_siblings_to_the_ends_of_a_chain():
    tree = chain(8)
    assert least_hierarchical_distance(tree, [5, 5], [0, 1]) == 0
    assert least_hierarchical_distance(tree, [5, 5], [0, 7]) == pytest.approx(1)
    assert least_hierarchical_distance(chain(2), ["a", "a"]) == 0
    assert np.isnan(least_hierarchical_distance(tree, [0, 0, 1], [3, 3, 4]))


def test_purities_without_a_pair_are_nan():
    one = random_tree(1, np.random.default_rng(0))
    assert np.isnan(dendrogram_purity(one, ["a"]))
    assert np.isnan(dendrogram_purity(chain(3), [0, 1, 2]))
    assert np.isnan(dendrogram_purity(chain(3), [np.nan, np.nan, np.nan]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: dendrogram_purity(t, [0, 1, 1]), ValueError, r"3 labels and 4 leaves"),
        (lambda t: dendrogram_purity(t, [0, 1], [0, 1, 2]), ValueError, r"equally long. Got 3 and 2"),
        (lambda t: dendrogram_purity(t, [0, 1], [0, 4]), ValueError, r"\[0, n_leaves=4\). Got 0..4"),
        (lambda t: dendrogram_purity(t, [0, 1], [0.0, 1.0]), TypeError, r"leaf numbers. Got dtype float64"),
        (lambda t: dendrogram_purity(t, [[0, 1], [1, 1]]), ValueError, r"shape \(2, 2\)"),
        (lambda t: dendrogram_purity(t, [0, 1, np.inf, 1]), ValueError, r"infinity. Point 2"),
        (lambda t: dendrogram_purity(t, [-1, 1, -1, 1]), ValueError, r"one class, 1, besides -1"),
        (lambda t: dendrogram_purity(t, np.array([1, "a", None, 2], dtype=object)), TypeError, r"mixture"),
        (lambda t: dendrogram_purity(t, np.zeros(4, dtype=complex)), TypeError, r"dtype complex128"),
        (lambda t: least_hierarchical_distance(t, [0, 1], [0, 1, 2]), ValueError, r"Got 3 and 2"),
    ],
)
def test_bad_labels_are_refused_with_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call(chain(4))
