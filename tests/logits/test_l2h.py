"""L2H against its definition; empty classes, ties, levels, predictions."""

from __future__ import annotations

import data_sets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logits.l2h_by_definition import as_sets, clustered_logits, l2h_by_definition, steps_of
from scipy.special import softmax

import arbora as ab
from arbora.logits import EstimateWarning, ProbabilityWarning


def fit(logits, **parameters):
    """Algorithm 1 as published, unless said otherwise."""
    defaults = {"n_clusters": None, "refine": False, "n_bootstraps": 0, "n_jobs": 1}
    return ab.L2H(**{**defaults, **parameters}).fit(logits)


@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from(["sum_of_means", "sum", "mean_of_means"]))
def test_steps_equal_algorithm_1(n_classes, seed, aggregation):
    logits = clustered_logits(60, n_classes, seed)
    assert steps_of(fit(logits, aggregation=aggregation)) == as_sets(l2h_by_definition(logits, aggregation))


@given(st.integers(2, 9), st.integers(0, 10**6))
def test_all_pairs_equals_its_definition(n_classes, seed):
    logits = clustered_logits(60, n_classes, seed)
    assert steps_of(fit(logits, merging="all_pairs")) == as_sets(
        l2h_by_definition(logits, merging="all_pairs")
    )


@given(st.integers(2, 70), st.integers(0, 10**6))
def test_float32_takes_the_same_steps_as_float64(n_classes, seed):
    logits = clustered_logits(300, n_classes, seed, np.float32)
    assert fit(logits).tree_.parent.tolist() == fit(logits.astype(np.float64)).tree_.parent.tolist()


@pytest.mark.data
@pytest.mark.parametrize("name", ["cifar100_wrn16-4_test", "cifar10_wrn16-4_test"])
def test_steps_equal_the_listing_on_a_real_classifier(name):
    logits = data_sets.load(f"logits/{name}")["logits"]
    assert steps_of(fit(logits)) == as_sets(l2h_by_definition(logits))


def test_a_callable_aggregation_equals_the_named_one():
    logits = clustered_logits(200, 12, 3)
    own = fit(logits, aggregation=lambda parts: sum(part.mean() for part in parts))
    assert np.array_equal(own.tree_.parent, fit(logits).tree_.parent)


def test_probabilities_give_the_tree_of_their_logits():
    logits = clustered_logits(200, 12, 3)
    own = fit(softmax(logits, axis=1), from_probabilities=True)
    assert np.array_equal(own.tree_.parent, fit(logits).tree_.parent)
    assert np.allclose(own.merge_scores_, fit(logits).merge_scores_)


def test_probabilities_may_be_zero_everywhere_but_one_class():
    tree = fit(np.eye(5)[[0, 1, 2, 3, 4, 0]], from_probabilities=True).tree_
    assert tree.n_leaves == 5 and np.isfinite(tree.height).all()


def test_huge_margins_do_not_lose_the_second_class():
    logits = np.zeros((6, 3))
    logits[[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]] = 500.0
    # class 0 is far more like 1 than 2, though its probability is below any float
    logits[[0, 1], 1] = 20
    logits[[2, 3], 0] = 20
    assert fit(logits).tree_.to_newick(lengths=False) == "((0,1),2);"
    assert fit(logits.astype(np.float32)).tree_.to_newick(lengths=False) == "((0,1),2);"


def test_an_empty_class_joins_the_class_whose_points_give_it_most_probability():
    logits = clustered_logits(400, 6, 0)
    # never first, always in the wake of class 2
    extra = logits[:, [2]] - 3.0
    with_empty = fit(np.hstack([logits, extra]))
    assert with_empty.class_counts_[6] == 0
    assert with_empty.tree_.parent[6] == with_empty.tree_.parent[2] == 7
    assert np.isfinite(with_empty.tree_.height).all() and not np.isnan(with_empty.merge_scores_).any()


def test_classes_nobody_gives_any_probability_join_at_the_root():
    p = np.hstack([softmax(clustered_logits(100, 4, 1), axis=1), np.zeros((100, 2))])
    tree = fit(p, from_probabilities=True).tree_
    assert tree.parent[5] == tree.root
    assert tree.parent[4] == tree.root - 1


