"""Which features tell most about the largest splits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.insight import telling_features
from arbora.insight.telling import _effects, _sides


def cells(n=60, seed=0):
    """Three types with a marker each, among genes of noise; the first split is type 0 against the others."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(np.arange(3), n // 3)
    X = rng.normal(size=(n, 20))
    X[:, 4] += 9 * (kind == 0)
    X[:, 7] += 6 * (kind == 1)
    return X, ab.linkage(X[:, [4, 7]], "ward")


def test_each_of_the_largest_splits_gives_its_marker_first():
    X, tree = cells()
    names = [f"g{k}" for k in range(20)]
    assert telling_features(tree, X, names, n_features=2, n_splits=2) == ["g4", "g7"]
    assert telling_features(tree, X, n_features=2, n_splits=2) == ["4", "7"]


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, lambda X: X.astype(np.float32)])
def test_sparse_and_narrow_numbers_tell_the_same(form):
    X, tree = cells()
    X = np.maximum(X, 0)
    assert telling_features(tree, form(X)) == telling_features(tree, X)


def test_effects_are_differences_of_means_in_pooled_deviations(monkeypatch):
    monkeypatch.setattr("arbora.insight.telling._ROWS", 7)
    X, tree = cells()
    sides = _sides(tree, 5)
    for (child, parent), found in zip(sides, _effects(tree, X, sides), strict=True):
        inside, outside = X[tree.leaves(child)], X[np.setdiff1d(tree.leaves(parent), tree.leaves(child))]
        pooled = np.sqrt(
            (len(inside) * inside.var(0) + len(outside) * outside.var(0)) / (len(inside) + len(outside))
        )
        expected = np.abs(inside.mean(0) - outside.mean(0)) / np.where(pooled > 0, pooled, 1)
        several = pooled > 1e-9
        assert found[several] == pytest.approx(expected[several])


def test_outliers_at_the_top_are_no_large_split():
    X, tree = cells()
    X = np.vstack([X, np.full((1, 20), 500.0)])
    tree = ab.linkage(X[:, [4, 7]], "average")
    assert telling_features(tree, X, n_features=1, n_splits=1) == ["4"]


def test_features_that_never_vary_tell_nothing_and_wrong_shapes_are_refused():
    X, tree = cells()
    assert telling_features(tree, np.ones((60, 3))) == []
    with pytest.raises(ValueError, match="one row per leaf"):
        telling_features(tree, X[:50])
    with pytest.raises(ValueError, match="20 columns"):
        telling_features(tree, X, ["a"])
