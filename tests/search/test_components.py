"""The parts of a search that decide little things: components, columns seen, flat clusters, what a model file holds."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from trees import leaf_sets, random_tree

import arbora as ab
from arbora._base.files import read_archive, write_archive
from arbora.errors import FormatError
from arbora.search import components
from arbora.search.components import component_nodes, components_seen, join_components, joined_by_means
from arbora.search.features_seen import check_features, forget_features
from arbora.search.flat import flat_clusters
from arbora.search.fuse import best_within
from arbora.search.model_file import MARKER


def blocks(seed, sizes=(3, 4, 2)):
    """A graph of unconnected cliques, and the clique of each point."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    W = (label[:, None] == label) * rng.random((len(label), len(label)))
    W = np.triu(W, 1)
    return ab.similarity.graph(sp.csr_array(W + W.T)), label


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_components_are_seen_in_the_tree_or_not_at_all(seed):
    similarity, _ = blocks(seed)
    rng = np.random.default_rng(seed)
    for tree in (ab.linkage(similarity, "average"), random_tree(9, rng)):
        seen = components_seen(tree, similarity.cross(tree))
        if seen is not None:
            true = connected_components(similarity.csr, directed=False)[1]
            assert len(set(zip(seen.tolist(), true.tolist()))) == len(set(seen)) == len(set(true))


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 3), st.integers(0, 1000))
def test_the_nodes_of_components_are_the_highest_pure_ones(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    tree, label = random_tree(n, rng, max_branching=3), rng.integers(0, n_labels, n)
    below = leaf_sets(tree)
    is_pure = [len({label[leaf] for leaf in leaves}) == 1 for leaves in below]
    wanted = [
        v for v in range(tree.n_nodes) if is_pure[v] and (v == tree.root or not is_pure[tree.parent[v]])
    ]
    assert component_nodes(tree, label).tolist() == wanted


def far_apart():
    """Three groups on a line, of which the first two are near each other."""
    centers = np.repeat([[0.0, 0], [30, 0], [300, 0]], 6, axis=0)
    return centers + np.random.default_rng(0).normal(size=(18, 2))


def test_components_are_joined_by_the_distances_of_their_means():
    X = far_apart()
    similarity = ab.similarity.knn(X, 3, metric="euclidean")
    start = ab.linkage(similarity, "average")
    tree, n_components = join_components(start, similarity)
    assert n_components == 3
    assert frozenset(range(12)) in {frozenset(below) for below in leaf_sets(tree)}, "the near ones join first"
    assert ab.metrics.dasgupta_cost(tree, similarity) == pytest.approx(
        ab.metrics.dasgupta_cost(start, similarity)
    )
    again, _ = join_components(start, similarity, similarity.cross(start))
    assert again == tree


def test_without_vectors_or_with_few_components_nothing_changes():
    similarity, _ = blocks(0)
    tree = ab.linkage(similarity, "average")
    assert join_components(tree, similarity) == (tree, 3)
    two, _ = blocks(0, (4, 5))
    tree = ab.linkage(two, "average")
    assert join_components(tree, two) == (tree, 2)
    dense = ab.similarity.cosine(np.random.default_rng(0).normal(size=(5, 2)))
    tree = ab.linkage(dense, "average")
    assert join_components(tree, dense) == (tree, None)


def test_heights_stay_below_components_and_rise_above_them():
    X = far_apart()
    tree = ab.linkage(X, "average").replace(name=[f"p{k}" for k in range(18)])
    nodes = component_nodes(tree, np.repeat(np.arange(3), 6))
    joined = joined_by_means(tree, nodes, np.array([[0.0], [30.0], [300.0]]))
    assert [joined.label(leaf) for leaf in range(18)] == [tree.label(leaf) for leaf in range(18)]
    assert (joined.height[joined.parent[:-1]] >= joined.height[:-1]).all()
    low = np.sort(joined.height)[:-2]
    assert joined.height[-2:].min() >= low.max() and joined.height[-1] <= 2 * low.max() + 1e-9


def test_many_components_are_joined_by_their_own_neighbors(monkeypatch):
    monkeypatch.setattr(components, "LINKED_UP_TO", 2)
    tree, n_components = join_components(
        ab.linkage(ab.similarity.knn(far_apart(), 3, metric="euclidean"), "average"),
        ab.similarity.knn(far_apart(), 3, metric="euclidean"),
    )
    assert n_components == 3 and frozenset(range(12)) in {frozenset(below) for below in leaf_sets(tree)}


# ---- exchanges under a cap ---------------------------------------------------------------------------------------


def best_by_trying(gain, nodes, room):
    best = 0.0
    for mask in range(2 ** len(gain)):
        taken = np.array([mask >> k & 1 for k in range(len(gain))], dtype=bool)
        if nodes[taken].sum() <= room:
            best = max(best, gain[taken].sum())
    return best


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-5, 9), st.integers(-3, 3)), min_size=1, max_size=8), st.integers(0, 4))
def test_exchanges_fit_the_room_never_lose_and_take_all_where_all_fits(pairs, room):
    gain, nodes = (np.array(part) for part in zip(*pairs))
    gain = gain.astype(float)
    taken = best_within(gain, nodes, room)
    assert nodes[taken].sum() <= room and gain[taken].sum() >= 0
    assert gain[taken].sum() <= best_by_trying(gain, nodes, room)
    wanted = gain > 0
    if nodes[wanted].sum() <= room:
        np.testing.assert_array_equal(taken, wanted)
    free = wanted & (nodes <= 0)
    assert gain[taken].sum() >= gain[free].sum()


