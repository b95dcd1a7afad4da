"""UFit against figures that its authors printed, against higra, and its costs and kernels against their definitions."""

import numpy as np
import pytest
from data_sets import hyphc_features
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn import datasets
from sklearn.neighbors import kneighbors_graph

import arbora as ab
from arbora.baselines.on_graphs import deepwalk_ufit
from arbora.baselines.ufit import edges_of_vectors, fit_ultrametric, ufit
from arbora.baselines.ultrametric import (
    Edges,
    closest,
    cluster_size,
    dasgupta,
    subdominant,
    total,
    triplet,
)


def toy_set(name):
    """The toy data of the authors' notebook, all seeds theirs."""
    if name == "circles":
        return datasets.make_circles(200, factor=0.5, noise=0.05, random_state=10)
    if name == "moons":
        X, y = datasets.make_moons(200, noise=0.05, random_state=42)
        return np.concatenate([X, X + (2.5, 0)]), np.concatenate([y, y + 2])
    if name == "blobs":
        return datasets.make_blobs(200, random_state=42)
    if name == "varied":
        return datasets.make_blobs(200, cluster_std=[1.0, 2.5, 0.5], random_state=170)
    X, y = datasets.make_blobs(200, random_state=170)
    return X @ [[0.6, -0.6], [-0.4, 0.8]], y


def toy_edges(X):
    """The authors' graph: 5 neighbors and a spanning tree; an edge found from one side only has half its length."""
    near = kneighbors_graph(X, 5, mode="distance").toarray()
    spanning = minimum_spanning_tree(squareform(pdist(X))).toarray()
    lengths = np.maximum((near + near.T) / 2, (spanning + spanning.T) / 2)
    i, j = np.nonzero(np.triu(lengths))
    return Edges(i, j, lengths[i, j], len(X))


COSTS = {
    "closest": closest,
    "closest+size": total((1, closest), (1, cluster_size(10))),
    "dasgupta": dasgupta(50),
}


@pytest.mark.parametrize(
    ("name", "cost", "accuracy", "purity"),
    [
        ("circles", "closest", 0.505, 0.8106),
        ("moons", "closest", 0.75, 0.9833),
        ("varied", "closest", 0.34, 0.8012),
        ("aniso", "closest", 0.34, 0.9194),
        ("moons", "closest+size", 1.0, 1.0),
        ("varied", "closest+size", 0.935, 0.9246),
        ("aniso", "closest+size", 0.995, 0.9921),
        ("circles", "dasgupta", 1.0, 1.0),
        ("moons", "dasgupta", 0.8925, 0.8944),
        ("varied", "dasgupta", 0.99, 0.9799),
        ("aniso", "dasgupta", 0.995, 0.9929),
    ],
)
def test_the_authors_figures_come_out(name, cost, accuracy, purity):
    """Accuracy and dendrogram purity as printed in Clustering.ipynb of github.com/PerretB/ultrametric-fitting.

    About half of the eleven purities agree to every digit; where heights tie, the order of merges is the library's own,
    and up to half a percent lies between them.
    """
    X, y = toy_set(name)
    edges = toy_edges(X)
    if cost == "dasgupta":
        edges = Edges(edges.i, edges.j, edges.distance / edges.distance.max(), edges.n_points)
    tree = fit_ultrametric(edges, COSTS[cost]).tree()
    found = ab.metrics.clustering_accuracy(y, tree.cut(n_clusters=len(np.unique(y)), min_size=1))
    assert found == pytest.approx(accuracy, abs=0.003)
    assert ab.metrics.dendrogram_purity(tree, y) == pytest.approx(purity, abs=0.005)


@pytest.mark.data
@pytest.mark.parametrize(("name", "cost"), [("zoo", 2.896e5), ("iris", 7.916e5), ("glass", 2.925e6)])
def test_dasguptas_cost_is_near_that_in_hyphcs_table(name, cost):
    """Chami et al. 2020, Table 1, row UFit: within 2 percent. It names no cost function: the best of three counts."""
    X = hyphc_features(name)
    similarity = ab.similarity.cosine(X)
    found = [2 * ab.metrics.dasgupta_cost(ufit(X, one), similarity) for one in COSTS]
    assert min(found) == pytest.approx(cost, rel=0.02)


def test_on_deepwalk_vectors_it_finds_the_levels_that_it_finds_in_fphs_table():
    """Zügner et al. 2022, Table 10, n = 100: 1.0, 0.921, 0.707 over five graphs that are not published."""
    from arbora.probabilistic import small_hsbm

    found = []
    for seed in range(5):
        drawn = small_hsbm(seed)
        tree = deepwalk_ufit(drawn.adjacency, random_state=seed)
        cuts = [tree.cut(n_clusters=len(np.unique(y)), min_size=1) for y in drawn.levels]
        found.append([ab.metrics.flat_scores(y, cut)["nmi"] for y, cut in zip(drawn.levels, cuts)])
    assert np.mean(found, axis=0) == pytest.approx([1.0, 0.921, 0.707], abs=0.08)


def test_equal_points_break_no_cost():
    X = np.repeat(np.eye(3), 4, axis=0)
    for cost in COSTS:
        assert ufit(X, cost, max_epochs=20).n_leaves == 12


