import subprocess
import sys

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform
from trees import chain, lca_by_definition, random_tree, trees

import arbora as ab
from arbora.metrics import (
    cophenetic_correlation,
    dasgupta_bounds,
    dasgupta_cost,
    dendrogram_purity,
    least_hierarchical_distance,
    level_scores,
    moseley_wang_revenue,
    score,
    tree_sampling_divergence,
    wang_cost,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(trees(min_leaves=3, max_leaves=10, unary=0.2, heights=True), SEEDS)
def test_cophenetic_correlation_equals_pearson_over_all_pairs(tree, seed):
    rng = np.random.default_rng(seed)
    n = tree.n_leaves
    i, j = np.triu_indices(n, 1)
    heights = np.array([tree.height[lca_by_definition(tree, a, b)] for a, b in zip(i, j)])
    if np.ptp(heights) < 1e-9:
        return
    distances = rng.random(len(i))
    expected = np.corrcoef(heights, distances)[0, 1]
    assert cophenetic_correlation(tree, distances) == pytest.approx(expected, abs=1e-9)
    assert cophenetic_correlation(tree, squareform(distances)) == pytest.approx(expected, abs=1e-9)
    dense = ab.similarity.dense(squareform(1 - distances) + np.eye(n))
    assert cophenetic_correlation(tree, similarity=dense) == pytest.approx(expected, abs=1e-9)
    features = ab.similarity.cosine(rng.normal(size=(n, 3)))
    expected = np.corrcoef(heights, -features.pairs(i, j))[0, 1]
    assert cophenetic_correlation(tree, similarity=features) == pytest.approx(expected, abs=1e-7)
    kernel = ab.similarity.gaussian(rng.normal(size=(n, 3)), scale=1.0)
    expected = np.corrcoef(heights, -kernel.pairs(i, j))[0, 1]
    assert cophenetic_correlation(tree, similarity=kernel) == pytest.approx(expected, abs=1e-7)
    weights = rng.random(len(i)) * (rng.random(len(i)) < 0.6)
    weights[0] = 1
    expected = np.corrcoef(heights, -weights)[0, 1]
    graph = sp.csr_array(squareform(weights)) + sp.eye_array(n, format="csr")
    assert cophenetic_correlation(tree, similarity=graph) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", ["single", "average", "ward"])
def test_cophenetic_correlation_agrees_with_scipy(method):
    distances = pdist(np.random.default_rng(0).normal(size=(50, 3)))
    Z = linkage(distances, method)
    expected = cophenet(Z, distances)[0]
    assert cophenetic_correlation(ab.Tree.from_linkage(Z), distances) == pytest.approx(expected, rel=1e-10)


def test_cophenetic_correlation_without_spread_is_nan():
    tree = chain(3).replace(height=[0, 0, 0, 1, 2])
    assert np.isnan(cophenetic_correlation(tree, [1.0, 1, 1]))
    assert np.isnan(cophenetic_correlation(ab.Tree([-1], 1, height=[0.0]), [[0.0]]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: cophenetic_correlation(chain(3), [1.0, 2, 3]), ValueError, r"tree with heights"),
        (lambda t: cophenetic_correlation(t, ab.similarity.dense(np.eye(3))), TypeError, r"as similarity="),
        (lambda t: cophenetic_correlation(t), TypeError, r"exactly one"),
        (lambda t: cophenetic_correlation(t, [1.0]), ValueError, r"= 3 entries. Got 1"),
        (lambda t: score(t), TypeError, r"at least one of similarity, y and distances"),
        (lambda t: score(t, np.eye(3)), TypeError, r"Got ndarray"),
        (lambda t: score(t, y=[0, 1]), ValueError, r"2 labels and 3 leaves"),
    ],
)
def test_bad_input_is_refused_with_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call(chain(3).replace(height=[0, 0, 0, 1, 2]))


