import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree

import arbora as ab
from arbora.hyperbolic import poincare
from arbora.hyperbolic.optim import RiemannianAdam
from arbora.hyperbolic.sarkar import sarkar_embedding
from arbora.nn import HypHCLoss, PoincareEmbedding


def loss_by_definition(points, triples, weights, temperature):
    """Eq. 9 per triple, with the depth of the nearest of many points of the path."""
    total = 0.0
    for (i, j, k), (w_ij, w_ik, w_jk) in zip(triples.tolist(), weights.tolist()):
        depths = []
        for a, b in ((i, j), (i, k), (j, k)):
            t = torch.linspace(0, 1, 1001, dtype=torch.float64)
            path = poincare.geodesic(points[a].expand(1001, -1), points[b].expand(1001, -1), t)
            depths.append(float(poincare.norm(path).min()))
        share = np.exp(np.array(depths) / temperature)
        share /= share.sum()
        total += w_ij + w_ik + w_jk - float(share @ [w_ij, w_ik, w_jk])
    return total


@settings(max_examples=12)
@given(st.integers(0, 99), st.integers(2, 5))
def test_loss_equals_its_definition(seed, dimension):
    rng = np.random.default_rng(seed)
    points = poincare.at_radius(
        torch.tensor(rng.normal(size=(5, dimension))), torch.tensor(2 * rng.random(5))
    )
    triples = torch.tensor([[0, 1, 2], [4, 3, 1]])
    weights = torch.tensor(rng.random((2, 3)))
    expected = loss_by_definition(points, triples, weights, 0.5)
    assert HypHCLoss(0.5, reduction="sum")(points, triples, weights).item() == pytest.approx(
        expected, abs=1e-4
    )
    assert HypHCLoss(0.5)(points, triples, weights).item() == pytest.approx(expected / 2, abs=1e-3)


@settings(max_examples=20)
@given(st.integers(0, 99), st.integers(3, 8))
def test_on_a_spread_embedding_the_sum_over_all_triples_is_the_discrete_cost(seed, n):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    similarity = ab.similarity.cosine(rng.normal(size=(n, 3)))
    triples = np.array(list(itertools.combinations(range(n), 3)))
    i, j, k = triples.T
    w = np.column_stack([similarity.pairs(i, j), similarity.pairs(i, k), similarity.pairs(j, k)])
    points = torch.tensor(sarkar_embedding(tree)[:n])
    soft = HypHCLoss(0.01, reduction="sum")(points, torch.tensor(triples), torch.tensor(w)).item()
    assert soft + 2 * similarity.total == pytest.approx(ab.metrics.dasgupta_cost(tree, similarity), rel=1e-6)


def test_a_training_loop_separates_two_groups():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0) + 0.05 * np.random.default_rng(0).normal(size=(12, 2))
    similarity = ab.similarity.cosine(X)
    table = PoincareEmbedding(12, 3, generator=torch.Generator().manual_seed(0))
    loss_of, optimizer = HypHCLoss(0.2, radius=3.0), RiemannianAdam(table.parameters(), lr=0.05)
    from arbora.hyperbolic.hyphc.decode import decode
    from arbora.hyperbolic.hyphc.triples import TripleSampler

    for epoch in range(60):
        for triples, weights in TripleSampler(similarity).blocks(epoch):
            optimizer.zero_grad()
            loss_of(table.weight, torch.tensor(triples), torch.tensor(weights)).backward()
            optimizer.step()
    labels = decode(table.at_radius(3.0).detach().numpy()).cut(n_clusters=2)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 6))


def test_gradients_are_finite_where_all_leaves_coincide():
    points = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    HypHCLoss(0.01)(points, torch.tensor([[0, 1, 2]]), torch.tensor([[1.0, 0.0, 0.5]])).backward()
    assert torch.isfinite(points.grad).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_loss_works_on_a_gpu():
    points = torch.rand(6, 2, device="cuda") / 2
    triples = torch.tensor([[0, 1, 2]], device="cuda")
    assert HypHCLoss()(points, triples, torch.rand(1, 3, device="cuda")).device.type == "cuda"


def test_no_device_is_assumed():
    points = torch.rand(6, 2, device="meta")
    loss = HypHCLoss(check=False)(
        points, torch.zeros(4, 3, dtype=torch.int64, device="meta"), torch.rand(4, 3, device="meta")
    )
    assert loss.device.type == "meta"


def test_float32_follows_float64():
    points = torch.rand(8, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) / 2
    triples, weights = torch.tensor([[0, 1, 2], [3, 4, 5]]), torch.rand(2, 3, dtype=torch.float64)
    double = HypHCLoss()(points, triples, weights)
    single = HypHCLoss()(points.float(), triples, weights)
    assert single.dtype == torch.float32
    assert single.item() == pytest.approx(double.item(), rel=1e-4)


TRIPLE, WEIGHT, POINTS = torch.tensor([[0, 1, 2]]), torch.ones(1, 3), torch.rand(3, 2) / 2


@pytest.mark.parametrize(
    ("points", "triples", "weights", "error", "name"),
    [
        (torch.ones(3, 2), TRIPLE, WEIGHT, ValueError, "inside the unit ball"),
        (torch.full((3, 2), math.nan), TRIPLE, WEIGHT, ValueError, "inside the unit ball"),
        (torch.zeros(3, 1), TRIPLE, WEIGHT, ValueError, "dimension >= 2"),
        (POINTS, TRIPLE[0], WEIGHT, ValueError, "triples"),
        (POINTS, TRIPLE[:0], WEIGHT[:0], ValueError, "triples"),
        (POINTS, TRIPLE.float(), WEIGHT, TypeError, "triples"),
        (POINTS, TRIPLE + 5, WEIGHT, ValueError, "triples must lie in"),
        (POINTS, TRIPLE, WEIGHT[:, :2], ValueError, "similarities"),
        (POINTS, TRIPLE, WEIGHT * math.inf, ValueError, "finite"),
    ],
)
def test_bad_input_is_named(points, triples, weights, error, name):
    with pytest.raises(error, match=name):
        HypHCLoss()(points, triples, weights)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"reduction": "none"}, "reduction"),
        ({"radius": -1.0}, "radius"),
    ],
)
def test_bad_settings_are_named(options, name):
    with pytest.raises(ValueError, match=name):
        HypHCLoss(**options)
