"""Trees from methods that work level by level: BIRCH on vectors, Louvain on graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_real, check_whole
from arbora._base.random import with_words_for_seed
from arbora._base.threads import in_background
from arbora._base.types import Floats, Ints, RandomState
from arbora.linkages.modularity import aggregated, first_communities, nested_communities
from arbora.similarity import Similarity
from arbora.similarity.graph import graph
from arbora.tree import Tree

_MOST_LEVELS = 100


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
        label = first_communities(adjacency, resolution)
        if label.max() + 1 == adjacency.shape[0]:
            break
        levels.append(label)
        adjacency = aggregated(adjacency, label)
        # the order of neighbors is that of their sums, and of rounding
        adjacency.sort_indices()
    return tree_of_levels(levels, found.n_points, found.names)


def _adjacency(similarity: Similarity) -> sp.csr_array:
    """Edges and self-loops in units of the largest."""
    if similarity.csr is None:
        raise TypeError(
            f"louvain needs a graph. {type(similarity).__name__} has no sparse form: use similarity.knn(X)."
        )
    adjacency = similarity.csr + sp.diags_array(similarity.self_loops, format="csr")
    largest = float(adjacency.max()) if adjacency.nnz else 0.0
    return sp.csr_array(adjacency / (largest or 1.0), dtype=float)


def nested_louvain(adjacency: sp.csr_array, n_levels: int = 3) -> Tree:
    """Louvain's communities, each divided again by the same method; parts are joined one by one, smallest first.

    The binary tree that scikit-network's `LouvainIteration` gives.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.levelwise import nested_louvain
    >>> tree = nested_louvain(sp.diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1]).tocsr())
    >>> tree.replace(height=None).to_newick()
    '((0,(1,2)),(3,4));'
    """
    n = adjacency.shape[0]
    if n == 1:
        return Tree([-1], 1)
    merges, depth = _merges_in_turn(nested_communities(adjacency, n_levels))
    # deepest first: heights rise toward the root
    order = np.lexsort((merges.max(axis=1), -depth))
    number = np.arange(2 * n - 1)
    number[n + order] = np.arange(n, 2 * n - 1)
    height = 1.0 + depth.max() - depth[order]
    return Tree.from_linkage(np.column_stack([number[merges[order]], height, np.zeros(n - 1)]))


def _merges_in_turn(levels: list[Ints]) -> tuple[Ints, Ints]:
    """(the two nodes of each merge, how many divisions lie above it), communities before what they are part of."""
    n, lowest = len(levels[0]), len(levels)
    order = np.lexsort((np.arange(n), *reversed(levels)))
    # the first level at which a leaf is parted from the one before it
    parted = np.full(n, lowest)
    for level in reversed(range(lowest)):
        label = levels[level][order]
        parted[1:][label[1:] != label[:-1]] = level
    n_above = _divisions_above(parted, lowest)
    merges: list[tuple[int, int]] = []
    depth: list[int] = []
    # parts of the community in hand at every level, from the whole graph down
    parts: list[list[int]] = [[] for _ in range(lowest + 1)]

    def join(level: int, last_leaf: int) -> int:
        top = parts[level].pop()
        while parts[level]:
            merges.append((top, parts[level].pop()))
            depth.append(n_above[level][last_leaf])
            top = n + len(merges) - 1
        return top

    for k, leaf in enumerate(order.tolist()):
        if k:
            for level in range(lowest, parted[k], -1):
                parts[level - 1].append(join(level, k - 1))
        parts[lowest].append(leaf)
    for level in range(lowest, 0, -1):
        parts[level - 1].append(join(level, n - 1))
    join(0, n - 1)
    return np.array(merges), np.array(depth)


def _divisions_above(parted: Ints, lowest: int) -> list[list[int]]:
    """For every level and leaf, how many of the communities above that level have more than one part."""
    above = np.zeros(len(parted), dtype=np.int64)
    found = [above.tolist()]
    for level in range(lowest):
        community = np.cumsum(parted < level)
        is_new = parted <= level
        is_new[0] = True
        n_parts = np.bincount(community[is_new])
        above = above + (n_parts[community] > 1)
        found.append(above.tolist())
    return found


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