def test_score_holds_what_the_single_functions_return():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    tree = ab.Tree.from_linkage(linkage(X, "average"))
    similarity = ab.similarity.dense(np.exp(-squareform(pdist(X))))
    y = np.column_stack([rng.integers(0, 3, 60), rng.integers(0, 5, 60)])
    found = score(tree, similarity, y, distances=pdist(X))
    lower, upper = dasgupta_bounds(similarity)
    cost = dasgupta_cost(tree, similarity)
    expected = {
        "dasgupta_cost": cost,
        "dasgupta_normalized": dasgupta_cost(tree, similarity, normalize=True),
        "moseley_wang_revenue": moseley_wang_revenue(tree, similarity),
        "moseley_wang_normalized": moseley_wang_revenue(tree, similarity, normalize=True),
        "wang_cost": wang_cost(tree, similarity),
        "share_of_bounds": (cost - lower) / (upper - lower),
        "tree_sampling_divergence": tree_sampling_divergence(tree, similarity),
        "cophenetic_correlation": cophenetic_correlation(tree, pdist(X)),
        "dendrogram_purity (level 1)": dendrogram_purity(tree, y[:, 1]),
        "nmi (level 0)": level_scores(tree, y)["level 0"]["nmi"],
        "acc (level 1)": level_scores(tree, y)["level 1"]["acc"],
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert found.better["dasgupta_cost"] == found.better["share_of_bounds"] == "lower"
    assert found.better["dendrogram_purity (level 1)"] == "higher"


def test_score_of_points_in_leaves_adds_the_least_hierarchical_distance():
    rng = np.random.default_rng(1)
    tree, leaf_of_point, y = random_tree(8, rng), rng.integers(0, 8, 50), rng.integers(0, 3, 50)
    found = score(tree, y=y, leaf_of_point=leaf_of_point)
    assert found["least_hierarchical_distance"] == least_hierarchical_distance(tree, y, leaf_of_point)
    assert found.better["least_hierarchical_distance"] == "lower"
    assert found["dendrogram_purity"] == dendrogram_purity(tree, y, leaf_of_point)


def test_bounds_in_the_table_can_be_asked_for_or_left_out():
    rng = np.random.default_rng(2)
    tree, similarity = random_tree(30, rng), ab.similarity.cosine(rng.normal(size=(30, 2)))
    assert "wang_cost" in score(tree, similarity)
    assert "wang_cost" not in score(tree, similarity, bounds=False)
    signed = ab.similarity.cosine(rng.normal(size=(30, 2)), affine=False)
    assert "tree_sampling_divergence" not in score(tree, signed)


def test_score_prints_an_aligned_table_and_html():
    found = score(chain(4), sp.csr_array(np.ones((4, 4)) - np.eye(4)))
    title, *lines = repr(found).splitlines()
    assert title == "Tree of 4 leaves and 3 internal nodes"
    assert len({len(line) for line in lines}) == 1
    assert len(lines) == 1 + len(found)
    assert "<td>dasgupta_cost</td><td>20</td><td>lower</td>" in found._repr_html_()


def test_score_of_a_single_leaf_is_a_table_of_nothing_to_measure():
    found = score(ab.Tree([-1], 1), ab.similarity.dense([[1.0]]), y=["a"])
    assert found["dasgupta_cost"] == 0
    assert np.isnan(found["dendrogram_purity"])


def test_importing_the_metrics_loads_neither_torch_nor_scikit_learn_nor_matplotlib():
    code = "import sys, arbora.metrics; print(sorted({'torch', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_networkx_graph_is_a_similarity_wherever_one_is_taken():
    network = networkx.karate_club_graph()
    graph = ab.similarity.graph(network)
    tree = ab.linkage(graph)
    for metric in (dasgupta_cost, moseley_wang_revenue, tree_sampling_divergence, wang_cost):
        assert metric(tree, network) == metric(tree, graph)
    assert dasgupta_bounds(network) == dasgupta_bounds(graph)
    assert cophenetic_correlation(tree, similarity=network) == cophenetic_correlation(tree, similarity=graph)
    assert dict(score(tree, network)) == dict(score(tree, graph))