def random_graph(n, seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    # a path keeps it connected
    kept = (rng.random(len(i)) < 0.5) | (j == i + 1)
    return Edges(i[kept], j[kept], rng.random(kept.sum()) + 0.1, n)


@given(st.integers(2, 12), st.integers(0, 999))
def test_the_ultrametric_is_that_of_higra(n, seed):
    hg = pytest.importorskip("higra")
    edges = random_graph(n, seed)
    graph = hg.UndirectedGraph(n)
    graph.add_edges(edges.i, edges.j)
    tree, altitudes = hg.bpt_canonical(graph, edges.distance)
    found = subdominant(edges, edges.distance)
    assert np.array_equal(found.distance, altitudes[hg.attribute_lca_map(tree)])
    assert np.array_equal(found.size, hg.attribute_area(tree))
    assert np.array_equal(found.tree().height[n:], altitudes[n:])


def soft_size_by_definition(found, slope):
    """Mean over both ends v of the merge's edge of the sum over all z of sigmoid(slope (height - u(v, z)))."""
    edges, sizes = found.edges, []
    for t, e in enumerate(found.edge_of_merge):
        total_of_ends = 0.0
        for v in (edges.i[e], edges.j[e]):
            for z in range(edges.n_points):
                u = 0.0 if z == v else found.height[found.meeting(np.array([v]), np.array([z]))[0]]
                total_of_ends += 1 / (1 + np.exp(-slope * (found.height[t] - u)))
        sizes.append(total_of_ends / 2)
    return np.array(sizes)


@given(st.integers(2, 8), st.integers(0, 999))
def test_the_relaxed_dasgupta_cost_equals_its_definition(n, seed):
    edges = random_graph(n, seed)
    found = subdominant(edges, edges.distance)
    value, _ = dasgupta(5.0)(found)
    expected = np.mean(soft_size_by_definition(found, 5.0)[found.merge_of_edge] / edges.distance)
    assert value == pytest.approx(expected)


def test_a_steep_relaxation_counts_the_points_below():
    """As the slope grows, the soft cost becomes Dasgupta's, but for ties: a node's own height counts half."""
    X, _ = datasets.make_blobs(20, random_state=1)
    edges = edges_of_vectors(X)
    found = subdominant(edges, edges.distance)
    sizes = found.size[edges.n_points :]
    halves = (found.size[found.left] + found.size[found.right]) / 2
    expected = np.mean(((sizes + halves) / 2)[found.merge_of_edge] / edges.distance)
    assert dasgupta(1e5)(found)[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["closest", "size", "triplet", "dasgupta"])
@given(st.integers(0, 99))
def test_gradients_are_those_of_small_steps(name, seed):
    edges = random_graph(7, seed)
    triples = np.random.default_rng(seed).permuted(np.tile(np.arange(7), (6, 1)), axis=1)[:, :3]
    cost = {
        "closest": closest,
        "size": cluster_size(2),
        "triplet": triplet(triples, 0.2),
        "dasgupta": dasgupta(5.0),
    }[name]
    weight = np.random.default_rng(seed + 1).permutation(len(edges.i)) + 1.0
    found = subdominant(edges, weight)
    gradient = np.zeros(len(weight))
    gradient[found.edge_of_merge] = cost(found)[1]
    step = 1e-6
    for e in range(len(weight)):
        up, down = (weight + sign * step * (np.arange(len(weight)) == e) for sign in (1, -1))
        slope = (cost(subdominant(edges, up))[0] - cost(subdominant(edges, down))[0]) / (2 * step)
        # heights are whole numbers here, and margins are not: no kink is near
        assert gradient[e] == pytest.approx(slope, abs=1e-6)


def test_triples_pull_together_what_belongs_together():
    X = np.array([[0.0], [1.0], [2.1], [3.0], [4.2], [5.0]])
    triples = [(0, 5, 2), (0, 5, 3), (5, 0, 2), (5, 0, 3)]
    plain = ufit(X, "closest", n_neighbors=5)
    taught = ufit(X, "closest+triplet", n_neighbors=5, triples=triples, weight=10.0)
    gap = [tree.height[tree.lca(0, 5)] - tree.height[tree.lca(0, 2)] for tree in (plain, taught)]
    assert gap[1] < 0 <= gap[0]


def test_parts_of_a_graph_are_joined_at_the_top():
    tree = ufit(([0, 1, 3, 4], [1, 2, 4, 5]), max_epochs=5)
    assert tree.n_leaves == 6
    assert len(set(tree.cut(n_clusters=2)[:3])) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cost": "nearest"}, "cost must be one of"),
        ({"cost": "closest+triplet"}, "needs triples"),
        ({"cost": "closest+triplet", "triples": [[0, 1]]}, r"shape \(n_triples, 3\)"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_wrong_options_are_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        ufit(np.eye(4), **options)


def test_distances_beyond_the_range_of_numbers_are_refused_in_words():
    with pytest.raises(ValueError, match=r"data must lie within 1e[+]150 of 0"):
        ufit([[1e200], [0.0]], max_epochs=1)
