"""Predicting held-out edges of a graph from a hierarchy (FPH, App. B.1 and B.2), beside the usual baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.metrics import average_precision_score

from arbora._base.params import check_real
from arbora._base.random import numpy_generator
from arbora._base.types import AnyFloats, Bools, Floats, Ints, RandomState
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.probabilistic import FPH

# a GraphSimilarity, a SciPy sparse matrix, a networkx graph, or a tuple (rows, cols[, weights])
GraphLike: TypeAlias = Any
# scores of pairs by the training graph
Method: TypeAlias = Callable[[GraphSimilarity, Ints], AnyFloats]


class LinkSplit(NamedTuple):
    """A graph without some of its edges, those edges, and as many pairs that are not edges.

    Examples
    --------
    >>> from arbora.probabilistic import small_hsbm
    >>> from arbora.tasks.link_prediction import split_links
    >>> split = split_links(small_hsbm(0).adjacency, 0.1, random_state=0)
    >>> len(split.pairs) == len(split.is_edge) == 2 * len(split.edges)
    True
    """

    train: GraphSimilarity
    edges: Ints
    non_edges: Ints

    @property
    def pairs(self) -> Ints:
        """Held-out edges, then non-edges: int64[2 n_edges, 2]."""
        return np.concatenate([self.edges, self.non_edges])

    @property
    def is_edge(self) -> Ints:
        """1 for the first half of `pairs`, 0 for the second."""
        return np.repeat([1, 0], [len(self.edges), len(self.non_edges)])


def split_links(
    similarity: GraphLike, fraction: float = 0.1, *, random_state: RandomState = None
) -> LinkSplit:
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
    fraction = check_real(fraction, "fraction", above=0, below=1)
    similarity = graph(similarity, directed="sum")
    rng = numpy_generator(random_state)
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


def _spanning(edges: Ints, n: int, rng: np.random.Generator) -> Bools:
    """Which edges form a random spanning forest."""
    weights = rng.permutation(len(edges)) + 1.0
    ranked = sp.csr_array((weights, (edges[:, 0], edges[:, 1])), shape=(n, n))
    kept = minimum_spanning_tree(ranked).data.astype(np.int64)
    return np.isin(weights.astype(np.int64), kept)


def _draw_non_edges(csr: sp.csr_array, n_wanted: int, rng: np.random.Generator) -> Ints:
    n = csr.shape[0]
    if n * (n - 1) // 2 - csr.nnz // 2 < n_wanted:
        raise ValueError(f"The graph has fewer than {n_wanted} pairs that are not edges.")
    coo = csr.tocoo()
    taken = np.unique(coo.row.astype(np.int64) * n + coo.col)
    found = np.zeros(0, dtype=np.int64)
    while len(found) < n_wanted:
        i, j = np.sort(rng.integers(0, n, (2 * n_wanted + 16, 2)), axis=1).T
        codes = (i * n + j)[i != j]
        found = np.unique(np.concatenate([found, codes[~np.isin(codes, taken)]]))
    found = rng.permutation(found)[:n_wanted]
    return np.stack([found // n, found % n], axis=1)


def tree_scores(tree: Tree, similarity: GraphLike, pairs: ArrayLike) -> Floats:
    """Edge weight that a tree reconstructs (equation 25): ``w_i w_j p(z) / q(z)`` with z the pair's LCA.

    p(z) is the share of edges that meet at z, q(z) that of pairs of leaves drawn by degree.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.tasks.link_prediction import tree_scores
    >>> square = ab.similarity.graph(([0, 1, 2, 3], [1, 2, 3, 0], [2.0, 1.0, 2.0, 1.0]))
    >>> near, far = tree_scores(ab.Tree([4, 4, 5, 5, 6, 6, -1], 4), square, [(0, 1), (0, 2)])
    >>> bool(near > far)
    True
    """
    from arbora.tree.pass_kernels import meeting_mass

    pairs, similarity = np.asarray(pairs), graph(similarity)
    degree = similarity.degrees
    p = similarity.cross(tree) / similarity.total
    law = degree / degree.sum()
    q = meeting_mass(tree.parent, law, law**2)[tree.n_leaves :]
    ratio = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    lca = tree.lca(pairs[:, 0], pairs[:, 1]) - tree.n_leaves
    return np.asarray(degree[pairs[:, 0]] * degree[pairs[:, 1]] * ratio[lca])


def model_scores(model: FPH, similarity: GraphLike, pairs: ArrayLike) -> Floats:
    """Equation 25 averaged over the trees of a fitted `FPH`: ``w_i w_j sum_z p(z = i ^ j) p(z) / q(z)``.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.probabilistic import small_hsbm
    >>> from arbora.tasks.link_prediction import model_scores
    >>> drawn = small_hsbm(0)
    >>> model = ab.FPH(n_internal=8, max_epochs=20, random_state=0).fit(drawn.adjacency)
    >>> same_block, other_block = model_scores(model, drawn.adjacency, [(0, 1), (0, 99)])
    >>> bool(same_block > other_block)
    True
    """
    from scipy.linalg import solve_triangular

    from arbora.probabilistic.sparse import Model, edge_distribution, fundamental_matrix, soft_tsd

    pairs, similarity = np.asarray(pairs), graph(similarity)
    fitted = Model(model.A_.astype(np.float64), model.B_.astype(np.float64))
    result = soft_tsd(edge_distribution(similarity), fitted)
    assert result.q is not None
    tiny = np.finfo(np.float64).tiny
    ratio = np.where((result.p > tiny) & (result.q > tiny), result.p / np.maximum(result.q, tiny), 0.0)
    N = fundamental_matrix(fitted.B)
    M = (N - np.eye(len(N))) ** 2 + np.eye(len(N))
    # of a pair whose walks pass a node: Thm 6, adjoint
    value = solve_triangular(M, ratio, unit_diagonal=True)
    degree = similarity.degrees
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), 4096):
        i, j = pairs[start : start + 4096].T
        joint = (fitted.A[i] @ N) * (fitted.A[j] @ N)
        scores[start : start + 4096] = degree[i] * degree[j] * (joint @ value)
    return scores


def adamic_adar_scores(similarity: GraphLike, pairs: ArrayLike) -> Floats:
    """Common neighbors, each counting 1 / log(degree) (Adamic and Adar 2001).

    Examples
    --------
    >>> from arbora.similarity import graph
    >>> from arbora.tasks.link_prediction import adamic_adar_scores
    >>> path = graph(([0, 1, 2], [1, 2, 3]))
    >>> adamic_adar_scores(path, [(0, 2), (0, 3)]).round(2).tolist()
    [1.44, 0.0]
    """
    pairs, similarity = np.asarray(pairs), graph(similarity)
    adjacency = (similarity.csr > 0).astype(np.float64)
    degree = np.diff(adjacency.indptr)
    value = np.where(degree > 1, 1.0 / np.log(np.maximum(degree, 2)), 0.0)
    weighted = adjacency @ sp.diags_array(value)
    return np.asarray(weighted[pairs[:, 0]].multiply(adjacency[pairs[:, 1]]).sum(axis=1)).ravel()


def cosine_scores(vectors: AnyFloats, pairs: ArrayLike) -> AnyFloats:
    """Cosine of the two nodes' embeddings.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.link_prediction import cosine_scores
    >>> cosine_scores(np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 3.0]]), [(0, 1), (0, 2)]).round(2).tolist()
    [0.0, 0.71]
    """
    return inner_product_scores(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), pairs
    )


def inner_product_scores(vectors: AnyFloats, pairs: ArrayLike) -> AnyFloats:
    """Inner product of the two nodes' embeddings, which a graph autoencoder is trained to decode edges from.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.link_prediction import inner_product_scores
    >>> inner_product_scores(np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 3.0]]), [(0, 1), (0, 2)]).tolist()
    [0.0, 6.0]
    """
    pairs = np.asarray(pairs)
    return np.asarray(np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]]))


def predict_links(
    similarity: GraphLike,
    methods: Mapping[str, Method] | None = None,
    *,
    fraction: float = 0.1,
    random_state: RandomState = None,
) -> dict[str, float]:
    """AUC-PR of each method on one split of a graph's edges (the paper's protocol, Table 4).

    Parameters
    ----------
    similarity : graph
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
    split = split_links(similarity, fraction, random_state=random_state)
    methods = {"FPH": fph_method(random_state=0), **baselines(0)} if methods is None else methods
    return {
        name: float(average_precision_score(split.is_edge, method(split.train, split.pairs)))
        for name, method in methods.items()
    }


def fph_method(n_internal: int = 256, **parameters: Any) -> Method:
    """FPH as a method for `predict_links`; `parameters` go to the estimator.

    Examples
    --------
    >>> from arbora.probabilistic import small_hsbm
    >>> from arbora.tasks.link_prediction import fph_method, predict_links
    >>> quick = fph_method(n_internal=8, max_epochs=20, random_state=0)
    >>> predict_links(small_hsbm(0).adjacency, {"FPH": quick}, random_state=0)["FPH"] > 0.6
    True
    """

    def scores(train: GraphSimilarity, pairs: Ints) -> AnyFloats:
        from arbora.probabilistic import FPH

        model = FPH(**{"n_internal": n_internal, "objective": "tsd", **parameters}).fit(train)
        return model_scores(model, train, pairs)

    return scores


def baselines(random_state: RandomState = None) -> dict[str, Method]:
    """Adamic-Adar, DeepWalk, degree-corrected block model and variational graph autoencoder.

    Examples
    --------
    >>> from arbora.tasks.link_prediction import baselines
    >>> list(baselines(0))
    ['Adamic-Adar', 'DeepWalk', 'DCSBM', 'VGAE']
    """
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
