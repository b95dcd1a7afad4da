"""The figures of a clustering."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs

import arbora as ab

X, _ = make_blobs(120, n_features=4, centers=3, cluster_std=0.5, random_state=0)


def test_the_report_holds_costs_on_the_similarity_and_bounds_when_asked_for():
    model = ab.TreeClustering(3, random_state=0).fit(X)
    report = model.report_
    assert report.cost_after == pytest.approx(
        ab.metrics.dasgupta_cost(model.tree_, model.similarity_, normalize=True)
    )
    lower, upper = report.bounds()
    assert lower <= report.cost_after <= report.cost_before <= upper
    assert set(report.seconds) == {"similarity", "average linkage", "refine", "components"}
    assert "120 vectors of 4 features" in str(report)


def test_the_report_names_components_the_largest_cluster_and_what_was_chosen():
    points = np.r_[X[:40] + 100, X[40:60] - 100, [[3e4, 0, 0, 0], [3.001e4, 0, 0, 0]]]
    model = ab.TreeClustering(2, metric="euclidean", n_neighbors=1, random_state=0).fit(points)
    report = model.report_
    n_components = connected_components(model.similarity_.csr, directed=False)[0]
    assert report.n_components == n_components > 2
    assert report.n_clusters == 2 and report.largest_share == np.bincount(model.labels_).max() / 62
    assert report.choices["n_perturbations"].startswith("8 ")
    assert f"{n_components} components" in str(report) and "97%" in str(report)
    assert ab.TreeClustering(n_perturbations=0).fit(ab.similarity.cosine(X)).report_.choices == {}
    assert ab.TreeClustering(n_perturbations=0).fit(ab.similarity.cosine(X)).report_.n_components is None


def test_a_tree_far_deeper_than_usual_is_perturbed_less_by_default():
    leaves = np.arange(1, 2501)
    star = ab.similarity.graph((np.zeros_like(leaves), leaves, np.ones(2500)))
    model = ab.TreeClustering(2, random_state=0).fit(star)
    assert model.report_.choices["n_perturbations"] == "0 (suits 2,501 points, 1,251 deep in the mean)"
    # every chain with the center at its bottom is a best tree: its leaves meet the center at sizes 2, 3, ... 2,501
    assert ab.metrics.dasgupta_cost(model.tree_, star) == 2501 * 2502 / 2 - 1


def test_verbose_prints_the_report_with_the_largest_cluster(capsys):
    ab.TreeClustering(3, random_state=0, verbose=True).fit(X)
    assert "the largest of 3 clusters holds" in capsys.readouterr().err


def test_one_point_and_nothing_similar_have_a_report():
    assert ab.TreeClustering(1).fit([[1.0, 2.0]]).report_.bounds() == (0.0, 0.0)
    nothing = ab.TreeClustering(1).fit(ab.similarity.dense(np.zeros((4, 4)))).report_
    assert nothing.gain == 0.0 and nothing.bounds() == (nothing.cost_after, nothing.cost_after)
