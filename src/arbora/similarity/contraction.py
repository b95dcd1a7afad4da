"""The graph whose points are groups of points that stay together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arbora._base.threads import allowed_threads, fair_share, share_out
from arbora._base.types import Ints
from arbora.similarity import _kernels as kernels


def contracted(csr: sp.csr_array, label: Ints, n_groups: int) -> sp.csr_array:
    """Weights between groups, each the sum over the edges between their members; edges within a group are dropped.

    Sums are made in double precision, in an order that does not depend on the number of threads.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.similarity.contraction import contracted
    >>> path = sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    >>> contracted(path, np.array([0, 0, 1]), 2).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    label = np.asarray(label, dtype=np.int32)
    members = np.argsort(label, kind="stable").astype(np.int32)
    group_start = np.zeros(n_groups + 1, dtype=np.int64)
    np.cumsum(np.bincount(label, minlength=n_groups), out=group_start[1:])
    n_entries = np.zeros(len(label) + 1, dtype=np.int64)
    np.cumsum(np.diff(csr.indptr)[members], out=n_entries[1:])
    # room for every edge of the members
    offsets = n_entries[group_start]
    far = np.empty(csr.nnz, dtype=np.int32)
    weight, length = np.empty(csr.nnz, dtype=csr.dtype), np.empty(n_groups, dtype=np.int64)
    n_threads = allowed_threads()

    def contract(first: int, last: int) -> None:
        kernels.sum_between_groups(
            csr.indptr, csr.indices, csr.data, label, members, group_start, offsets, far, weight, length, first, last
        )  # fmt: skip

    share_out(contract, n_groups, n_threads, fair_share(n_groups, n_threads))
    indptr = np.zeros(n_groups + 1, dtype=np.int64)
    np.cumsum(length, out=indptr[1:])
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=csr.dtype)

    def copy(first: int, last: int) -> None:
        kernels.copy_segments(offsets, far, weight, indptr, indices, data, first, last)

    share_out(copy, n_groups, n_threads)
    index = np.int32 if indptr[-1] < 2**31 else np.int64
    return sp.csr_array(
        (data, indices.astype(index, copy=False), indptr.astype(index)), shape=(n_groups, n_groups)
    )
