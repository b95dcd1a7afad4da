import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.errors import FormatError


def stream(n=200, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 5))


def assert_state_is_fresh(model, X):
    """The cached sizes, crosses and sums equal those computed from the tree."""
    tree = model.tree_
    similarity = ab.similarity.cosine(X)
    state = model._state
    used = np.setdiff1d(np.arange(model._capacity, len(state.nodes)), state.free[: state.numbers[0]])
    np.testing.assert_allclose(
        np.sort(state.nodes["cross"][used]), np.sort(similarity.cross(tree)), atol=1e-8
    )
    np.testing.assert_array_equal(np.sort(state.nodes["size"][used]), np.sort(tree.sizes[tree.n_leaves :]))
    np.testing.assert_allclose(
        np.sort(model._gap[used]), np.sort(gaps_by_definition(tree, similarity)), atol=1e-8
    )


def gaps_by_definition(tree, similarity):
    """Per internal node, the largest sum on a way down of (pairs that meet - cross weight)."""
    ones = ab.similarity.dense(np.ones((tree.n_leaves, tree.n_leaves)))
    gap = np.concatenate([np.zeros(tree.n_leaves), ones.cross(tree) - similarity.cross(tree)])
    for node in range(tree.n_leaves, tree.n_nodes):
        gap[node] += max(gap[child] for child in tree.children(node))
    return gap[tree.n_leaves :]


def test_batches_grow_the_tree_past_its_first_capacity_and_caches_stay_exact():
    X = stream(2500)
    model = ab.OnlineTree(random_state=0)
    for first in range(0, 2500, 700):
        model.partial_fit(X[first : first + 700])
    assert model.tree_.n_leaves == 2500 and model.tree_.is_binary
    assert_state_is_fresh(model, X)


def test_online_tree_is_near_the_refined_cost_and_refine_closes_the_gap():
    X = stream(400)
    similarity = ab.similarity.cosine(X)
    model = ab.OnlineTree(random_state=0).fit(X)
    online = ab.metrics.dasgupta_cost(model.tree_, similarity)
    best = ab.metrics.dasgupta_cost(ab.refine(model.tree_, similarity), similarity)
    touched = ab.metrics.dasgupta_cost(model.refine().tree_, similarity)
    assert best <= touched * (1 + 1e-3) and touched <= online and online <= best * 1.02
    assert_state_is_fresh(model, X)


def test_insert_and_remove_keep_the_tree_whole():
    X = stream(60)
    model = ab.OnlineTree(shuffle=False).partial_fit(X[:50])
    assert model.insert(X[50]) == 50
    for point in (0, 50, 17, 31):
        model.remove(point)
    kept = np.setdiff1d(np.arange(51), [0, 50, 17, 31])
    assert model.tree_.n_leaves == len(kept)
    assert_state_is_fresh(model, X[kept])
    for point in kept[:-1]:
        model.remove(int(point))
    assert model.tree_.n_leaves == 1
    with pytest.raises(ValueError, match="last point cannot be removed"):
        model.remove(int(kept[-1]))
    with pytest.raises(ValueError, match="point must be one that is present"):
        model.remove(0)


def test_a_saved_model_goes_on_as_if_it_had_never_stopped(tmp_path):
    X = stream(300)
    model = ab.OnlineTree(n_clusters=4, random_state=1).partial_fit(X[:200])
    model.save(tmp_path / "model.npz")
    other = ab.OnlineTree.load(tmp_path / "model.npz")
    assert other.tree_ == model.tree_ and other.n_clusters == 4
    assert other.partial_fit(X[200:]).tree_ == model.partial_fit(X[200:]).tree_


def test_foreign_and_truncated_files_are_refused(tmp_path):
    model = ab.OnlineTree(random_state=0).fit(stream(20))
    model.tree_.save(tmp_path / "tree.npz")
    with pytest.raises(FormatError, match="online-tree"):
        ab.OnlineTree.load(tmp_path / "tree.npz")
    model.save(tmp_path / "model.npz")
    whole = (tmp_path / "model.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError):
        ab.OnlineTree.load(tmp_path / "cut.npz")


def test_predict_finds_the_cluster_of_unseen_points():
    X, y = make_blobs(150, n_features=4, centers=3, cluster_std=0.4, random_state=2)
    model = ab.OnlineTree(n_clusters=3, random_state=0).fit(X[:100])
    assert ab.metrics.clustering_accuracy(y[100:], model.predict(X[100:])) > 0.9


def test_weights_and_dot_products():
    X = np.abs(stream(30))
    model = ab.OnlineTree("dot", random_state=0).partial_fit(X, sample_weight=np.arange(1, 31))
    assert model._state.nodes["size"][model._root] == np.arange(1, 31).sum()
    with pytest.raises(ValueError, match="without negative entries"):
        ab.OnlineTree("dot").fit(stream(5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ab.OnlineTree("jaccard").fit(stream(5)), "similarity must be one of"),
        (lambda: ab.OnlineTree(n_clusters=0).fit(stream(5)).labels_, "n_clusters must be a whole number"),
        (
            lambda: ab.OnlineTree().partial_fit(stream(5), sample_weight=[1.0]),
            "sample_weight must hold 5 positive",
        ),
        (lambda: ab.OnlineTree().fit([[np.inf, 0.0]]), "infinity"),
        (lambda: ab.OnlineTree().fit(stream(5)).partial_fit(np.ones((2, 3))), "3 features"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
