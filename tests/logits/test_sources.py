"""Every way to hand over logits gives the tree of the array; big ones are read at most twice."""

from __future__ import annotations

import numpy as np
import pytest
from logits.l2h_by_definition import clustered_logits

import arbora as ab
from arbora.logits import EstimateWarning, _row_kernels
from arbora.logits._numbers import kernel_array

LOGITS = clustered_logits(3000, 40, 0, np.float32)


def fit(X, **parameters):
    return ab.L2H(**{"n_clusters": None, "refine": False, "n_bootstraps": 0, **parameters}).fit(X)


def batches(size=271, X=LOGITS):
    return [X[i : i + size] for i in range(0, len(X), size)]


@pytest.fixture(scope="module")
def expected():
    return fit(LOGITS)


def same(l2h, expected):
    return np.array_equal(l2h.tree_.parent, expected.tree_.parent)


@pytest.mark.parametrize("max_memory", [2**32, 120_000], ids=["fits", "streamed"])
@pytest.mark.parametrize(
    "kind", ["list", "function", "npy", "npy directory", "zarr", "hdf5", "hdf5 directory", "parquet"]
)
def test_every_store_gives_the_tree_of_the_array(kind, max_memory, tmp_path, expected):
    l2h = fit(store(kind, tmp_path), max_memory=max_memory)
    assert l2h.exact_
    assert same(l2h, expected)
    assert np.array_equal(l2h.assignments_, expected.assignments_)


def store(kind, folder):
    if kind == "list":
        return batches()
    if kind == "function":
        return lambda: iter(batches())
    if kind == "npy":
        np.save(folder / "logits.npy", LOGITS)
        return folder / "logits.npy"
    if kind == "npy directory":
        for i, part in enumerate(batches()):
            np.save(folder / f"part{i:03}.npy", part)
        return str(folder)
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(
            str(folder / "logits.zarr"), shape=LOGITS.shape, chunks=(500, 40), dtype="float32"
        )
        array[:] = LOGITS
        return folder / "logits.zarr"
    if kind.startswith("hdf5"):
        h5py = pytest.importorskip("h5py")
        parts = batches(1000) if kind.endswith("directory") else [LOGITS]
        for i, part in enumerate(parts):
            with h5py.File(folder / f"part{i}.h5", "w") as file:
                file["logits"] = part
        return folder if kind.endswith("directory") else folder / "part0.h5"
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for i, part in enumerate(batches(1000)):
        table = pyarrow.table({f"class {c}": part[:, c] for c in range(40)})
        parquet.write_table(table, folder / f"part{i}.parquet")
    return folder


def test_parquet_columns_name_the_classes(tmp_path):
    assert fit(store("parquet", tmp_path)).tree_.name[3] == "class 3"


def test_a_parquet_column_of_lists(tmp_path, expected):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    column = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(LOGITS.ravel()), 40)
    parquet.write_table(pyarrow.table({"logits": column}), tmp_path / "x.parquet")
    assert same(fit(tmp_path / "x.parquet"), expected)


def test_an_opened_store_and_an_arrow_table(tmp_path, expected):
    zarr, pyarrow = pytest.importorskip("zarr"), pytest.importorskip("pyarrow")
    store("zarr", tmp_path)
    assert same(fit(zarr.open(str(tmp_path / "logits.zarr"), mode="r")), expected)
    assert same(fit(pyarrow.table({str(c): LOGITS[:, c] for c in range(40)})), expected)


def test_a_memory_map_is_used_in_place_or_streamed(tmp_path, expected):
    np.save(tmp_path / "x.npy", LOGITS)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert same(fit(mapped), expected)
    assert same(fit(mapped, max_memory=100_000), expected)


def test_no_store_is_read_more_than_twice():
    passes = []

    def read():
        passes.append(1)
        yield from batches()

    fit(read, max_memory=60_000)
    assert len(passes) == 2


def test_an_iterator_that_fits_is_exact(expected):
    l2h = fit(iter(batches()))
    assert l2h.exact_ and same(l2h, expected)


def test_an_iterator_too_big_to_keep_says_that_it_is_estimated():
    with pytest.warns(EstimateWarning, match="largest probabilities"):
        l2h = fit(iter(batches()), max_memory=200_000)
    assert not l2h.exact_


def test_streamed_empty_classes_join_as_in_memory():
    X = np.hstack([LOGITS, LOGITS[:, [5]] - 4, LOGITS[:, [9]] - 4])
    whole, streamed = fit(X), fit([X[:1500], X[1500:]], max_memory=400_000)
    assert streamed.exact_ and same(streamed, whole)


