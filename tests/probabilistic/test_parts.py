"""Projection, batches, starts, elbow, block-model graphs, DeepWalk."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from simplex import project_parents, project_rows

import arbora as ab
from arbora.probabilistic import deepwalk, hierarchical_block_model, large_hsbm, small_hsbm
from arbora.probabilistic import sparse as fast
from arbora.probabilistic._kernels import lca_table
from arbora.probabilistic.batching import draw_batch, rows_of, with_rows
from arbora.probabilistic.elbow import candidate_sizes, elbow
from arbora.probabilistic.start import compressed_start, model_of_tree, random_tree, tree_of_parents

GRAPH = ab.similarity.graph(small_hsbm(1).adjacency)


def project_by_sorting(row):
    """The textbook algorithm (Held, Wolfe and Crowder 1974)."""
    ordered = np.sort(row)[::-1]
    thresholds = (np.cumsum(ordered) - 1) / np.arange(1, len(row) + 1)
    keep = np.flatnonzero(ordered > thresholds)[-1]
    return np.maximum(row - thresholds[keep], 0.0)


@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0.01, 100))
@settings(max_examples=60, deadline=None)
def test_projection_equals_the_textbook_algorithm(seed, n_columns, scale):
    matrix = scale * np.random.default_rng(seed).standard_normal((4, n_columns))
    wanted = np.array([project_by_sorting(row) for row in matrix])
    np.testing.assert_allclose(project_rows(matrix), wanted, atol=1e-9 * max(scale, 1))


def test_projection_is_the_nearest_point_of_the_simplex():
    row = np.array([0.9, -0.2, 0.5, 0.1])
    constraint = {"type": "eq", "fun": lambda x: x.sum() - 1}
    found = minimize(
        lambda x: ((x - row) ** 2).sum(), np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=constraint
    )
    np.testing.assert_allclose(project_rows(row[None])[0], found.x, atol=1e-5)


def test_parents_come_after_children_and_the_root_has_none():
    B = project_parents(np.random.default_rng(0).standard_normal((5, 5)))
    assert not np.tril(B).any()
    np.testing.assert_allclose(B.sum(axis=1), [1, 1, 1, 1, 0])


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_table_of_common_ancestors_equals_walking_up(seed, k):
    rng = np.random.default_rng(seed)
    parent = np.append(rng.integers(np.arange(1, k), k), k - 1).astype(np.int64)

    def path(node):
        return [node] if node == k - 1 else [node, *path(parent[node])]

    wanted = [[min(set(path(a)) & set(path(b))) for b in range(k)] for a in range(k)]
    assert lca_table(parent).tolist() == wanted


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_a_tree_survives_the_way_through_matrices(seed, n, k):
    tree = random_tree(n, k, np.random.default_rng(seed))
    model = model_of_tree(tree)
    parent = np.append(model.B[:-1].argmax(axis=1), len(model.B) - 1)
    back, columns = tree_of_parents(model.A.indices.astype(np.int64), parent)
    assert back == tree
    assert columns.tolist() == list(range(tree.n_internal))


def test_support_is_multiplied_along_nodes_passed_over():
    leaf_parent = np.array([0, 2, 2])  # node 0 has one leaf and is passed over, node 1 is empty
    parent = np.array([2, 2, 2])
    tree, columns = tree_of_parents(leaf_parent, parent, np.array([0.5, 0.9, 0.8]), np.array([0.6, 0.3, 1.0]))
    assert tree.n_internal == 1
    assert columns.tolist() == [2]
    np.testing.assert_allclose(tree.support, [0.3, 0.9, 0.8, 1.0])


def test_a_batch_is_an_induced_subgraph():
    graph = fast.edge_distribution(GRAPH)
    batch = draw_batch(graph, 5, 40, np.random.default_rng(0))
    assert len(batch.nodes) <= 40
    assert (np.diff(batch.nodes) > 0).all()
    dense = graph.pairs.toarray()[np.ix_(batch.nodes, batch.nodes)]
    np.testing.assert_allclose(batch.graph.pairs.toarray(), dense / dense.sum())
    assert batch.graph.nodes.sum() == pytest.approx(1.0)


def test_a_batch_holds_the_seeds_neighbors_unless_capped():
    graph = fast.edge_distribution(GRAPH)
    rng = np.random.default_rng(3)
    seeds = np.random.default_rng(3).choice(100, size=4, replace=False)
    nodes = set(draw_batch(graph, 4, 100, rng).nodes.tolist())
    assert nodes == set(seeds.tolist()) | set(np.flatnonzero(GRAPH.csr.toarray()[seeds].any(axis=0)).tolist())


def test_rows_of_a_batch_replace_those_of_the_model():
    rng = np.random.default_rng(0)
    model = model_of_tree(random_tree(100, 9, rng))
    nodes = np.array([2, 3, 50])
    part = rows_of(model, nodes)
    half = fast.Model(sp.csr_array(np.full((3, part.n_internal), 1 / part.n_internal)), part.B)
    out = with_rows(model, nodes, half)
    wanted = model.A.toarray()
    wanted[nodes] = 1 / part.n_internal
    np.testing.assert_allclose(out.A.toarray(), wanted)


def test_a_batch_without_edges_is_none():
    graph = fast.edge_distribution(ab.similarity.graph(([0], [1]), n_points=50))
    draws = [draw_batch(graph, 2, 2, np.random.default_rng(seed)) for seed in range(5)]
    assert None in draws


def test_the_elbow_of_a_line_and_of_few_points():
    assert elbow([8, 16], [3.0, 1.0]) == 16
    assert elbow([8, 16, 32], [1.0, 1.0, 1.0]) == 8
    assert candidate_sizes(5) == [4]
    assert candidate_sizes(100) == [8, 16, 32, 64]
    with pytest.raises(ValueError, match="equally long"):
        elbow([8], [])


@pytest.mark.parametrize(("make", "n"), [(small_hsbm, 100), (large_hsbm, 1000)])
def test_block_model_graphs_have_the_papers_sizes(make, n):
    graph = make(0)
    assert graph.adjacency.shape == (n, n)
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert graph.levels.shape == (3, n)
    sizes = np.bincount(graph.levels[2])
    low, high = ((10, 15), (30, 35))[n == 1000]
    assert low <= sizes.min() and sizes.max() <= high
    for coarse, fine in zip(graph.levels, graph.levels[1:]):
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == fine.max() + 1


def test_block_model_edges_have_their_probabilities():
    graph = hierarchical_block_model([0.02, 0.1, 0.5], [3], (40, 40), random_state=0)
    dense = graph.adjacency.toarray()
    shared = (graph.levels[:, :, None] == graph.levels[:, None, :]).sum(axis=0)
    np.fill_diagonal(shared, -1)
    for level, probability in enumerate([0.02, 0.1, 0.5]):
        pairs = shared == level
        error = 5 * np.sqrt(probability * (1 - probability) / (pairs.sum() / 2))
        assert dense[pairs].mean() == pytest.approx(probability, abs=error)
    assert graph.tree.cut(n_clusters=3).tolist() == graph.levels[0].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.5, 0.1], 2, (5, 6)), "probabilities"),
        (([0.1, 0.5], 2, (6, 5)), "community_size"),
        (([0.1, 0.5], 2, (5, 6), 100), "No draw"),
    ],
)
def test_impossible_block_models_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        hierarchical_block_model(*arguments)


def test_deepwalk_puts_communities_together():
    hsbm = hierarchical_block_model([0.01, 0.5], 2, (25, 25), random_state=0)
    vectors = deepwalk(ab.similarity.graph(hsbm.adjacency), 8, n_walks=5, random_state=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    same = hsbm.levels[0][:, None] == hsbm.levels[0]
    assert cosine[same].mean() > cosine[~same].mean() + 0.3
    again = deepwalk(ab.similarity.graph(hsbm.adjacency), 8, n_walks=5, random_state=0)
    assert (vectors == again).all()
    with pytest.raises(ValueError, match="dimension"):
        deepwalk(ab.similarity.graph(hsbm.adjacency), 0)


@pytest.mark.parametrize("n_internal", [3, 8, 30])
def test_the_start_for_tsd_is_the_better_of_both_compressions(n_internal):
    full = ab.linkage(GRAPH, "average")
    both = [full.compress(n_internal, GRAPH, objective) for objective in ("tsd", "dasgupta")]
    found = compressed_start(full, GRAPH, n_internal, "tsd")
    values = [ab.metrics.tree_sampling_divergence(tree, GRAPH) for tree in (found, *both)]
    assert values[0] == max(values[1:])
    assert compressed_start(full, GRAPH, n_internal, "dasgupta") == both[1]
