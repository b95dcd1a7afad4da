"""NumPy's files: which array is meant, what its rows and columns are called, and what square matrices are."""

import io
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

import arbora as ab
from arbora.errors import FormatError

X = np.random.default_rng(0).normal(size=(6, 3))
D = squareform(pdist(X))


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("key", ["X", "data", "features", "embeddings", "logits", "arr_0", "x", "anything"])
def test_the_matrix_is_found_by_its_usual_name_or_because_it_is_alone(key, tmp_path):
    data = ab.read(saved(tmp_path / "a.npz", **{key: X}))
    np.testing.assert_array_equal(data.values, X)
    assert data.kind == "vectors" and data.format == "npz"


def test_usual_names_come_in_an_order_and_others_are_chosen(tmp_path):
    path = saved(tmp_path / "a.npz", X=X, data=2 * X, other=3 * X)
    np.testing.assert_array_equal(ab.read(path).values, X)
    np.testing.assert_array_equal(ab.read(path, use="other").values, 3 * X)
    with pytest.raises(ValueError, match=r"no array 'absent'.*It holds 'X', 'data', 'other'"):
        ab.read(path, use="absent")


@pytest.mark.parametrize(
    ("labels", "names"), list(itertools.product(["y", "labels", "target", None], ["names", "ids", None]))
)
def test_labels_and_names_are_found_where_they_have_one_value_per_row(labels, names, tmp_path):
    more = {}
    if labels:
        more[labels] = np.arange(6) % 2
    if names:
        more[names] = np.array(list("abcdef"))
    data = ab.read(saved(tmp_path / "a.npz", X=X, **more))
    assert (data.y is None) == (labels is None) and data.label_name == labels
    assert data.names == (list("abcdef") if names else None)
    short = ab.read(saved(tmp_path / "b.npz", X=X, **{key: value[:4] for key, value in more.items()}))
    assert short.y is None and short.names is None, "four values are not one per row"


def test_an_array_that_was_named_must_fit(tmp_path):
    path = saved(tmp_path / "a.npz", X=X, kind=np.arange(6), short=np.arange(3))
    assert ab.read(path, label_column="kind").y.tolist() == list(range(6))
    for option in ("label_column", "name_column"):
        with pytest.raises(ValueError, match=rf"no array 'short' \({option}=\) of 6 values"):
            ab.read(path, **{option: "short"})


def test_classes_are_called_by_their_names_and_minus_one_is_none(tmp_path):
    path = saved(
        tmp_path / "a.npz", X=X, y=np.array([0, 1, -1, 1, 0, 0]), class_names=np.array(["cat", "dog"])
    )
    assert ab.read(path).y.tolist() == ["cat", "dog", None, "dog", "cat", "cat"]
    beyond = saved(
        tmp_path / "b.npz", X=X, y=np.array([0, 1, 5, 1, 0, 0]), class_names=np.array(["cat", "dog"])
    )
    assert ab.read(beyond).y.tolist() == [0, 1, 5, 1, 0, 0], "names that do not reach are not used"


def test_images_become_rows_and_single_numbers_are_no_matrix(tmp_path):
    np.save(tmp_path / "images.npy", np.arange(24.0).reshape(4, 2, 3))
    np.testing.assert_array_equal(ab.read(tmp_path / "images.npy").values, np.arange(24.0).reshape(4, 6))
    np.save(tmp_path / "line.npy", np.arange(4.0))
    assert ab.read(tmp_path / "line.npy").values.shape == (4, 1)
    np.save(tmp_path / "one.npy", np.float64(3))
    with pytest.raises(ValueError, match="a single number, not a matrix"):
        ab.read(tmp_path / "one.npy")
    np.save(tmp_path / "text.npy", np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="holds <U1, not numbers"):
        ab.read(tmp_path / "text.npy")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_are_vectors_or_graphs_by_their_shape(kind, tmp_path):
    wide = sp.random_array((6, 9), density=0.4, rng=0).asformat(kind)
    sp.save_npz(tmp_path / "wide.npz", wide)
    data = ab.read(tmp_path / "wide.npz")
    assert data.kind == "vectors"
    np.testing.assert_allclose(np.asarray(data), wide.toarray())
    W = sp.csr_array(np.where(D < 2, 1.0, 0) - np.eye(6)).asformat(kind)
    sp.save_npz(tmp_path / "square.npz", W)
    assert ab.read(tmp_path / "square.npz").kind == "graph"


def test_rows_and_columns_of_an_archive_are_edges(tmp_path):
    path = saved(
        tmp_path / "g.npz", rows=[0, 1], cols=[1, 2], weights=[2.0, 3.0], n=5, names=np.array(list("abcde"))
    )
    data = ab.read(path)
    assert data.kind == "graph" and data.n_points == 5 and data.names == list("abcde")
    assert data.values[0, 1] == data.values[1, 0] == 2.0
    assert ab.read(saved(tmp_path / "h.npz", rows=[0], cols=[3])).n_points == 4


def test_object_arrays_are_refused_because_reading_them_could_run_code(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(FormatError, match=r"not a whole .npy file"):
        ab.read(tmp_path / "o.npy")
    np.savez(tmp_path / "o.npz", X=np.array([{}], dtype=object))
    with pytest.raises(FormatError, match=r"not a whole .npz file"):
        ab.read(tmp_path / "o.npz")


def test_every_beginning_of_a_file_is_refused_in_our_words(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, X)
    for length in (1, 6, 9, 40, 100, len(buffer.getvalue()) - 1):
        (tmp_path / "cut.npy").write_bytes(buffer.getvalue()[:length])
        with pytest.raises(FormatError):
            ab.read(tmp_path / "cut.npy")


# ---- square matrices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["distances", "similarities"])
@pytest.mark.parametrize("condensed", [True, False])
def test_a_square_matrix_is_what_it_is_said_to_be(kind, condensed, tmp_path):
    S = 5 - D
    np.fill_diagonal(S, (5 - D)[~np.eye(6, dtype=bool)].max())
    full = D if kind == "distances" else S
    np.save(tmp_path / "m.npy", full[np.triu_indices(6, 1)] if condensed else full)
    data = ab.read(tmp_path / "m.npy", kind=kind)
    assert data.kind == kind and data.n_points == 6
    np.testing.assert_allclose(data.values, full)


def test_a_symmetric_matrix_that_nobody_spoke_of_is_asked_about(tmp_path):
    np.save(tmp_path / "m.npy", D)
    with pytest.raises(ValueError, match=r"symmetric matrix over 6 points. Use kind='distances'"):
        ab.read(tmp_path / "m.npy")
    assert ab.read(tmp_path / "m.npy", kind="vectors").kind == "vectors"
    np.save(tmp_path / "small.npy", D[:2, :2])
    assert ab.read(tmp_path / "small.npy").kind == "vectors", "two points may be symmetric by accident"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (X, "must be a square matrix for kind='distances'. It has shape"),
        (D + np.triu(D), "must be symmetric for kind='distances'"),
        (np.arange(5.0), "holds 5 numbers, which is not n"),
    ],
)
def test_what_is_no_square_matrix_is_refused(array, message, tmp_path):
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(ValueError, match=message):
        ab.read(tmp_path / "m.npy", kind="distances")


def test_tiny_differences_between_the_halves_are_rounding(tmp_path):
    np.save(tmp_path / "m.npy", D * (1 + 1e-9 * np.triu(np.ones((6, 6)))))
    assert ab.read(tmp_path / "m.npy", kind="distances").kind == "distances"
