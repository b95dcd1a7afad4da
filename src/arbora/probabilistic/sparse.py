"""Soft-Dasgupta and Soft-TSD of a sparse A with hand-written gradients: O(nnz + m + n'^3), no n x n' matrix.

Write N = (I - B)^-1 (Eq. 8) and P = A N. Both distributions of the paper are linear in the pairs of leaves,

    u = sum_ij X_ij (P_i * P_j) = colsum(N * (S N))   with   S = A.T X A,   p = u (I + Pt * Pt)^-1,

so the pairs are summed first: X is the edge distribution for p(z), and the product of the node distribution
with itself, without its diagonal, for q(z). S is n' x n' and comes from sparse products. Its gradient has the
same shape: with y = (I + Pt * Pt)^-1 dL/dp, row i of dL/dA is ``2 (X A)_i N diag(y) N.T``, a combination of
few rows of one n' x n' matrix. `arbora.probabilistic.objectives` holds the same losses in PyTorch; the tests
compare value and gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import get_blas_funcs, solve_triangular
from scipy.linalg.lapack import get_lapack_funcs

from arbora._base.types import AnyFloats, Ints, Objective
from arbora.probabilistic import _kernels
from arbora.probabilistic.row_blocks import CsrParts, csr_from_parts, in_row_blocks
from arbora.similarity.graph import GraphSimilarity

# parent of every leaf, and of every internal node (the root's is itself)
Parents: TypeAlias = tuple[Ints, Ints]


class EdgeDistribution(NamedTuple):
    """A graph as the probability of drawing each pair of nodes.

    `pairs` (symmetric CSR without diagonal) and `loops` sum to one together; `nodes` are their row sums.
    """

    pairs: sp.csr_array
    loops: AnyFloats
    nodes: AnyFloats

    @property
    def n_nodes(self) -> int:
        """Number of graph nodes, the leaves of the hierarchy."""
        return int(self.pairs.shape[0])


class LeafGradient(NamedTuple):
    """Gradient with respect to A in factored form; see `_kernels.leaf_gradient_row`."""

    sums: sp.csr_array
    kernel: AnyFloats
    # the A it was taken at
    at: sp.csr_array
    self_kernel: AnyFloats
    self_scale: AnyFloats
    terms: AnyFloats
    scales: AnyFloats

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arguments of the kernel, in its order."""
        sums, at = self.sums, self.at
        return (
            *(sums.indptr, sums.indices, sums.data, self.kernel),
            *(at.indptr, at.indices, at.data, self.self_kernel, self.self_scale, self.terms, self.scales),
        )


class Evaluation(NamedTuple):
    """Loss (to be minimized), its gradients, and the distributions of the lowest common ancestors."""

    loss: float
    leaf_gradient: LeafGradient
    internal_gradient: AnyFloats
    p: AnyFloats
    q: AnyFloats | None


def edge_distribution(similarity: GraphSimilarity, dtype: DTypeLike = np.float64) -> EdgeDistribution:
    """Pair distribution P(v_i, v_j) of a graph; a self-loop is one edge and counts twice in the degree.

    Examples
    --------
    >>> import arbora as ab
    >>> edge_distribution(ab.similarity.graph(([0, 1], [1, 2]))).nodes
    array([0.25, 0.5 , 0.25])
    """
    total = similarity.total
    if total <= 0:
        raise ValueError("The graph must have an edge of positive weight. Got none.")
    pairs = sp.csr_array(similarity.csr, dtype=dtype, copy=True)
    pairs.data /= 2 * total
    loops = (similarity.self_loops / total).astype(dtype)
    return EdgeDistribution(pairs, loops, (similarity.degrees / (2 * total)).astype(dtype))


class Model(NamedTuple):
    """The parameters: leaves to internal nodes (sparse rows) and internal nodes to internal nodes (dense)."""

    A: sp.csr_array
    B: AnyFloats

    @property
    def n_internal(self) -> int:
        """Number of internal nodes n'."""
        return len(self.B)


