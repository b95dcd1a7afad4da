import signal
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from trees import insert_above

import arbora as ab
from arbora._base.files import read_archive, write_archive
from arbora.errors import FormatError, Interrupted
from arbora.search import online, online_store
from arbora.search.online_store import Store


def stream(n=200, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 5))


def assert_store_is_fresh(model, X):
    """The cached sizes, crosses, sums and the root equal those computed from the tree."""
    store, tree = model._store, model._store.tree()
    similarity = ab.similarity.cosine(X)
    used = np.flatnonzero(store.used_nodes())
    inner = used[used >= store.capacity]
    nodes = store.state.nodes
    np.testing.assert_allclose(np.sort(nodes["cross"][inner]), np.sort(similarity.cross(tree)), atol=1e-8)
    np.testing.assert_array_equal(np.sort(nodes["size"][inner]), np.sort(tree.sizes[tree.n_leaves :]))
    expected = gaps_by_definition(tree, similarity)
    np.testing.assert_allclose(np.sort(store.bounds["gap"][inner]), np.sort(expected), atol=1e-7)
    assert_rows_are_fresh(store)
    assert nodes["parent"][store.root[0]] == -1 and store.present.sum() == tree.n_leaves
    if len(inner):
        assert nodes["size"][store.root[0]] == tree.n_leaves
        np.testing.assert_allclose(store.sums[store.root[0]], similarity.features.sum(axis=0), atol=1e-8)


def assert_rows_are_fresh(store):
    """Sums that insertion reads equal those of the leaves below, and so does what is known of all others."""
    nodes, expected = store.state.nodes, store.sums.copy()
    used = np.flatnonzero(store.used_nodes())
    expected[used[used >= store.capacity]] = 0
    # fewer leaves below first
    for node in used[np.argsort(nodes["size"][used], kind="stable")]:
        if nodes["parent"][node] >= 0:
            expected[nodes["parent"][node]] += expected[node]
    is_kept = store.has_all_rows | (nodes["after"][used] >= 0) | (nodes["parent"][used] < 0)
    np.testing.assert_allclose(store.sums[used[is_kept]], expected[used[is_kept]], atol=1e-8)
    np.testing.assert_allclose(store.bounds["last"][used], expected[used, -1], atol=1e-8)
    rest = (expected[used, :-1] ** 2).sum(axis=1)
    np.testing.assert_allclose(store.bounds["rest"][used], rest, rtol=1e-7, atol=1e-7)


def gaps_by_definition(tree, similarity):
    """Per internal node, the most that any way down can save: (other leaves) * (reach of the child) - cross weight.

    A row (v, 1) / sqrt(2) has at most (number of leaves + length of their sum of v) / 2 in common with some leaves.
    """
    cross, gap = similarity.cross(tree), np.zeros(tree.n_nodes)
    for node in range(tree.n_leaves, tree.n_nodes):
        for child in tree.children(node):
            total = similarity.features[tree.leaves(child)].sum(axis=0)
            reach = np.sqrt(0.5) * (total[-1] + np.linalg.norm(total[:-1]))
            saved = (tree.sizes[node] - tree.sizes[child]) * reach - cross[node - tree.n_leaves]
            gap[node] = max(gap[node], saved + gap[child])
    return gap[tree.n_leaves :]


def test_batches_grow_the_tree_past_its_first_capacity_and_caches_stay_exact():
    X = stream(2500)
    model = ab.OnlineTree(random_state=0)
    for first in range(0, 2500, 700):
        model.partial_fit(X[first : first + 700])
    assert model.tree_.n_leaves == 2500 and model.tree_.is_binary
    assert_store_is_fresh(model, X)


def test_online_tree_is_near_the_refined_cost_and_refine_closes_the_gap():
    X = stream(400)
    similarity = ab.similarity.cosine(X)
    model = ab.OnlineTree(random_state=0).fit(X)
    online_cost = ab.metrics.dasgupta_cost(model.tree_, similarity)
    best = ab.metrics.dasgupta_cost(ab.refine(model.tree_, similarity), similarity)
    touched = ab.metrics.dasgupta_cost(model.refine().tree_, similarity)
    assert best <= touched * (1 + 1e-3) and touched <= online_cost and online_cost <= best * 1.02
    assert_store_is_fresh(model, X)


def test_insert_and_remove_keep_the_tree_whole():
    X = stream(60)
    model = ab.OnlineTree(shuffle=False).partial_fit(X[:50])
    assert model.insert(X[50]) == 50
    model.remove(0).remove([50, 17]).remove(np.array([31]))
    left = np.setdiff1d(np.arange(51), [0, 50, 17, 31])
    assert model.tree_.n_leaves == len(left)
    assert_store_is_fresh(model, X[left])
    assert model.insert(X[51]) == 51
    model.remove(51)
    model.remove(left[:-1].tolist())
    assert model.tree_.n_leaves == 1
    with pytest.raises(ValueError, match="last point cannot be removed"):
        model.remove(int(left[-1]))
    with pytest.raises(ValueError, match="points must be present"):
        model.remove(0)


