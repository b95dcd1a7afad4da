"""TCL's losses against their definition, and its clusters under L2H."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab

torch = pytest.importorskip("torch")
from arbora.baselines.tcl import TCL, cluster_contrast, contrast  # noqa: E402


def contrast_by_definition(first, second, temperature):
    """Li et al. 2022: mean over all views of -log of the other view's share among all others."""
    rows = np.concatenate([first, second])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    n, total = len(first), 0.0
    for i in range(2 * n):
        weight = [np.exp(rows[i] @ rows[j] / temperature) for j in range(2 * n)]
        total -= np.log(weight[(i + n) % (2 * n)] / (sum(weight) - weight[i]))
    return total / (2 * n)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_the_instance_loss_equals_its_definition(temperature):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 6, 4))
    found = float(contrast(torch.as_tensor(first), torch.as_tensor(second), temperature))
    assert found == pytest.approx(contrast_by_definition(first, second, temperature))


def test_the_cluster_loss_contrasts_columns_and_rewards_their_use():
    """Li et al. 2022, of the cluster heads."""
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.ones(3), size=(2, 8))
    entropy = sum(-np.sum(p.mean(axis=0) * np.log(p.mean(axis=0))) for p in (first, second))
    found = float(cluster_contrast(torch.as_tensor(first), torch.as_tensor(second), 1.0))
    assert found == pytest.approx(contrast_by_definition(first.T, second.T, 1.0) - entropy)


def test_blobs_become_clusters_and_a_tree_over_them():
    X, y = make_blobs(200, n_features=8, centers=4, cluster_std=0.5, random_state=0)
    model = TCL(4, max_steps=150, hidden=32, learning_rate=0.01, batch_size=64, random_state=0).fit(X)
    assert ab.metrics.clustering_accuracy(y, model.labels_) > 0.9
    assert ab.L2H().fit(model.decision_function(X)).tree_.n_leaves == 4
    assert np.array_equal(model.predict(X), model.labels_)


def test_the_seed_decides_the_clusters():
    X = np.random.default_rng(0).normal(size=(40, 3))
    first, second = (TCL(3, max_steps=3, hidden=4, random_state=1).fit(X).labels_ for _ in range(2))
    assert np.array_equal(first, second)