class _Fundamental(NamedTuple):
    """What both losses need of B: products with N, and the solves with M = I + Pt * Pt.

    N is triangular: BLAS's trmm does half the work of a general product. It wants Fortran order, in which a
    C-ordered matrix is its transpose; hence the transposes.
    """

    N: AnyFloats
    M: AnyFloats

    def _product(self, X: AnyFloats, side: int, transposed: int) -> AnyFloats:
        (trmm,) = get_blas_funcs(("trmm",), (self.N,))
        product: AnyFloats = trmm(
            1.0, self.N.T, np.ascontiguousarray(X).T, side=side, lower=1, trans_a=transposed
        ).T
        return product

    def times(self, X: AnyFloats) -> AnyFloats:
        """``X @ N``."""
        return self._product(X, 0, 0)

    def times_transposed(self, X: AnyFloats) -> AnyFloats:
        """``X @ N.T``."""
        return self._product(X, 0, 1)

    def pull_back(self, dN: AnyFloats) -> AnyFloats:
        """Gradient with respect to B from that with respect to N: ``N.T @ dN @ N.T``, above the diagonal."""
        return np.triu(self._product(self.times_transposed(dN), 1, 1), 1)

    def spread(self, y: AnyFloats) -> AnyFloats:
        """``2 N diag(y) N.T``: what two leaves' common ancestors are worth, by the leaves' parents."""
        return self.times_transposed(2.0 * self.N * y)

    def ancestors(self) -> AnyFloats:
        """Pt = N - I (Eq. 8): no node is its own ancestor."""
        return self.N - np.eye(len(self.N), dtype=self.N.dtype)

    def to_lca(self, u: AnyFloats) -> AnyFloats:
        """Distribution of LCAs from the summed products of ancestor probabilities (Thm 6)."""
        options = {"unit_diagonal": True, "check_finite": False}
        return np.asarray(solve_triangular(self.M, u, trans="T", **options))

    def adjoint(self, g: AnyFloats) -> AnyFloats:
        """Adjoint of `to_lca`: gradient with respect to u from the gradient with respect to p."""
        return np.asarray(solve_triangular(self.M, g, unit_diagonal=True, check_finite=False))


def fundamental_matrix(B: AnyFloats) -> AnyFloats:
    """N = (I - B)^-1 (Eq. 7): entry (k, l) is the probability that a walk from z_k passes z_l."""
    (trtri,) = get_lapack_funcs(("trtri",), (B,))
    lower = np.eye(B.shape[0], dtype=B.dtype) - B
    # C order read as Fortran: transposed
    inverse, info = trtri(lower.T, lower=1, unitdiag=1, overwrite_c=1)
    if info != 0:
        raise ValueError(
            f"B must be strictly upper triangular with finite entries. LAPACK trtri said {info}."
        )
    N: AnyFloats = inverse.T
    return N


def _fundamental(B: AnyFloats) -> _Fundamental:
    N = fundamental_matrix(B)
    M = N - np.eye(B.shape[0], dtype=B.dtype)
    np.multiply(M, M, out=M)
    M[np.diag_indices_from(M)] = 1.0
    return _Fundamental(N, M)


def neighbor_sums(graph: EdgeDistribution, A: sp.csr_array, n_threads: int = 1) -> sp.csr_array:
    """The sparse product pairs @ A: to which internal nodes a leaf's neighbors belong, and how much."""
    pairs = graph.pairs
    n, n_internal = A.shape

    def block(start: int, stop: int) -> CsrParts:
        graph_parts = pairs.indptr, pairs.indices, pairs.data
        found: CsrParts = _kernels.neighbor_sums(
            start, stop, *graph_parts, A.indptr, A.indices, A.data, n_internal
        )
        return found

    return csr_from_parts(*in_row_blocks(block, n, n_threads), A.shape)


