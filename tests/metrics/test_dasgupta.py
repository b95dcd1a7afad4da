from itertools import combinations

import higra as hg
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sknetwork.hierarchy import dasgupta_cost as sknetwork_cost
from trees import chain, lca_by_definition, random_tree, trees

import arbora as ab
from arbora.metrics import cohen_addad_value, dasgupta_cost, moseley_wang_revenue
from arbora.metrics.dasgupta import pairs_meeting

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["dense", "features", "graph", "graph with self-loops"])


def random_similarity(kind, n, rng):
    """A similarity of each kind and the full matrix it stands for (self-loops on its diagonal)."""
    if kind == "features":
        similarity = ab.similarity.cosine(rng.normal(size=(n, 3)))
        matrix = np.array([[similarity.pairs(i, j) for j in range(n)] for i in range(n)], dtype=float)
        np.fill_diagonal(matrix, 0)
        return similarity, matrix
    matrix = rng.random((n, n)) * (rng.random((n, n)) < (1 if kind == "dense" else 0.4))
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    if kind == "dense":
        return ab.similarity.dense(matrix + np.eye(n)), matrix
    if kind == "graph with self-loops":
        np.fill_diagonal(matrix, rng.integers(0, 3, n))
    return ab.similarity.graph(sp.csr_array(matrix)), matrix


def sum_over_pairs(tree, matrix, of_lca):
    """Sum of matrix[i, j] * of_lca(node) over unordered pairs; a self-loop meets at the leaf's parent."""
    n = tree.n_leaves
    total = sum(matrix[i, j] * of_lca(lca_by_definition(tree, i, j)) for i, j in combinations(range(n), 2))
    if n > 1:
        total += sum(matrix[i, i] * of_lca(tree.parent[i]) for i in range(n))
    return total


@given(trees(min_leaves=2, max_leaves=10, unary=0.2), KINDS, SEEDS)
def test_dasgupta_cost_equals_its_definition(tree, kind, seed):
    similarity, matrix = random_similarity(kind, tree.n_leaves, np.random.default_rng(seed))
    expected = sum_over_pairs(tree, matrix, lambda v: tree.sizes[v])
    assert dasgupta_cost(tree, similarity) == pytest.approx(expected, rel=1e-10, abs=1e-12)
    if similarity.total > 0:
        assert dasgupta_cost(tree, similarity, normalize=True) == pytest.approx(expected / similarity.total)


@given(trees(min_leaves=2, max_leaves=10), KINDS, SEEDS)
def test_weighted_dasgupta_cost_measures_clusters_by_their_weight(tree, kind, seed):
    rng = np.random.default_rng(seed)
    similarity, matrix = random_similarity(kind, tree.n_leaves, rng)
    weight = rng.random(tree.n_leaves)
    expected = sum_over_pairs(tree, matrix, lambda v: weight[tree.leaves(v)].sum())
    assert dasgupta_cost(tree, similarity, sample_weight=weight) == pytest.approx(
        expected, rel=1e-10, abs=1e-12
    )


@given(trees(min_leaves=2, max_leaves=10), KINDS, SEEDS)
def test_revenue_equals_its_definition_and_complements_the_cost(tree, kind, seed):
    similarity, matrix = random_similarity(kind, tree.n_leaves, np.random.default_rng(seed))
    n = tree.n_leaves
    revenue = moseley_wang_revenue(tree, similarity)
    assert revenue == pytest.approx(sum_over_pairs(tree, matrix, lambda v: n - tree.sizes[v]), abs=1e-9)
    assert revenue + dasgupta_cost(tree, similarity) == pytest.approx(n * similarity.total)
    if similarity.total > 0:
        assert 0 <= moseley_wang_revenue(tree, similarity, normalize=True) < 1


@given(trees(min_leaves=2, max_leaves=10), SEEDS)
def test_cohen_addad_value_equals_its_definition_from_distances_and_from_similarities(tree, seed):
    similarity, matrix = random_similarity("features", tree.n_leaves, np.random.default_rng(seed))
    distance = 1 - matrix
    np.fill_diagonal(distance, 0)
    expected = sum_over_pairs(tree, distance, lambda v: tree.sizes[v])
    condensed = distance[np.triu_indices(tree.n_leaves, 1)]
    assert cohen_addad_value(tree, distance) == pytest.approx(expected)
    assert cohen_addad_value(tree, condensed) == pytest.approx(expected)
    assert cohen_addad_value(tree, similarity=similarity) == pytest.approx(expected)
    share = cohen_addad_value(tree, distance, normalize=True)
    assert share == pytest.approx(expected / (tree.n_leaves * condensed.sum()))
    assert cohen_addad_value(tree, similarity=similarity, normalize=True) == pytest.approx(share)


@given(trees(min_leaves=2, max_leaves=12), KINDS, SEEDS)
def test_renaming_the_points_and_unary_nodes_change_nothing(tree, kind, seed):
    rng = np.random.default_rng(seed)
    n = tree.n_leaves
    similarity, matrix = random_similarity(kind, n, rng)
    renamed = rng.permutation(n)  # leaf i becomes leaf renamed[i]
    parent = tree.parent.copy()
    parent[renamed] = tree.parent[:n]
    moved = np.empty_like(matrix)
    moved[np.ix_(renamed, renamed)] = matrix
    moved = ab.similarity.graph(sp.csr_array(moved))
    expected = dasgupta_cost(tree, similarity)
    assert dasgupta_cost(ab.Tree(parent, n), moved) == pytest.approx(expected)
    above_root = ab.Tree(np.concatenate([tree.parent[:-1], [tree.n_nodes, -1]]), n)
    assert dasgupta_cost(above_root, similarity) == pytest.approx(expected)


