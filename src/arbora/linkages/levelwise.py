"""Trees from methods that work level by level: BIRCH on vectors, Louvain on graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_real, check_whole
from arbora._base.pieces import pieces_of
from arbora._base.random import with_words_for_seed
from arbora._base.threads import in_background
from arbora._base.types import Floats, Ints, RandomState
from arbora.linkages._modularity_kernels import join_best_communities
from arbora.similarity import Similarity
from arbora.similarity.graph import graph
from arbora.tree import Tree

_MOST_LEVELS = 100
# rise of modularity in a pass, below which Louvain's method goes on to the next level, as in scikit-network
_LEAST_RISE = 1e-3
# of a graph's matrix: what is read in about a tenth of a second, after which Ctrl-C is noticed
_ENTRIES_PER_CALL = 1_000_000


def birch(data: Any, *, threshold: float | None = None, branching_factor: int = 50) -> Tree:
    """The tree of cluster features that scikit-learn's BIRCH builds, with all points below its leaves.

    Parameters
    ----------
    data : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to cluster, in the order in which BIRCH is to see them.
    threshold : float, optional
        Largest radius of a lowest group. By default half the median distance to the nearest neighbor in a
        sample of 1,000 rows, so that only near-duplicates are grouped.
    branching_factor : int
        Most parts of a node.

    Returns
    -------
    tree : Tree
        Over all points, n-ary.

    Examples
    --------
    >>> from arbora.linkages import birch
    >>> birch([[0.0], [0.1], [9.0], [9.1]], threshold=1.0).to_newick()
    '((0,1),(2,3));'
    """
    from sklearn.cluster import Birch

    branching_factor = check_whole(branching_factor, "branching_factor", least=2)
    if threshold is not None:
        threshold = check_real(threshold, "threshold", above=0)
    rows, names = as_vectors(data, argument="data"), row_names(data)
    if len(rows) == 1:
        return Tree([-1], 1, name=names)
    # by a power of two, which is exact: squares neither overflow nor vanish
    exponent = int(np.frexp(np.abs(rows).max())[1])
    rows = np.ldexp(rows, -exponent)
    radius = _small_distance(rows) if threshold is None else _scaled_radius(threshold, exponent)
    model = Birch(threshold=radius, branching_factor=branching_factor, n_clusters=None)
    in_background(lambda: model.fit(rows))
    group_parent, group_of_subcluster = _groups_of_features(model)
    return Tree.from_groups(group_parent, group_of_subcluster[model.labels_], leaf_name=names)


def _scaled_radius(threshold: float, exponent: int) -> float:
    """The threshold divided by a power of two; beyond all values and below all of them it makes no difference."""
    with np.errstate(over="ignore"):
        scaled = float(np.ldexp(threshold, -exponent))
    return min(max(scaled, float(np.finfo(np.float64).tiny)), 1e100)


def _small_distance(rows: Floats) -> float:
    from sklearn.neighbors import NearestNeighbors

    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), 1000)).astype(np.int64)]
    if len(sample) < 2:
        return 0.5
    distance = NearestNeighbors(n_neighbors=1).fit(sample).kneighbors()[0]
    # 0: only duplicates are grouped
    return float(np.median(distance)) / 2 or float(np.finfo(np.float64).tiny)


def _groups_of_features(model: Any) -> tuple[list[int], Ints]:
    """(parent of each group, parents first; group of each lowest subcluster in scikit-learn's order)."""
    group_parent, group_of_node = [-1], {id(model.root_): 0}
    todo = [model.root_]
    first_of_leaf: dict[int, int] = {}
    while todo:
        node = todo.pop()
        for part in node.subclusters_:
            group_parent.append(group_of_node[id(node)])
            if part.child_ is not None:
                group_of_node[id(part.child_)] = len(group_parent) - 1
                todo.append(part.child_)
            else:
                first_of_leaf.setdefault(id(node), len(group_parent) - 1)
    groups: list[int] = []
    # scikit-learn numbers subclusters along this list of leaves
    leaf = model.dummy_leaf_.next_leaf_
    while leaf is not None:
        groups.extend(first_of_leaf[id(leaf)] + np.arange(len(leaf.subclusters_)))
        leaf = leaf.next_leaf_
    return group_parent, np.array(groups, dtype=np.int64)


def louvain(similarity: Any, *, resolution: float = 1.0, random_state: RandomState = None) -> Tree:
    """Communities of communities: Louvain's method, one aggregation per level, until nothing merges.

    The communities of each level are those of scikit-network.

    Parameters
    ----------
    similarity : graph
        A similarity with edges, or whatever `similarity.graph` takes: a sparse adjacency, a networkx graph, edges.
    resolution : float
        Larger values give smaller communities.
    random_state : int, RandomState, Generator or None
        Without effect: nodes are visited in their order.

    Returns
    -------
    tree : Tree
        Over all nodes, n-ary; the communities of the last level are joined at the root.

    Examples
    --------
    >>> from arbora.linkages import louvain
    >>> louvain(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]), random_state=0).to_newick()
    '((0,1,2),(3,4,5));'
    """
    resolution = check_real(resolution, "resolution", above=0)
    found = similarity if isinstance(similarity, Similarity) else graph(similarity)
    adjacency = _adjacency(found)
    with_words_for_seed(random_state)
    levels: list[Ints] = []
    for _ in range(_MOST_LEVELS):
        if adjacency.nnz == 0 or adjacency.shape[0] == 1:
            break
        label = communities(adjacency, resolution)
        if label.max() + 1 == adjacency.shape[0]:
            break
        levels.append(label)
        adjacency = _aggregated(adjacency, label)
    return tree_of_levels(levels, found.n_points, found.names)


def communities(adjacency: sp.csr_array, resolution: float = 1.0) -> Ints:
    """Communities that no move of a single node improves by much, the largest first.

    Nodes are visited in their order, until a pass raises modularity by a thousandth at most: scikit-network's Louvain
    before it aggregates. That computes for as long as it takes without letting Python notice Ctrl-C; this does not.
    """
    n = adjacency.shape[0]
    degree = adjacency.sum(axis=1)
    degree = (degree / degree.sum()).astype(np.float32)
    data = (adjacency.data / adjacency.data.sum()).astype(np.float32)
    loops = (adjacency.diagonal() / adjacency.data.sum()).astype(np.float32)
    label, volume = np.arange(n), degree.copy()
    scratch = np.zeros(n, dtype=np.float32), np.full((2, n), -1)
    risen = np.inf
    while risen > _LEAST_RISE:
        risen = 0.0
        for first, last in pieces_of(adjacency.indptr, _ENTRIES_PER_CALL):
            risen += join_best_communities(
                first,
                last,
                label,
                adjacency.indptr,
                adjacency.indices,
                data,
                degree,
                loops,
                volume,
                *scratch,
                np.float32(resolution),
            )
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    by_size = np.argsort(-counts)
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(by_size))
    ranked: Ints = rank[label]
    return ranked


