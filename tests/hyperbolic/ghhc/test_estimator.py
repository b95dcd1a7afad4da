"""The estimator: quality on easy data, streams, checkpoints, prediction, sampled trees, bad input."""

import pickle

import data_sets
import ghhc_worlds as worlds
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import arbora as ab
from arbora._base.rows import open_rows
from arbora.errors import DivergedError, FormatError
from arbora.hyperbolic.ghhc import placement
from arbora.metrics import dendrogram_purity


def small(**changes):
    return ab.GHHC(**{"n_clusters": 4, "n_internal": 31, "max_steps": 40, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def blobs():
    return worlds.blobs(np.random.default_rng(0), [40, 30, 20, 30])


@pytest.fixture(scope="module")
def fitted(blobs):
    return small().fit(blobs[0])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"optimizer": "adam", "learning_rate": 0.01},
        {"init": "farthest"},
        {"init": "random"},
        {"n_candidates": 8},
        {"projection": "learned"},
        {"projection": "random", "n_components": 6},
        {"norm": 1.0},
        {"init_linkage": "average"},
    ],
    ids=str,
)
def test_separated_groups_are_found_whatever_the_settings(blobs, changes):
    X, y = blobs
    model = small(**changes).fit(X)
    assert dendrogram_purity(model.tree_, y) > 0.9
    assert np.linalg.norm(model.nodes_, axis=1).max() < 1


def test_training_from_a_poor_start_lowers_the_cost_and_does_not_harm_the_tree(blobs):
    X, y = blobs
    settings = {"init": "random", "init_norms": "log", "init_sweeps": 0, "max_steps": 300}
    model = small(**settings).fit(X)
    loss = model.history_["loss"]
    assert loss[-30:].mean() < loss[:30].mean()
    assert model.history_["step"].tolist() == list(range(1, 301))
    start = small(**{**settings, "max_steps": 0}).fit(X)
    assert dendrogram_purity(model.tree_, y) > dendrogram_purity(start.tree_, y) - 0.02


def test_tree_labels_parents_and_uncertainty_belong_together(fitted, blobs):
    X, y = blobs
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    assert fitted.tree_.n_leaves == len(X)
    assert ((fitted.tree_.support > 0) & (fitted.tree_.support <= 1)).all()
    assert (fitted.tree_.height[fitted.tree_.parent[:-1]] >= fitted.tree_.height[:-1]).all()
    assert fitted.split_uncertainty_.shape == (fitted.tree_.n_internal,)
    assert ((fitted.split_uncertainty_ >= 0) & (fitted.split_uncertainty_ < 1)).all()
    probability = fitted.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(probability.argmax(axis=1), fitted.parents_)


def test_points_of_one_parent_form_a_cluster_of_the_tree(fitted):
    clusters = {frozenset(fitted.tree_.leaves(v).tolist()) for v in range(fitted.tree_.n_nodes)}
    for parent in np.unique(fitted.parents_):
        assert frozenset(np.flatnonzero(fitted.parents_ == parent).tolist()) in clusters


def test_new_points_are_labeled_at_every_level(fitted, blobs):
    X, y = blobs
    new = X + 0.01
    assert adjusted_rand_score(y, fitted.predict(new)) > 0.9
    for level in (2, 3, 8):
        np.testing.assert_array_equal(fitted.predict(X, level), fitted.tree_.cut(n_clusters=level))
    np.testing.assert_array_equal(fitted.predict_parent(X), fitted.tree_.parent[: len(X)])
    with pytest.raises(TypeError, match="n_clusters must be"):
        fitted.predict(X, "leaf")


def test_sampled_trees_follow_the_distribution(fitted, blobs):
    X, y = blobs
    trees = fitted.sample_trees(3, random_state=0)
    again = fitted.sample_trees(3, random_state=0)
    assert all((a.parent == b.parent).all() for a, b in zip(trees, again))
    assert len({tuple(tree.parent.tolist()) for tree in trees}) == 3
    cold = fitted.sample_trees(1, temperature=1e-6, random_state=0)[0]
    np.testing.assert_array_equal(cold.parent, fitted.tree_.parent)
    sharp = fitted.sample_trees(1, temperature=0.2, random_state=0)[0]
    assert dendrogram_purity(sharp, y) > dendrogram_purity(trees[0], y)
    assert np.isfinite(fitted.log_probability())
    other = fitted.sample_trees(1, X[:7], random_state=0)[0]
    assert other.n_leaves == 7


def test_frequencies_of_sampled_parents_are_their_probabilities():
    X = worlds.random_points(np.random.default_rng(1), 4, 3)
    model = ab.GHHC(n_internal=3, max_steps=0, random_state=0).fit(X)
    expected = model.predict_proba(X)
    from arbora.hyperbolic.ghhc import decode

    rng = np.random.default_rng(0)
    logs = np.log(expected)
    drawn = np.stack([decode._draw(4, expected.shape[1], lambda part: logs[part], rng) for _ in range(4000)])
    for row in range(4):
        found = np.bincount(drawn[:, row], minlength=expected.shape[1]) / 4000
        np.testing.assert_allclose(found, expected[row], atol=0.03)


