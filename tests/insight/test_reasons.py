import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from trees import leaf_sets, random_tree

import arbora as ab
from arbora.insight.reasons import _fold_change, _rule


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@pytest.fixture(scope="module")
def tree(iris):
    return ab.cluster(iris.data, metric="cosine", random_state=0)


def test_effects_and_p_values_are_those_of_the_textbook(iris, tree):
    found = ab.explain(tree, iris.data, n_clusters=2, n_features=4)[0]
    inside = tree.leaves(found.node)
    outside = np.setdiff1d(np.arange(150), inside)
    _, p = stats.ttest_ind(iris.data[inside], iris.data[outside], equal_var=False)
    adjusted = stats.false_discovery_control(p)
    for feature in found.features:
        a, b = iris.data[inside, int(feature.name)], iris.data[outside, int(feature.name)]
        pooled = np.sqrt((len(a) * a.var() + len(b) * b.var()) / 150)
        assert feature.effect == pytest.approx((a.mean() - b.mean()) / pooled)
        assert feature.p_value == pytest.approx(adjusted[int(feature.name)], rel=1e-6)
    effects = [abs(feature.effect) for feature in found.features]
    assert effects == sorted(effects, reverse=True)


def test_rules_hold_for_the_numbers_they_state(iris, tree):
    for found in ab.explain(tree, iris.data, iris.feature_names, n_clusters=3):
        for feature in found.features:
            words = feature.rule.removeprefix(feature.name).split()
            column = iris.data[:, iris.feature_names.index(feature.name)][tree.leaves(found.node)]
            threshold, stated = float(words[1].rstrip(":")), int(words[2])
            holds = column < threshold if words[0] == "<" else column > threshold
            assert holds.sum() == pytest.approx(stated, abs=1)


def test_sparse_counts_give_the_same_as_dense_ones(iris, tree):
    dense = ab.explain(tree, iris.data, n_clusters=3)
    sparse = ab.explain(tree, sp.csr_array(iris.data), n_clusters=3)
    for a, b in zip(dense, sparse):
        assert [f.name for f in a.features] == [f.name for f in b.features]
        assert [f.effect for f in a.features] == pytest.approx([f.effect for f in b.features])


def test_frames_name_their_columns_and_a_node_can_be_named(iris, tree):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    names = [*map(str, range(150)), *[""] * (tree.n_nodes - 150)]
    names[int(tree.children(tree.root)[0])] = "left"
    found = ab.explain(tree.replace(name=names), frame, node="left")[0]
    assert {feature.name for feature in found.features} <= set(iris.feature_names)
    assert found.to_frame().shape[0] == len(found.features)
    assert "left" not in str(found)
    assert f"node {found.node}" in str(found)


@pytest.mark.filterwarnings("error")
def test_constant_and_perfect_columns_give_finite_effects():
    tree = ab.Tree.from_newick("((a,b),(c,d));")
    found = ab.explain(tree, [[0, 1, 5], [0, 1, 6], [1, 1, 5], [1, 1, 6]])[0]
    assert [feature.name for feature in found.features] == ["0"]
    assert np.isfinite(found.features[0].effect)


def test_a_p_value_too_small_for_a_float_is_not_printed_as_zero():
    apart, near = (
        ab.insight.Feature("width", 9.0, 0.0, 1.0, 0.0, p_value, "width < 0.5: 2 of 2, and 0 of 2 others")
        for p_value in (0.0, 0.012)
    )
    printed = str(ab.insight.Explanation(5, 2, 2, "siblings", [apart, near]))
    assert "+9.00 sd, p < 1e-300; width" in printed
    assert "+9.00 sd, p 0.012; width" in printed


def test_wrong_shapes_and_the_root_are_refused(iris, tree):
    with pytest.raises(ValueError, match="one row per leaf"):
        ab.explain(tree, iris.data[:5])
    with pytest.raises(ValueError, match="names"):
        ab.explain(tree, iris.data, ["a"])
    with pytest.raises(ValueError, match="whole tree"):
        ab.explain(tree, iris.data, node=tree.root)


def test_graphs_are_explained_by_their_central_members_and_density():
    graph = ab.similarity.graph(([0, 0, 0, 1, 4, 0], [1, 2, 3, 2, 5, 4], [1, 1, 1, 1, 1, 0.1]))
    tree = ab.cluster(graph, random_state=0)
    for reason in ab.insight.explain_graph(tree, graph, n_clusters=2):
        assert reason.density_inside > reason.density_outside
        assert set(reason.central) <= set(tree.leaves(reason.node))