def test_all_points_in_one_class():
    logits = np.tile([9.0, 1.0, 2.0, 0.0], (7, 1))
    tree = fit(logits).tree_
    assert tree.n_leaves == 4 and tree.is_binary and np.isfinite(tree.height).all()


@pytest.mark.parametrize("n_classes", [1, 2])
def test_one_or_two_classes(n_classes):
    tree = fit(np.random.default_rng(0).normal(size=(5, n_classes))).tree_
    assert tree.n_nodes == 2 * n_classes - 1


def test_one_point():
    assert fit(np.array([[3.0, 1.0, 2.0]])).tree_.n_leaves == 3


def test_ties_are_broken_by_the_oldest_group():
    # all classes alike
    tree = fit(np.eye(6)).tree_
    assert np.array_equal(tree.parent, fit(np.eye(6)).tree_.parent)
    assert tree.parent[0] == tree.parent[1] == 6


def test_result_does_not_depend_on_threads():
    logits = clustered_logits(5000, 80, 4, np.float32)
    one, two = fit(logits, n_jobs=1), fit(logits, n_jobs=2)
    assert one.tree_ == two.tree_


def test_relabeled_classes_give_the_relabeled_tree():
    logits = clustered_logits(500, 10, 5)
    order = np.random.default_rng(0).permutation(10)
    own = {frozenset(order[i] for i in group) for pair in steps_of(fit(logits[:, order])) for group in pair}
    assert own == {group for pair in steps_of(fit(logits)) for group in pair}


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[0.0, np.nan]]), "NaN"),
        (np.array([[0.0, np.inf]]), "inf"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros(3), "2D array"),
        (np.array([["a", "b"]]), "dtype|string"),
    ],
)
def test_bad_logits_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        fit(X)