def test_memory_maps_paths_and_chunks_give_the_result_of_the_array(tmp_path, blobs):
    X = blobs[0].astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = small(pool_size=50).fit(X)
    parts = [X[:30], X[30:31], X[31:]]
    for data in (mapped, tmp_path / "x.npy", parts, (mapped[:60], mapped[60:]), lambda: iter(parts)):
        model = small(pool_size=50).fit(data)
        np.testing.assert_array_equal(model.nodes_, expected.nodes_)
        np.testing.assert_array_equal(model.predict(data), expected.predict(X))
        np.testing.assert_array_equal(model.tree_over(data).parent, expected.tree_.parent)


@pytest.mark.parametrize("kind", ["h5py", "zarr"])
def test_on_disk_arrays_give_the_result_of_the_array(tmp_path, blobs, kind):
    library = pytest.importorskip(kind)
    X = blobs[0]
    expected = small(pool_size=50).fit(X)
    if kind == "h5py":
        with library.File(tmp_path / "x.h5", "w") as file:
            stored = file.create_dataset("x", data=X, chunks=(25, X.shape[1]))
            model = small(pool_size=50).fit(stored)
    else:
        stored = library.create_array(str(tmp_path / "x.zarr"), data=X, chunks=(25, X.shape[1]))
        model = small(pool_size=50).fit(stored)
    np.testing.assert_array_equal(model.nodes_, expected.nodes_)
    np.testing.assert_array_equal(model.tree_.parent, expected.tree_.parent)


def test_a_fit_never_reads_more_than_a_chunk_at_a_time(blobs):
    rows = open_rows([np.tile(blobs[0], (20, 1))] * 10)
    asked = []
    take, pieces = rows._take, rows._pieces
    rows._take = lambda wanted: asked.append(len(wanted)) or take(wanted)
    rows._pieces = lambda most: (asked.append(len(piece)) or piece for piece in pieces(most))
    small(max_steps=3, pool_size=64, n_internal=7).fit(rows)
    assert 0 < max(asked) <= placement.CHUNK < rows.shape[0]


def test_a_stream_is_learned_chunk_by_chunk(blobs):
    X, y = blobs
    order = np.random.default_rng(0).permutation(len(X))
    model = small(batch_size=5)
    for part in np.array_split(order, 4):
        model.partial_fit(X[part])
        assert model.tree_.n_leaves == len(part)
    assert model.n_steps_ == sum(len(part) // 5 for part in np.array_split(order, 4))
    assert dendrogram_purity(model.tree_over(X), y) > 0.9
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3])


@pytest.mark.parametrize("changes", [{}, {"optimizer": "adam"}, {"projection": "learned"}, {"pool_size": 40}])
def test_an_interrupted_fit_continues_to_the_same_result(tmp_path, blobs, changes):
    X = blobs[0]
    expected = small(**changes).fit(X)

    class Interrupted(Exception):
        pass

    class Interrupt:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "step" and context.task_id == 25:
                raise Interrupted

    settings = {"checkpoint": tmp_path, "checkpoint_every": 10, **changes}
    with pytest.raises(Interrupted):
        small(**settings).set_callbacks(Interrupt()).fit(X)
    assert int(np.load(tmp_path / "state.npz")["step"]) == 20
    model = small(**settings).fit(X)
    np.testing.assert_array_equal(model.nodes_, expected.nodes_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.history_["loss"], expected.history_["loss"])


def test_a_truncated_checkpoint_is_refused(tmp_path, blobs):
    small(checkpoint=tmp_path).fit(blobs[0])
    (tmp_path / "state.npz").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(FormatError, match=r"Delete .*state.npz"):
        small(checkpoint=tmp_path).fit(blobs[0])


@pytest.mark.parametrize("where", [0, 70, -1])
def test_the_checkpoint_of_other_data_is_refused_wherever_it_differs(tmp_path, blobs, where):
    X = blobs[0]
    other = X.copy()
    other[where, 0] += 1e-9
    small(checkpoint=tmp_path).fit(X)
    with pytest.raises(ValueError, match="belongs to other work"):
        small(checkpoint=tmp_path).fit(other)


@pytest.mark.parametrize("changes", [{"margin": 0.9}, {"random_state": 1}, {"n_neighbors": 9}])
def test_the_checkpoint_of_other_options_is_refused(tmp_path, blobs, changes):
    small(checkpoint=tmp_path).fit(blobs[0])
    with pytest.raises(ValueError, match="belongs to other work"):
        small(checkpoint=tmp_path, **changes).fit(blobs[0])


