"""Link prediction: the split, Eq. 25, the baselines."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import arbora as ab
from arbora.probabilistic import large_hsbm, small_hsbm
from arbora.tasks import link_prediction as links
from arbora.tasks.block_model import _log_likelihood, _sweep, block_model_scores, fit_block_model
from arbora.tasks.link_prediction import cosine_scores, inner_product_scores, predict_links, split_links

GRAPH = ab.similarity.graph(small_hsbm(0).adjacency)


def test_the_split_keeps_the_graph_connected_and_takes_its_share():
    whole = ab.similarity.graph(large_hsbm(0).adjacency)
    split = links.split_links(whole, 0.1, random_state=0)
    assert connected_components(split.train.csr)[0] == connected_components(whole.csr)[0]
    assert len(split.edges) == len(split.non_edges) == round(0.1 * whole.n_edges)
    assert split.train.n_edges == whole.n_edges - len(split.edges)
    assert (whole.pairs(*split.edges.T) > 0).all()
    assert (split.train.pairs(*split.edges.T) == 0).all()
    assert (whole.pairs(*split.non_edges.T) == 0).all()
    assert (split.non_edges[:, 0] < split.non_edges[:, 1]).all()
    assert split.is_edge.sum() == len(split.edges)


def test_a_tree_has_no_edge_to_spare():
    with pytest.raises(ValueError, match="falls apart"):
        links.split_links(([0, 1, 2], [1, 2, 3]), 0.4)
    with pytest.raises(ValueError, match="fraction"):
        links.split_links(GRAPH, 1.5)


def test_tree_scores_are_equation_25():
    path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    law = np.array([1, 2, 2, 1]) / 6
    meet = {(0, 0): 0, (0, 1): 0, (1, 1): 0, (2, 2): 1, (2, 3): 1, (3, 3): 1}
    q = np.zeros(3)
    for i in range(4):
        for j in range(4):
            q[meet.get((min(i, j), max(i, j)), 2)] += law[i] * law[j]
    p = np.array([1, 1, 1]) / 3
    wanted = [1 * 2 * p[0] / q[0], 2 * 2 * p[2] / q[2], 1 * 1 * p[2] / q[2]]
    np.testing.assert_allclose(links.tree_scores(tree, path, [[0, 1], [1, 2], [0, 3]]), wanted)


def test_scores_of_a_model_that_is_one_tree_are_those_of_the_tree():
    model = ab.FPH(n_internal=8, objective="tsd", max_epochs=1, random_state=0).fit(GRAPH)
    model.A_ = model.A_.copy()
    from arbora.probabilistic.start import model_of_tree

    model.A_, model.B_ = model_of_tree(model.tree_)
    pairs = np.array([[0, 1], [0, 99], [30, 60]])
    np.testing.assert_allclose(
        links.model_scores(model, GRAPH, pairs), links.tree_scores(model.tree_, GRAPH, pairs), rtol=1e-8
    )


def test_adamic_adar_counts_common_neighbors():
    star = ab.similarity.graph(([0, 0, 0, 1], [1, 2, 3, 2]))
    scores = links.adamic_adar_scores(star, [[1, 3], [1, 2], [0, 3]])
    np.testing.assert_allclose(scores, [1 / np.log(3), 1 / np.log(3), 0.0])


def test_every_method_beats_chance():
    methods = {"FPH": links.fph_method(32, max_epochs=30, random_state=0), **links.baselines(0)}
    found = links.predict_links(small_hsbm(3).adjacency, methods, random_state=1)
    assert set(found) == {"FPH", "Adamic-Adar", "DeepWalk", "DCSBM", "VGAE"}
    assert min(found.values()) > 0.65
    assert found["FPH"] > 0.8


def test_block_model_finds_planted_blocks_and_its_moves_raise_the_likelihood():
    hsbm = large_hsbm(0)
    graph = ab.similarity.graph(hsbm.adjacency)
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 8, 1000)
    before = _log_likelihood(graph, blocks)
    _sweep(graph, rng.permutation(1000), blocks)
    assert _log_likelihood(graph, blocks) > before
    found = fit_block_model(graph, 0)
    from sklearn.metrics import adjusted_rand_score

    assert max(adjusted_rand_score(found, level) for level in hsbm.levels) > 0.7
    scores = block_model_scores(found, graph, [[0, 1], [0, 999]])
    assert scores[0] > scores[1]


def test_self_loops_stay_in_the_training_graph():
    adjacency = sp.csr_array(small_hsbm(0).adjacency + sp.eye_array(100))
    split = links.split_links(ab.similarity.graph(adjacency), 0.1, random_state=0)
    assert (split.train.self_loops == 1).all()


def test_networkx_graphs_are_scored_like_their_similarity():
    pairs = [[0, 1], [0, 50]]
    network = nx.from_scipy_sparse_array(GRAPH.csr)
    model = ab.FPH(n_internal=8, max_epochs=1, random_state=0).fit(GRAPH)
    link_prediction = ab.tasks.link_prediction
    np.testing.assert_allclose(
        link_prediction.model_scores(model, network, pairs), link_prediction.model_scores(model, GRAPH, pairs)
    )
    np.testing.assert_allclose(
        link_prediction.tree_scores(model.tree_, network, pairs),
        link_prediction.tree_scores(model.tree_, GRAPH, pairs),
    )


def test_every_task_is_a_name_of_its_package():
    for name in ab.tasks.__all__:
        assert getattr(ab.tasks, name).__name__ == f"arbora.tasks.{name}"


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(0.05, 0.3))
def test_a_split_divides_the_edges_and_draws_pairs_that_are_none(seed, fraction):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.5), 1)
    similarity = ab.similarity.graph(sp.csr_array(W + W.T))
    try:
        split = split_links(similarity, fraction, random_state=seed)
    except ValueError as problem:
        assert "can go before the graph falls apart" in str(problem) or "fewer than" in str(problem)
        return
    edges = {tuple(pair) for pair in np.argwhere(W > 0).tolist()}
    out, non = ({tuple(sorted(pair)) for pair in part.tolist()} for part in (split.edges, split.non_edges))
    kept = {tuple(pair) for pair in np.argwhere(np.triu(split.train.csr.toarray(), 1) > 0).tolist()}
    assert out | kept == edges and not out & kept and len(out) == round(fraction * len(edges))
    assert len(non) == len(out) and not non & edges and all(i != j for i, j in non)
    n_parts = [connected_components(graph.csr, directed=False)[0] for graph in (similarity, split.train)]
    assert n_parts[0] == n_parts[1], "no component falls apart"
    for i, j in kept:
        assert split.train.csr[i, j] == W[i, j]
    assert split.is_edge.tolist() == [1] * len(out) + [0] * len(out)
    again = split_links(similarity, fraction, random_state=seed)
    np.testing.assert_array_equal(again.pairs, split.pairs)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, "half"])
def test_shares_that_are_none_are_refused(fraction):
    with pytest.raises((ValueError, TypeError), match="fraction must be"):
        split_links(([0, 1, 2], [1, 2, 0]), fraction)


def test_a_complete_graph_has_no_pair_that_is_no_edge():
    full = sp.csr_array(np.ones((5, 5)) - np.eye(5))
    with pytest.raises(ValueError, match="fewer than 2 pairs that are not edges"):
        split_links(full, 0.2, random_state=0)


def test_cosines_do_not_depend_on_lengths_and_zeros_score_zero():
    vectors = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0], [-4.0, 3.0]])
    found = cosine_scores(vectors, [(0, 1), (0, 2), (0, 3)])
    np.testing.assert_allclose(found, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(inner_product_scores(vectors, [(0, 1), (1, 3)]), [50, 0])


def test_methods_of_ones_own_are_scored_by_precision_and_recall():
    rng = np.random.default_rng(0)
    W = np.triu((rng.random((30, 30)) < 0.3).astype(float), 1)
    graph = sp.csr_array(W + W.T)

    def knows_all(train, pairs):
        return graph[pairs[:, 0], pairs[:, 1]]

    found = predict_links(
        graph, {"all": knows_all, "nothing": lambda train, pairs: np.zeros(len(pairs))}, random_state=0
    )
    assert found == {"all": 1.0, "nothing": 0.5}
