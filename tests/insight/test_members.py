import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import arbora as ab


@given(st.integers(2, 12), st.integers(0, 99))
def test_scores_equal_their_definition(n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    W = W + W.T
    labels = rng.integers(-1, 3, size=n)
    similarity = ab.similarity.graph(sp.csr_array(W))
    inside = np.array([W[i, labels == labels[i]].sum() for i in range(n)])
    degree = W.sum(axis=1)
    expected = np.where((labels < 0) | (degree == 0), 1.0, 1 - inside / np.where(degree > 0, degree, 1))
    assert ab.insight.outlier_scores(similarity, labels) == pytest.approx(expected)
    for label, members in ab.insight.exemplars(similarity, labels, 2).items():
        assert set(labels[members]) == {label}
        assert inside[members[0]] == pytest.approx(inside[labels == label].max())


def test_wrong_labels_are_refused():
    similarity = ab.similarity.graph(([0], [1]))
    with pytest.raises(ValueError, match="one whole number per point"):
        ab.insight.exemplars(similarity, [0.5, 1.0])