def _adjacency(similarity: Similarity) -> sp.csr_array:
    """Edges and self-loops in units of the largest."""
    if similarity.csr is None:
        raise TypeError(
            f"louvain needs a graph. {type(similarity).__name__} has no sparse form: use similarity.knn(X)."
        )
    adjacency = similarity.csr + sp.diags_array(similarity.self_loops, format="csr")
    largest = float(adjacency.max()) if adjacency.nnz else 0.0
    return sp.csr_array(adjacency / (largest or 1.0), dtype=float)


def _aggregated(adjacency: sp.csr_array, label: Ints) -> sp.csr_array:
    n = len(label)
    member = sp.csr_array((np.ones(n), (np.arange(n), label)), shape=(n, label.max() + 1))
    together = sp.csr_array(member.T @ adjacency @ member)
    together.sort_indices()
    return together


def tree_of_levels(levels: list[Ints], n_points: int, names: list[str] | None) -> Tree:
    """Tree from labels of points, of groups of points, and so on, finest first."""
    if n_points == 1:
        return Tree([-1], 1, name=names)
    group_parent = [-1]
    above = np.zeros(levels[-1].max() + 1 if levels else n_points, dtype=np.int64)
    # `above` is the group above each group of this level
    for label in reversed(levels):
        number = len(group_parent) + np.arange(len(above))
        group_parent.extend(above.tolist())
        above = number[label]
    return Tree.from_groups(group_parent, above, leaf_name=names)