def test_the_same_rows_in_other_pieces_are_the_same_fit(tmp_path, blobs):
    X = blobs[0]
    first = small(checkpoint=tmp_path).fit(X)
    again = small(checkpoint=tmp_path, n_clusters=2, n_jobs=1).fit([X[:7], X[7:]])
    np.testing.assert_array_equal(again.nodes_, first.nodes_)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        (np.float64, 1e300),
        (np.float64, 1e306),
        (np.float64, 1e155),
        (np.float64, 1e-200),
        (np.float32, 1e20),
        (np.float32, 1e36),
        (np.float32, 1e-25),
    ],
)
def test_values_of_any_size_give_the_groups(blobs, dtype, scale):
    X, y = blobs
    # a power of two: rounding stays the same
    factor = 2.0 ** round(np.log2(scale))
    model = small(max_steps=5).fit((X.astype(dtype) * dtype(factor)).astype(dtype))
    assert dendrogram_purity(model.tree_, y) > 0.9
    assert adjusted_rand_score(model.predict((X * factor).astype(dtype)), model.labels_) == 1.0


def test_values_that_cannot_be_centered_are_refused_in_words():
    X = np.sign(np.random.default_rng(1).standard_normal((200, 17)))
    with pytest.raises(ValueError, match="Divide X by a constant"):
        small().fit(X * 1.7e308)
    with pytest.raises(ValueError, match="Divide X by a constant"):
        small(projection="learned").fit(X * 1e200)
    model = small(max_steps=3).fit(X * 1e307)
    assert model.tree_.n_internal > 1


@pytest.mark.parametrize("n_nodes", [31, 700])
def test_the_number_of_threads_does_not_change_the_result(n_nodes):
    X = np.random.default_rng(0).normal(size=(800, 5))
    models = [small(n_internal=n_nodes, max_steps=5, n_jobs=n_jobs).fit(X) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(models[0].nodes_, models[1].nodes_)


def test_verbose_shows_a_bar_on_standard_error(capsys, blobs):
    small(verbose=True).fit(blobs[0])
    out, err = capsys.readouterr()
    assert out == ""
    assert "GHHC steps: done" in err


def test_a_fit_that_diverges_says_so(blobs):
    with pytest.raises(DivergedError, match="Lower learning_rate"):
        small(learning_rate=1e308).fit(blobs[0])


def test_a_callback_can_stop_the_fit(blobs):
    class Stop:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "step" and context.task_id == 4

    assert small().set_callbacks(Stop()).fit(blobs[0]).n_steps_ == 5


def test_a_pickled_model_predicts_but_does_not_carry_the_data(fitted, blobs):
    model = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(model.predict(blobs[0]), fitted.predict(blobs[0]))
    with pytest.raises(ValueError, match="without its data"):
        model.sample_trees(1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_internal": 0}, "n_internal must be at least 1"),
        ({"norm": 1.5}, "norm must be greater than 0 and at most 1"),
        ({"init": "best"}, "init must be one of"),
        ({"temperature": 0.0}, "temperature must be greater than 0"),
        ({"learning_rate": np.nan}, "learning_rate must be finite"),
        ({"n_candidates": 1}, "n_candidates must be at least 2"),
    ],
)
def test_wrong_parameters_are_refused_by_name(blobs, changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(blobs[0])


def test_parameters_of_the_wrong_type_are_refused(blobs):
    with pytest.raises(TypeError, match="max_steps must be a whole number"):
        small(max_steps=2.5).fit(blobs[0])


def test_non_finite_chunks_are_refused(tmp_path, blobs):
    X = blobs[0].copy()
    X[17, 2] = np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        small().fit([X[:10], X[10:]])
    with pytest.raises(ValueError, match="same number of columns"):
        small().fit([X[:10], X[10:, :3]])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_make_small_trees(n):
    X = worlds.random_points(np.random.default_rng(0), n)
    model = small(n_clusters=1).fit(X)
    assert model.tree_.n_leaves == n
    assert (model.labels_ == 0).all()
    assert model.predict(X).shape == (n,)


def test_duplicates_and_constant_columns_do_no_harm():
    X = np.repeat(worlds.random_points(np.random.default_rng(1), 3), 10, axis=0)
    X = np.column_stack([X, np.ones(30)])
    model = small(n_clusters=3).fit(X)
    assert adjusted_rand_score(np.repeat(np.arange(3), 10), model.labels_) == 1
    constant = small(n_clusters=1).fit(np.ones((12, 3)))
    assert constant.tree_.n_leaves == 12


@pytest.mark.data
def test_published_sets_reach_the_paper():
    glass = data_sets.load("vectors/glass")
    model = ab.GHHC(random_state=0, max_steps=100).fit(glass["X"])
    assert dendrogram_purity(model.tree_, glass["y"]) > 0.47
    digits = data_sets.load("vectors/digits1797")
    rows = np.random.default_rng(0).choice(1797, 200, replace=False)
    model = ab.GHHC(random_state=0, max_steps=100).fit(digits["X"][rows])
    assert dendrogram_purity(model.tree_, digits["y"][rows]) > 0.69
