import higra as hg
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sknetwork.hierarchy import tree_sampling_divergence as sknetwork_tsd
from trees import chain, lca_by_definition, random_tree, trees

import arbora as ab
from arbora.metrics import tree_sampling_divergence
from arbora.tree.pass_kernels import meeting_mass

SEEDS = st.integers(0, 2**32 - 1)


def random_graph(n, rng, *, self_loops):
    """Weights of undirected edges as a symmetric matrix, self-loops on the diagonal."""
    matrix = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    matrix[0, 1] = 1
    matrix += matrix.T
    if self_loops:
        np.fill_diagonal(matrix, rng.integers(0, 3, n))
    return matrix


def ordered_law(matrix):
    """Law of the ordered ends of a random edge: a self-loop is one edge with both its ends at one node."""
    adjacency = matrix + np.diag(np.diag(matrix))
    return adjacency / adjacency.sum()


def tsd_by_definition(tree, matrix):
    """(KL divergence, mutual information) as in FPH, over ordered pairs."""
    law = ordered_law(matrix)
    nodes = law.sum(axis=1)
    n = tree.n_leaves
    p, q = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for i in range(n):
        for j in range(n):
            meet = tree.parent[i] if i == j else lca_by_definition(tree, i, j)
            p[meet] += law[i, j]
            q[meet] += nodes[i] * nodes[j]
    independent = np.outer(nodes, nodes)
    information = np.sum(law[law > 0] * np.log(law[law > 0] / independent[law > 0]))
    return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])), information


@given(trees(min_leaves=2, max_leaves=10, unary=0.2), st.booleans(), SEEDS)
def test_divergence_equals_its_definition(tree, self_loops, seed):
    matrix = random_graph(tree.n_leaves, np.random.default_rng(seed), self_loops=self_loops)
    divergence, information = tsd_by_definition(tree, matrix)
    graph = ab.similarity.graph(sp.csr_array(matrix))
    assert tree_sampling_divergence(tree, graph, normalize=False) == pytest.approx(divergence, abs=1e-12)
    if information > 1e-12:
        assert tree_sampling_divergence(tree, graph) == pytest.approx(divergence / information, abs=1e-9)


@given(trees(max_leaves=12, unary=0.2), SEEDS)
def test_meeting_mass_is_the_law_of_two_draws(tree, seed):
    law = np.random.default_rng(seed).dirichlet(np.ones(tree.n_leaves))
    expected = np.zeros(tree.n_nodes)
    for i in range(tree.n_leaves):
        for j in range(tree.n_leaves):
            meet = tree.parent[i] if i == j else lca_by_definition(tree, i, j)
            expected[meet] += law[i] * law[j]
    if tree.n_internal:
        found = meeting_mass(tree.parent, law, law**2)[tree.n_leaves :]
        np.testing.assert_allclose(found, expected[tree.n_leaves :], rtol=1e-12)


@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_divergence_agrees_with_scikit_network(self_loops, normalize):
    rng = np.random.default_rng(5)
    tree = random_tree(70, rng)
    matrix = random_graph(70, rng, self_loops=self_loops)
    linkage = np.column_stack([tree.child_index.reshape(-1, 2), np.arange(69.0), tree.sizes[70:]])
    expected = sknetwork_tsd(sp.csr_matrix(matrix + np.diag(np.diag(matrix))), linkage, normalized=normalize)
    found = tree_sampling_divergence(tree, ab.similarity.graph(sp.csr_array(matrix)), normalize=normalize)
    assert found == pytest.approx(expected, rel=1e-5)  # it adds up in float32


def test_laws_agree_with_higra_up_to_the_draws_of_one_node_twice():
    rng = np.random.default_rng(6)
    tree = random_tree(60, rng, max_branching=5)
    matrix = random_graph(60, rng, self_loops=False)
    rows, cols = np.nonzero(np.triu(matrix, 1))
    weights = matrix[rows, cols]
    leaf_graph = hg.UndirectedGraph(60)
    leaf_graph.add_edges(rows, cols)
    peer = hg.Tree(np.where(tree.parent < 0, tree.root, tree.parent))
    p = hg.attribute_tree_sampling_probability(peer, leaf_graph, weights, "edge")[60:]
    q = hg.attribute_tree_sampling_probability(peer, leaf_graph, weights, "null")[60:]
    graph = ab.similarity.graph(sp.csr_array(matrix))
    np.testing.assert_allclose(graph.cross(tree) / graph.total, p, rtol=1e-10)
    law = graph.degrees / graph.degrees.sum()
    twice = np.bincount(tree.parent[:60] - 60, weights=law**2, minlength=tree.n_internal)
    found = meeting_mass(tree.parent, law, law**2)[tree.n_leaves :] - twice
    np.testing.assert_allclose(found / found.sum(), q / q.sum(), rtol=1e-9)


def test_single_precision_weights_lose_no_more_than_their_own_rounding():
    rng = np.random.default_rng(9)
    tree, matrix = random_tree(40, rng), random_graph(40, rng, self_loops=False).astype(np.float32)
    expected = tree_sampling_divergence(tree, sp.csr_array(matrix.astype(np.float64)))
    assert tree_sampling_divergence(tree, sp.csr_array(matrix)) == pytest.approx(expected, rel=1e-7)


def test_a_dense_matrix_is_a_complete_graph():
    rng = np.random.default_rng(7)
    tree = random_tree(30, rng)
    matrix = np.triu(rng.random((30, 30)), 1)
    matrix += matrix.T
    expected = tree_sampling_divergence(tree, sp.csr_array(matrix))
    assert tree_sampling_divergence(tree, ab.similarity.dense(matrix + np.eye(30))) == pytest.approx(expected)


def test_a_tree_that_loses_nothing_retains_all_information():
    cliques = sp.csr_array(np.kron(np.eye(3), np.ones((2, 2)) - np.eye(2)))
    pairs = ab.Tree([6, 6, 7, 7, 8, 8, 9, 9, 9, -1], n_leaves=6)
    assert tree_sampling_divergence(pairs, cliques, normalize=False) < np.log(6)
    weighted = ab.similarity.graph(cliques + sp.eye_array(6, format="csr") * 0.5)
    assert tree_sampling_divergence(pairs, weighted) == pytest.approx(1)


def test_graphs_without_edges_or_information_have_none_to_retain():
    assert np.isnan(tree_sampling_divergence(chain(3), sp.csr_array((3, 3))))
    one = random_tree(1, np.random.default_rng(0))
    assert np.isnan(tree_sampling_divergence(one, sp.csr_array((1, 1))))


def test_nodes_without_edges_change_nothing_but_stay_finite():
    rng = np.random.default_rng(8)
    matrix = random_graph(12, rng, self_loops=False)
    matrix[:, 5] = matrix[5] = 0
    assert 0 < tree_sampling_divergence(random_tree(12, rng), sp.csr_array(matrix)) <= 1


def test_negative_similarities_and_arrays_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"not negative.*similarity.knn"):
        tree_sampling_divergence(chain(3), ab.similarity.cosine([[1.0], [-1.0], [1.0]], affine=False))
    with pytest.raises(TypeError, match=r"Got ndarray"):
        tree_sampling_divergence(chain(3), np.eye(3))
    with pytest.raises(ValueError, match=r"4 points and 3 leaves"):
        tree_sampling_divergence(chain(3), sp.eye_array(4, format="csr"))