@pytest.mark.parametrize("point", (1.0, 2.5, True, None, [1.5], [[1]], {"a": 1}, -1, 99, [1, 1], "1"))
def test_what_is_no_point_cannot_be_removed(point):
    model = ab.OnlineTree(random_state=0).fit(stream(5))
    with pytest.raises((ValueError, TypeError), match=r"^points must"):
        model.remove(point)
    assert model.tree_.n_leaves == 5


def test_names_come_from_frames_and_remove_takes_them():
    names = [f"doc {k}" for k in range(6)]
    frame = pd.DataFrame(stream(6), index=names, columns=list("abcde"))
    model = ab.OnlineTree(random_state=0).partial_fit(frame[:4]).partial_fit(frame[4:])
    assert model.tree_.name[:6].tolist() == names
    model.remove(["doc 1", "doc 5"])
    assert model.tree_.name[:4].tolist() == ["doc 0", "doc 2", "doc 3", "doc 4"]
    with pytest.raises(ValueError, match="No point has this name: 'doc 1'"):
        model.remove("doc 1")


@pytest.mark.parametrize("n_removed", (0, 3))
def test_a_saved_model_continues_as_if_it_had_never_stopped(tmp_path, n_removed):
    X = stream(300)
    model = ab.OnlineTree(4, random_state=1).partial_fit(X[:200])
    if n_removed:
        model.remove(list(range(5, 5 + n_removed)))
    before = model.tree_
    model.save(tmp_path / "model.npz")
    other = ab.OnlineTree.load(tmp_path / "model.npz")
    assert other.tree_ == before == model.tree_ and other.n_clusters == 4
    assert other.partial_fit(X[200:]).tree_ == model.partial_fit(X[200:]).tree_
    assert other.insert(X[0]) == model.insert(X[0]) == 300
    assert other.refine().tree_ == model.refine().tree_


def test_foreign_truncated_and_inconsistent_files_are_refused(tmp_path):
    model = ab.OnlineTree(random_state=0).fit(stream(20))
    model.tree_.save(tmp_path / "tree.npz")
    with pytest.raises(FormatError, match="online-tree"):
        ab.OnlineTree.load(tmp_path / "tree.npz")
    path = tmp_path / "model.npz"
    model.save(path)
    whole = path.read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError):
        ab.OnlineTree.load(tmp_path / "cut.npz")
    arrays = read_archive(path, online._FILE_MARKER)
    wrong = {
        "parent": np.array([-1]),
        "rows": arrays["rows"][:, :3],
        "sizes": -arrays["sizes"],
        "number": arrays["number"][::-1],
        "dirty": np.array([99]),
        "next_number": np.array(3),
        "names": arrays["names"][:4],
        "similarity": np.array("jaccard"),
        "rng": np.array("[]"),
    }
    for name, value in wrong.items():
        write_archive(path, online._FILE_MARKER, {**arrays, name: value})
        with pytest.raises(FormatError):
            ab.OnlineTree.load(path)


def test_predict_finds_the_cluster_of_unseen_points_at_any_number():
    X, y = make_blobs(150, n_features=4, centers=3, cluster_std=0.4, random_state=2)
    model = ab.OnlineTree(3, random_state=0).fit(X[:100])
    assert ab.metrics.clustering_accuracy(y[100:], model.predict(X[100:])) > 0.9
    assert set(model.predict(X[100:], n_clusters=1)) == {0}
    with pytest.raises(ValueError, match="n_clusters must lie in"):
        model.predict(X[100:], n_clusters=101)


def test_weights_and_dot_products():
    X = np.abs(stream(30))
    model = ab.OnlineTree(similarity="dot", random_state=0).partial_fit(X, sample_weight=np.arange(1, 31))
    assert model._store.state.nodes["size"][model._store.root[0]] == np.arange(1, 31).sum()
    with pytest.raises(ValueError, match="without negative entries"):
        ab.OnlineTree(similarity="dot").fit(stream(5))


@given(st.integers(2, 12), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_products_that_grow_from_batch_to_batch_still_find_the_best_of_all_places(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n + 1, 3)) * np.sort(rng.exponential(size=n + 1))[:, None]
    X[1] = X[0]
    model = ab.OnlineTree(similarity="dot", shuffle=False)
    for row in X[:n]:
        model.partial_fit(row[None])
    before, similarity = model.tree_, ab.similarity.dense(X @ X.T)
    model.partial_fit(X[n:])
    costs = [ab.metrics.dasgupta_cost(insert_above(before, k), similarity) for k in range(before.n_nodes)]
    assert ab.metrics.dasgupta_cost(model.tree_, similarity) == pytest.approx(min(costs), rel=1e-9)


