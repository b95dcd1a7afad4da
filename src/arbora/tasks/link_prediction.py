"""Predicting held-out edges of a graph from a hierarchy (FPH, App. B.1 and B.2), beside the usual baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.metrics import average_precision_score

from arbora.probabilistic.graph_input import read_graph
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.tree import Tree


class LinkSplit(NamedTuple):
    """A graph without some of its edges, those edges, and as many pairs that are no edges."""

    train: GraphSimilarity
    edges: np.ndarray
    non_edges: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """Held-out edges, then non-edges: int64[2 n_edges, 2]."""
        return np.concatenate([self.edges, self.non_edges])

    @property
    def is_edge(self) -> np.ndarray:
        """1 for the first half of `pairs`, 0 for the second."""
        return np.repeat([1, 0], [len(self.edges), len(self.non_edges)])


def split_links(network: Any, fraction: float = 0.1, random_state: Any = None) -> LinkSplit:
    """Hold out a share of the edges while every component stays connected.

    The edges of a random spanning forest are kept; the others are drawn uniformly. Self-loops stay.

    Examples
    --------
    >>> import arbora as ab
    >>> ring = ab.similarity.graph(([0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]))
    >>> split = split_links(ring, 0.3, random_state=0)
    >>> split.train.n_edges, len(split.edges), len(split.non_edges)
    (4, 2, 2)
    """
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must lie between 0 and 1. Got {fraction!r}.")
    similarity = read_graph(network)
    rng = np.random.default_rng(random_state)
    upper = sp.coo_array(sp.triu(similarity.csr, 1))
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    n_out = round(fraction * len(edges))
    free = np.flatnonzero(~_spanning(edges, similarity.n_points, rng))
    if not 1 <= n_out <= len(free):
        raise ValueError(
            f"fraction={fraction} of {len(edges)} edges is {n_out}; {len(free)} can go before the graph falls apart."
        )
    out = np.zeros(len(edges), dtype=bool)
    out[rng.choice(free, n_out, replace=False)] = True
    loops = np.flatnonzero(similarity.self_loops)
    rows, cols = (np.concatenate([edges[~out, side], loops]) for side in (0, 1))
    weights = np.concatenate([upper.data[~out], similarity.self_loops[loops]])
    train = graph((rows, cols, weights), n_points=similarity.n_points)
    return LinkSplit(train, edges[out], _draw_non_edges(similarity.csr, n_out, rng))


def _spanning(edges, n, rng):
    """Which edges form a random spanning forest."""
    weights = rng.permutation(len(edges)) + 1.0
    ranked = sp.csr_array((weights, (edges[:, 0], edges[:, 1])), shape=(n, n))
    kept = minimum_spanning_tree(ranked).data.astype(np.int64)
    return np.isin(weights.astype(np.int64), kept)


def _draw_non_edges(csr, n_wanted, rng):
    n = csr.shape[0]
    if n * (n - 1) // 2 - csr.nnz // 2 < n_wanted:
        raise ValueError(f"The graph has fewer than {n_wanted} pairs that are no edges.")
    coo = csr.tocoo()
    taken = np.unique(coo.row.astype(np.int64) * n + coo.col)
    found = np.zeros(0, dtype=np.int64)
    while len(found) < n_wanted:
        i, j = np.sort(rng.integers(0, n, (2 * n_wanted + 16, 2)), axis=1).T
        codes = (i * n + j)[i != j]
        found = np.unique(np.concatenate([found, codes[~np.isin(codes, taken)]]))
    found = rng.permutation(found)[:n_wanted]
    return np.stack([found // n, found % n], axis=1)


def tree_scores(tree: Tree, similarity: GraphSimilarity, pairs) -> np.ndarray:
    """Edge weight that a tree reconstructs (Eq. 25): ``w_i w_j p(z) / q(z)`` with z the pair's LCA.

    p(z) is the share of edges that meet at z, q(z) that of pairs of leaves drawn by degree.
    """
    from arbora.tree.pass_kernels import meeting_mass

    pairs = np.asarray(pairs)
    degree = similarity.degrees
    p = similarity.cross(tree) / similarity.total
    q = meeting_mass(tree.parent, degree / degree.sum(), True)[tree.n_leaves :]
    ratio = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    lca = tree.lca(pairs[:, 0], pairs[:, 1]) - tree.n_leaves
    return degree[pairs[:, 0]] * degree[pairs[:, 1]] * ratio[lca]


def model_scores(model: Any, similarity: GraphSimilarity, pairs) -> np.ndarray:
    """Eq. 25 averaged over the trees of a fitted `FPH`: ``w_i w_j sum_z p(z = i ^ j) p(z) / q(z)``."""
    from scipy.linalg import solve_triangular

    from arbora.probabilistic.sparse import Model, edge_distribution, fundamental_matrix, soft_tsd

    pairs = np.asarray(pairs)
    fitted = Model(model.A_.astype(np.float64), model.B_.astype(np.float64))
    result = soft_tsd(edge_distribution(similarity), fitted)
    tiny = np.finfo(np.float64).tiny
    ratio = np.where((result.p > tiny) & (result.q > tiny), result.p / np.maximum(result.q, tiny), 0.0)
    N = fundamental_matrix(fitted.B)
    M = (N - np.eye(len(N))) ** 2 + np.eye(len(N))
    value = solve_triangular(
        M, ratio, unit_diagonal=True
    )  # of a pair whose walks pass a node: Thm 6, adjoint
    degree = similarity.degrees
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), 4096):
        i, j = pairs[start : start + 4096].T
        joint = (fitted.A[i] @ N) * (fitted.A[j] @ N)
        scores[start : start + 4096] = degree[i] * degree[j] * (joint @ value)
    return scores


def adamic_adar_scores(similarity: GraphSimilarity, pairs) -> np.ndarray:
    """Common neighbors, each counting 1 / log(degree) (Adamic and Adar 2001)."""
    pairs = np.asarray(pairs)
    adjacency = (similarity.csr > 0).astype(np.float64)
    degree = np.diff(adjacency.indptr)
    value = np.where(degree > 1, 1.0 / np.log(np.maximum(degree, 2)), 0.0)
    weighted = adjacency @ sp.diags_array(value)
    return np.asarray(weighted[pairs[:, 0]].multiply(adjacency[pairs[:, 1]]).sum(axis=1)).ravel()


def cosine_scores(vectors, pairs) -> np.ndarray:
    """Cosine of the two nodes' embeddings."""
    return inner_product_scores(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), pairs
    )


