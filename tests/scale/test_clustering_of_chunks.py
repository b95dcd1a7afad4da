"""`cluster` on a Dask array: the tree does not depend on chunks, is as good as in memory, and bad input is refused."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from scale_worlds import SMALL_PARTS, grouped_rows, same_tree

import arbora as ab
from arbora.scale import build_on_dask
from arbora.search.cluster import Options, build
from arbora.search.heights import with_heights
from arbora.search.inputs import read_input

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N = 4000
ROWS, LABELS = grouped_rows(N)
OPTIONS = Options(random_state=0, n_jobs=1, metric="euclidean")


@pytest.fixture(autouse=True, scope="module")
def _in_threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def built():
    return build_on_dask(da.from_array(ROWS, chunks=(1000, -1)), OPTIONS, limits=SMALL_PARTS)


@pytest.fixture(scope="module")
def in_memory():
    return build(read_input(ROWS), OPTIONS)


def test_the_tree_covers_all_rows_and_is_binary_with_heights_that_grow(built):
    tree = built.tree
    assert tree.n_leaves == N
    assert tree.is_binary
    assert (np.diff(tree.height[[0, tree.parent[0], tree.root]]) >= 0).all()
    assert (tree.height[:-1] <= tree.height[tree.parent[:-1]]).all()


def test_the_tree_is_as_good_as_in_memory(built, in_memory):
    cost, best = (
        ab.metrics.dasgupta_cost(b.tree, in_memory.similarity, normalize=True) for b in (built, in_memory)
    )
    assert cost < 1.02 * best
    for level in range(2):
        purity, best = (ab.metrics.dendrogram_purity(b.tree, LABELS[:, level]) for b in (built, in_memory))
        assert purity > best - 0.02


def test_sums_over_parts_are_the_sums_of_the_whole_graph(built, in_memory):
    """Where the parts found the same graph, heights and cost are those that one machine computes."""
    exact = in_memory.similarity
    assert abs(built.similarity.n_edges - exact.n_edges) < 0.02 * exact.n_edges
    assert np.isclose(built.similarity.degrees.sum(), exact.degrees.sum(), rtol=0.01)
    here = with_heights(built.tree, exact)
    assert np.corrcoef(here.height, built.tree.height)[0, 1] > 0.99
    cost = ab.metrics.dasgupta_cost(built.tree, exact, normalize=True)
    assert np.isclose(built.report.cost_after, cost, rtol=0.02)
    assert built.report.cost_after < built.report.cost_before


@pytest.mark.parametrize("chunks", [333, (2500, 1500)])
def test_other_chunks_give_the_same_tree_bit_for_bit(built, chunks):
    X = da.from_array(ROWS, chunks=(chunks, -1))
    again = build_on_dask(X, OPTIONS, limits=SMALL_PARTS)
    assert same_tree(again.tree, built.tree)


def test_another_seed_gives_another_tree(built):
    other = build_on_dask(
        da.from_array(ROWS, chunks=(1000, -1)),
        dataclasses.replace(OPTIONS, random_state=1),
        limits=SMALL_PARTS,
    )
    assert not same_tree(other.tree, built.tree)


def test_rows_that_fit_one_part_give_the_tree_of_memory():
    X = da.from_array(ROWS[:500], chunks=(200, -1))
    assert same_tree(ab.cluster(X, random_state=3), ab.cluster(ROWS[:500], random_state=3))


def test_equal_rows_and_rows_of_zeros_are_clustered():
    rows = np.concatenate(
        [np.repeat(ROWS[:20], 60, axis=0), np.zeros((50, ROWS.shape[1]), np.float32), ROWS[:1500]]
    )
    for metric in ("cosine", "euclidean"):
        options = dataclasses.replace(OPTIONS, metric=metric)
        built = build_on_dask(da.from_array(rows, chunks=(400, -1)), options, limits=SMALL_PARTS)
        assert built.tree.n_leaves == len(rows)
        assert np.isfinite(built.tree.height).all()


def test_rows_of_one_value_fill_several_parts():
    rows = np.ones((3000, 3), dtype=np.float32)
    rows[0] = 2
    built = build_on_dask(da.from_array(rows, chunks=(1000, -1)), OPTIONS, limits=SMALL_PARTS)
    assert built.tree.n_leaves == 3000


def test_a_graph_that_falls_apart_is_joined_by_the_distances_of_its_parts():
    rng = np.random.default_rng(0)
    where = np.array([0.0, 1.0, 100.0, 101.0])
    leaf = rng.integers(4, size=1500)
    rows = np.column_stack([1000 * where[leaf], np.zeros(1500)]) + rng.normal(size=(1500, 2))
    built = build_on_dask(da.from_array(rows, chunks=(500, -1)), OPTIONS, limits=SMALL_PARTS)
    assert built.report.n_components >= 4
    assert ab.metrics.dendrogram_purity(built.tree, leaf) == 1
    assert ab.metrics.dendrogram_purity(built.tree, leaf // 2) == 1


def test_metric_and_scale_are_chosen_as_in_memory():
    rows = ROWS.astype(np.float64) * [1, 1000, 1, 1, 1, 1]
    built = build_on_dask(da.from_array(rows, chunks=(900, -1)), Options(random_state=0), limits=SMALL_PARTS)
    assert built.metric == "euclidean"
    assert built.scaling.kind == "standard"
    assert ab.metrics.dendrogram_purity(built.tree, LABELS[:, 0]) > 0.95


def test_an_estimator_fits_and_predicts_lazily_block_by_block(monkeypatch, tmp_path):
    monkeypatch.setattr("arbora.scale.build.LIMITS", SMALL_PARTS)
    X = da.from_array(ROWS, chunks=(1000, -1))
    model = ab.TreeClustering(5, metric="euclidean", random_state=0).fit(X)
    assert model.n_features_in_ == 6
    assert ab.metrics.dendrogram_purity(model.tree_, LABELS[:, 0]) > 0.95
    new, _ = grouped_rows(300, seed=0)
    found = model.predict(da.from_array(new, chunks=(100, -1)))
    assert isinstance(found, da.Array)
    assert found.chunks == ((100, 100, 100),)
    assert np.array_equal(found.compute(), model.predict(new))
    assert np.mean(model.predict(ROWS) == model.labels_) > 0.98
    assert len(set(model.predict(X, n_clusters=3).compute())) == 3
    assert model.place(new[:10]).confidence.min() > 0
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :4])
    with pytest.raises(TypeError, match="cannot grow"):
        model.partial_fit(new)
    with pytest.raises(TypeError, match="in memory"):
        model.partial_fit(X)


def test_a_model_is_refined_on_the_parts_that_the_cluster_holds_and_saved_without_them(monkeypatch, tmp_path):
    for module in ("build", "graphs"):
        monkeypatch.setattr(f"arbora.scale.{module}.LIMITS", SMALL_PARTS)
    model = ab.TreeClustering(5, metric="euclidean", random_state=0, n_jobs=1).fit(
        da.from_array(ROWS, chunks=(1000, -1))
    )
    cost, tree = model.report_.cost_after, model.tree_
    assert np.isclose(
        ab.metrics.dasgupta_cost(tree, model.similarity_.in_shards(), normalize=True), cost, rtol=1e-5
    )
    worse = ab.linkage(ROWS, "ward")
    assert ab.metrics.dasgupta_cost(worse, model.similarity_, normalize=True) > cost
    model.refine()
    assert model.report_.cost_after <= cost * (1 + 1e-6)
    model.save(tmp_path / "model.npz")
    for again in (ab.TreeClustering.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert same_tree(again.tree_, model.tree_)
        assert np.array_equal(again.predict(ROWS[:200]), model.predict(ROWS[:200]))
        assert ab.metrics.dasgupta_cost(again.tree_, again.similarity_) == ab.metrics.dasgupta_cost(
            model.tree_, model.similarity_
        )
        with pytest.raises(MemoryError, match="without it"):
            ab.metrics.dasgupta_cost(worse, again.similarity_)
        with pytest.raises(MemoryError, match="without it"):
            again.refine()


def test_a_model_fitted_in_memory_predicts_dask_arrays():
    model = ab.TreeClustering(5, random_state=0).fit(ROWS[:600])
    lazily = model.predict(da.from_array(ROWS[600:900], chunks=(70, -1)))
    assert np.array_equal(lazily.compute(), model.predict(ROWS[600:900]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "precomputed"}, "precomputed"),
        ({"similarity": "cosine"}, "all pairs"),
        ({"directed": "sum"}, "directed"),
        ({"n_perturbations": 3}, "n_perturbations"),
        ({"max_seconds": 1}, "max_seconds"),
    ],
)
def test_what_needs_one_machine_is_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        ab.cluster(da.from_array(ROWS, chunks=(1000, -1)), **options)


def test_bad_rows_are_refused_before_the_work_begins():
    bad = ROWS.copy()
    bad[-1, 2] = np.nan
    for limits in (SMALL_PARTS, dataclasses.replace(SMALL_PARTS, part=10_000)):
        with pytest.raises(ValueError, match=f"first in row {N - 1}"):
            build_on_dask(da.from_array(bad, chunks=(1500, -1)), OPTIONS, limits=limits)
    with pytest.raises(ValueError, match="rechunk"):
        ab.cluster(da.from_array(ROWS, chunks=(1000, 3)))
    with pytest.raises(ValueError, match="real numbers"):
        ab.cluster(da.from_array(ROWS.astype(str), chunks=(1000, -1)))


def _masked_in_some_chunks():
    masked = np.ma.masked_greater(ROWS[:300], 2.0)
    return da.from_delayed(dask.delayed(masked), masked.shape, meta=np.empty((0, 0)))


@pytest.mark.parametrize(
    "masked",
    [
        da.ma.masked_greater(da.from_array(ROWS[:300], chunks=(100, -1)), 2.0),
        da.from_array(np.ma.masked_greater(ROWS[:300], 2.0), chunks=(100, -1)),
        _masked_in_some_chunks(),
    ],
    ids=["by Dask", "by NumPy", "seen in chunks alone"],
)
@pytest.mark.parametrize("fit", [ab.cluster, ab.TreeClustering().fit, ab.L2H().fit])
def test_masked_arrays_are_refused(fit, masked):
    with pytest.raises(ValueError, match="mask"):
        fit(masked)


def test_columns_of_a_frame_are_known_to_the_model():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(ROWS[:300], columns=[f"x{k}" for k in range(ROWS.shape[1])])
    model = ab.TreeClustering(3, random_state=0).fit(dd.from_pandas(frame, npartitions=3))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    model.fit(da.from_array(ROWS[:300]))
    assert not hasattr(model, "feature_names_in_")


def test_a_missing_value_in_a_chunk_to_predict_is_not_called_one_of_the_whole():
    model = ab.TreeClustering(3, random_state=0).fit(ROWS[:300])
    bad = ROWS[:300].copy()
    bad[220, 1] = np.nan
    with pytest.raises(ValueError, match=r"A chunk of X must be finite.*row 20, column 1"):
        model.predict(da.from_array(bad, chunks=(100, -1))).compute()


def test_unknown_sizes_and_empty_chunks_are_no_problem(built):
    X = da.from_array(ROWS, chunks=(1000, -1))
    kept = da.concatenate([X[X[:, 0] > 1e9], X[X[:, 0] < 1e9]])
    again = build_on_dask(kept, OPTIONS, limits=SMALL_PARTS)
    assert same_tree(again.tree, built.tree)


def test_progress_names_the_stages_in_order():
    heard = []
    build_on_dask(
        da.from_array(ROWS, chunks=(1000, -1)), OPTIONS, lambda *said: heard.append(said), limits=SMALL_PARTS
    )
    stages = list(dict.fromkeys(stage for stage, _, _ in heard))
    assert stages == ["check", "neighbors", "parts", "top", "search", "top again", "heights"]
    for stage in stages:
        shares = [done for name, done, _ in heard if name == stage]
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0, 1)


def test_a_checkpoint_goes_on_where_it_stopped_and_refuses_other_data(built, tmp_path, monkeypatch):
    X = da.from_array(ROWS, chunks=(1000, -1))
    options = dataclasses.replace(OPTIONS, checkpoint=tmp_path / "kept")
    assert same_tree(build_on_dask(X, options, limits=SMALL_PARTS).tree, built.tree)
    (tmp_path / "kept" / "second-1.npz").unlink()

    def fails(*arguments):
        raise AssertionError("computed again")

    for name in ("build.find_neighbors", "run.first_tree"):
        monkeypatch.setattr(f"arbora.scale.{name}", fails)
    assert same_tree(build_on_dask(X, options, limits=SMALL_PARTS).tree, built.tree)
    with pytest.raises(ValueError, match="other work"):
        build_on_dask(da.from_array(ROWS + 1, chunks=(1000, -1)), options, limits=SMALL_PARTS)
    with pytest.raises(ValueError, match="other work"):
        build_on_dask(X, dataclasses.replace(options, n_neighbors=5), limits=SMALL_PARTS)


def test_frames_are_clustered_by_their_rows_and_a_text_column_is_named():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    rows = grouped_rows(300)[0]
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    with dask.config.set(scheduler="threads"):
        chunks = dd.from_pandas(frame, npartitions=3)
        assert same_tree(ab.cluster(chunks, random_state=0), ab.cluster(rows, random_state=0))
        with_text = dd.from_pandas(frame.assign(note="x"), npartitions=3)
        for fit in (ab.cluster, ab.TreeClustering(3).fit):
            with pytest.raises(ValueError, match=r"not numbers: 'note'.*select_dtypes"):
                fit(with_text)
