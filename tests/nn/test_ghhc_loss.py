"""The module and the hand-derived gradients of the estimator are one cost."""

import ghhc_worlds as worlds
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from arbora.hyperbolic.ghhc import model  # noqa: E402
from arbora.hyperbolic.ghhc.distances import NodeTable  # noqa: E402
from arbora.hyperbolic.ghhc.objectives import margin_cost, ranking_cost  # noqa: E402
from arbora.hyperbolic.optim import RiemannianAdam  # noqa: E402
from arbora.metrics import dendrogram_purity  # noqa: E402
from arbora.nn import GHHCLoss  # noqa: E402


def world(seed, n_nodes=9, **settings):
    rng = np.random.default_rng(seed)
    points = worlds.random_points(rng, 20, norm=0.8)
    loss = GHHCLoss(n_nodes, 4, **settings).double()
    with torch.no_grad():
        loss.nodes.copy_(torch.from_numpy(worlds.random_nodes(rng, n_nodes)))
    triples = np.stack([rng.permutation(20)[:3] for _ in range(12)])
    return loss, torch.from_numpy(points).requires_grad_(), triples


@pytest.mark.parametrize("n_candidates", [None, 6])
@pytest.mark.parametrize("seed", range(3))
def test_autograd_gives_the_hand_derived_gradients(seed, n_candidates):
    loss, points, triples = world(seed, temperature=0.5, n_candidates=n_candidates)
    value = loss.ranking(points, torch.from_numpy(triples))
    value.backward()
    table = NodeTable(loss.nodes.detach().numpy())
    batch = points.detach().numpy()[triples.T]
    found = ranking_cost(table, batch, temperature=0.5, n_candidates=n_candidates, with_points=True)
    assert value.item() == pytest.approx(found.cost.mean() - 1.5 * 9)
    nodes = np.zeros_like(table.nodes)
    nodes[found.nodes.rows] = found.nodes.values / len(triples)
    np.testing.assert_allclose(loss.nodes.grad.numpy(), nodes, atol=1e-9)
    by_points = np.zeros((20, 4))
    np.add.at(by_points, triples.T.ravel(), found.points.reshape(-1, 4) / len(triples))
    np.testing.assert_allclose(points.grad.numpy(), by_points, atol=1e-9)


def test_margin_cost_and_its_gradient_are_those_of_the_estimator():
    loss, _, _ = world(4, margin=0.3)
    loss.margin_cost().backward()
    table = NodeTable(loss.nodes.detach().numpy())
    parent = model.node_parents(table)
    children = np.flatnonzero(parent >= 0)
    cost, gradient = margin_cost(table, children, parent[children], 0.3)
    assert loss.margin_cost().item() == pytest.approx(cost)
    np.testing.assert_allclose(loss.nodes.grad.numpy()[gradient.rows], gradient.values, atol=1e-9)


def test_training_embeddings_and_nodes_together_separates_the_classes():
    rng = np.random.default_rng(0)
    data, label = worlds.blobs(rng, [15, 15], dimension=4, spread=0.6)
    start = torch.from_numpy(0.7 * data / np.linalg.norm(data, axis=1, keepdims=True))
    points = start.clone().requires_grad_()
    loss = GHHCLoss(7, 4).double().start_from(start, random_state=0)
    optimizer = RiemannianAdam([{"params": [points]}, {"params": loss.parameters()}], lr=0.02)
    triples = []
    for _ in range(200):
        i, j = rng.choice(np.flatnonzero(label == label[rng.integers(30)]), 2, replace=False)
        k = rng.choice(np.flatnonzero(label != label[i]))
        triples.append([i, j, k])
    triples = torch.tensor(triples)
    before, purity = loss(points, triples).item(), dendrogram_purity(loss.tree(points), label)
    for _ in range(60):
        optimizer.zero_grad()
        loss(points, triples).backward()
        optimizer.step()
    assert loss(points, triples).item() < before - 0.1
    assert (points.norm(dim=1) < 1).all()
    assert dendrogram_purity(loss.tree(points), label) > purity + 0.05


def test_wrong_shapes_are_refused():
    loss = GHHCLoss(3, 2)
    with pytest.raises(ValueError, match="triples must have shape"):
        loss(torch.zeros(4, 2), torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match="embeddings must have 2 columns"):
        loss(torch.zeros(4, 3), torch.zeros(4, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="temperature must be positive"):
        GHHCLoss(3, 2, temperature=0.0)
