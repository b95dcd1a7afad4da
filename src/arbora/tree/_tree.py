"""`Tree`: flat arrays with a thin object over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import TreeError
from arbora.tree import _kernels as kernels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-6  # how far a probability computed in floating point may leave [0, 1]
_ORDER_PROBLEMS = {
    kernels.PARENT_OUT_OF_RANGE: "parent[{v}] = {p} is not a node (the root, last, has parent -1)",
    kernels.PARENT_IS_LEAF: "Node {v} has parent {p}, which is a leaf (leaves are 0..{last_leaf})",
    kernels.PARENT_TOO_EARLY: "Children must come before their parent. Node {v} has parent {p}",
    kernels.SECOND_ROOT: "Node {v} has parent -1, but only the last node ({root}) is the root",
    kernels.CHILDLESS: "Internal node {v} has no children",
}


class Tree:
    """A rooted tree over the points of a data set.

    Leaves are ``0 .. n_leaves-1`` (row i of the data is leaf i), internal nodes follow with children before
    parents, and the root is last. Any branching is allowed. A tree never changes: operations return a new
    one.

    Parameters
    ----------
    parent : array-like of int, shape (n_nodes,)
        Parent of each node, -1 for the root. `Tree.from_parents` accepts nodes in any order.
    n_leaves : int
        Number of leaves.
    height : array-like of float, shape (n_nodes,), optional
        Where each node is drawn and cut; leaves usually at 0.
    support : array-like of float, shape (n_nodes,), optional
        How sure each node is, a probability; NaN where unknown.
    name : sequence of str, length n_leaves or n_nodes, optional
        Names; an empty string means none.
    order : array-like of int, shape (n_leaves,), optional
        The order in which leaves are drawn, as far as the tree allows it. By default leaf 0 comes first.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4, name=["ant", "bee", "cat", "dog"])
    >>> tree.to_newick()
    '((ant,bee),(cat,dog));'
    >>> tree.lca([0, 0], [1, 3])
    array([4, 6])
    >>> tree.cut(n_clusters=2)
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        parent: ArrayLike,
        n_leaves: int,
        *,
        height: ArrayLike | None = None,
        support: ArrayLike | None = None,
        name: Sequence[str] | NDArray[np.object_] | None = None,
        order: ArrayLike | None = None,
    ) -> None:
        self._parent = _frozen(_as_ints(parent, "parent"))
        if self._parent.ndim != 1:
            raise TreeError(f"parent must be one-dimensional. Got shape {self._parent.shape}.")
        self._n_leaves = _checked_leaf_count(n_leaves, len(self._parent))
        self._check_order_of_nodes()
        self._height = self._per_node_floats(height, "height")
        self._support = self._per_node_floats(support, "support")
        self._name = self._per_node_names(name)
        self._order = None if order is None else self._checked_order(order)

    # ---- the stored arrays -------------------------------------------------------------------------------

    @property
    def parent(self) -> Ints:
        """Parent of each node, -1 for the root."""
        return self._parent

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self._n_leaves

    @property
    def n_nodes(self) -> int:
        """Number of leaves and internal nodes together."""
        return len(self._parent)

    @property
    def n_internal(self) -> int:
        """Number of internal nodes."""
        return self.n_nodes - self.n_leaves

    @property
    def root(self) -> int:
        """The last node."""
        return self.n_nodes - 1

    @property
    def height(self) -> Floats | None:
        """Height of each node, or None."""
        return self._height

    @property
    def support(self) -> Floats | None:
        """Support of each node in [0, 1] (NaN: unknown), or None."""
        return self._support

    @property
    def name(self) -> NDArray[np.object_] | None:
        """Name of each node ('' where it has none), or None."""
        return self._name

    def label(self, node: int) -> str:
        """Name of a node, or its number where it has none."""
        given = self._name[node] if self._name is not None else ""
        return given or str(node)

    def identity(self) -> tuple[Any, ...]:
        """All that makes the tree what it is, for `identity_of`."""
        return self.parent, self.n_leaves, self.height, self.support, self.name, self.leaf_order

    # ---- derived once, then cached -----------------------------------------------------------------------

    @cached_property
    def sizes(self) -> Ints:
        """Number of leaves below each node (1 for a leaf)."""
        return _frozen(kernels.count_leaves(self._parent, self._n_leaves))

    @cached_property
    def depths(self) -> Ints:
        """Number of edges between each node and the root."""
        return _frozen(kernels.count_depths(self._parent))

    @cached_property
    def _child_lists(self) -> tuple[Ints, Ints]:
        order = np.arange(self._n_leaves) if self._order is None else self._order
        offsets, index = kernels.list_children(self._parent, self._n_leaves, order)
        return _frozen(offsets), _frozen(index)

    @property
    def child_offsets(self) -> Ints:
        """Where the children of each internal node begin in `child_index`, int64[n_internal + 1].

        Those of v are ``child_index[child_offsets[k] : child_offsets[k + 1]]`` with ``k = v - n_leaves``.
        """
        return self._child_lists[0]

    @property
    def child_index(self) -> Ints:
        """Children of all internal nodes, one after the other (see `child_offsets`)."""
        return self._child_lists[1]

    @cached_property
    def n_children(self) -> Ints:
        """Number of children of each internal node: int64[n_internal]."""
        return _frozen(np.diff(self.child_offsets))

    @cached_property
    def leaf_start(self) -> Ints:
        """Position in `leaf_order` of the first leaf below each node."""
        return _frozen(kernels.place_leaves(self._n_leaves, self.sizes, *self._child_lists))

    @cached_property
    def leaf_order(self) -> Ints:
        """Leaves in depth-first order: those below any node are one slice."""
        order = np.empty(self._n_leaves, dtype=np.int64)
        order[self.leaf_start[: self._n_leaves]] = np.arange(self._n_leaves)
        return _frozen(order)

    @cached_property
    def neighbor_lca(self) -> NDArray[np.int32]:
        """LCA of the leaves at positions k and k+1 of `leaf_order`.

        The LCA of positions a < b is ``neighbor_lca[a:b].max()``, because parents have larger numbers.
        """
        return _frozen(kernels.join_neighbors(self._n_leaves, self.leaf_start, *self._child_lists))

    @cached_property
    def _range_maxima(self) -> NDArray[np.int32]:
        return kernels.index_range_maxima(self.neighbor_lca)

    @cached_property
    def is_binary(self) -> bool:
        """Whether every internal node has exactly two children."""
        return self.n_nodes == 2 * self.n_leaves - 1 and bool((self.n_children == 2).all())

    # ---- looking around ----------------------------------------------------------------------------------

    def children(self, node: int) -> Ints:
        """Children of a node in drawing order (empty for a leaf)."""
        slot = self._checked_node(node) - self._n_leaves
        if slot < 0:
            return np.empty(0, dtype=np.int64)
        return self.child_index[self.child_offsets[slot] : self.child_offsets[slot + 1]]

    def leaves(self, node: int) -> Ints:
        """Leaves below a node, a view of `leaf_order`."""
        node = self._checked_node(node)
        first = self.leaf_start[node]
        return self.leaf_order[first : first + self.sizes[node]]

    def ancestors(self, node: int) -> Ints:
        """Nodes above a node, from its parent to the root."""
        path = []
        above = self._parent[self._checked_node(node)]
        while above >= 0:
            path.append(above)
            above = self._parent[above]
        return np.array(path, dtype=np.int64)

    def lca(self, i: ArrayLike, j: ArrayLike) -> Any:
        """Lowest common ancestor of nodes i and j, many pairs at once (arrays broadcast).

        Returns an int for two ints, otherwise an array.
        """
        left, right = np.broadcast_arrays(self._checked_nodes(i, "i"), self._checked_nodes(j, "j"))
        found = kernels.find_lca(
            self.leaf_start,
            self.sizes,
            self.neighbor_lca,
            self._range_maxima,
            left.flatten(),  # a copy: NumPy warns when a broadcast view is handed on
            right.flatten(),
        )
        return int(found[0]) if left.ndim == 0 else found.reshape(left.shape)

    def replace(self, **changes: Any) -> Tree:
        """A tree with other `height`, `support`, `name` or `order` (pass None to drop one)."""
        unknown = set(changes) - {"height", "support", "name", "order"}
        if unknown:
            raise TypeError(f"replace() takes height, support, name, order. Got {sorted(unknown)}.")
        kept = {"height": self._height, "support": self._support, "name": self._name, "order": self._order}
        return Tree(self._parent, self._n_leaves, **{**kept, **changes})

    def __len__(self) -> int:
        return self.n_nodes

    def __eq__(self, other: object) -> bool:
        """Same arrays: topology, numbering, heights, supports, names. See `same_topology` for shape alone."""
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self._n_leaves == other._n_leaves
            and np.array_equal(self._parent, other._parent)
            and _same_optional(self._height, other._height)
            and _same_optional(self._support, other._support)
            and _same_optional(self._name, other._name)
        )

    def __hash__(self) -> int:
        return hash((self._n_leaves, self._parent.tobytes()))

    def __repr__(self) -> str:
        shape = "binary" if self.is_binary else "n-ary"
        return f"Tree(n_leaves={self.n_leaves}, n_internal={self.n_internal}, {shape})"

    # ---- building (see _build.py and formats/) -----------------------------------------------------------

    @classmethod
    def from_parents(
        cls, parent: ArrayLike, n_leaves: int | None = None, *, sort: bool = False, **per_node: Any
    ) -> Tree:
        """From a parent array; ``sort=True`` accepts internal nodes in any order (and renumbers them)."""
        return _module("_build").from_parents(parent, n_leaves, sort=sort, **per_node)

    @classmethod
    def from_linkage(cls, Z: ArrayLike, *, name: Sequence[str] | None = None) -> Tree:
        """From a SciPy linkage matrix, heights included."""
        return _module("_build").from_linkage(Z, name=name)

    @classmethod
    def from_merges(
        cls,
        pairs: Iterable[Sequence[int]],
        n_leaves: int | None = None,
        *,
        height: ArrayLike | None = None,
        name: Sequence[str] | None = None,
    ) -> Tree:
        """From the nodes merged at each step (two or more); step t makes node ``n_leaves + t``."""
        return _module("_build").from_merges(pairs, n_leaves, height=height, name=name)

    @classmethod
    def from_sklearn(cls, model: Any) -> Tree:
        """From a fitted scikit-learn model with ``children_`` (and ``distances_``, if it has them)."""
        return _module("_build").from_sklearn(model)

    @classmethod
    def from_newick(cls, text: str, *, support: bool = False) -> Tree:
        """From Newick text, leaves numbered as they appear; `support`: internal labels are supports."""
        return _module("formats.newick").read(text, support=support)

    @classmethod
    def from_networkx(cls, graph: Any, *, height: str = "height") -> Tree:
        """From a networkx directed tree with edges from parent to child."""
        return _module("formats.networkx").read(graph, height=height)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Tree:
        """From a file that `save` wrote."""
        return _module("formats.npz").read(path)

    # ---- writing -----------------------------------------------------------------------------------------

    def to_linkage(self) -> Floats:
        """SciPy linkage matrix of a binary tree (heights default to leaf counts)."""
        return _module("_build").to_linkage(self)

    def to_newick(self, *, lengths: bool | None = None, support: bool = False) -> str:
        """Newick text; branch lengths are written where the tree has heights, unless ``lengths=False``."""
        return _module("formats.newick").write(self, lengths=lengths, support=support)

    def to_networkx(self) -> Any:
        """A networkx directed tree with edges from parent to child and node attributes."""
        return _module("formats.networkx").write(self)

    def to_itol(
        self, directory: str | PathLike[str], *, labels: Mapping[str, Sequence[Any]] | None = None
    ) -> list[Any]:
        """Newick and iTOL annotation files (labels, one color strip a column of `labels`) in a directory."""
        return _module("formats.itol").write(self, directory, labels=labels)

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that `load` reads; an existing file stays whole until the new one is complete."""
        _module("formats.npz").write(self, path)

    # ---- cutting (see _cut.py) ---------------------------------------------------------------------------

    def cut(
        self,
        n_clusters: int | None = None,
        *,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> Ints:
        """Flat cluster label of each leaf, by exactly one criterion.

        Parameters
        ----------
        n_clusters : int, optional
            Split from the root down, highest node first (largest where the tree has no heights), until there
            are exactly this many. With inversions (centroid linkage) a node is as high as the highest below
            it. Raises if an n-ary split makes the number impossible.
        height : float, optional
            The largest clusters whose members all join at or below this height.
        max_size : int, optional
            The fewest splits after which no cluster has more leaves.
        min_size : int, optional
            The most splits such that no cluster has fewer leaves.

        Returns
        -------
        labels : ndarray of int64, shape (n_leaves,)
            Numbered by first leaf: leaf 0 is always in cluster 0.
        """
        return _module("_cut").cut(self, n_clusters, height=height, max_size=max_size, min_size=min_size)

    def cut_nodes(self, n_clusters: int | None = None, **criterion: Any) -> Ints:
        """The nodes that stand for the clusters of `cut`, in label order."""
        return _module("_cut").cut_nodes(self, n_clusters, **criterion)

    def flat_clusterings(self, n_clusters: Sequence[int] | None = None) -> Any:
        """Iterate over (n_clusters, labels) along the tree, coarse to fine."""
        return _module("_cut").flat_clusterings(self, n_clusters)

    def levels(self, max_levels: int = 3, *, max_clusters: int | None = None) -> Any:
        """The few cuts that carry most: those before the largest gaps in height."""
        return _module("_cut").levels(self, max_levels, max_clusters=max_clusters)

    def taxonomy(self, n_clusters: Sequence[int]) -> Tree:
        """N-ary tree over the same leaves with exactly these numbers of clusters at its levels."""
        return _module("_cut").taxonomy(self, n_clusters)

    def prune(self, n_clusters: int | None = None, **criterion: Any) -> Tree:
        """The upper part as a tree: the clusters of a cut become its leaves, in label order."""
        return _module("_cut").prune(self, n_clusters, **criterion)

    # ---- other shapes (see _edit.py, _compress.py, _order.py) --------------------------------------------

    def subtree(self, node: int) -> Tree:
        """The tree below a node; its leaves, ascending, become 0, 1, ..."""
        return _module("_edit").subtree(self, node)

    def restrict(self, leaves: ArrayLike) -> Tree:
        """The tree that remains when only these leaves are kept (numbered in the given order)."""
        return _module("_edit").restrict(self, leaves)

    def collapse_unary(self) -> Tree:
        """Without nodes that have a single child."""
        return _module("_edit").collapse_unary(self)

    def binarize(self) -> Tree:
        """Binary: a node with more children becomes a balanced run of binary nodes at the same height."""
        return _module("_edit").binarize(self)

    def compress(self, n_internal: int, similarity: Any = None, objective: str = "dasgupta") -> Tree:
        """With at most `n_internal` internal nodes, contracting those that cost least."""
        return _module("_compress").compress(self, n_internal, similarity, objective)

    def reorder(self, by: Any = "optimal", *, data: Any = None) -> Tree:
        """The same tree, drawn in another order: optimal leaf ordering, by a weight per leaf, or by size."""
        return _module("_order").reorder(self, by, data=data)

    # ---- comparing (see _compare.py) ---------------------------------------------------------------------

    def same_topology(self, other: Tree) -> bool:
        """Whether both trees group the leaves alike, whatever their internal numbering and heights."""
        return _module("_compare").same_topology(self, other)

    def robinson_foulds(self, other: Tree, *, normalize: bool = False) -> float:
        """Number of clades in one tree only (divided by the number of clades with ``normalize=True``)."""
        return _module("_compare").robinson_foulds(self, other, normalize=normalize)

    def triplet_distance(self, other: Tree, *, normalize: bool = True) -> float:
        """Share (or number) of leaf triples that the two trees resolve differently."""
        return _module("_compare").triplet_distance(self, other, normalize=normalize)

    def cophenetic(self, i: ArrayLike | None = None, j: ArrayLike | None = None) -> Floats:
        """Height of the LCA of given pairs, or of all pairs in SciPy's condensed order."""
        return _module("_compare").cophenetic(self, i, j)

    # ---- looking (see arbora.view) -----------------------------------------------------------------------

    def plot(self, kind: str = "dendrogram", **options: Any) -> Any:
        """Draw with matplotlib; see `arbora.view.plot`."""
        return import_module("arbora.view").plot(self, kind, **options)

    def explore(self, **options: Any) -> Any:
        """Open the explorer page; see `arbora.view.explore`."""
        return import_module("arbora.view").explore(self, **options)

    def to_html(self, path: str | PathLike[str], **options: Any) -> Any:
        """Write the explorer as one self-contained page; see `arbora.view.to_html`."""
        return import_module("arbora.view").to_html(self, path, **options)

    # ---- checks ------------------------------------------------------------------------------------------

    def _check_order_of_nodes(self) -> None:
        problem, node = kernels.find_order_problem(self._parent, self._n_leaves)
        if problem == kernels.ORDER_OK:
            return
        what = _ORDER_PROBLEMS[problem].format(
            v=node, p=self._parent[node], last_leaf=self._n_leaves - 1, root=self.root
        )
        raise TreeError(
            f"{what}. Use Tree.from_parents(parent, n_leaves, sort=True) for nodes in another order."
        )

    def _checked_node(self, node: int) -> int:
        if not isinstance(node, (int, np.integer)) or isinstance(node, bool):
            raise TypeError(f"node must be an int. Got {node!r}.")
        if not 0 <= node < self.n_nodes:
            raise ValueError(f"node must lie in [0, n_nodes={self.n_nodes}). Got {node}.")
        return int(node)

    def _checked_nodes(self, nodes: ArrayLike, argument: str) -> Ints:
        nodes = _as_ints(nodes, argument)
        if nodes.size and not (nodes.min() >= 0 and nodes.max() < self.n_nodes):
            raise ValueError(
                f"{argument} must hold nodes in [0, n_nodes={self.n_nodes}). "
                f"Got {nodes.min()}..{nodes.max()}."
            )
        return nodes

    def _per_node_floats(self, values: ArrayLike | None, argument: str) -> Floats | None:
        if values is None:
            return None
        array = np.array(values, dtype=np.float64)
        if array.shape != (self.n_nodes,):
            raise TreeError(
                f"{argument} must have one value a node, shape ({self.n_nodes},). Got {array.shape}."
            )
        if argument == "height" and not np.isfinite(array).all():
            raise TreeError(f"height must be finite. Node {int(np.argmin(np.isfinite(array)))} is not.")
        if argument == "support" and ((array < -_ROUNDING) | (array > 1 + _ROUNDING)).any():
            raise TreeError(
                f"support must lie in [0, 1], NaN where unknown. "
                f"Got {np.nanmin(array):.4g}..{np.nanmax(array):.4g}."
            )
        return _frozen(array)

    def _per_node_names(
        self, names: Sequence[str] | NDArray[np.object_] | None
    ) -> NDArray[np.object_] | None:
        if names is None:
            return None
        if isinstance(names, str) or len(names) not in (self.n_leaves, self.n_nodes):
            raise TreeError(
                f"name must be a sequence of n_leaves={self.n_leaves} or n_nodes={self.n_nodes} names. "
                f"Got {len(names)}."
            )
        array = np.full(self.n_nodes, "", dtype=object)
        array[: len(names)] = [str(name) for name in names]
        return _frozen(array)

    def _checked_order(self, order: ArrayLike) -> Ints:
        order = _as_ints(order, "order")
        if order.shape != (self.n_leaves,) or not np.array_equal(np.sort(order), np.arange(self.n_leaves)):
            raise TreeError(f"order must be a permutation of the {self.n_leaves} leaves.")
        return _frozen(order)


def _module(name: str) -> Any:
    """The tree module that holds a method's body: loaded when first used."""
    return import_module(f"arbora.tree.{name}")


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _same_optional(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _as_ints(values: ArrayLike, argument: str) -> Ints:
    """A fresh int64 array, refusing what would lose something on the way."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    is_whole = array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all()
    if array.dtype.kind not in "iu" and not is_whole:
        raise TypeError(f"{argument} must hold whole numbers. Got dtype {array.dtype}.")
    return np.array(array, dtype=np.int64, order="C")


def _checked_leaf_count(n_leaves: int, n_nodes: int) -> int:
    if not isinstance(n_leaves, (int, np.integer)) or isinstance(n_leaves, bool):
        raise TypeError(f"n_leaves must be an int. Got {n_leaves!r}.")
    if n_leaves < 1 or n_nodes < n_leaves or (n_nodes == n_leaves and n_leaves > 1):
        raise TreeError(
            f"A tree needs at least one leaf, and a root above them when there are more. "
            f"Got n_leaves={n_leaves} and {n_nodes} nodes."
        )
    return int(n_leaves)
