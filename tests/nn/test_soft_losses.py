"""SoftDasgupta and SoftTSD as modules."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import arbora as ab
from arbora.probabilistic.start import model_of_tree, random_tree


def case(seed, n=9, k=5):
    rng = np.random.default_rng(seed)
    rows, cols = np.triu_indices(n)
    some = rng.random(len(rows)) < 0.6
    some[1] = True
    graph = ab.similarity.graph((rows[some], cols[some], rng.random(some.sum()) + 0.1), n_points=n)
    tree = random_tree(n, k, rng)
    model = model_of_tree(tree)
    return graph, tree, torch.as_tensor(model.A.toarray()), torch.as_tensor(model.B)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_binary_matrices_give_the_discrete_metrics(seed):
    graph, tree, A, B = case(seed)
    cost = ab.metrics.dasgupta_cost(tree, graph, normalize=True)
    assert ab.nn.SoftDasgupta(graph)(A, B).item() == pytest.approx(cost)
    share = ab.metrics.tree_sampling_divergence(tree, graph)
    assert -ab.nn.SoftTSD(graph, normalize=True)(A, B).item() == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("loss", [ab.nn.SoftDasgupta, ab.nn.SoftTSD, lambda g: ab.nn.SoftTSD(g, exact=False)])
def test_slopes_are_those_of_finite_differences(loss):
    graph = case(0, n=5)[0]
    A = torch.softmax(torch.arange(15, dtype=torch.float64).sin().reshape(5, 3), 1).requires_grad_()
    B = torch.tensor(
        [[0.0, 0.4, 0.6], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True
    )
    module = loss(graph)
    upper = torch.ones(3, 3, dtype=torch.float64).triu(1)
    assert torch.autograd.gradcheck(lambda a, b: module(a, b * upper), (A, B))


def test_training_lowers_the_loss():
    hsbm = ab.probabilistic.small_hsbm(0)
    loss = ab.nn.SoftTSD(hsbm.adjacency)
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn((100, 8), generator=generator, dtype=torch.float64, requires_grad=True)
    B = torch.zeros((8, 8), dtype=torch.float64)
    B[:-1, -1] = 1.0
    optimizer = torch.optim.Adam([scores], lr=0.3)
    values = []
    for _ in range(30):
        optimizer.zero_grad()
        value = loss(torch.softmax(scores, 1), B)
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert values[-1] < 2 * values[0] < 0


def test_expected_loss_of_a_certain_tree_is_its_cost():
    graph, tree, A, B = case(3)
    value = ab.nn.SoftDasgupta(graph).expected(A, B, n_samples=3, generator=torch.Generator().manual_seed(0))
    assert value.item() == pytest.approx(ab.metrics.dasgupta_cost(tree, graph, normalize=True))


def test_matrices_of_the_wrong_shape_are_refused():
    graph, _, A, B = case(0)
    with pytest.raises(ValueError, match="one row per node"):
        ab.nn.SoftDasgupta(graph)(A[:3], B)
    with pytest.raises(ValueError, match="B must be"):
        ab.nn.SoftTSD(graph)(A, B[:2])


def test_double_precision_buffers_move_with_the_module():
    graph, tree, A, B = case(1)
    loss = ab.nn.SoftDasgupta(graph, dtype=torch.float32)
    assert loss(A.float(), B.float()).dtype == torch.float32
    cost = ab.metrics.dasgupta_cost(tree, graph, normalize=True)
    assert loss(A.float(), B.float()).item() == pytest.approx(cost, rel=1e-4)