@given(st.integers(2, 14), st.integers(0, 10**6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_point_goes_to_the_best_of_all_places_also_after_removals_and_moves(n, seed, weighted):
    rng = np.random.default_rng(seed)
    # points that have nothing in common, too
    X = rng.random((n + 1, 4)) * (rng.random((n + 1, 4)) < 0.5)
    weights = rng.integers(1, 4, size=n + 1) if weighted else np.ones(n + 1)
    model = ab.OnlineTree(similarity="dot", random_state=0).partial_fit(X[:n], sample_weight=weights[:n])
    if rng.random() < 0.5:
        model.refine(max_sweeps=1)
    points = np.arange(n)
    gone = rng.choice(n, size=n // 3, replace=False)
    model.remove(gone.tolist())
    points = np.append(np.setdiff1d(points, gone), n)
    before = model.tree_
    model.partial_fit(X[n:], sample_weight=weights[n:])
    similarity = ab.similarity.dense(X[points] @ X[points].T)

    def cost(tree):
        return ab.metrics.dasgupta_cost(tree, similarity, sample_weight=weights[points])

    costs = [cost(insert_above(before, k)) for k in range(before.n_nodes)]
    assert cost(model.tree_) == pytest.approx(min(costs), rel=1e-9, abs=1e-9)
    assert_rows_are_fresh(model._store)


def test_points_without_anything_in_common_are_placed_at_a_glance():
    rng = np.random.default_rng(0)
    X = np.zeros((3000, 120))
    for k, block in enumerate(rng.integers(40, size=3000)):
        X[k, 3 * block : 3 * block + 3] = rng.random(3)
    model = ab.OnlineTree(similarity="dot", random_state=0).fit(X).remove(list(range(100)))
    model.refine(max_sweeps=1).partial_fit(X[:100])
    # places of the last insertion
    assert model._store.stack.counts[0] < 200


@pytest.mark.parametrize("similarity", ("cosine", "dot"))
def test_new_numbers_for_nodes_change_no_tree(monkeypatch, similarity):
    X = np.abs(stream(900))
    trees = []
    for share in (1e6, 0.0):
        monkeypatch.setattr(online_store, "RENUMBERED_SHARE", share)
        monkeypatch.setattr(online_store, "RENUMBERED_FROM", 0)
        model = ab.OnlineTree(similarity=similarity, random_state=0).partial_fit(X[:600])
        model.remove(list(range(50, 90))).partial_fit(X[600:])
        trees.append(model.tree_)
        touched = model._store.work.dirty.sum()
        model._store.number_by_visits()
        assert model._store.work.dirty.sum() == touched
        assert model.tree_ == trees[-1]
        assert_rows_are_fresh(model._store)
        if similarity == "cosine":
            assert_store_is_fresh(model, np.delete(X, np.s_[50:90], axis=0))
    assert trees[0] == trees[1]


def test_moves_do_not_depend_on_how_many_points_are_inserted_at_once(monkeypatch):
    monkeypatch.setattr(online_store, "RENUMBERED_FROM", 100)
    X, trees = make_blobs(600, 4, centers=30, random_state=0)[0], []
    for n_at_once in (1, 7, 600):
        monkeypatch.setattr(
            "arbora.search.online.short_chunks", lambda leaves, n=n_at_once: in_pieces(leaves, n)
        )
        model = ab.OnlineTree(random_state=0).partial_fit(X)
        numbers = model._store.state.nodes["parent"].copy()
        trees.append((numbers, model.refine(max_sweeps=2).tree_))
    assert all(np.array_equal(trees[0][0], numbers) and trees[0][1] == tree for numbers, tree in trees)


def in_pieces(leaves, n):
    return [leaves[first : first + n] for first in range(0, len(leaves), n)]


def test_internal_nodes_are_numbered_as_a_descent_visits_them():
    model = ab.OnlineTree(random_state=0).fit(stream(300))
    store = model._store
    store.number_by_visits()
    nodes, n = store.state.nodes, store.capacity
    assert store.root[0] == n and store.used_nodes()[n : n + 299].all()
    node, expected = n, n
    while nodes["first"][node] >= 0:
        children = [nodes["first"][node], nodes["after"][nodes["first"][node]]]
        for child in children:
            if child >= n:
                expected += 1
                assert child == expected
        node = children[-1]


def test_equal_points_make_a_shallow_tree_whatever_the_similarity():
    for similarity in ("cosine", "dot"):
        model = ab.OnlineTree(similarity=similarity, random_state=0)
        for _ in range(3):
            model.partial_fit(np.full((500, 2), 0.7))
        assert model.tree_.depths.max() < 40


def test_values_whose_products_overflow_are_refused_and_do_no_harm():
    model = ab.OnlineTree(similarity="dot", random_state=0).partial_fit(np.eye(4))
    with pytest.raises(ValueError, match="X is too large"):
        model.partial_fit(np.full((2, 4), 1e155))
    assert model.partial_fit(np.full((2, 4), 1e20)).tree_.n_leaves == 6


def test_equal_points_make_a_shallow_tree_quickly():
    ab.OnlineTree(random_state=0).fit(np.ones((10, 3)))
    began = time.process_time()
    tree = ab.OnlineTree(random_state=0).fit(np.ones((50_000, 3))).tree_
    assert tree.depths.max() < 40 and time.process_time() - began < 10
    mixed = np.vstack([np.ones((2000, 3)), np.random.default_rng(0).normal(size=(200, 3))])
    model = ab.OnlineTree(random_state=0).fit(mixed)
    assert model.tree_.depths.max() < 400
    assert_store_is_fresh(model, mixed)


def interrupt_after(seconds):
    """Raise KeyboardInterrupt wherever the program is by then."""

    def press(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds)


@pytest.mark.parametrize("name", ("partial_fit", "refine", "fit"))
def test_an_interruption_at_any_moment_leaves_a_whole_model(name):
    X = stream(3000, seed=1)
    start = ab.OnlineTree(random_state=0).partial_fit(X[:1500])
    n_interrupted = 0
    for k in range(25):
        model = ab.OnlineTree(random_state=0).partial_fit(X[:50])
        call = {
            "partial_fit": lambda model=model: model.partial_fit(X[50:]),
            "fit": lambda model=model: model.fit(X[50:]),
            "refine": lambda model=model: model.partial_fit(X[50:800]).refine(),
        }[name]
        try:
            interrupt_after(0.00015 * (1 + k))
            call()
            # the alarm rings once: here, or in what came before
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        except KeyboardInterrupt:
            n_interrupted += 1
        tree = model.tree_
        assert tree.n_leaves in (50, 800, 2950, 3000)
        expected = X[50:] if tree.n_leaves == 2950 else X[: tree.n_leaves]
        assert_store_is_fresh(model, expected)
        assert model.insert(X[0]) == tree.n_leaves
    assert n_interrupted > 3 and start.tree_.n_leaves == 1500


def test_ctrl_c_raises_interrupted_and_none_of_the_batch_stays(monkeypatch):
    X = stream(600)
    model = ab.OnlineTree(random_state=0).partial_fit(X[:100])
    before, insert, calls = model.tree_, Store.insert, []

    def press(self, leaves):
        insert(self, leaves)
        calls.append(len(leaves))
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Store, "insert", press)
    with pytest.raises(Interrupted) as stop:
        model.partial_fit(X[100:])
    assert 0 < sum(calls) < 500 and stop.value.tree == before and model.tree_ == before
    monkeypatch.undo()
    assert_store_is_fresh(model, X[:100])
    assert model.partial_fit(X[100:]).tree_.n_leaves == 600


def test_the_first_batch_interrupted_leaves_an_unfitted_model(monkeypatch):
    model = ab.OnlineTree(random_state=0)
    monkeypatch.setattr(Store, "insert", lambda self, leaves: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Interrupted):
        model.partial_fit(stream(10))
    monkeypatch.undo()
    assert model.partial_fit(stream(10)).tree_.n_leaves == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ab.OnlineTree(similarity="jaccard").fit(stream(5)), "similarity must be one of"),
        (lambda: ab.OnlineTree(0).fit(stream(5)), "n_clusters must be at least 1"),
        (lambda: ab.OnlineTree("dot").fit(stream(5)), "n_clusters must be a whole number"),
        (lambda: ab.OnlineTree(shuffle=3).fit(stream(5)), "shuffle must be True or False"),
        (lambda: ab.OnlineTree(random_state="x").fit(stream(5)), "random_state must be"),
        (lambda: ab.OnlineTree().fit(stream(5)).refine(max_sweeps=0), "max_sweeps must be at least 1"),
        (
            lambda: ab.OnlineTree().partial_fit(stream(5), sample_weight=[1.0]),
            "sample_weight must hold 5 positive",
        ),
        (lambda: ab.OnlineTree().fit([[np.inf, 0.0]]), "infinity"),
        (lambda: ab.OnlineTree().fit(stream(5)).partial_fit(np.ones((2, 3))), "3 features"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_loaded_model_knows_the_names_of_its_columns(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [1.0, 0.5, 3.0]})
    ab.OnlineTree(random_state=0).fit(frame).save(tmp_path / "model.npz")
    loaded = ab.OnlineTree.load(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="same order"):
        loaded.partial_fit(frame[["b", "a"]])
    assert loaded.partial_fit(frame).tree_.n_leaves == 6