@pytest.mark.parametrize(
    "parameters",
    [
        {"aggregation": "median"},
        {"merging": "best"},
        {"temperature": 0},
        {"n_bootstraps": -1},
        {"max_memory": 0},
        {"n_jobs": 0},
        {"class_names": ["one"]},
        {"refine": {"no_such_option": 1}},
        {"n_clusters": 99},
        {"aggregation": lambda parts: float("nan")},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises((ValueError, TypeError), match=r"must|cannot|NaN|no_such_option"):
        fit(clustered_logits(50, 5, 0), **parameters)


def test_negative_and_vanishing_probabilities_are_refused():
    with pytest.raises(ValueError, match="negative"):
        fit(np.array([[0.5, 0.5], [1.1, -0.1]]), from_probabilities=True)
    with pytest.raises(ValueError, match="no positive probability"):
        fit(np.array([[0.5, 0.5], [0.0, 0.0]]), from_probabilities=True)


# ---- predictions ---------------------------------------------------------------------------------------


def test_predictions_are_nested_and_match_the_cut():
    logits, new = clustered_logits(600, 12, 0), clustered_logits(100, 12, 1)
    l2h = fit(logits)
    fine = l2h.predict(new)
    assert np.array_equal(fine, new.argmax(axis=1))
    for k in range(1, 13):
        assert np.array_equal(l2h.predict(new, n_clusters=k), l2h.tree_.cut(n_clusters=k)[fine])


def test_labels_of_training_points_are_the_prediction():
    logits = clustered_logits(300, 8, 0)
    l2h = fit(logits, n_clusters=3)
    assert np.array_equal(l2h.labels_, l2h.predict(logits))


def test_probabilities_of_a_level_are_sums_over_its_classes():
    logits = clustered_logits(300, 8, 0)
    l2h = fit(logits)
    p, label = softmax(logits, axis=1), l2h.tree_.cut(n_clusters=3)
    expected = np.column_stack([p[:, label == k].sum(axis=1) for k in range(3)])
    assert np.allclose(l2h.predict_proba(logits, n_clusters=3), expected)


def test_transform_gives_every_node_the_probability_of_its_leaves():
    logits = clustered_logits(50, 8, 0)
    l2h = fit(logits)
    nodes, p = l2h.transform(logits), softmax(logits, axis=1)
    for v in range(l2h.tree_.n_nodes):
        assert np.allclose(nodes[:, v], p[:, l2h.tree_.leaves(v)].sum(axis=1))
    assert len(l2h.get_feature_names_out()) == l2h.tree_.n_nodes


def test_temperature_divides_logits():
    logits = clustered_logits(300, 8, 0)
    hot = fit(logits, temperature=2.5)
    cold = fit(logits / 2.5)
    # the same numbers but for rounding
    assert np.array_equal(hot.tree_.parent, cold.tree_.parent)
    assert np.allclose(hot.tree_.height, cold.tree_.height)
    assert np.allclose(hot.predict_proba(logits), softmax(logits / 2.5, axis=1))


@pytest.mark.parametrize("temperature", [0.4, 3.0])
def test_temperature_acts_on_probabilities_as_on_their_logits(temperature):
    logits = clustered_logits(300, 8, 0)
    p = softmax(logits, axis=1)
    hot = fit(p, from_probabilities=True, temperature=temperature, refine=True)
    same = fit(logits, temperature=temperature, refine=True)
    assert np.array_equal(hot.tree_.parent, same.tree_.parent)
    assert np.allclose(hot.predict_proba(p), softmax(logits / temperature, axis=1))
    p[:, 3] = 0
    assert (fit(p, from_probabilities=True, temperature=temperature).predict_proba(p)[:, 3] == 0).all()


def test_prediction_refuses_other_numbers_of_classes():
    with pytest.raises(ValueError, match="expecting 8 features"):
        fit(clustered_logits(50, 8, 0)).predict(np.zeros((2, 5)))


# ---- levels and support --------------------------------------------------------------------------------


def two_level_logits(n_points=4000, seed=0):
    """Three far groups of four close classes."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 12, n_points)
    logits = rng.normal(size=(n_points, 12))
    same_group = (np.arange(12) // 4) == (own // 4)[:, None]
    return logits + 4 * same_group + 3 * (np.arange(12) == own[:, None])


def test_a_clear_level_is_proposed_and_stable():
    l2h = fit(two_level_logits(), n_bootstraps=10, random_state=0)
    levels = l2h.levels(3)
    clear = [level for level in levels if level.n_clusters == 3]
    assert clear and clear[0].stability == 1.0
    assert [level.n_clusters for level in levels] == sorted(level.n_clusters for level in levels)
    position = levels.index(clear[0])
    assert np.array_equal(
        l2h.predict(two_level_logits(50, 1), level=position),
        l2h.predict(two_level_logits(50, 1), n_clusters=3),
    )


def test_support_is_high_for_real_groups_and_low_within_them():
    l2h = fit(two_level_logits(), n_bootstraps=20, random_state=0)
    tree = l2h.tree_
    group = [tree.lca(0, 3), tree.lca(4, 7), tree.lca(8, 11)]
    assert (tree.support[group] == 1).all()
    # which two of four like classes merge first is chance
    assert tree.support[12 : tree.root].min() < 0.7


def test_support_is_that_of_the_method_used():
    """With refinement, replicates are refined too: resampling by hand gives the same shares."""
    logits = clustered_logits(900, 9, 2)
    l2h = fit(logits, refine=True, n_bootstraps=30, random_state=0)
    rng = np.random.default_rng(1)
    own = logits.argmax(axis=1)
    hits = np.zeros(l2h.tree_.n_nodes)
    for _ in range(30):
        drawn = np.concatenate([rng.choice(np.flatnonzero(own == c), (own == c).sum()) for c in range(9)])
        other = fit(logits[drawn], refine=True).tree_
        groups = {frozenset(other.leaves(v).tolist()) for v in range(other.n_nodes)}
        hits += [frozenset(l2h.tree_.leaves(v).tolist()) in groups for v in range(l2h.tree_.n_nodes)]
    assert np.abs(l2h.tree_.support - hits / 30).max() < 0.4
    assert np.abs(l2h.tree_.support - hits / 30).mean() < 0.1


def test_support_is_reproducible():
    logits = two_level_logits(500)
    first, second = (fit(logits, n_bootstraps=5, random_state=7) for _ in range(2))
    assert first.tree_ == second.tree_


def test_level_must_exist():
    l2h = fit(two_level_logits(300))
    with pytest.raises(ValueError, match="level must be"):
        l2h.predict(two_level_logits(10), level=99)
    with pytest.raises(ValueError, match="not both"):
        l2h.predict(two_level_logits(10), level=0, n_clusters=2)


# ---- nodes that are sure enough ------------------------------------------------------------------------


def deepest_sure_node(tree, p, confidence):
    """By definition: from the root to the most probable child as long as it is sure enough."""
    node = tree.root
    while node >= tree.n_leaves:
        children = tree.children(node).tolist()
        best = max(children, key=lambda child: p[tree.leaves(child)].sum())
        if p[tree.leaves(best)].sum() < confidence:
            break
        node = best
    return node


@given(st.integers(2, 12), st.integers(0, 10**6), st.floats(0.05, 1.0))
def test_confidence_gives_the_deepest_node_that_is_sure_enough(n_classes, seed, confidence):
    l2h = fit(clustered_logits(60, n_classes, seed))
    new = clustered_logits(40, n_classes, seed + 1)
    nodes = l2h.predict(new, confidence=confidence)
    p = l2h.predict_proba(new)
    # sums of probabilities in another order differ by rounding, which decides where one is the confidence itself
    bounds = [
        {deepest_sure_node(l2h.tree_, row, bound) for bound in (confidence - 1e-12, confidence + 1e-12)}
        for row in p
    ]
    assert all(node in allowed for node, allowed in zip(nodes.tolist(), bounds, strict=True))


def test_answers_above_one_half_are_the_only_deepest_nodes_that_sure():
    l2h = fit(two_level_logits(300))
    new = two_level_logits(200, 1)
    nodes, p = l2h.predict(new, confidence=0.8), l2h.transform(new)
    for i, node in enumerate(nodes.tolist()):
        sure = np.flatnonzero(p[i] >= 0.8)
        assert node == min(sure, key=lambda v: l2h.tree_.sizes[v])


def test_confidence_stands_alone_and_lies_in_its_range():
    l2h = fit(two_level_logits(100))
    for options in ({"n_clusters": 2}, {"level": 0}):
        with pytest.raises(ValueError, match="only one of"):
            l2h.predict(two_level_logits(5), confidence=0.5, **options)
    with pytest.raises(ValueError, match="confidence"):
        l2h.predict(two_level_logits(5), confidence=1.5)


# ---- files ---------------------------------------------------------------------------------------------


def test_a_saved_model_predicts_as_before(tmp_path):
    logits = two_level_logits(400)
    names = [f"class {c}" for c in range(12)]
    l2h = ab.L2H(3, class_names=names, n_bootstraps=4, random_state=0).fit(logits)
    l2h.save(tmp_path / "model.npz")
    again = ab.L2H.load(tmp_path / "model.npz")
    assert again.tree_ == l2h.tree_ and again.get_params() == l2h.get_params()
    assert np.array_equal(again.tree_.support, l2h.tree_.support)
    assert np.array_equal(again.predict(logits), l2h.predict(logits))
    assert np.array_equal(again.predict(logits, confidence=0.9), l2h.predict(logits, confidence=0.9))
    assert [level.stability for level in again.levels()] == [level.stability for level in l2h.levels()]
    again.fit(logits)


def test_what_cannot_be_saved_or_read_says_so(tmp_path):
    l2h = fit(two_level_logits(100), aggregation=lambda parts: sum(part.mean() for part in parts))
    with pytest.raises(TypeError, match="aggregation is a function"):
        l2h.save(tmp_path / "model.npz")
    l2h.tree_.save(tmp_path / "tree.npz")
    with pytest.raises(ab.errors.FormatError, match=r"arbora\.l2h"):
        ab.L2H.load(tmp_path / "tree.npz")


# ---- names, progress -----------------------------------------------------------------------------------


def test_names_come_from_columns_or_argument():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(clustered_logits(60, 3, 0), columns=["ant", "bee", "cat"])
    assert list(fit(frame).tree_.name[:3]) == ["ant", "bee", "cat"]
    assert list(fit(frame, class_names=list("xyz")).tree_.name[:3]) == ["x", "y", "z"]


def test_columns_of_transform_are_named_after_classes():
    pytest.importorskip("pandas")
    l2h = fit(clustered_logits(60, 3, 0), class_names=["ant", "bee", "cat"]).set_output(transform="pandas")
    assert list(l2h.transform(clustered_logits(5, 3, 0)).columns) == ["ant", "bee", "cat", "node 3", "node 4"]


def test_equal_class_names_are_told_apart():
    names = ["maillot", "bikini", "maillot"]
    assert list(fit(clustered_logits(60, 3, 0), class_names=names).tree_.name[:3]) == [
        "maillot (0)",
        "bikini",
        "maillot (2)",
    ]


def test_one_text_is_not_a_list_of_class_names():
    with pytest.raises(TypeError, match="sequence of names"):
        fit(clustered_logits(60, 3, 0), class_names="abc")


def test_probabilities_given_as_logits_are_noticed():
    p = softmax(clustered_logits(60, 5, 0), axis=1)
    with pytest.warns(ProbabilityWarning, match="from_probabilities=True"):
        fit(p)
    with pytest.warns(ProbabilityWarning):
        fit([p[:30], p[30:]])


def test_progress_is_shown_on_stderr(capsys):
    fit(clustered_logits(60, 5, 0), verbose=True, n_bootstraps=2)
    shown = capsys.readouterr().err
    assert [line.split(":")[0] for line in shown.splitlines()] == ["scan", "merge", "bootstrap"]


def test_callbacks_hear_of_every_phase():
    class Names:
        def __init__(self):
            self.heard = []

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context):
            self.heard.append(context.task_name)

        def on_fit_task_end(self, estimator, context): ...

    names = Names()
    ab.L2H(n_bootstraps=2).set_callbacks(names).fit(clustered_logits(60, 5, 0))
    assert names.heard == ["fit", "scan", "merge", "bootstrap"]


def test_no_warning_for_arrays(recwarn):
    fit(clustered_logits(60, 5, 0))
    assert not [w for w in recwarn if issubclass(w.category, EstimateWarning)]


# ---- refinement ----------------------------------------------------------------------------------------


def test_refinement_keeps_clear_groups_and_heights_grow():
    logits = two_level_logits()
    tree = fit(logits, refine=True, n_bootstraps=3, random_state=0).tree_
    assert {frozenset(np.flatnonzero(tree.cut(n_clusters=3) == k)) for k in range(3)} == {
        frozenset(range(4)), frozenset(range(4, 8)), frozenset(range(8, 12))
    }  # fmt: skip
    inner = np.arange(tree.n_nodes - 1)
    assert (tree.height[tree.parent[inner]] >= tree.height[inner]).all()
    assert tree.support is not None


@pytest.mark.data
def test_refined_trees_agree_better_with_superclasses_than_linkage_of_class_means():
    from scipy.cluster.hierarchy import linkage

    data = data_sets.load("logits/cifar100_wrn16-4_test")
    logits, coarse = data["logits"], data["coarse_of_fine"][data["labels"]]
    train, test = logits[::2], logits[1::2]
    own = train.argmax(axis=1)
    means = np.array([train[own == c].mean(axis=0) for c in range(100)])
    baseline = ab.Tree.from_linkage(linkage(means, "average", "cosine"))
    refined = fit(train, refine=True).tree_

    def quality(tree):
        leaf = test.argmax(axis=1)
        return np.array(
            [
                ab.metrics.dendrogram_purity(tree, coarse[1::2], leaf),
                -ab.metrics.least_hierarchical_distance(tree, coarse[1::2], leaf),
            ]
        )

    assert (quality(refined) > quality(baseline)).all()


def test_refinement_with_empty_classes():
    logits = np.hstack([clustered_logits(400, 6, 0), np.full((400, 2), -50.0)])
    assert fit(logits, refine=True).tree_.n_leaves == 8


def test_levels_of_the_tree_carry_the_mean_support_of_their_nodes():
    tree = fit(two_level_logits(), n_bootstraps=10, random_state=0).tree_
    for level in tree.levels(4):
        assert level.stability == pytest.approx(tree.support[level.nodes].mean())
    assert 3 in [level.n_clusters for level in tree.levels(3)]
