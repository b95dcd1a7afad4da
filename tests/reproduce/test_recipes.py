"""Recipes of the tables: every method can be called with its parameters, and every score is what it says."""

import inspect

import networkx as nx
import numpy as np
import pytest

import arbora as ab
from arbora.reproduce import data as published
from arbora.reproduce import graph_scores
from arbora.reproduce.systems import WithOutliers
from arbora.reproduce.tables import (
    all_tables,
    fph,
    fph_known,
    ghhc,
    hyphc,
    l2h,
    l2h_ablations,
    l2h_classes,
    scikit,
)

CALLS = [
    pytest.param(method, quick, id=f"{table.key} {method.name}{' quick' if quick else ''}")
    for table in all_tables()
    for method in table.methods
    for quick in (False, True)
]


def defaults_of(estimator):
    return set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize(("method", "quick"), CALLS)
def test_parameters_fit_what_is_called(method, quick):
    parameters = method.parameters_for(quick)
    inspect.signature(method.run).bind(None, 0, **parameters)
    names = set(parameters)
    known = {
        l2h.with_l2h: defaults_of(ab.L2H) | {"backbone", "n_clusters", "steps"},
        fph.fph_trees: defaults_of(ab.FPH),
        ghhc._ghhc: defaults_of(ab.GHHC),
        ghhc._trained: defaults_of(ab.GHHC),
        hyphc._hyphc: defaults_of(ab.HypHC),
        l2h._hyphc: defaults_of(ab.HypHC),
        l2h_classes._l2h: defaults_of(ab.L2H),
    }
    if method.run in known:
        assert names <= known[method.run]
    if "backbone" in parameters:
        # a flat model that takes those steps
        l2h.flat_model(parameters["backbone"], 3, 0, **parameters.get("steps", {}))


def test_kinds_keys_and_names_are_unique_where_they_must_be():
    tables = all_tables()
    assert len({table.key for table in tables}) == len(tables)
    for table in tables:
        for things in (table.data, table.methods):
            assert len({thing.name for thing in things}) == len(things), table.key
        assert len({metric.key for metric in table.metrics}) == len(table.metrics)
        for method in table.methods:
            assert set(method.skips) <= {data.name for data in table.data}, (table.key, method.name)
            assert all(method.skips.values())


# ---- trees over graphs ---------------------------------------------------------------------------------------

GRAPH = ab.similarity.graph(nx.karate_club_graph())
CLUB = np.array(
    [node["club"] == "Officer" for _, node in nx.karate_club_graph().nodes(data=True)], dtype=np.int64
)
TREE = ab.linkage(GRAPH, "average")


def test_quality_judges_a_tree_per_objective():
    other = TREE.compress(8, GRAPH, "tsd")
    found = graph_scores.quality(GRAPH, TREE, other)
    assert found["dasgupta_normalized"] == ab.metrics.dasgupta_cost(TREE, GRAPH, normalize=True)
    assert found["tsd_percent"] == 100 * ab.metrics.tree_sampling_divergence(other, GRAPH)
    assert found["tsd_normalized_percent"] == graph_scores.tsd_as_printed(other, GRAPH)


def test_compressed_quality_compresses_for_each_objective_by_itself():
    found = graph_scores.compressed_quality(GRAPH, TREE, 6)
    small = {objective: TREE.compress(6, GRAPH, objective) for objective in ("dasgupta", "tsd")}
    assert found == graph_scores.quality(GRAPH, small["dasgupta"], small["tsd"])
    assert small["dasgupta"].n_internal <= 6


def test_nmi_cuts_into_as_many_clusters_as_known_classes_and_leaves_unknown_out():
    y = CLUB.copy()
    assert graph_scores.nmi(TREE, GRAPH, y) == pytest.approx(graph_scores.nmi(TREE, GRAPH, 1 - y))
    y[:5] = -1
    some = graph_scores.nmi(TREE, GRAPH, y)
    from sklearn.metrics import normalized_mutual_info_score

    from arbora.probabilistic.flat import flat_labels

    assert some == pytest.approx(normalized_mutual_info_score(y[5:], flat_labels(TREE, GRAPH, 2)[5:]))


