"""What FPH takes for a graph, where training starts, and what a state of training keeps."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora._base.checkpoint import Checkpoint
from arbora.errors import TooLargeError
from arbora.probabilistic import small_hsbm, stages
from arbora.probabilistic.graph_input import looks_like_graph, of_moderate_weights, shares_of
from arbora.probabilistic.options import Options
from arbora.probabilistic.sparse import edge_distribution, fundamental_matrix
from arbora.probabilistic.start import (
    model_of_tree,
    nearest_kept,
    start_tree,
    tree_with_support,
    ward_of_vectors,
)
from arbora.probabilistic.training import TrainingState, train

SIMILARITY = ab.similarity.graph(small_hsbm(0).adjacency)
GRAPH = edge_distribution(SIMILARITY)


@pytest.mark.parametrize(
    ("X", "is_graph"),
    [
        (([0], [1]), True),
        (sp.csr_array((3, 3)), True),
        (sp.csr_array((3, 4)), False),
        (nx.path_graph(3), True),
        (SIMILARITY, True),
        (ab.similarity.cosine(np.eye(3)), False),
        (np.eye(3), False),
        ([[0, 1], [1, 0]], False),
    ],
)
def test_graphs_are_told_from_vectors(X, is_graph):
    assert looks_like_graph(X) is is_graph


@pytest.mark.parametrize("exponent", [-300, -100, 0, 100, 300])
def test_weights_of_any_size_become_moderate_and_keep_their_ratios(exponent):
    similarity = ab.similarity.graph(([0, 1, 2], [1, 2, 2], np.ldexp([1.0, 3.0, 2.0], exponent)), n_points=3)
    moderate = of_moderate_weights(similarity)
    largest = max(moderate.csr.data.max(), moderate.self_loops.max())
    assert 1e-75 < largest < 1e75
    assert (moderate is similarity) == (abs(exponent) < 200)
    scale = largest / 3
    np.testing.assert_array_equal(moderate.csr.toarray() / scale, [[0, 1, 0], [1, 0, 3], [0, 3, 0]])
    np.testing.assert_array_equal(moderate.self_loops / scale, [0, 0, 2])


def test_a_graph_without_edges_is_left_as_it_is():
    empty = ab.similarity.graph(sp.csr_array((3, 3)))
    assert of_moderate_weights(empty) is empty


def test_rows_are_worked_on_here_unless_the_graph_is_elsewhere():
    assert not shares_of(SIMILARITY).are_spread


@pytest.mark.parametrize(
    ("init", "objective"),
    [("average", "tsd"), ("ward", "dasgupta"), ("louvain", "tsd"), ("search", "dasgupta"), ("random", "tsd")],
)
def test_every_start_is_a_tree_within_the_number_of_nodes(init, objective):
    tree = start_tree(SIMILARITY, init, 12, objective, np.random.default_rng(0))
    assert tree.n_leaves == 100 and tree.n_internal <= 12
    again = start_tree(SIMILARITY, init, 12, objective, np.random.default_rng(0))
    assert tree == again


def test_a_tree_over_other_nodes_is_refused():
    with pytest.raises(ValueError, match=r"init must be a tree over the graph's 100 nodes. It has 2 leaves"):
        start_tree(SIMILARITY, ab.Tree([2, 2, -1], 2), 5, "dasgupta", np.random.default_rng(0))


def test_ward_of_vectors_joins_near_ones(monkeypatch):
    vectors = np.repeat([[0.0, 0.0], [9.0, 9.0]], 50, axis=0) + np.random.default_rng(0).normal(size=(100, 2))
    full = ward_of_vectors(SIMILARITY, vectors)
    assert len(set(full.cut(n_clusters=2)[:50])) == 1
    # of a large graph only along its edges
    monkeypatch.setattr("arbora.probabilistic.start.LARGEST_FULL_WARD", 10)
    along = ward_of_vectors(SIMILARITY, vectors)
    assert along.n_leaves == 100 and along.is_binary


def test_the_nearest_kept_node_and_the_support_of_the_way():
    parent = np.array([2, 2, 4, 4, 4])
    kept = np.array([False, True, False, True, True])
    keeper, passed = nearest_kept(parent, kept, np.array([0.5, 0.9, 0.8, 0.7, 1.0]))
    assert keeper.tolist() == [4, 1, 4, 3, 4]
    np.testing.assert_allclose(passed, [0.4, 1, 0.8, 1, 1])


def test_nothing_kept_above_a_node_is_minus_one():
    keeper, _ = nearest_kept(np.array([1, 1]), np.array([True, False]), np.ones(2))
    assert keeper.tolist() == [0, -1]


def test_a_certain_model_has_a_tree_with_full_support():
    tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], 4)
    model = model_of_tree(tree)
    parents = tree.parent[:4] - 4, np.append(tree.parent[4:-1] - 4, 2)
    found, column = tree_with_support(model, parents)
    assert found.same_topology(tree) and (found.support == 1).all() and column.tolist() == [0, 1, 2]


def test_one_leaf_has_a_model_with_one_node():
    model = model_of_tree(ab.Tree([-1], 1))
    assert model.A.shape == (1, 1) and model.B.shape == (1, 1) and model.n_internal == 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_fundamental_matrix_is_the_inverse(k):
    B = np.triu(np.random.default_rng(k).random((k, k)), 1)
    np.testing.assert_allclose(fundamental_matrix(B), np.linalg.inv(np.eye(k) - B), atol=1e-12)


def options(**changes):
    return Options.of(ab.FPH(**{"max_epochs": 6, "n_internal": 8, "n_jobs": 1, **changes}))


def test_a_state_survives_the_way_through_arrays():
    chosen = options()
    state = stages.start(SIMILARITY, GRAPH, chosen, 8, np.random.default_rng(0))
    train(GRAPH, state, chosen.plan)
    again = TrainingState.from_arrays(state.arrays())
    assert (again.epoch, again.round, again.history[1:]) == (state.epoch, state.round, state.history[1:])
    assert again.best.loss == state.best.loss and again.best.epoch == state.best.epoch
    np.testing.assert_array_equal(again.model.A.toarray(), state.model.A.toarray())
    np.testing.assert_array_equal(again.best.parents[0], state.best.parents[0])
    assert again.rng.random() == state.rng.random()


def test_sizes_tried_are_found_again_in_a_checkpoint(tmp_path):
    saved = Checkpoint(tmp_path, method="FPH", identity="x")
    rng = np.random.default_rng(0)
    first = stages.losses_of_sizes(SIMILARITY, GRAPH, options(max_epochs=2), rng, saved)
    assert list(first) == [8, 16, 32, 64] and all(np.isfinite(list(first.values())))
    other = np.random.default_rng(99)
    again = stages.losses_of_sizes(SIMILARITY, GRAPH, options(max_epochs=2), other, saved)
    assert again == first and other.random() == rng.random(), "random numbers go on where they were"


def test_full_matrices_are_refused_before_they_are_made(monkeypatch):
    pytest.importorskip("torch")
    chosen = options(optimizer="softmax")
    state = stages.start(SIMILARITY, GRAPH, chosen, 8, np.random.default_rng(0))
    monkeypatch.setattr(stages, "LARGEST_DENSE", 10)
    with pytest.raises(TooLargeError, match="optimizer='softmax' needs full n x n' matrices, 800 numbers"):
        stages.adam_step(SIMILARITY, GRAPH, state, chosen)
    assert stages.adam_step(SIMILARITY, GRAPH, state, options()) is None


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_a_score_is_that_of_the_metrics(objective):
    tree = ab.linkage(SIMILARITY, "average")
    wanted = {
        "dasgupta": ab.metrics.dasgupta_cost(tree, SIMILARITY, normalize=True),
        "tsd": ab.metrics.tree_sampling_divergence(tree, SIMILARITY, normalize=True),
    }
    assert stages.score(tree, SIMILARITY, objective) == wanted[objective]
    empty = ab.similarity.graph(sp.csr_array((3, 3)))
    assert np.isnan(stages.score(ab.Tree([3, 3, 3, -1], 3), empty, objective))


def test_a_symmetric_square_array_is_asked_about():
    with pytest.raises(
        ValueError, match=r"pass scipy.sparse.csr_array\(X\); for vectors, similarity=\"knn\""
    ):
        stages.refuse_adjacency(np.eye(3))
    for fine in (np.eye(2), np.arange(9.0).reshape(3, 3), np.ones((3, 4))):
        stages.refuse_adjacency(fine)