@pytest.mark.parametrize("n_bootstraps", ["auto", 3])
def test_streamed_refinement_equals_that_in_memory(n_bootstraps, tmp_path):
    np.save(tmp_path / "x.npy", LOGITS)
    options = {"refine": True, "n_bootstraps": n_bootstraps, "random_state": 0}
    whole = fit(LOGITS, **options)
    streamed = fit(tmp_path / "x.npy", max_memory=400_000, **options)
    assert same(streamed, whole)
    if n_bootstraps == 3:
        assert np.array_equal(streamed.tree_.support, whole.tree_.support)
    else:
        # a pass per replicate would be too slow to be done unasked
        assert streamed.tree_.support is None


def test_a_data_loader_of_logits(expected):
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.from_numpy(LOGITS), torch.zeros(3000))
    assert same(fit(torch.utils.data.DataLoader(data, batch_size=256)), expected)


def test_streamed_probabilities():
    p = np.exp(LOGITS - LOGITS.max(axis=1, keepdims=True))
    p[p < 1e-6] = 0
    whole = fit(p, from_probabilities=True)
    streamed = fit([p[:1500], p[1500:]], from_probabilities=True, max_memory=100_000)
    assert same(streamed, whole)


@pytest.mark.parametrize("aggregation", ["sum", "mean_of_means"])
def test_streamed_aggregations(aggregation):
    assert same(
        fit(batches(), max_memory=400_000, aggregation=aggregation), fit(LOGITS, aggregation=aggregation)
    )


def test_streamed_all_pairs():
    few = LOGITS[:, :10]
    streamed = fit(batches(X=few), max_memory=100_000, merging="all_pairs")
    assert streamed.exact_ and same(streamed, fit(few, merging="all_pairs"))


def test_prediction_reads_stores_too(tmp_path, expected):
    np.save(tmp_path / "x.npy", LOGITS)
    for X in (tmp_path / "x.npy", batches(), iter(batches())):
        assert np.array_equal(expected.predict(X, n_clusters=7), expected.predict(LOGITS, n_clusters=7))


# ---- number types --------------------------------------------------------------------------------------


def test_half_precision_is_read_as_numpy_reads_it():
    half = LOGITS.astype(np.float16)
    assert same(fit(half), fit(half.astype(np.float32)))


def test_bfloat16_tensors_and_plain_tensors():
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(LOGITS)
    short = tensor.to(torch.bfloat16)
    assert same(fit(tensor), fit(LOGITS))
    assert same(fit(short), fit(short.float().numpy()))
    assert same(fit([short[:1000], short[1000:]]), fit(short))


def test_bfloat16_arrays_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    short = LOGITS.astype(ml_dtypes.bfloat16)
    assert same(fit(short), fit(short.astype(np.float32)))


@pytest.mark.parametrize("dtype", [">f4", "int64", "float64"])
def test_other_number_types(dtype):
    X = (LOGITS * 10).round().astype(dtype)
    assert same(fit(X), fit(X.astype(np.float64)))


def test_any_memory_layout():
    assert same(fit(np.asfortranarray(LOGITS)), fit(LOGITS))
    assert same(fit(LOGITS[::-1, ::-1]), fit(LOGITS[::-1, ::-1].copy()))
    assert same(fit(LOGITS.astype(np.float16)[:, ::2]), fit(LOGITS.astype(np.float16)[:, ::2].copy()))


def test_half_infinity_is_refused():
    bad = LOGITS[:5].astype(np.float16)
    bad[3, 2] = np.inf
    with pytest.raises(ValueError, match="row 3"):
        fit(bad)


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="complex"):
        kernel_array(np.ones((2, 2), complex))


def test_codes_of_storage():
    assert kernel_array(np.ones((1, 1), np.float16))[1] == _row_kernels.HALF
    assert kernel_array(np.ones((1, 1), np.float32))[1] == _row_kernels.PLAIN


# ---- batches that do not fit -----------------------------------------------------------------------------


def test_bad_batches_are_named():
    with pytest.raises(ValueError, match="Chunk 1 has 3"):
        fit([LOGITS[:5], LOGITS[:5, :3]])
    with pytest.raises(ValueError, match="Chunk 0 of X must have shape"):
        fit(iter([LOGITS[0]]))
    with pytest.raises(ValueError, match="0 sample"):
        fit(iter([]))
    bad = LOGITS.copy()
    bad[2000, 1] = np.nan
    with pytest.raises(ValueError, match="row 2000"):
        fit(batches(X=bad), max_memory=100_000)


def test_batches_that_change_between_passes_are_noticed():
    sizes = iter([3000, 2000])

    def read():
        yield LOGITS[: next(sizes)]

    with pytest.raises(ValueError, match="should have 3,000 rows"):
        fit(read, max_memory=100_000)