def inner_product_scores(vectors, pairs) -> np.ndarray:
    """Inner product of the two nodes' embeddings, which a graph autoencoder is trained to decode edges from."""
    pairs = np.asarray(pairs)
    return np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])


def predict_links(
    network: Any,
    methods: Mapping[str, Callable[[GraphSimilarity, np.ndarray], np.ndarray]] | None = None,
    *,
    fraction: float = 0.1,
    random_state: Any = None,
) -> dict[str, float]:
    """AUC-PR of each method on one split of a graph's edges (the paper's protocol, Table 4).

    Parameters
    ----------
    network : graph
        Anything `FPH.fit` takes as a graph.
    methods : mapping of name to function (training graph, pairs) -> scores, optional
        By default FPH with 256 internal nodes and the TSD, and the baselines of `baselines`.
    fraction : float
        Share of the edges held out.
    random_state : int or None

    Returns
    -------
    dict of str to float
        Area under the precision-recall curve, with as many non-edges as held-out edges.

    Examples
    --------
    >>> from arbora.probabilistic import small_hsbm
    >>> scores = predict_links(
    ...     small_hsbm(0).adjacency, {"Adamic-Adar": adamic_adar_scores}, random_state=0
    ... )
    >>> scores["Adamic-Adar"] > 0.7
    True
    """
    split = split_links(network, fraction, random_state)
    methods = {"FPH": fph_method(random_state=0), **baselines(0)} if methods is None else methods
    return {
        name: float(average_precision_score(split.is_edge, method(split.train, split.pairs)))
        for name, method in methods.items()
    }


def fph_method(
    n_internal: int = 256, **parameters: Any
) -> Callable[[GraphSimilarity, np.ndarray], np.ndarray]:
    """FPH as a method for `predict_links`; `parameters` go to the estimator."""

    def scores(train: GraphSimilarity, pairs: np.ndarray) -> np.ndarray:
        from arbora.probabilistic import FPH

        model = FPH(**{"n_internal": n_internal, "objective": "tsd", **parameters}).fit(train)
        return model_scores(model, train, pairs)

    return scores


def baselines(random_state: Any = None) -> dict[str, Callable[[GraphSimilarity, np.ndarray], np.ndarray]]:
    """Adamic-Adar, DeepWalk, degree-corrected block model and variational graph autoencoder."""
    from arbora.probabilistic.deepwalk import deepwalk
    from arbora.tasks.block_model import block_model_scores, fit_block_model
    from arbora.tasks.graph_autoencoder import embed_graph

    return {
        "Adamic-Adar": adamic_adar_scores,
        "DeepWalk": lambda train, pairs: cosine_scores(deepwalk(train, 10, random_state=random_state), pairs),
        "DCSBM": lambda train, pairs: block_model_scores(fit_block_model(train, random_state), train, pairs),
        "VGAE": lambda train, pairs: inner_product_scores(
            embed_graph(train, random_state=random_state), pairs
        ),
    }
