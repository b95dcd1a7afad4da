import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.datasets import load_iris

import arbora as ab


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
