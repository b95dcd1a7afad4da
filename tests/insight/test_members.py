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


def test_many_clusters_are_summed_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    similarity = ab.similarity.dense(np.corrcoef(rng.normal(size=(30, 50))) ** 2)
    labels = rng.integers(0, 12, 30)
    whole = ab.insight.outlier_scores(similarity, labels)
    central = ab.insight.exemplars(similarity, labels)
    monkeypatch.setattr("arbora.insight.members._BLOCK", 5)
    np.testing.assert_array_equal(ab.insight.outlier_scores(similarity, labels), whole)
    for label, members in ab.insight.exemplars(similarity, labels).items():
        np.testing.assert_array_equal(members, central[label])


def test_clusters_may_have_any_numbers_and_noise_is_nobodys():
    similarity = ab.similarity.graph(([0, 1, 2, 3], [1, 2, 3, 4]))
    found = ab.insight.exemplars(similarity, np.array([7, 7, 7, -1, -1]), 9)
    assert found.keys() == {7} and sorted(found[7]) == [0, 1, 2] and found[7][0] == 1
    assert ab.insight.outlier_scores(similarity, [7, 7, 7, -1, -1])[3:].tolist() == [1.0, 1.0]
    assert ab.insight.exemplars(similarity, [-1] * 5) == {}


@pytest.mark.parametrize("labels", [[0, 1], [[0, 1, 0, 1, 0]], ["a"] * 5, [0.0] * 5])
def test_labels_are_one_whole_number_per_point(labels):
    similarity = ab.similarity.graph(([0, 1, 2, 3], [1, 2, 3, 4]))
    for function in (ab.insight.exemplars, ab.insight.outlier_scores):
        with pytest.raises(ValueError, match="labels must hold one whole number per point, 5"):
            function(similarity, labels)


def test_at_least_one_exemplar_is_asked_for():
    with pytest.raises(ValueError, match="n_exemplars must be at least 1"):
        ab.insight.exemplars(ab.similarity.graph(([0], [1])), [0, 0], 0)


@pytest.mark.parametrize("kind", ["graph", "dense"])
@given(st.integers(2, 12), st.integers(0, 99))
def test_similar_points_are_those_of_the_largest_similarity(kind, n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(0, 4, (n, n)).astype(float), 1)
    W = W + W.T + 3 * np.eye(n)
    similarity = ab.similarity.graph(sp.csr_array(W)) if kind == "graph" else ab.similarity.dense(W)
    for point, found in zip(range(n), ab.insight.similar(similarity, range(n), 3), strict=True):
        expected = sorted((-W[point, k], k) for k in range(n) if k != point and W[point, k] > 0)[:3]
        assert [(-one.similarity, one.point) for one in found] == expected


def test_similar_points_are_asked_for_by_number():
    similarity = ab.similarity.graph(([0], [1]))
    with pytest.raises(ValueError, match="points"):
        ab.insight.similar(similarity, [2])
    with pytest.raises(ValueError, match="n_similar"):
        ab.insight.similar(similarity, [0], 0)
