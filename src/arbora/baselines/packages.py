"""Systems that other packages bring, read as trees: HDBSCAN, EVoC, Genie, UMAP with Ward linkage."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from arbora._base.arrays import as_vectors, row_names
from arbora._base.optional import require
from arbora._base.params import check_real, check_whole
from arbora._base.random import seed_of
from arbora._base.types import Floats, Ints, RandomState
from arbora.linkages import linkage
from arbora.tree import Tree

_COLUMNS_OF_EVOC = 16


def fast_hdbscan(data: Any, *, min_samples: int = 10, min_cluster_size: int = 10) -> Tree:
    """The hierarchy that HDBSCAN condenses: single linkage of mutual reachability distances, by fast_hdbscan.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
    min_samples : int, default=10
        Neighbors by which a point's density is judged.
    min_cluster_size : int, default=10
        Of HDBSCAN's own flat clusters; the tree does not depend on it.

    Returns
    -------
    tree : Tree
        Binary. Points in sparse regions join late, one by one: ``tree.cut(n_clusters, min_size=...)`` says how many
        make a cluster.

    Examples
    --------
    >>> from arbora.baselines.packages import fast_hdbscan
    >>> X = [[0.0], [0.1], [0.3], [7.0], [7.1], [7.4]]
    >>> fast_hdbscan(X, min_samples=1).cut(n_clusters=2)  # doctest: +SKIP
    array([0, 0, 0, 1, 1, 1])
    """
    module = require("fast_hdbscan", "fast-hdbscan")
    rows = as_vectors(data, argument="data")
    if len(rows) < 2:
        return Tree([-1], 1, name=row_names(data))
    min_samples = min(check_whole(min_samples, "min_samples"), len(rows) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = module.HDBSCAN(min_samples=min_samples, min_cluster_size=min_cluster_size).fit(rows)
    merges = np.array(model._single_linkage_tree, dtype=np.float64)
    return _named(Tree.from_linkage(bridged(merges)), data)


def bridged(merges: Floats) -> Floats:
    """A linkage in which parts that no edge joins meet at twice the largest distance instead of at infinity.

    fast_hdbscan searches for neighbors approximately where there are many columns, and groups that lie far apart
    then have no neighbor in each other.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.packages import bridged
    >>> bridged(np.array([[0, 1, 0.5, 2], [2, 3, 1.5, 2], [4, 5, np.inf, 4]]))[:, 2]
    array([0.5, 1.5, 3. ])
    """
    height = merges[:, 2]
    known = height[np.isfinite(height)]
    top = 2 * known.max() if len(known) else 1.0
    return np.column_stack([merges[:, :2], np.where(np.isfinite(height), height, top), merges[:, 3]])


def evoc(
    data: Any, *, n_neighbors: int = 15, min_cluster_size: int = 5, random_state: RandomState = None
) -> Tree:
    """The layers of clusters that EVoC finds in embedding vectors, finest first, as one tree.

    A coarser layer may cut through a finer cluster: each finer cluster goes where most of its points are. Points that a
    layer leaves out hang below the next that has them.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
    n_neighbors : int, default=15
        EVoC's own.
    min_cluster_size : int, default=5
        Of the finest layer.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree
        N-ary.

    Examples
    --------
    >>> from arbora.baselines.packages import evoc
    >>> tree = evoc(embeddings, random_state=0)  # doctest: +SKIP
    """
    module = require("evoc", "evoc")
    rows = as_vectors(data, argument="data", dtype=np.float32).astype(np.float32)
    n_neighbors = min(check_whole(n_neighbors, "n_neighbors", least=2), len(rows) - 1)
    # its own start needs some columns; zeros change no cosine
    rows = np.pad(rows, ((0, 0), (0, max(0, _COLUMNS_OF_EVOC - rows.shape[1]))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = module.EVoC(
            n_neighbors=n_neighbors,
            base_min_cluster_size=min_cluster_size,
            random_state=seed_of(random_state),
        ).fit(rows)
    return _named(
        tree_of_layers([np.asarray(layer, np.int64) for layer in model.cluster_layers_], len(rows)), data
    )


def tree_of_layers(layers: list[Ints], n_points: int) -> Tree:
    """A tree from flat clusterings, finest first, in which -1 marks points left out.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.packages import tree_of_layers
    >>> tree_of_layers([np.array([0, 0, 1, 1, -1, 2]), np.array([0, 0, 0, 0, 1, 1])], 6).to_newick()
    '(((0,1),(2,3)),(4,5));'
    """
    group_parent = [-1]
    # group of each point in the last layer read, the root before the first
    above = np.zeros(n_points, dtype=np.int64)
    for layer in reversed(layers):
        here = above.copy()
        for cluster in range(int(layer.max(initial=-1)) + 1):
            members = np.flatnonzero(layer == cluster)
            if not len(members):
                continue
            holders, counts = np.unique(above[members], return_counts=True)
            group_parent.append(int(holders[counts.argmax()]))
            here[members] = len(group_parent) - 1
        above = here
    return Tree.from_groups(group_parent, above)


def genie(data: Any, *, gini_threshold: float = 0.3) -> Tree:
    """Genie (Gagolewski et al. 2016): single linkage that first feeds the small clusters while sizes are unequal.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
    gini_threshold : float, default=0.3
        Inequality of sizes (Gini index) above which only a smallest cluster may be merged.

    Returns
    -------
    tree : Tree
        Binary, without heights, as merges do not come in ascending distance.

    Examples
    --------
    >>> from arbora.baselines.packages import genie
    >>> genie([[0.0], [0.1], [7.0], [7.2]]).to_newick()  # doctest: +SKIP
    '((0,1),(2,3));'
    """
    module = require("genieclust", "genie")
    rows = as_vectors(data, argument="data")
    if len(rows) < 2:
        return Tree([-1], 1, name=row_names(data))
    threshold = check_real(gini_threshold, "gini_threshold", least=0, most=1)
    model = module.Genie(n_clusters=1, gini_threshold=threshold)
    # versions before 1.3 give the tree only on request
    if "compute_full_tree" in model.get_params():
        model.set_params(compute_full_tree=True)
    model.fit(rows)
    return _named(Tree.from_merges(np.asarray(model.children_, np.int64).tolist(), len(rows)), data)


def umap_ward(
    data: Any,
    *,
    n_neighbors: int = 30,
    dimension: int = 50,
    min_dist: float = 0.0,
    random_state: RandomState = None,
) -> Tree:
    """Vectors reduced by UMAP, then Ward linkage: the recipe of Lowe et al. (2024) for image embeddings.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
    n_neighbors : int, default=30
    dimension : int, default=50
        Of the reduced vectors.
    min_dist : float, default=0.0
    random_state : int, RandomState, Generator or None

    Returns
    -------
    tree : Tree
        Binary, with Ward's heights.

    Examples
    --------
    Too few rows to reduce are clustered as they are:

    >>> from arbora.baselines.packages import umap_ward
    >>> umap_ward([[0.0], [1.0], [9.0]], random_state=0).to_newick(lengths=False)
    '((0,1),2);'
    """
    rows = as_vectors(data, argument="data")
    return _named(
        linkage(_reduced(rows, n_neighbors, dimension, min_dist, random_state), "ward", kind="vectors"), data
    )


def _reduced(
    rows: Floats, n_neighbors: int, dimension: int, min_dist: float, random_state: RandomState
) -> Floats:
    """UMAP's vectors; those themselves where there are too few rows or columns to reduce."""
    n_neighbors = min(check_whole(n_neighbors, "n_neighbors", least=2), len(rows) - 1)
    dimension = min(check_whole(dimension, "dimension"), rows.shape[1])
    # its spectral start needs more points than dimensions
    if len(rows) <= dimension + 2 or n_neighbors < 2:
        return rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = require("umap", "umap-ward")
        model = module.UMAP(
            n_neighbors=n_neighbors,
            n_components=dimension,
            min_dist=min_dist,
            random_state=seed_of(random_state),
            n_jobs=1,
        )
        return np.asarray(model.fit_transform(rows), dtype=np.float64)


def _named(tree: Tree, data: Any) -> Tree:
    names = row_names(data)
    return tree if names is None else tree.replace(name=names)
