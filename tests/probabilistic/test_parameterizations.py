"""Free parameters of A and B: they describe distributions, start at a tree, and are descended as asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import arbora as ab  # noqa: E402
from arbora.probabilistic import objectives  # noqa: E402
from arbora.probabilistic.expected import most_likely_parents  # noqa: E402
from arbora.probabilistic.parameterizations import (  # noqa: E402
    AdamTrainer,
    EmbeddingParameters,
    SoftmaxParameters,
    masked_softmax,
    numpy_model,
    torch_dtype,
    torch_graph,
)
from arbora.probabilistic.sparse import edge_distribution  # noqa: E402
from arbora.probabilistic.start import random_tree, tree_of_parents  # noqa: E402

EDGES = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2, 0], [1, 2, 2, 4, 5, 5, 3, 0]))
GRAPH = edge_distribution(EDGES)
TREE = ab.Tree([6, 6, 6, 7, 7, 7, 8, 8, -1], 6)


def assert_is_a_model(A, B):
    torch.testing.assert_close(A.sum(dim=1), torch.ones(len(A), dtype=A.dtype))
    assert not torch.tril(B).any()
    wanted = torch.ones(len(B), dtype=B.dtype)
    wanted[-1] = 0
    torch.testing.assert_close(B.sum(dim=1), wanted)


@settings(max_examples=20)
@given(st.integers(1, 7), st.integers(0, 1000))
def test_rows_of_b_are_distributions_over_later_nodes(k, seed):
    scores = torch.from_numpy(np.random.default_rng(seed).normal(size=(k, k)) * 5)
    B = masked_softmax(scores)
    assert_is_a_model(torch.ones((1, 1), dtype=B.dtype), B)
    for row in range(k - 1):
        torch.testing.assert_close(B[row, row + 1 :], torch.softmax(scores[row, row + 1 :], dim=0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_start_at_the_tree(dtype):
    parameters = SoftmaxParameters(TREE, seed=0, dtype=dtype)
    A, B = parameters()
    assert A.dtype == torch_dtype(dtype)
    assert_is_a_model(A, B)
    found = tree_of_parents(*most_likely_parents(numpy_model(A, B)))[0]
    assert found == TREE


@settings(max_examples=20)
@given(st.integers(3, 9), st.integers(2, 6), st.integers(0, 1000))
def test_scores_start_at_any_tree(n, k, seed):
    tree = random_tree(n, k, np.random.default_rng(seed))
    found = tree_of_parents(*most_likely_parents(numpy_model(*SoftmaxParameters(tree, seed=seed)())))[0]
    assert found == tree


def test_embeddings_of_nodes_start_at_the_mean_of_their_leaves():
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    parameters = EmbeddingParameters(TREE, vectors)
    centers = parameters.internal.detach().numpy()
    np.testing.assert_allclose(centers, [vectors[:3].mean(0), vectors[3:].mean(0), vectors.mean(0)])
    assert_is_a_model(*parameters())
    distance = np.linalg.norm(vectors[:, None] - centers, axis=2)
    scores = np.exp(-5 * distance)
    np.testing.assert_allclose(
        parameters()[0].detach().numpy(), scores / scores.sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_gradients_are_finite_even_where_points_coincide():
    parameters = EmbeddingParameters(TREE, np.zeros((6, 2)))
    A, _ = parameters()
    A[:, 0].sum().backward()
    assert torch.isfinite(parameters.leaves.grad).all()


def test_a_graph_of_tensors_is_the_graph():
    pairs, loops = torch_graph(GRAPH)
    np.testing.assert_allclose(pairs.to_dense().numpy(), GRAPH.pairs.toarray())
    np.testing.assert_allclose(loops.numpy(), GRAPH.loops)
    assert torch_graph(GRAPH, torch.float32)[0].dtype == torch.float32


def test_tiny_entries_are_dropped_and_rows_still_sum_to_one():
    A = torch.tensor([[1 - 1e-12, 1e-12], [0.5, 0.5]], dtype=torch.float64)
    model = numpy_model(A, torch.zeros((2, 2), dtype=torch.float64))
    assert model.A.nnz == 3
    np.testing.assert_allclose(model.A.toarray(), [[1, 0], [0.5, 0.5]])


def trainer(objective="dasgupta", relaxation="soft", **options):
    return AdamTrainer(GRAPH, SoftmaxParameters(TREE, seed=0), objective, relaxation, 0.05, 0, **options)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_steps_lower_the_soft_loss_and_report_it(objective):
    one = trainer(objective)
    A, B = (matrix.detach() for matrix in one.parameters())
    soft = objectives.soft_dasgupta if objective == "dasgupta" else objectives.soft_tsd
    sign = 1 if objective == "dasgupta" else -1
    wanted = sign * float(soft(A, B, one.pairs, one.loops))
    losses = [one.step()[1] for _ in range(20)]
    assert losses[0] == pytest.approx(wanted) and losses[-1] < losses[0]


@pytest.mark.parametrize("relaxation", ["expected", "straight-through"])
def test_sampled_relaxations_report_the_loss_of_sampled_trees(relaxation):
    """A sampled tree costs a multiple of one edge's share; the soft loss is no such number."""
    A, B = (matrix.detach() for matrix in trainer().parameters())
    soft = float(trainer().loss(A, B))
    sampled = trainer(relaxation=relaxation)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        wanted = float(
            objectives.expected_by_straight_through(sampled.loss, *sampled.parameters(), generator=generator)
        )
    found = sampled.step()[1]
    assert found == pytest.approx(wanted) and found != pytest.approx(soft, rel=1e-6)


def test_the_mean_over_samples_is_the_expectation():
    A, B = (matrix.detach() for matrix in trainer().parameters())

    def loss(hard_A, hard_B):
        return hard_A[:, 0].sum() + 2 * hard_B[0, 1]

    generator = torch.Generator().manual_seed(0)
    found = float(objectives.expected_by_straight_through(loss, A, B, 2000, generator))
    assert found == pytest.approx(float(loss(A, B)), abs=0.05), "a linear loss is its own expectation"


def test_the_same_seed_takes_the_same_steps():
    one, other = (trainer(relaxation="straight-through") for _ in range(2))
    assert [one.step()[1] for _ in range(5)] == [other.step()[1] for _ in range(5)]
