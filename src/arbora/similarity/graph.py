"""A similarity given by the edges of a graph: pairs without an edge have similarity 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.params import check_choice
from arbora._base.threads import allowed_threads, share_out
from arbora._base.types import Floats, Ints
from arbora.similarity import _kernels as kernels
from arbora.similarity._edges import GraphParts, read_graph_parts
from arbora.similarity._symmetry import is_rounding
from arbora.similarity.checks import check_covers, check_pair_arrays, check_points, check_vectors_of_points
from arbora.similarity.protocol import Similarity, information_of, names_of_subset
from arbora.similarity.renumbering import renumbered
from arbora.similarity.shards import are_shards

if TYPE_CHECKING:
    from arbora.tree import Tree

Direction: TypeAlias = Literal["sum", "max", "mean"]
DIRECTIONS = ("sum", "max", "mean")
# entries from which the edges of a graph are shared out among threads, and in how many shares
_SHARED_FROM_ENTRIES, _N_SHARES = 1_000_000, 4


class GraphSimilarity(Similarity):
    """Similarity from a weighted undirected graph; build it with `arbora.similarity.graph` or `knn`.

    Attributes
    ----------
    csr : scipy.sparse.csr_array, shape (n_points, n_points)
        Symmetric, without diagonal, indices sorted.
    self_loops : ndarray of float64, shape (n_points,)
        Weight of the edge from each node to itself. In a tree its LCA is the leaf's parent.
    names : list of str or None
        Names of the nodes.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.graph((["a", "b"], ["b", "c"], [1.0, 0.5]))
    >>> similarity.names, similarity.n_edges, similarity.degrees.tolist()
    (['a', 'b', 'c'], 2, [1.0, 1.5, 0.5])
    """

    csr: sp.csr_array

    def __init__(
        self, csr: sp.csr_array, self_loops: Floats | None = None, names: list[str] | None = None
    ) -> None:
        self.csr = csr
        self.self_loops = np.zeros(csr.shape[0]) if self_loops is None else self_loops
        self.names = names

    @property
    def n_points(self) -> int:
        return int(self.csr.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once, self-loops included."""
        return int(self.csr.nnz) // 2 + int(np.count_nonzero(self.self_loops))

    @property
    def total(self) -> float:
        return float(self.csr.data.sum(dtype=np.float64)) / 2 + float(self.self_loops.sum())

    @property
    def degrees(self) -> Floats:
        """Sum of the weights at each node; a self-loop counts twice, so that degrees sum to 2 * total."""
        return np.asarray(self.csr.sum(axis=1, dtype=np.float64) + 2 * self.self_loops)

    @property
    def is_non_negative(self) -> bool:
        return not self.csr.nnz or bool(self.csr.data.min() >= 0)

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs; 0 where there is no edge."""
        left, right = check_pair_arrays(i, j, self.n_points)
        if left.size == 0:
            # SciPy answers no pairs with a sparse array
            return np.zeros(left.shape)
        values = np.asarray(self.csr[left.ravel(), right.ravel()], dtype=np.float64).ravel()
        same = left.ravel() == right.ravel()
        values[same] = self.self_loops[left.ravel()[same]]
        return values.reshape(left.shape)

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points."""
        points = check_points(i, self.n_points)
        rows: Floats = self.csr[points].toarray().astype(np.float64, copy=False)
        rows[np.arange(len(points)), points] = self.self_loops[points]
        return rows

    def multiply(self, x: ArrayLike) -> Floats:
        """Sum over j ≠ i of similarity(i, j) x[j]. O(m)."""
        return np.asarray(self.csr @ check_vectors_of_points(x, self.n_points), dtype=np.float64)

    def sum_of_squares(self, center: float = 0.0) -> float:
        """Sum over unordered pairs of different points of (similarity - center)². O(m)."""
        n_pairs = self.n_points * (self.n_points - 1) / 2
        edges = self.csr.data.astype(np.float64)
        return float(((edges - center) ** 2).sum() / 2 + center**2 * (n_pairs - len(edges) / 2))

    def information(self, log_node_law: Floats) -> float:
        """As `Similarity.information`. O(m)."""
        ends = np.repeat(np.arange(self.n_points), np.diff(self.csr.indptr))
        law = log_node_law[ends] + log_node_law[self.csr.indices]
        return information_of(self.csr.data, 2 * self.total, law)

    def without_self_loops(self) -> GraphSimilarity:
        """The same graph without edges from a node to itself."""
        return GraphSimilarity(self.csr, names=self.names) if self.self_loops.any() else self

    def subset(self, points: ArrayLike) -> GraphSimilarity:
        """The graph of some of the nodes, in the given order."""
        some = check_points(points, self.n_points)
        csr = sp.csr_array(self.csr[some][:, some])
        csr.sort_indices()
        return GraphSimilarity(csr, self.self_loops[some], names_of_subset(self.names, some))

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        return {"csr": self.csr, "self_loops": self.self_loops}

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node. O(m)."""
        check_covers(self, tree)
        if self.csr.nnz < _SHARED_FROM_ENTRIES or self.self_loops.any():
            return _summed_at_lca(self.csr, self.self_loops, tree, tree.leaf_start)
        # to copy the graph and read it in order takes a fifth of the time of jumping about in the tree
        in_order = renumbered(self.csr, np.asarray(tree.leaf_order), allowed_threads())
        return cross_in_leaf_order(in_order, tree)

    def __repr__(self) -> str:
        return f"GraphSimilarity(n_points={self.n_points}, n_edges={self.n_edges})"


def cross_in_leaf_order(csr: sp.csr_array, tree: Tree) -> Floats:
    """Cross weights of a graph without self-loops whose point p is the tree's leaf ``tree.leaf_order[p]``.

    Everything is read in order, which at a million points takes a fraction of the time.
    """
    return _summed_at_lca(csr, np.zeros(tree.n_leaves), tree, np.arange(tree.n_leaves))


def _summed_at_lca(csr: sp.csr_array, self_loops: Floats, tree: Tree, place: Ints) -> Floats:
    """Weights summed at the lowest common ancestor of their ends, which stand at these places in the leaf order."""
    # as many shares as the graph asks for, whatever the number of threads: sums are the same to the last bit
    n_shares = 1 if csr.nnz < _SHARED_FROM_ENTRIES else _N_SHARES
    crosses = np.zeros((n_shares, tree.n_internal))
    bounds = np.linspace(0, tree.n_leaves, n_shares + 1).astype(np.int64)
    arrays = (
        csr.indptr,
        csr.indices,
        csr.data,
        self_loops,
        tree.parent,
        place,
        tree.neighbor_lca,
        tree.range_maxima,
    )

    def add(first_share: int, last_share: int) -> None:
        for share in range(first_share, last_share):
            kernels.add_cross_of_rows(*arrays, bounds[share], bounds[share + 1], crosses[share])

    share_out(add, n_shares, allowed_threads(), at_once=1)
    cross: Floats = crosses.sum(axis=0) if n_shares > 1 else crosses[0]
    return cross


def graph(data: Any, *, n_points: int | None = None, directed: Direction | None = None) -> GraphSimilarity:
    """Similarity from a graph: edge weights say how alike two nodes are.

    Parameters
    ----------
    data : sparse matrix, networkx graph, data frame of edges, tuple (rows, cols) or (rows, cols, weights), or shards
        Adjacency, symmetric, in any sparse format; or edges, each once (repeated edges add up). Ends of edges are
        node numbers or names. A data frame has two or three columns: ends and weights. Weights must not be
        negative. The input is never changed. Shards are edges that may be more than one machine holds: a Dask
        frame with the columns source, target and weight, or a directory of .npy or .parquet files of such tables,
        with node numbers as ends.
    n_points : int, optional
        Number of nodes of edges between numbers; by default the largest number plus one.
    directed : {"sum", "max", "mean"}, optional
        How the weights of i -> j and j -> i become one when the adjacency is not symmetric; a symmetric one
        stays as it is. By default asymmetry is an error.

    Returns
    -------
    similarity : GraphSimilarity
        With the names of the nodes where they have any. Of shards a `ShardedGraph`, whose sums over trees are made
        where the shards are, as are searches (`arbora.cluster`, `arbora.refine`) and batches of `arbora.FPH`; linkages
        fetch all edges, or refuse to where they do not fit.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    GraphSimilarity(n_points=4, n_edges=3)
    >>> ab.similarity.graph((["a", "b"], ["b", "c"], [1.0, 0.5])).names
    ['a', 'b', 'c']

    Edges in shards are measured where they are:

    >>> import dask, dask.dataframe as dd, pandas as pd
    >>> edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [1.0, 2.0, 1.0]})
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> with dask.config.set(scheduler="threads"):
    ...     ab.metrics.dasgupta_cost(tree, ab.similarity.graph(dd.from_pandas(edges, npartitions=2)))
    12.0
    """
    if isinstance(data, GraphSimilarity):
        return data
    if are_shards(data):
        from arbora.similarity.sharded import sharded_graph

        return sharded_graph(data, n_points)
    if directed is not None:
        check_choice(directed, "directed", DIRECTIONS)
    return _from_parts(read_graph_parts(data, n_points), directed)


def is_network(value: Any) -> bool:
    """Whether a value is a networkx graph."""
    return hasattr(value, "adj") and hasattr(value, "is_directed")


def _from_parts(parts: GraphParts, directed: Direction | None) -> GraphSimilarity:
    adjacency = parts.adjacency
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"The adjacency must be square. Got shape {adjacency.shape}.")
    if adjacency.nnz and adjacency.data.min() < 0:
        raise ValueError(f"Edge weights must not be negative. The smallest is {adjacency.data.min():.6g}.")
    self_loops = adjacency.diagonal().astype(np.float64)
    with np.errstate(over="ignore"):
        symmetric = _without_diagonal(_symmetrized(adjacency, directed))
        symmetric.eliminate_zeros()
        symmetric.sort_indices()
    found = GraphSimilarity(symmetric, self_loops, parts.names)
    return found


def _symmetrized(adjacency: sp.csr_array, directed: Direction | None) -> sp.csr_array:
    mirror = sp.csr_array(adjacency.T)
    gap = abs(adjacency - mirror)
    if is_rounding(gap.data, sp.csr_array(adjacency.maximum(mirror))[gap.nonzero()], adjacency):
        return adjacency.copy()
    if directed == "sum":
        return sp.csr_array(adjacency + mirror)
    if directed == "max":
        return sp.csr_array(adjacency.maximum(mirror))
    if directed == "mean":
        return sp.csr_array((adjacency + mirror) * adjacency.dtype.type(0.5))
    raise ValueError(
        'The adjacency is not symmetric. Choose how to join the two directions: directed="sum", "max" or "mean".'
    )


def _without_diagonal(adjacency: sp.csr_array) -> sp.csr_array:
    if adjacency.diagonal().any():
        adjacency = adjacency - sp.diags_array(adjacency.diagonal(), format="csr")
    return sp.csr_array(adjacency)
