"""scikit-learn's own checks on every estimator."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import arbora as ab

ESTIMATORS = [
    ab.TreeClustering(random_state=0),
    ab.OnlineTree(random_state=0),
    ab.GHHC(n_internal=15, max_steps=20, random_state=0),
    ab.HypHC(max_epochs=10, n_triples=2000, random_state=0),
    ab.FPH(n_internal=32, max_epochs=20),
    ab.L2H(n_bootstraps=2),
    ab.TURTLE(max_steps=60, inner_steps=3, learning_rate=1e-2, inner_learning_rate=1e-2),
    ab.TEMI(max_steps=60, n_heads=2),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, xfail_strict=True)
def test_scikit_learn_check(estimator, check):
    check(estimator)