def _aggregate(A: sp.csr_array, sums: sp.csr_array) -> AnyFloats:
    """S = A.T @ sums, dense n' x n'."""
    S = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    _kernels.add_outer_products(A.indptr, A.indices, A.data, sums.indptr, sums.indices, sums.data, S)
    return S


def _scaled_rows(A: sp.csr_array, scale: AnyFloats) -> sp.csr_array:
    """``diag(scale) @ A``."""
    return csr_from_parts(A.indptr, A.indices, A.data * np.repeat(scale, np.diff(A.indptr)), A.shape)


def _column_sums(A: sp.csr_array, weights: AnyFloats | None = None) -> AnyFloats:
    """``weights @ A`` for a CSR matrix, or its column sums."""
    data = A.data if weights is None else A.data * np.repeat(weights, np.diff(A.indptr))
    return np.bincount(A.indices, data, minlength=A.shape[1]).astype(A.dtype, copy=False)


def soft_dasgupta(graph: EdgeDistribution, model: Model, n_threads: int = 1) -> Evaluation:
    """Soft-Das (App. A.1), ``sum_z p(z) c(z)`` with c(z) the expected number of leaves below z.

    Examples
    --------
    >>> import arbora as ab, numpy as np, scipy.sparse as sp
    >>> graph = edge_distribution(ab.similarity.graph(([0, 0, 1], [1, 2, 2])))
    >>> star = Model(sp.csr_array(np.ones((3, 1))), np.zeros((1, 1)))
    >>> round(soft_dasgupta(graph, star).loss, 6)
    3.0
    """
    A, B = model
    terms = _fundamental(B)
    N = terms.N
    sums = neighbor_sums(graph, A, n_threads)
    SN = terms.times(_aggregate(A, sums))
    # expected number of leaves whose parent is z
    mass = _column_sums(A)
    lca = terms.to_lca(np.einsum("kl,kl->l", N, SN))
    p = lca + _column_sums(A, graph.loops)
    c = mass @ N
    y = terms.adjoint(c)
    dN = 2.0 * (SN - terms.ancestors() * lca[:, None]) * y
    dN += np.outer(mass, p)
    n = graph.n_nodes
    leaf = LeafGradient(
        sums=sums,
        kernel=terms.spread(y),
        at=A,
        self_kernel=np.empty((0, len(N)), dtype=N.dtype),
        self_scale=np.empty(0, dtype=N.dtype),
        terms=np.stack([N @ p, c]),
        scales=np.stack([np.ones(n, dtype=N.dtype), graph.loops]),
    )
    return Evaluation(float(p @ c), leaf, terms.pull_back(dN), p, None)


def soft_tsd(graph: EdgeDistribution, model: Model, n_threads: int = 1, exact: bool = True) -> Evaluation:
    """Minus Soft-TSD (App. A.1), ``KL(p || q)``, as a loss; q exact (App. A.11) or its proxy.

    The proxy counts a leaf paired with itself at the place where two independent walks from it meet,
    the exact q at the leaf's parent.
    """
    A, B = model
    terms = _fundamental(B)
    N = terms.N
    sums = neighbor_sums(graph, A, n_threads)
    SN = terms.times(_aggregate(A, sums))
    nodes = graph.nodes.astype(A.dtype, copy=False)
    mass = _column_sums(A, nodes)
    reach = mass @ N
    lca_p = terms.to_lca(np.einsum("kl,kl->l", N, SN))
    p = lca_p + _column_sums(A, graph.loops)
    uq = reach * reach
    square = nodes * nodes
    if exact:
        SqN = sp.csr_array(_aggregate(A, _scaled_rows(A, square))) @ N
        uq = uq - np.einsum("kl,kl->l", N, SqN)
    lca_q = terms.to_lca(uq)
    q = lca_q + _column_sums(A, square) if exact else lca_q
    tiny = np.finfo(A.dtype).tiny
    inside = (p > tiny) & (q > tiny)
    safe_p, safe_q = np.where(inside, p, 1.0), np.where(inside, q, 1.0)
    loss = -float(np.sum(safe_p * np.log(safe_p / safe_q), where=inside))
    dp = np.where(inside, -np.log(safe_p / safe_q) - 1.0, 0.0)
    dq = np.where(inside, safe_p / safe_q, 0.0)
    yp, yq = terms.adjoint(dp), terms.adjoint(dq)
    Pt = terms.ancestors()
    dN = 2.0 * (SN - Pt * lca_p[:, None]) * yp
    dN += np.outer(mass, 2.0 * reach * yq)
    dN -= 2.0 * (Pt * lca_q[:, None] + SqN) * yq if exact else 2.0 * Pt * lca_q[:, None] * yq
    Kq = terms.spread(yq)
    leaf = LeafGradient(
        sums=sums,
        kernel=terms.spread(yp),
        at=A,
        self_kernel=Kq if exact else np.empty((0, len(N)), dtype=N.dtype),
        self_scale=-square,
        terms=np.stack([mass @ Kq, dp, dq]),
        scales=np.stack([nodes, graph.loops, square if exact else np.zeros_like(square)]),
    )
    return Evaluation(loss, leaf, terms.pull_back(dN), p, q)