def test_a_loss_may_free_the_nodes_for_a_larger_gain():
    taken = best_within(np.array([10.0, -1.0]), np.array([2, -2]), 0)
    assert taken.tolist() == [True, True]


# ---- columns of a fit --------------------------------------------------------------------------------------------


class Estimator(BaseEstimator):
    """Nothing but what scikit-learn looks for."""


def test_columns_are_noted_checked_and_forgotten():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.ones((3, 2)), columns=["a", "b"])
    model = Estimator()
    check_features(model, frame, frame.to_numpy(), None, reset=True)
    assert model.n_features_in_ == 2 and model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        check_features(model, frame[["b", "a"]], frame.to_numpy(), None, reset=False)
    forget_features(model)
    assert not hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    forget_features(model)


def test_names_that_come_with_pieces_are_held_to_as_well():
    model, rows = Estimator(), np.ones((3, 2))
    check_features(model, None, rows, ["a", "b"], reset=True)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    check_features(model, None, rows, ["a", "b"], reset=False)
    with pytest.raises(ValueError, match=r"Fit saw 'a', 'b'; X has 'a', 'c'"):
        check_features(model, None, rows, ["a", "c"], reset=False)
    many = [f"column {k}" for k in range(9)]
    with pytest.raises(ValueError, match=r"'column 5', \.\.\."):
        check_features(model, None, np.ones((3, 9)), many, reset=False)


# ---- flat clusters -----------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 1000))
def test_flat_clusters_are_as_many_as_asked_for_or_as_points(n, k, seed):
    tree = random_tree(n, np.random.default_rng(seed))
    if k > n > 1:
        with pytest.raises(ValueError, match=f"n_clusters must lie in .1, n_points={n}"):
            flat_clusters(tree, k)
        return
    labels = flat_clusters(tree, k)
    assert labels.shape == (n,) and len(set(labels)) <= min(k, n) and labels.min() == 0
    high = tree.replace(height=np.maximum(tree.sizes - 1, 0).astype(float))
    assert flat_clusters(high, "auto").shape == (n,)


def test_dust_joins_what_is_near():
    rng = np.random.default_rng(0)
    groups = np.repeat([[0.0, 0.0], [20.0, 0.0]], 60, axis=0) + rng.normal(size=(120, 2))
    tree = ab.linkage(np.vstack([groups, [[0.0, 90.0], [300.0, 0.0]]]), "single")
    assert np.bincount(tree.cut(2, min_size=1)).min() == 1, "the plain cut takes a single point for a cluster"
    labels = flat_clusters(tree, 2)
    assert np.bincount(labels).min() >= 60 and len(set(labels[:60])) == len(set(labels[60:120])) == 1


# ---- the file of a model -----------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize(
    "options",
    [{}, {"metric": "cosine"}, {"scale": "standard", "metric": "euclidean"}, {"random_state": np.int64(3)},
     {"random_state": np.random.default_rng(0)}, {"n_clusters": np.int64(4)}, {"checkpoint": "somewhere"}],
)  # fmt: skip
def test_settings_come_back_but_for_those_of_a_process(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ab.TreeClustering(**options).fit(X)
    model.save("model")
    again = ab.TreeClustering.load("model")
    assert again.checkpoint is None and again.metric == model.metric and again.scale == model.scale
    assert again.n_clusters == model.n_clusters
    kept = isinstance(options.get("random_state"), (int, np.integer))
    assert again.random_state == (options["random_state"] if kept else None)
    assert again.tree_ == model.tree_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda arrays: arrays.pop("about"), "about"),
        (lambda arrays: arrays.pop("labels"), "labels"),
        (lambda arrays: arrays.update(labels=np.zeros(3, int)), "different numbers of points"),
        (lambda arrays: arrays.update(about=np.frombuffer(b"[]", np.uint8)), "damaged"),
        (lambda arrays: arrays.update({"tree/parent": np.zeros(39, int)}), "damaged"),
    ],
)
def test_a_model_file_with_something_wrong_is_refused(change, words, tmp_path):
    ab.TreeClustering(random_state=0).fit(X).save(tmp_path / "model")
    arrays = read_archive(tmp_path / "model", MARKER)
    assert json.loads(arrays["about"].tobytes())["metric"]
    change(arrays)
    write_archive(tmp_path / "model", MARKER, arrays)
    with pytest.raises(FormatError, match=words):
        ab.TreeClustering.load(tmp_path / "model")