@settings(max_examples=25)
@given(st.integers(3, 12), st.integers(1, 4), st.integers(0, 1000), st.sampled_from(["siblings", "rest"]))
def test_effects_equal_their_definition_against_siblings_and_the_rest(n, d, seed, against):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(n, rng, max_branching=3), rng.normal(size=(n, d))
    node = int(rng.integers(tree.n_nodes - 1))
    (found,) = ab.explain(tree, X, node=node, against=against, n_features=99)
    below = leaf_sets(tree)
    inside = sorted(below[node])
    around = below[tree.root if against == "rest" else tree.parent[node]]
    outside = sorted(set(around) - set(inside))
    assert (found.n_inside, found.n_outside) == (len(inside), len(outside))
    assert [abs(f.effect) for f in found.features] == sorted([abs(f.effect) for f in found.features])[::-1]
    for feature in found.features:
        a, b = X[inside, int(feature.name)], X[outside, int(feature.name)]
        pooled = np.sqrt((len(a) * a.var() + len(b) * b.var()) / (len(a) + len(b)))
        if pooled > 0:
            assert feature.effect == pytest.approx((a.mean() - b.mean()) / pooled)
        assert feature.mean_inside == pytest.approx(a.mean())
        assert feature.mean_outside == pytest.approx(b.mean())
        assert np.isnan(feature.p_value) == (len(a) < 2 or len(b) < 2)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8), st.lists(st.integers(0, 5), min_size=1, max_size=8)
)
def test_the_rule_is_the_threshold_that_tells_most_apart(inside, outside):
    inside, outside = np.array(inside, float), np.array(outside, float)
    rule = _rule("x", inside, outside)
    values = np.unique(np.concatenate([inside, outside]))
    if len(values) == 1:
        assert rule == "x is the same everywhere"
        return
    _, sign, threshold, held, _, total, _, others, *_ = rule.replace(":", "").replace(",", "").split()
    threshold = float(threshold)
    below = {k: np.mean(side < threshold) for k, side in (("in", inside), ("out", outside))}
    best = max(abs(np.mean(inside < cut) - np.mean(outside < cut)) for cut in (values[:-1] + values[1:]) / 2)
    assert abs(below["in"] - below["out"]) == pytest.approx(best)
    holds = inside < threshold if sign == "<" else inside > threshold
    assert (int(held), int(total)) == (holds.sum(), len(inside))
    holds = outside < threshold if sign == "<" else outside > threshold
    assert int(others) == holds.sum()


@pytest.mark.parametrize(
    ("inside", "outside", "change"),
    [(8.0, 2.0, 2.0), (2.0, 8.0, -2.0), (3.0, 3.0, 0.0), (-1.0, 2.0, np.nan), (0.0, 0.0, np.nan)],
)
def test_fold_changes_are_powers_of_two(inside, outside, change):
    assert _fold_change(inside, outside) == pytest.approx(change, nan_ok=True, abs=1e-6)


def test_a_feature_that_is_absent_outside_has_a_finite_fold_change():
    assert 20 < _fold_change(1.0, 0.0) < 40 and -40 < _fold_change(0.0, 1.0) < -20


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_values_that_are_not_finite_are_named_with_their_place(bad, make):
    X = np.ones((4, 2))
    X[2, 1] = bad
    with pytest.raises(ValueError, match=r"X must be finite.* row 2, column 1"):
        ab.explain(ab.Tree.from_newick("((a,b),(c,d));"), make(X))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"against": "others"}, ValueError, "against must be one of 'siblings', 'rest'"),
        ({"node": 4, "n_clusters": 2}, ValueError, "Pass node or n_clusters, not both"),
        ({"n_features": 0}, ValueError, "n_features must be at least 1"),
        ({"node": 99}, (ValueError, IndexError), "99"),
        ({"n_clusters": 9}, ValueError, "n_clusters"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        ab.explain(ab.Tree.from_newick("((a,b),(c,d));"), np.eye(4), **options)


def test_densities_of_a_graph_equal_their_definition():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((9, 9)), 1)
    W = W + W.T
    tree = random_tree(9, rng)
    labels = tree.cut(3)
    for label, reason in enumerate(
        ab.insight.explain_graph(tree, ab.similarity.graph(sp.csr_array(W)), n_clusters=3, n_central=2)
    ):
        inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        pairs = [W[i, j] for i in inside for j in inside if i != j]
        assert reason.n_members == len(inside)
        assert reason.density_inside == pytest.approx(np.mean(pairs) if pairs else 0.0)
        assert reason.density_outside == pytest.approx(W[np.ix_(inside, outside)].mean())
        strength = W[np.ix_(inside, inside)].sum(axis=1)
        assert reason.central.tolist() == inside[np.argsort(-strength)][:2].tolist()
        graph = ab.similarity.graph(sp.csr_array(W))
        alone = ab.insight.explain_graph(tree, graph, node=reason.node, n_central=2)[0]
        assert alone.density_outside == reason.density_outside


@pytest.mark.parametrize("unit", [2.0**-1010, 2.0**-600, 2.0**600, 2.0**1010])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_effects_do_not_depend_on_the_unit_where_squares_leave_the_range_of_numbers(unit, form, tree, iris):
    expected = ab.explain(tree, form(iris.data), n_clusters=3)
    for found, same in zip(ab.explain(tree, form(iris.data * unit), n_clusters=3), expected, strict=True):
        for feature, before in zip(found.features, same.features, strict=True):
            assert feature.effect == pytest.approx(before.effect, rel=1e-9)
            assert feature.p_value == pytest.approx(before.p_value, rel=1e-9, abs=1e-300)
            assert feature.mean_inside == pytest.approx(before.mean_inside * unit, rel=1e-12)
            assert feature.rule.split(":")[1] == before.rule.split(":")[1]