def dense_leaf_gradient(gradient: LeafGradient) -> AnyFloats:
    """The n x n' gradient with respect to A, written out."""
    return np.asarray(_kernels.leaf_gradient(gradient.at.shape[0], gradient.arrays()))


def descend_leaves(model: Model, gradient: LeafGradient, step: AnyFloats, n_threads: int = 1) -> sp.csr_array:
    """A after one projected gradient step; `step` holds the learning rate of every row."""
    A, arrays = model.A, gradient.arrays()

    def block(start: int, stop: int) -> CsrParts:
        found: CsrParts = _kernels.descend_leaf_rows(start, stop, arrays, A.indptr, A.indices, A.data, step)
        return found

    return csr_from_parts(*in_row_blocks(block, A.shape[0], n_threads), A.shape)


def descend_internal(model: Model, gradient: AnyFloats, step: float) -> AnyFloats:
    """B after one projected gradient step: row k is a distribution over the nodes after k."""
    B = model.B - step * gradient
    _kernels.project_rows(B, np.arange(1, len(B) + 1))
    return B


def soft_step(
    graph: EdgeDistribution,
    model: Model,
    objective: Objective,
    leaf_rate: float,
    internal_rate: float,
    n_threads: int = 1,
    exact: bool = True,
    at: Model | None = None,
) -> tuple[Model, float]:
    """One projected gradient step on the soft loss; returns the model and the loss before the step.

    The gradient of TSD with respect to a row is of the order of a leaf's probability, 1 / n; rates are
    multiplied by n, so that one rate serves graphs of every size. With `at`, a sampled tree's binary model, the
    slope is taken there and applied here: the straight-through step.
    """
    at = model if at is None else at
    if objective == "dasgupta":
        result, unit = soft_dasgupta(graph, at, n_threads), 1.0
    else:
        result, unit = soft_tsd(graph, at, n_threads, exact), float(graph.n_nodes)
    step = np.full(graph.n_nodes, leaf_rate * unit, dtype=model.B.dtype)
    A = descend_leaves(model, result.leaf_gradient, step, n_threads)
    B = descend_internal(model, result.internal_gradient, internal_rate * unit)
    return Model(A, B), result.loss


def binary_model(leaf_parent: Ints, parent: Ints, dtype: DTypeLike = np.float64) -> Model:
    """The model of one discrete tree (the last internal node is the root, whatever its parent says)."""
    n, k = len(leaf_parent), len(parent)
    A = csr_from_parts(np.arange(n + 1), leaf_parent.astype(np.int32), np.ones(n, dtype=dtype), (n, k))
    B = np.zeros((k, k), dtype=dtype)
    B[np.arange(k - 1), parent[:-1]] = 1.0
    return Model(A, B)
