"""Systems for graphs that are put together from parts: embeddings with a linkage, block models, scores of pairs."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.random import generator, seed_of
from arbora._base.types import AnyFloats, Floats, Ints, RandomState
from arbora.linkages.agglomerative import Method, linkage
from arbora.similarity import Similarity, as_similarity
from arbora.similarity.graph import GraphSimilarity, graph, is_network
from arbora.tree import Tree

# FPH, App. B.2 and B.7
DEEPWALK_DIMENSION = 10


def read_graph(similarity: Any, needed_by: str) -> GraphSimilarity:
    """A graph given as such, as a sparse adjacency, a networkx graph or a tuple of edges."""
    found = graph(similarity) if isinstance(similarity, tuple) else as_similarity(similarity)
    if found.csr is None:
        raise TypeError(
            f"{needed_by} needs a graph. {type(found).__name__} has no sparse form: use similarity.knn(X)."
        )
    return cast("GraphSimilarity", found)


def is_graph(data: Any) -> bool:
    """Whether data, for systems that take vectors as well, are a graph."""
    return isinstance(data, (Similarity, tuple)) or sp.issparse(data) or is_network(data)


def deepwalk_linkage(
    similarity: Any,
    method: Method = "ward",
    *,
    dimension: int = DEEPWALK_DIMENSION,
    random_state: RandomState = None,
) -> Tree:
    """DeepWalk vectors of the nodes, and a linkage of them: FPH's Ward baseline.

    Parameters
    ----------
    similarity : graph
        As `arbora.linkages.louvain` takes it.
    method : str, default="ward"
        Linkage of the vectors, by Euclidean distance.
    dimension : int, default=10
        Of the vectors (FPH's own; 32 for its largest graphs).
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree

    Examples
    --------
    >>> from arbora.baselines.on_graphs import deepwalk_linkage
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> deepwalk_linkage(triangles, dimension=4, random_state=0).cut(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    found = read_graph(similarity, "deepwalk_linkage")
    vectors = walk_vectors(found, dimension, random_state)
    return _named(linkage(vectors, method, kind="vectors"), found)


def deepwalk_hyphc(
    similarity: Any,
    *,
    dimension: int = DEEPWALK_DIMENSION,
    max_epochs: int = 50,
    n_triples: int | None = None,
    random_state: RandomState = None,
) -> Tree:
    """HypHC on DeepWalk vectors: FPH's HypHC column.

    Parameters
    ----------
    similarity : graph
    dimension : int, default=10
        Of the vectors.
    max_epochs, n_triples : int
        As in `arbora.HypHC`.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree

    Examples
    --------
    >>> from arbora.baselines.on_graphs import deepwalk_hyphc
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> deepwalk_hyphc(triangles, dimension=4, max_epochs=2, random_state=0).n_leaves
    6
    """
    from arbora.hyperbolic import HypHC

    found, seed = read_graph(similarity, "deepwalk_hyphc"), seed_of(random_state)
    model = HypHC(1, max_epochs=max_epochs, n_triples=n_triples, random_state=seed)
    return _named(model.fit(walk_vectors(found, dimension, seed)).tree_, found)


def deepwalk_ghhc(
    similarity: Any,
    *,
    dimension: int = DEEPWALK_DIMENSION,
    n_internal: int = 512,
    max_steps: int = 500,
    learning_rate: float = 0.1,
    random_state: RandomState = None,
) -> Tree:
    """GHHC on DeepWalk vectors: FPH's HGHC column.

    Parameters
    ----------
    similarity : graph
    dimension : int, default=10
        Of the vectors.
    n_internal, max_steps, learning_rate
        As in `arbora.GHHC`; no more internal nodes than points.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree

    Examples
    --------
    >>> from arbora.baselines.on_graphs import deepwalk_ghhc
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> deepwalk_ghhc(triangles, dimension=4, max_steps=5, random_state=0).n_leaves
    6
    """
    from arbora.hyperbolic import GHHC

    found, seed = read_graph(similarity, "deepwalk_ghhc"), seed_of(random_state)
    n_internal = min(n_internal, max(found.n_points - 1, 1))
    model = GHHC(
        1, n_internal=n_internal, max_steps=max_steps, learning_rate=learning_rate, random_state=seed
    )
    return _named(model.fit(walk_vectors(found, dimension, seed)).tree_, found)


def deepwalk_ufit(
    similarity: Any,
    *,
    dimension: int = DEEPWALK_DIMENSION,
    top_nodes: int = 10,
    max_epochs: int = 500,
    random_state: RandomState = None,
) -> Tree:
    """UFit on DeepWalk vectors: FPH's UF column, with its cost (closest + cluster size).

    Parameters
    ----------
    similarity : graph
    dimension : int, default=10
        Of the vectors.
    top_nodes, max_epochs : int
        As in `arbora.baselines.ufit.ufit`.
    random_state : int, RandomState, Generator or None
        Of DeepWalk; UFit itself draws nothing.

    Returns
    -------
    tree : Tree

    Examples
    --------
    >>> from arbora.baselines.on_graphs import deepwalk_ufit
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> deepwalk_ufit(triangles, dimension=4, max_epochs=5, random_state=0).cut(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    from arbora.baselines.ufit import ufit

    found = read_graph(similarity, "deepwalk_ufit")
    vectors = walk_vectors(found, dimension, random_state)
    return _named(ufit(vectors, top_nodes=top_nodes, max_epochs=max_epochs), found)


def walk_vectors(similarity: GraphSimilarity, dimension: int, random_state: RandomState) -> Floats:
    """DeepWalk vectors in float64."""
    from arbora.probabilistic.deepwalk import deepwalk

    return np.asarray(deepwalk(similarity, dimension, random_state=random_state), dtype=np.float64)


def autoencoder_linkage(
    similarity: Any, method: Method = "ward", *, max_epochs: int = 200, random_state: RandomState = None
) -> Tree:
    """Embeddings of a variational graph autoencoder, and a linkage of them.

    Parameters
    ----------
    similarity : graph
    method : str, default="ward"
        Linkage of the embeddings, by Euclidean distance.
    max_epochs : int, default=200
        Of the autoencoder.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree

    Examples
    --------
    >>> from arbora.baselines.on_graphs import autoencoder_linkage
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> autoencoder_linkage(triangles, max_epochs=5, random_state=0).n_leaves
    6
    """
    from arbora.tasks.graph_autoencoder import embed_graph

    found = read_graph(similarity, "autoencoder_linkage")
    vectors = embed_graph(found, max_epochs=max_epochs, random_state=seed_of(random_state))
    return _named(linkage(np.asarray(vectors, dtype=np.float64), method, kind="vectors"), found)


def _named(tree: Tree, similarity: GraphSimilarity) -> Tree:
    return tree if similarity.names is None else tree.replace(name=similarity.names)


def block_model_labels(similarity: Any, *, random_state: RandomState = None) -> Ints:
    """Block of each node in a degree-corrected stochastic block model; it chooses their number itself.

    Parameters
    ----------
    similarity : graph
    random_state : int, RandomState, Generator or None

    Returns
    -------
    labels : ndarray of int64

    Examples
    --------
    >>> from arbora.baselines.on_graphs import block_model_labels
    >>> block_model_labels(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]), random_state=0).shape
    (6,)
    """
    from arbora.tasks.block_model import fit_block_model

    blocks = fit_block_model(read_graph(similarity, "block_model_labels"), generator(random_state))
    return np.asarray(blocks, dtype=np.int64)


# ---- scores of pairs -----------------------------------------------------------------------------------------


def adamic_adar(similarity: Any, pairs: ArrayLike) -> Floats:
    """Common neighbors of each pair, each counting 1 / log(degree).

    Examples
    --------
    >>> from arbora.baselines.on_graphs import adamic_adar
    >>> adamic_adar(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]), [[0, 1], [0, 3]]).round(3)
    array([0.91, 0.91])
    """
    from arbora.tasks.link_prediction import adamic_adar_scores

    found = read_graph(similarity, "adamic_adar")
    return adamic_adar_scores(found, _checked_pairs(pairs, found.n_points))


def block_model_links(similarity: Any, pairs: ArrayLike, *, random_state: RandomState = None) -> AnyFloats:
    """Expected number of edges of each pair under a degree-corrected block model.

    Examples
    --------
    >>> from arbora.baselines.on_graphs import block_model_links
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> block_model_links(triangles, [[0, 1], [0, 5]], random_state=0).shape
    (2,)
    """
    return _scored("DCSBM", similarity, pairs, random_state)


def deepwalk_links(similarity: Any, pairs: ArrayLike, *, random_state: RandomState = None) -> AnyFloats:
    """Cosine of the DeepWalk vectors of each pair.

    Examples
    --------
    >>> from arbora.baselines.on_graphs import deepwalk_links
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> deepwalk_links(triangles, [[0, 1], [0, 5]], random_state=0).shape
    (2,)
    """
    return _scored("DeepWalk", similarity, pairs, random_state)


def autoencoder_links(
    similarity: Any, pairs: ArrayLike, *, max_epochs: int = 200, random_state: RandomState = None
) -> AnyFloats:
    """Inner product of the graph autoencoder's embeddings of each pair.

    Examples
    --------
    >>> from arbora.baselines.on_graphs import autoencoder_links
    >>> triangles = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> autoencoder_links(triangles, [[0, 1], [0, 5]], max_epochs=2, random_state=0).shape
    (2,)
    """
    from arbora.tasks.graph_autoencoder import embed_graph
    from arbora.tasks.link_prediction import inner_product_scores

    found = read_graph(similarity, "VGAE")
    wanted = _checked_pairs(pairs, found.n_points)
    vectors = embed_graph(found, max_epochs=max_epochs, random_state=seed_of(random_state))
    return inner_product_scores(vectors, wanted)


def _scored(name: str, similarity: Any, pairs: ArrayLike, random_state: RandomState) -> AnyFloats:
    from arbora.tasks.link_prediction import baselines

    method = baselines(seed_of(random_state))[name]
    found = read_graph(similarity, name)
    return method(found, _checked_pairs(pairs, found.n_points))


def _checked_pairs(pairs: ArrayLike, n_points: int) -> Ints:
    """Two nodes per row, or an error that says what came."""
    try:
        found = np.asarray(pairs)
    except ValueError:
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"pairs must be whole numbers of shape (n_pairs, 2). Got {pairs!r:.100}.")
    wrong = found[((found < 0) | (found >= n_points)).any(axis=1)]
    if len(wrong):
        raise ValueError(f"pairs must hold nodes from 0 to {n_points - 1}. Got {wrong[0].tolist()}.")
    return found.astype(np.int64)