@given(trees(max_leaves=12, unary=0.2))
def test_pairs_meeting_counts_every_pair_once(tree):
    counted = np.zeros(tree.n_internal, dtype=int)
    for i, j in combinations(range(tree.n_leaves), 2):
        counted[lca_by_definition(tree, i, j) - tree.n_leaves] += 1
    np.testing.assert_array_equal(pairs_meeting(tree), counted)


def higra_tree(tree):
    return hg.Tree(np.where(tree.parent < 0, tree.root, tree.parent))  # higra's root is its own parent


@pytest.mark.parametrize("branching", [2, 6])
def test_dasgupta_cost_agrees_with_higra(branching):
    rng = np.random.default_rng(branching)
    tree = random_tree(300, rng, max_branching=branching)
    rows, cols = np.triu_indices(300, 1)
    kept = rng.random(len(rows)) < 0.05
    rows, cols, weights = rows[kept], cols[kept], rng.random(kept.sum())
    leaf_graph = hg.UndirectedGraph(300)
    leaf_graph.add_edges(rows, cols)
    expected = hg.dasgupta_cost(higra_tree(tree), weights, leaf_graph, mode="similarity")
    similarity = ab.similarity.graph((rows, cols, weights), n_points=300)
    assert dasgupta_cost(tree, similarity) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("with_loops", [False, True])
def test_dasgupta_cost_agrees_with_scikit_network(with_loops):
    rng = np.random.default_rng(0)
    tree = random_tree(80, rng)
    similarity, matrix = random_similarity("graph with self-loops" if with_loops else "graph", 80, rng)
    adjacency = sp.csr_matrix(matrix + np.diag(np.diag(matrix)))  # scikit-network counts ordered pairs
    linkage = np.column_stack([tree.child_index.reshape(-1, 2), np.arange(79.0), tree.sizes[80:]])
    expected = sknetwork_cost(adjacency, linkage)  # it adds up in float32
    assert dasgupta_cost(tree, similarity, normalize=True) == pytest.approx(expected, rel=1e-6)
    degrees = adjacency.sum(axis=1).A1
    by_volume = sknetwork_cost(adjacency, linkage, weights="degree")
    weighted = dasgupta_cost(tree, similarity, normalize=True, sample_weight=degrees)
    assert weighted == pytest.approx(by_volume, rel=1e-6)


def test_the_three_kinds_of_similarity_agree_and_a_sparse_matrix_is_a_graph():
    rng = np.random.default_rng(3)
    tree = random_tree(60, rng, max_branching=4)
    features = ab.similarity.cosine(rng.normal(size=(60, 5)))
    matrix = features.features @ features.features.T
    cost = dasgupta_cost(tree, features)
    assert dasgupta_cost(tree, ab.similarity.dense(matrix)) == pytest.approx(cost)
    np.fill_diagonal(matrix, 0)
    assert dasgupta_cost(tree, sp.csr_matrix(matrix)) == pytest.approx(cost)


def test_a_single_leaf_and_an_empty_graph_cost_nothing():
    one = random_tree(1, np.random.default_rng(0))
    alone = ab.similarity.dense([[1.0]])
    assert dasgupta_cost(one, alone) == 0
    assert moseley_wang_revenue(one, alone) == 0
    assert cohen_addad_value(one, [[0.0]]) == 0
    empty = ab.similarity.graph(sp.csr_array((3, 3)))
    assert dasgupta_cost(chain(3), empty) == 0
    assert np.isnan(dasgupta_cost(chain(3), empty, normalize=True))
    assert np.isnan(moseley_wang_revenue(chain(3), empty, normalize=True))


DISTANCES = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: dasgupta_cost(t, DISTANCES), TypeError, r"Got ndarray. Wrap a matrix of similarities"),
        (
            lambda t: dasgupta_cost(t, ab.similarity.dense(np.ones((5, 5)))),
            ValueError,
            r"5 points and 3 leaves",
        ),
        (
            lambda t: dasgupta_cost(t, sp.eye_array(3), sample_weight=[1, 2]),
            ValueError,
            r"\(2,\) for 3 leaves",
        ),
        (lambda t: dasgupta_cost(t, sp.eye_array(3), sample_weight=[1, 2, -1]), ValueError, r"not negative"),
        (lambda t: dasgupta_cost(t, sp.eye_array(3), sample_weight=[1, 2, np.nan]), ValueError, r"finite"),
        (lambda t: cohen_addad_value(t), TypeError, r"exactly one"),
        (lambda t: cohen_addad_value(t, DISTANCES, similarity=sp.eye_array(3)), TypeError, r"exactly one"),
        (lambda t: cohen_addad_value(t, ab.similarity.dense(np.ones((3, 3)))), TypeError, r"as similarity="),
        (lambda t: cohen_addad_value(t, DISTANCES[:2]), ValueError, r"shape \(3, 3\).*Got shape \(2, 3\)"),
        (lambda t: cohen_addad_value(t, [1.0, 2]), ValueError, r"= 3 entries. Got 2"),
        (lambda t: cohen_addad_value(t, np.triu(DISTANCES)), ValueError, r"symmetric"),
        (lambda t: cohen_addad_value(t, DISTANCES * np.nan), ValueError, r"finite"),
    ],
)
def test_bad_input_is_refused_with_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call(chain(3))
