"""The same graph with its points in another order, so that what is read together lies together in memory."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arbora._base.threads import fair_share, share_out
from arbora._base.types import Ints
from arbora.similarity import _kernels as kernels


def renumbered(csr: sp.csr_array, order: Ints, n_threads: int = 1) -> sp.csr_array:
    """The rows and columns of a symmetric matrix in the given order; columns within a row are not sorted.

    In the order that it has, the matrix itself.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.similarity.renumbering import renumbered
    >>> path = sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    >>> renumbered(path, np.array([2, 1, 0])).toarray()
    array([[0., 2., 0.],
           [2., 0., 1.],
           [0., 1., 0.]])
    """
    n_points = len(order)
    if np.array_equal(order, np.arange(n_points)):
        return csr
    place = np.empty(n_points, dtype=csr.indices.dtype)
    place[order] = np.arange(n_points, dtype=place.dtype)
    indptr = np.zeros(n_points + 1, dtype=csr.indptr.dtype)
    np.cumsum(np.diff(csr.indptr)[order], out=indptr[1:])
    indices, data = np.empty_like(csr.indices, shape=indptr[-1]), np.empty_like(csr.data, shape=indptr[-1])

    def copy(first: int, last: int) -> None:
        kernels.copy_rows(csr.indptr, csr.indices, csr.data, order, place, indptr, indices, data, first, last)

    share_out(copy, n_points, n_threads, fair_share(n_points, n_threads))
    return sp.csr_array((data, indices, indptr), shape=csr.shape)
