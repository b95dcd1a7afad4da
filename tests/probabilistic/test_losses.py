"""Soft and expected losses: NumPy against PyTorch, both against the discrete metrics."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from simplex import project_parents, project_rows

import arbora as ab
from arbora.probabilistic import _move_kernels, _row_kernels, expected, objectives, sparse
from arbora.probabilistic.parameterizations import masked_softmax, numpy_model, torch_graph
from arbora.probabilistic.start import model_of_tree, random_tree, tree_of_parents


def random_graph(rng, n, loops=True):
    rows, cols = np.triu_indices(n, 0 if loops else 1)
    some = rng.random(len(rows)) < 0.5
    some[:1] = True
    weights = rng.random(some.sum()) + 0.1
    return ab.similarity.graph((rows[some], cols[some], weights), n_points=n)


def random_parameters(rng, n, k):
    A = torch.softmax(torch.as_tensor(2 * rng.standard_normal((n, k))), 1).requires_grad_()
    B = masked_softmax(torch.as_tensor(2 * rng.standard_normal((k, k)))).detach().requires_grad_()
    return A, B


LOSSES = {
    "dasgupta": (objectives.soft_dasgupta, sparse.soft_dasgupta),
    "tsd": (lambda *a: -objectives.soft_tsd(*a), sparse.soft_tsd),
    "tsd proxy": (
        lambda *a: -objectives.soft_tsd(*a, exact=False),
        lambda g, m: sparse.soft_tsd(g, m, exact=False),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 12), k=st.integers(1, 7))
@settings(max_examples=15, deadline=None)
def test_hand_written_gradients_equal_autograd(name, seed, n, k):
    in_torch, in_numpy = LOSSES[name]
    rng = np.random.default_rng(seed)
    graph = sparse.edge_distribution(random_graph(rng, n))
    A, B = random_parameters(rng, n, k)
    loss = in_torch(A, B, *torch_graph(graph))
    loss.backward()
    result = in_numpy(graph, numpy_model(A, B, cutoff=0.0))
    assert result.loss == pytest.approx(loss.item(), rel=1e-9, abs=1e-12)
    dense = sparse.dense_leaf_gradient(result.leaf_gradient)
    np.testing.assert_allclose(dense, A.grad.numpy(), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(result.internal_gradient, np.triu(B.grad.numpy(), 1), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(seed=st.integers(0, 10_000), n=st.integers(3, 15), k=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_binary_models_have_the_loss_of_their_tree(objective, seed, n, k):
    rng = np.random.default_rng(seed)
    similarity = random_graph(rng, n)
    graph = sparse.edge_distribution(similarity)
    tree = random_tree(n, k, rng)
    model = model_of_tree(tree)
    if objective == "dasgupta":
        wanted = ab.metrics.dasgupta_cost(tree, similarity, normalize=True)
        soft = sparse.soft_dasgupta(graph, model).loss
    else:
        wanted = -ab.metrics.tree_sampling_divergence(tree, similarity, normalize=False)
        soft = sparse.soft_tsd(graph, model).loss
    assert soft == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert expected.decoded_loss(graph, model, objective)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_decoded_loss_is_that_of_the_pruned_tree(seed):
    rng = np.random.default_rng(seed)
    similarity = random_graph(rng, 9)
    graph = sparse.edge_distribution(similarity)
    leaf_parent = rng.integers(0, 8, 9)
    parent = np.append(rng.integers(np.arange(1, 8), 8), 7)
    model = sparse.binary_model(leaf_parent, parent)
    tree, columns = tree_of_parents(leaf_parent, parent)
    loss, parents = expected.decoded_loss(graph, model, "tsd")
    wanted = ab.metrics.tree_sampling_divergence(tree, similarity, normalize=False)
    assert -loss == pytest.approx(wanted, abs=1e-12)
    assert (parents[0] == leaf_parent).all()
    assert len(columns) == tree.n_internal


def loss_of(graph, leaf_parent, parent, objective):
    return expected.tree_loss(expected.tree_terms(graph, leaf_parent, parent, objective), objective)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(seed=st.integers(0, 10_000), n=st.integers(2, 10), k=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_conditional_costs_are_the_losses_with_one_parent_changed(objective, seed, n, k):
    rng = np.random.default_rng(seed)
    graph = sparse.edge_distribution(random_graph(rng, n))
    leaf_parent = rng.integers(0, k, n)
    parent = np.append(rng.integers(np.arange(1, k), k), k - 1).astype(np.int64)
    leaf_costs, internal_costs = expected.conditional_costs(graph, leaf_parent, parent, objective)
    here = loss_of(graph, leaf_parent, parent, objective)
    for leaf, new in itertools.product(range(n), range(k)):
        moved = leaf_parent.copy()
        moved[leaf] = new
        change = leaf_costs[leaf, new] - leaf_costs[leaf, leaf_parent[leaf]]
        assert change == pytest.approx(loss_of(graph, moved, parent, objective) - here, abs=1e-9)
    for node in range(k - 1):
        for new in range(node + 1, k):
            moved = parent.copy()
            moved[node] = new
            change = internal_costs[node, new] - internal_costs[node, parent[node]]
            assert change == pytest.approx(loss_of(graph, leaf_parent, moved, objective) - here, abs=1e-9)


def test_conditional_costs_of_samples_average_to_the_gradient_of_the_expectation():
    rng = np.random.default_rng(1)
    n, k = 3, 2
    graph = sparse.edge_distribution(random_graph(rng, n))
    A = rng.dirichlet(np.ones(k), n)
    chances = {}
    for parents in itertools.product(range(k), repeat=n):
        chances[parents] = loss_of(graph, np.array(parents), np.array([1, 1]), "dasgupta")

    def expectation(A):
        return sum(loss * np.prod([A[i, p] for i, p in enumerate(ps)]) for ps, loss in chances.items())

    slope = np.array(
        [
            [expectation(np.where(np.arange(n)[:, None] == i, np.eye(k)[c], A)) for c in range(k)]
            for i in range(n)
        ]
    )
    mean = np.zeros((n, k))
    for parents in itertools.product(range(k), repeat=n):
        chance = np.prod([A[i, p] for i, p in enumerate(parents)])
        costs = expected.conditional_costs(graph, np.array(parents), np.array([1, 1]), "dasgupta")[0]
        mean += chance * (costs - costs[:, :1])
    np.testing.assert_allclose(mean[:, 1], slope[:, 1] - slope[:, 0], atol=1e-12)


def test_straight_through_has_the_value_of_the_expectation():
    rng = np.random.default_rng(2)
    graph = sparse.edge_distribution(random_graph(rng, 6))
    A, B = random_parameters(rng, 6, 3)
    pairs, loops = torch_graph(graph)
    generator = torch.Generator().manual_seed(0)
    estimate = objectives.expected_by_straight_through(
        lambda a, b: objectives.soft_dasgupta(a, b, pairs, loops), A, B, 400, generator
    )
    estimate.backward()
    assert torch.isfinite(A.grad).all()
    draws = [
        expected.tree_loss(
            expected.tree_terms(graph, *expected.sample_parents(numpy_model(A, B), rng), "dasgupta"),
            "dasgupta",
        )
        for _ in range(2000)
    ]
    assert estimate.item() == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / np.sqrt(400))


def test_single_precision_is_close_for_the_expected_loss_and_less_so_for_the_soft_one():
    rng = np.random.default_rng(0)
    similarity = random_graph(rng, 60)
    tree = random_tree(60, 20, rng)
    exact = sparse.soft_dasgupta(sparse.edge_distribution(similarity), model_of_tree(tree)).loss
    single = sparse.edge_distribution(similarity, np.float32)
    rough = sparse.soft_dasgupta(single, model_of_tree(tree, np.float32)).loss
    decoded = expected.decoded_loss(single, model_of_tree(tree, np.float32), "dasgupta")[0]
    assert rough == pytest.approx(exact, rel=3e-3)
    assert decoded == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_a_soft_step_is_descent_then_projection(objective, n_threads):
    rng = np.random.default_rng(4)
    graph = sparse.edge_distribution(random_graph(rng, 10))
    A, B = random_parameters(rng, 10, 5)
    model = numpy_model(A, B, 0.0)
    evaluate = sparse.soft_dasgupta if objective == "dasgupta" else sparse.soft_tsd
    result = evaluate(graph, model)
    unit = 1.0 if objective == "dasgupta" else 10.0
    moved, loss = sparse.soft_step(graph, model, objective, 0.1, 0.2, n_threads)
    dense = model.A.toarray() - 0.1 * unit * sparse.dense_leaf_gradient(result.leaf_gradient)
    np.testing.assert_allclose(moved.A.toarray(), project_rows(dense), atol=1e-12)
    np.testing.assert_allclose(
        moved.B, project_parents(model.B - 0.2 * unit * result.internal_gradient), atol=1e-12
    )
    assert loss == result.loss
    assert evaluate(graph, moved).loss < loss


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_an_expected_step_keeps_rows_stochastic_whatever_the_threads(objective):
    rng = np.random.default_rng(4)
    graph = sparse.edge_distribution(random_graph(rng, 30))
    model = model_of_tree(random_tree(30, 9, rng))
    for _ in range(5):
        one = expected.expected_step(graph, model, objective, 0.3, 0.3, np.random.default_rng(0), 1)
        other = expected.expected_step(graph, model, objective, 0.3, 0.3, np.random.default_rng(0), 3)
        assert (one[0].A != other[0].A).nnz == 0
        assert (one[0].B == other[0].B).all()
        model = one[0]
        np.testing.assert_allclose(model.A.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(model.B.sum(axis=1), np.append(np.ones(len(model.B) - 1), 0), atol=1e-12)
        assert not np.tril(model.B).any()


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(seed=st.integers(0, 10_000), n=st.integers(2, 14), k=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_candidates_are_priced_like_all_parents(objective, seed, n, k):
    rng = np.random.default_rng(seed)
    graph = sparse.edge_distribution(random_graph(rng, n))
    A, B = (matrix.detach() for matrix in random_parameters(rng, n, k))
    model = numpy_model(A, B, cutoff=0.1)
    A = model.A.toarray()
    leaf_parent, parent = expected.sample_parents(model, rng)
    terms = expected.tree_terms(graph, leaf_parent, parent, objective)
    mover = expected._leaf_mover(graph, leaf_parent, k, objective, 1)
    costs = _move_kernels.move_costs(0, n, terms, mover, True)
    candidate = np.zeros((n, k), dtype=bool)
    for leaf in range(n):
        near = np.empty(k)
        _move_kernels.sum_below(mover.ptr, mover.col, mover.val, leaf, parent, near)
        candidate[leaf] = near > 0
    candidate[:, -1] = True
    if objective == "dasgupta":
        candidate |= A > 0
    step = np.full(n, 0.1 if objective == "dasgupta" else 1.0)
    lowest = np.where(candidate, costs, np.inf).min(axis=1, keepdims=True)
    wanted = np.where(candidate, A - step[:, None] * (costs - lowest), -1e6)
    counts, columns, values = _row_kernels.descend_sampled_rows(
        0, n, terms, mover, model.A.indptr, model.A.indices, model.A.data, step
    )
    got = np.zeros((n, k))
    got[np.repeat(np.arange(n), counts), columns] = values
    np.testing.assert_allclose(got, project_rows(wanted), atol=1e-8)
