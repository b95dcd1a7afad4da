"""From a tree to the matrices A, B and back, and the trees that training can start from."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from arbora._base.threads import in_background
from arbora._base.types import Bools, Floats, Ints, Objective
from arbora.linkages import graph_linkage
from arbora.linkages.levelwise import nested_louvain
from arbora.metrics import tree_sampling_divergence
from arbora.probabilistic.sparse import Model, Parents, binary_model
from arbora.scale import build_graph_on_dask
from arbora.search.cluster import Options as SearchOptions
from arbora.similarity.graph import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.groups import tree_of_groups

StartName: TypeAlias = Literal["average", "ward", "louvain", "search", "random"]
Start: TypeAlias = StartName | Tree
STARTS: tuple[StartName, ...] = get_args(StartName)
# nodes; all pairs of 300,000 take hours
LARGEST_FULL_WARD = 20_000


def model_of_tree(tree: Tree, dtype: DTypeLike = np.float64) -> Model:
    """Binary matrices of a tree: A[i, k] = 1 if z_k is the parent of leaf i, B likewise.

    Examples
    --------
    >>> from arbora import Tree
    >>> model_of_tree(Tree([3, 3, 4, 4, -1], n_leaves=3)).B
    array([[0., 1.],
           [0., 0.]])
    """
    n = tree.n_leaves
    if n == 1:
        # such a tree has no internal node, the model has one
        return binary_model(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), dtype)
    return binary_model(tree.parent[:n] - n, tree.parent[n:] - n, dtype)


def tree_of_parents(
    leaf_parent: Ints, parent: Ints, leaf_support: Floats | None = None, support: Floats | None = None
) -> tuple[Tree, Ints]:
    """Tree of the chosen parents, without the internal nodes that join nothing.

    An internal node without leaves is dropped, one with a single child is passed over; the support of a node
    is the probability of the parent chosen, multiplied along the nodes passed over.

    Returns
    -------
    tree : Tree
    column : ndarray of int64, shape (n_internal,)
        Which internal node of the model each internal node of the tree is.
    """
    found = tree_of_groups(parent, leaf_parent, support=support, leaf_support=leaf_support)
    return found.tree, found.group


def tree_with_support(model: Model, parents: Parents) -> tuple[Tree, Ints]:
    """Tree of given parents with their probabilities, and the model's column of each internal node."""
    A, B = model
    leaf_parent, parent = parents
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    chosen = A.indices == leaf_parent[row]
    leaf_support = np.zeros(A.shape[0])
    leaf_support[row[chosen]] = A.data[chosen]
    support = np.append(B[np.arange(len(B) - 1), parent[:-1]], 1.0).astype(np.float64)
    return tree_of_parents(leaf_parent, parent, leaf_support, support)


def nearest_kept(parent: Ints, kept: Bools, support: Floats) -> tuple[Ints, Floats]:
    """For every node, the nearest kept node at or above it (-1: none), and the support of the way there."""
    k = len(parent)
    keeper = np.where(kept, np.arange(k), -1)
    passed = np.ones(k)
    for node in range(k - 2, -1, -1):
        if not kept[node]:
            keeper[node] = keeper[parent[node]]
            passed[node] = support[node] * passed[parent[node]]
    return keeper, passed


def start_tree(
    similarity: GraphSimilarity,
    start: Start,
    n_internal: int,
    objective: Objective,
    rng: np.random.Generator,
) -> Tree:
    """The tree that training starts from, compressed to at most `n_internal` internal nodes."""
    if isinstance(start, Tree):
        if start.n_leaves != similarity.n_points:
            raise ValueError(
                f"init must be a tree over the graph's {similarity.n_points} nodes. "
                f"It has {start.n_leaves} leaves."
            )
        tree = start
    elif start == "random":
        return random_tree(similarity.n_points, n_internal, rng)
    elif (shards := similarity.in_shards()) is not None:
        # average linkage, searched: what can be had without all edges on one machine
        tree = build_graph_on_dask(shards, SearchOptions(random_state=0)).tree
    elif start == "average":
        tree = graph_linkage(similarity, "average")
    elif start == "search":
        tree = _searched(similarity, objective, rng)
    elif start == "ward":
        tree = _ward(similarity, rng)
    else:
        # Louvain run again and again on its own communities
        tree = nested_louvain(similarity.csr)
    return compressed_start(tree, similarity, n_internal, objective)


def compressed_start(tree: Tree, similarity: GraphSimilarity, n_internal: int, objective: Objective) -> Tree:
    """The tree with at most `n_internal` internal nodes.

    For TSD, contracting greedily is short-sighted where most nodes have to go: on DBLP, from 317,079 to 512, what was
    contracted for Dasgupta's cost keeps 40.1 % of the information, and 38.9 % what was contracted for TSD. The better
    one counts.
    """
    small = tree.compress(n_internal, similarity, objective)
    if objective != "tsd" or small is tree:
        return small
    other = tree.compress(n_internal, similarity, "dasgupta")
    return max(small, other, key=lambda found: tree_sampling_divergence(found, similarity, normalize=False))


def random_tree(n_leaves: int, n_internal: int, rng: np.random.Generator) -> Tree:
    """Leaves under random internal nodes, internal nodes under random later ones."""
    leaf_parent = rng.integers(0, n_internal, n_leaves)
    parent = np.append(rng.integers(np.arange(1, n_internal), n_internal), n_internal - 1)
    return tree_of_parents(leaf_parent, parent)[0]


def _searched(similarity: GraphSimilarity, objective: Objective, rng: np.random.Generator) -> Tree:
    from arbora.search import refine

    seed = int(rng.integers(2**31))
    return refine(graph_linkage(similarity, "average"), similarity, objective=objective, random_state=seed)


def _ward(similarity: GraphSimilarity, rng: np.random.Generator) -> Tree:
    """Ward's linkage of DeepWalk embeddings, of the paper's dimensions."""
    from arbora.probabilistic.deepwalk import deepwalk

    dimension = 10 if similarity.n_points <= LARGEST_FULL_WARD else 32
    return ward_of_vectors(similarity, deepwalk(similarity, dimension, random_state=int(rng.integers(2**31))))


def ward_of_vectors(similarity: GraphSimilarity, vectors: NDArray[np.floating]) -> Tree:
    """Ward's linkage of the nodes' embeddings; of a large graph only along its edges."""
    if similarity.n_points <= LARGEST_FULL_WARD:
        import fastcluster

        return Tree.from_linkage(in_background(lambda: fastcluster.linkage_vector(vectors, method="ward")))
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(connectivity=sp.csr_matrix(similarity.csr), compute_distances=True)
    return Tree.from_sklearn(model.fit(vectors))