def test_tables_of_graphs_score_trees_and_trees_per_objective():
    problem = fph.Problem(GRAPH, CLUB, 6)
    alone = graph_scores.compressed_quality(GRAPH, TREE, 6)
    assert fph.score(problem._replace(y=None), TREE) == alone
    assert fph.score(problem, TREE) == {**alone, "nmi": graph_scores.nmi(TREE, GRAPH, CLUB)}
    both = {"tsd": TREE, "dasgupta": TREE.compress(3, GRAPH)}
    assert fph.score(problem, both) == graph_scores.quality(GRAPH, both["dasgupta"], TREE)


def test_a_large_tree_is_compressed_for_tsd_before_it_is_compared_with_classes(monkeypatch):
    monkeypatch.setattr(fph, "N_FOR_CLASSES", 1)
    found = fph.score(fph.Problem(GRAPH, CLUB, 12), TREE)
    assert found["nmi"] == graph_scores.nmi(TREE.compress(1, GRAPH, "tsd"), GRAPH, CLUB)
    assert found["nmi"] != graph_scores.nmi(TREE, GRAPH, CLUB)


def test_fph_is_trained_for_each_objective_from_one_start():
    problem = fph.Problem(GRAPH, None, 5)
    found = fph.fph_trees(problem, 0, max_epochs=2)
    assert set(found) == {"dasgupta", "tsd"}
    assert all(tree.n_internal <= 5 and tree.n_leaves == 34 for tree in found.values())
    searched = fph._search(problem, 0, n_perturbations=0, tsd_perturbations=0)
    for objective, better in (("dasgupta", np.less_equal), ("tsd", np.greater_equal)):
        score = ab.metrics.dasgupta_cost if objective == "dasgupta" else ab.metrics.tree_sampling_divergence
        assert searched[objective].n_internal <= 5
        assert better(
            score(searched[objective], GRAPH), score(TREE.compress(5, GRAPH, objective), GRAPH) + 1e-9
        )


def test_iterated_louvain_is_a_tree_of_its_communities():
    tree = fph.iterated_louvain(fph.Problem(GRAPH, None, 5), 0)
    assert tree.n_leaves == 34 and tree.n_internal > 1
    same = fph.iterated_louvain(fph.Problem(GRAPH, None, 5), 0)
    assert np.array_equal(tree.parent, same.parent)


def test_known_hierarchies_have_levels_to_judge_by():
    problem = fph_known._load_hsbm("hsbm-100", 0, False)
    assert problem.graph.n_points == 100 and problem.n_internal == 64
    found = fph_known._level_nmi(problem, problem.tree)
    assert set(found) == {metric.key for metric in fph_known.LEVELS}
    assert found["nmi_level_1"] == pytest.approx(1.0)
    other = fph_known._load_other("hsbm-100, other graphs", 0, False)
    assert (other.graph.csr != problem.graph.csr).nnz > 0
    again = fph_known._load_hsbm("hsbm-100", 100, False)
    assert (other.graph.csr != again.graph.csr).nnz == 0


