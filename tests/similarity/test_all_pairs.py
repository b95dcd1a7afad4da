"""A few points: every pair counts, and being the nearest is not enough."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import arbora as ab
from arbora.similarity import all_pairs, are_few, knn

TWINS = [
    *([1.0, 0.0, 0.0], [0.95, 0.2, 0.0]),
    *([0.0, 1.0, 0.0], [0.1, 0.97, 0.0]),
    *([0.0, 0.0, 1.0], [0.0, 0.2, 0.95]),
    *([-1.0, 0.1, 0.0], [-0.9, 0.0, 0.2]),
]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_it_is_the_gaussian_of_half_the_median_distance(metric):
    X = np.random.default_rng(0).normal(size=(12, 3)) + 0.3
    D = pdist(X) if metric == "euclidean" else np.sqrt(2 * pdist(X, "cosine"))
    expected = np.exp(-0.5 * (D / (np.median(D) / 2)) ** 2)
    similarity = all_pairs(X, metric)
    np.testing.assert_allclose(similarity.pairs(*np.triu_indices(12, 1)), expected, rtol=1e-6)
    np.testing.assert_allclose(
        similarity.query(X[:3] * (1 if metric == "euclidean" else 7)).toarray(),
        similarity.rows([0, 1, 2]),
        rtol=1e-6,
    )


def test_distances_given_are_taken():
    X = np.random.default_rng(0).normal(size=(9, 2))
    expected = all_pairs(X, "euclidean").rows(np.arange(9))
    for D in (pdist(X), squareform(pdist(X))):
        np.testing.assert_allclose(all_pairs(D, "precomputed").rows(np.arange(9)), expected, rtol=1e-9)


def test_the_nearest_neighbor_of_a_lone_point_is_not_like_it():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [9.0]])
    assert knn(X, 3, "euclidean").pairs(4, 5) == 1
    similarity = all_pairs(X, "euclidean")
    assert similarity.pairs(4, 5) < 0.3 and similarity.pairs(0, 3) > 0.9


def test_points_that_are_all_equal_are_all_alike():
    for metric in ("euclidean", "cosine"):
        assert all_pairs(np.ones((4, 2)), metric).total == 6
    assert all_pairs(np.zeros((4, 4)), "precomputed").total == 6
    with pytest.raises(ValueError, match="metric must be one of"):
        all_pairs(np.ones((4, 2)), "manhattan")


def test_cluster_takes_all_pairs_of_a_few_points_and_neighbors_of_more():
    assert are_few(20, 10) and not are_few(21, 10)
    X = np.random.default_rng(0).normal(size=(21, 4))
    few = ab.TreeClustering(random_state=0).fit(X[:20])
    assert (
        few.similarity_.csr is None and ab.TreeClustering(random_state=0).fit(X).similarity_.csr is not None
    )
    assert few.predict(X[20:]).shape == (1,)
    # means of four pairs of groups, one pair far from the others: no group is torn from its twin
    centers = np.array(TWINS)
    tree = ab.cluster(centers, random_state=0)
    assert {tuple(sorted(tree.leaves(node))) for node in range(8, tree.n_nodes)} >= {
        (0, 1),
        (2, 3),
        (4, 5),
        (6, 7),
    }
