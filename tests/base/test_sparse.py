"""Sparse matrices of any format become a checked CSR copy."""

import numpy as np
import pytest
import scipy.sparse as sp

from arbora._base.arrays import as_sparse

W = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr", "dok", "lil"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_every_format_is_read(kind, container):
    found = as_sparse(getattr(sp, f"{kind}_{container}")(W))
    np.testing.assert_array_equal(found.toarray(), W)
    assert found.has_sorted_indices and found.indices.dtype == found.indptr.dtype == np.int32


def test_the_callers_matrix_is_never_shared_or_changed():
    given = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0], dtype=np.int32), np.array([0, 3], dtype=np.int32)),
        shape=(1, 2),
    )
    given.data.flags.writeable = False
    found = as_sparse(given)
    assert found.toarray().tolist() == [[3.0, 3.0]] and given.nnz == 3
    found.data[:] = 9
    assert given.data.tolist() == [1.0, 2.0, 3.0]


def test_types_that_stay_and_types_that_change():
    assert as_sparse(sp.csr_array(W.astype(np.float32))).dtype == np.float32
    assert as_sparse(sp.csr_array(W.astype(np.int8))).dtype == np.float64
    assert as_sparse(sp.csr_array(W.astype(bool))).dtype == np.float64


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (sp.csr_array((0, 3)), "empty"),
        (sp.coo_array([1.0, 2.0]), "must be a matrix"),
        (sp.csr_array(W * 1j), "real numbers"),
        (sp.csr_array(np.where(W == 3, np.nan, W)), "row 1, column 2"),
        (sp.coo_array(([1e308, 1e308], ([0, 0], [1, 1])), shape=(2, 2)), "row 0, column 1"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(data, message):
    with pytest.raises(ValueError, match=message):
        as_sparse(data)