@pytest.mark.parametrize(("dataset", "quick", "n_nodes"), [("a hundredth", True, 2_385_902 // 1000)])
def test_planted_graphs_are_a_share_of_the_largest(dataset, quick, n_nodes):
    problem = fph._load_planted(dataset, 0, quick)
    assert problem.graph.n_points == n_nodes and problem.n_internal == fph.N_INTERNAL


# ---- points and classes --------------------------------------------------------------------------------------

X, Y = published.bundled("iris")


def test_hyphcs_costs_are_over_ordered_pairs_and_between_the_bounds():
    problem = hyphc.load("iris", 0, False)
    tree = ab.linkage(hyphc.matrix(problem), "average")
    cost = hyphc.ordered_cost(problem, tree)["dasgupta_ordered_pairs"]
    assert cost == 2 * ab.metrics.dasgupta_cost(tree, problem.similarity)
    low, high = (hyphc.ordered_cost(problem, hyphc._bound(problem, 0, which=which)) for which in (0, 1))
    assert low["dasgupta_ordered_pairs"] < cost < high["dasgupta_ordered_pairs"]
    bounded = hyphc._load_bounded("iris", 0, False)
    assert hyphc._normalized(bounded, tree)["normalized_cost"] == pytest.approx(
        (cost / 2 - bounded.lower) / (bounded.upper - bounded.lower)
    )


def test_similarities_of_hyphc_as_a_matrix_are_those_of_the_pairs():
    problem = hyphc.load("iris", 0, False)
    i, j = np.array([0, 5, 100]), np.array([149, 50, 3])
    np.testing.assert_allclose(hyphc.matrix(problem).pairs(i, j), problem.similarity.pairs(i, j), atol=1e-12)


@pytest.mark.parametrize("model", ["1-NN", "logistic regression", "support vector machine"])
def test_classifiers_learn_from_the_split_of_the_paper(model):
    problem = hyphc.load("iris", 0, False)
    found = hyphc._on_vectors(problem, 0, model=model)
    assert 80 < found["accuracy_percent"] <= 100
    assert found == hyphc._on_vectors(problem, 0, model=model)


def test_experiments_use_splits_that_nothing_was_chosen_on(monkeypatch):
    seen = []
    monkeypatch.setattr(
        hyphc, "_classify", lambda problem, seed, **options: seen.append((seed, options)) or {}
    )
    hyphc._fresh(None, 3, method="two-step")
    assert seen == [(10_003, {"method": "two-step"})]


def test_purity_of_ghhc_is_over_the_judged_rows():
    tree = ab.linkage(X, "ward")
    every = ghhc.Problem(X, X, Y, np.arange(150), 64)
    assert ghhc.purity(every, tree) == {"dendrogram_purity": ab.metrics.dendrogram_purity(tree, Y)}
    judged = np.arange(0, 150, 3)
    some = ghhc.Problem(X, X, Y[judged], judged, 64)
    expected = ab.metrics.dendrogram_purity(tree.restrict(judged), Y[judged])
    assert ghhc.purity(some, tree) == {"dendrogram_purity": expected}


def test_digits_are_drawn_for_every_seed_and_training_uses_other_draws():
    first, second = (ghhc.load("digits", seed, False) for seed in (0, 1))
    assert len(first.y) == ghhc.N_DIGITS and not np.array_equal(first.X, second.X)
    np.testing.assert_allclose(np.linalg.norm(first.rows, axis=1), 1)
    other = ghhc._load_training("digits", 0, False)
    assert np.array_equal(other.X, ghhc.load("digits", 100, False).X)
    whole = ghhc._load_training("digits-1797", 0, False)
    assert len(whole.y) == 1797 and whole.n_internal == 255


def test_ranking_costs_are_the_mean_of_the_last_steps():
    problem = ghhc.Problem(X, published.centered_rows(X), Y, np.arange(150), 15)
    model = ghhc._trained(problem, 0, max_steps=3)
    found = ghhc._purity_and_cost(problem, model)
    assert found["ranking_cost"] == pytest.approx(model.history_["loss"].mean())
    assert "ranking_cost" not in ghhc._purity_and_cost(problem, ghhc._trained(problem, 0, max_steps=0))


def test_digits_of_l2h_are_two_halves():
    problem = l2h.load("digits", 0, False)
    digits = published.bundled("digits")
    assert len(problem.train) + len(problem.test) == 1797 and problem.n_clusters == 10
    assert np.array_equal(problem.test, digits.X[1::2]) and np.array_equal(problem.y, digits.y[1::2])


def test_scores_of_l2h_take_trees_clusters_and_labels():
    problem = l2h.Problem(X, X, Y, None, 3)
    tree = ab.linkage(X, "ward")
    of_tree = l2h.score(problem, tree)
    clusters = l2h.Clusters(tree.prune(n_clusters=3), tree.cut(n_clusters=3))
    assert of_tree == l2h.score(problem, clusters)
    assert set(of_tree) >= {metric.key for metric in l2h.SIX}
    flat = l2h.score(problem, tree.cut(n_clusters=3))
    assert flat["leaf_purity"] == ab.metrics.flat_scores(Y, tree.cut(n_clusters=3))["purity"]
    assert "dendrogram_purity" not in flat and "purity" not in flat


def test_trees_of_flat_models_have_a_leaf_per_cluster():
    problem = l2h.Problem(X[::2], X[1::2], Y[1::2], None, 4)
    found = l2h.with_l2h(problem, 0, backbone="k-means", n_clusters=5)
    assert found.tree.n_leaves == 5 and found.leaf.shape == (75,) and found.leaf.max() < 5
    assert l2h.with_l2h(problem, 0, backbone="k-means").tree.n_leaves == 4


def test_coarse_levels_are_judged_by_coarse_classes():
    coarse = (Y > 0).astype(np.int64)
    problem = l2h.Problem(X, X, Y, coarse, 6)
    assert l2h_ablations._coarse_score(problem, coarse)["nmi"] == pytest.approx(1.0)
    assert l2h_ablations._coarse_score(problem, Y)["nmi"] < 1.0


def test_ward_is_on_principal_components_where_there_are_more_columns():
    problem = l2h.Problem(X, X, Y, None, 3)
    plain = l2h._ward(problem, 0)
    assert np.array_equal(l2h._ward(problem, 0, n_components=50).parent, plain.parent)
    reduced = l2h._ward(problem, 0, n_components=2)
    from sklearn.decomposition import PCA

    expected = ab.linkage(PCA(2, random_state=0).fit_transform(X), "ward")
    assert np.array_equal(reduced.parent, expected.parent)


def test_drawn_logits_favor_their_own_class():
    logits = l2h._load_logits("cifar-10", 0, True)
    assert logits.shape == (2500, 10) and logits.dtype == np.float16
    top = logits.argmax(axis=1)
    assert np.bincount(top, minlength=10).min() > 150
    assert np.array_equal(logits, l2h._load_logits("cifar-10", 0, True))


def toy_logits(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 30)
    # classes 0 and 1 are taken for each other, and so are 2 and 3
    logits = rng.normal(size=(120, 4))
    logits[np.arange(120), y] += 4
    logits[np.arange(120), y ^ 1] += 2
    return l2h_classes.Problem(logits, y, logits, y // 2)


@pytest.mark.parametrize(
    "build",
    [
        lambda problem: l2h_classes._confusion(problem, 0),
        lambda problem: l2h_classes._mean_logits(problem, 0, metric="euclidean"),
        lambda problem: l2h_classes._mean_logits(problem, 0, metric="cosine"),
        lambda problem: l2h_classes._l2h(problem, 0),
    ],
)
def test_trees_of_classes_join_those_that_are_confused(build):
    problem = toy_logits()
    tree = build(problem)
    assert tree.n_leaves == 4
    sides = tree.cut(n_clusters=2)
    assert sides[0] == sides[1] and sides[2] == sides[3] and sides[0] != sides[2]
    found = l2h_classes._score(problem, tree)
    assert set(found) == {"dendrogram_purity", "lhd", "acc"} and found["dendrogram_purity"] > 0.9


def test_a_class_without_points_has_the_mean_of_all():
    problem = toy_logits()
    logits = np.column_stack([problem.logits, np.full(120, -50.0)])
    tree = l2h_classes._mean_logits(problem._replace(logits=logits), 0, metric="euclidean")
    assert tree.n_leaves == 5


def test_bundled_sets_are_scored_at_the_number_of_classes():
    problem = scikit._load("iris", 0, False)
    tree = ab.linkage(problem.X, "ward")
    found = scikit._score(problem, tree)
    labels = tree.cut(n_clusters=3)
    assert found["nmi"] == scikit._score(problem, labels)["nmi"]
    assert set(scikit._score(problem, labels)) == {"nmi"}
    assert found["dendrogram_purity"] == ab.metrics.dendrogram_purity(tree, problem.y)


def test_a_tree_that_leaves_points_out_is_cut_with_a_least_size():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 20, [[200.0, 0], [0, 400], [-800, 0]]]
    )
    y = np.repeat([0, 1, 0], [300, 300, 3])
    tree = ab.linkage(X, "single")
    for score, problem in (
        (scikit._score, published.Vectors(X, y)),
        (l2h.score, l2h.Problem(X, X, y, None, 2)),
    ):
        assert score(problem, tree)["nmi"] < 0.1
        assert score(problem, WithOutliers(tree))["nmi"] > 0.8


@pytest.mark.parametrize(("name", "quick", "n"), [("1,000 rows", False, 1000), ("30,000 rows", True, 3000)])
def test_mixtures_have_the_rows_of_their_name(name, quick, n):
    problem = scikit._load_mixture(name, 0, quick)
    assert problem.X.shape == (n, 32) and problem.y.max() < 100
    # points of one group are nearer to its mean than to that of all
    mean = problem.X[problem.y == 7].mean(axis=0)
    own = np.linalg.norm(problem.X[problem.y == 7] - mean, axis=1).mean()
    assert own < np.linalg.norm(problem.X[problem.y == 7] - problem.X.mean(axis=0), axis=1).mean()
