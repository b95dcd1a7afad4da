"""The arrays of a tree, checked once and read-only, and what is derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import is_missing
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.errors import TreeError
from arbora.tree import pass_kernels as kernels

Names = NDArray[np.object_]
_Array = TypeVar("_Array", bound=NDArray[Any])

# How far a probability computed in floating point may leave [0, 1].
_ROUNDING = 1e-6
_ORDER_PROBLEMS = {
    kernels.PARENT_OUT_OF_RANGE: "parent[{v}] = {p} is not a node (the root, last, has parent -1)",
    kernels.PARENT_IS_LEAF: "Node {v} has parent {p}, which is a leaf (leaves are 0..{last_leaf})",
    kernels.PARENT_TOO_EARLY: "Children must come before their parent. Node {v} has parent {p}",
    kernels.SECOND_ROOT: "Node {v} has parent -1, but only the last node ({root}) is the root",
    kernels.CHILDLESS: "Internal node {v} has no children",
}


class TreeArrays:
    """What `Tree` stores and derives; `Tree` adds what can be done with it."""

    def __init__(
        self,
        parent: ArrayLike,
        n_leaves: int,
        *,
        height: ArrayLike | None = None,
        support: ArrayLike | None = None,
        name: Sequence[Any] | Names | None = None,
        order: ArrayLike | None = None,
    ) -> None:
        self._parent = frozen(as_ints(parent, "parent"))
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
    def name(self) -> Names | None:
        """Name of each node ('' where it has none), or None."""
        return self._name

    @property
    def order(self) -> Ints | None:
        """The requested drawing order of the leaves, or None; `leaf_order` is the resulting one."""
        return self._order

    @property
    def leaf_names(self) -> list[str]:
        """Name of each leaf, or its number where it has none: names for ``scipy.cluster.hierarchy.dendrogram``."""
        if self._name is None:
            return [str(leaf) for leaf in range(self._n_leaves)]
        return [name or str(leaf) for leaf, name in enumerate(self._name[: self._n_leaves].tolist())]

    def label(self, node: int) -> str:
        """Name of a node, or its number where it has none."""
        given = self._name[node] if self._name is not None else ""
        return given or str(node)

    # ---- derived once, then cached -----------------------------------------------------------------------

    @cached_property
    def sizes(self) -> Ints:
        """Number of leaves below each node (1 for a leaf)."""
        return frozen(kernels.count_leaves(self._parent, self._n_leaves))

    @cached_property
    def depths(self) -> Ints:
        """Number of edges between each node and the root."""
        return frozen(kernels.count_depths(self._parent))

    @cached_property
    def child_lists(self) -> tuple[Ints, Ints]:
        """`child_offsets` and `child_index`, as kernels take them."""
        order = np.arange(self._n_leaves) if self._order is None else self._order
        offsets, index = kernels.list_children(self._parent, self._n_leaves, order)
        return frozen(offsets), frozen(index)

    @property
    def child_offsets(self) -> Ints:
        """Where the children of each internal node begin in `child_index`, int64[n_internal + 1].

        Those of v are ``child_index[child_offsets[k] : child_offsets[k + 1]]`` with ``k = v - n_leaves``.
        """
        return self.child_lists[0]

    @property
    def child_index(self) -> Ints:
        """Children of all internal nodes, one after the other (see `child_offsets`)."""
        return self.child_lists[1]

    @cached_property
    def n_children(self) -> Ints:
        """Number of children of each internal node: int64[n_internal]."""
        # not from `child_lists`: sorting siblings takes ten times as long, and many ask for no more than this
        return frozen(np.bincount(self._parent[:-1] - self._n_leaves, minlength=self.n_internal))

    @cached_property
    def leaf_start(self) -> Ints:
        """Position in `leaf_order` of the first leaf below each node."""
        if self._order is None:
            # lists of children, which sort siblings, take ten times as long
            first = kernels.first_leaves(self._parent, self._n_leaves, self.sizes)
            if len(first):
                return frozen(first)
        return frozen(kernels.place_leaves(self._n_leaves, self.sizes, *self.child_lists))

    @cached_property
    def leaf_order(self) -> Ints:
        """Leaves in depth-first order: those below any node are one slice."""
        order = np.empty(self._n_leaves, dtype=np.int64)
        order[self.leaf_start[: self._n_leaves]] = np.arange(self._n_leaves)
        return frozen(order)

    @cached_property
    def neighbor_lca(self) -> NDArray[np.int32]:
        """LCA of the leaves at positions k and k+1 of `leaf_order`.

        The LCA of positions a < b is ``neighbor_lca[a:b].max()``, because parents have larger numbers.
        """
        return frozen(kernels.join_neighbors(self._parent, self._n_leaves, self.leaf_start))

    @cached_property
    def range_maxima(self) -> NDArray[np.int32]:
        """Index over `neighbor_lca` that `lca` answers from."""
        maxima: NDArray[np.int32] = kernels.index_range_maxima(self.neighbor_lca)
        return maxima

    @cached_property
    def is_binary(self) -> bool:
        """Whether every internal node has exactly two children."""
        return self.n_nodes == 2 * self.n_leaves - 1 and bool((self.n_children == 2).all())

    # ---- moving around ----------------------------------------------------------------------------------

    def children(self, node: int) -> Ints:
        """Children of a node in drawing order (empty for a leaf)."""
        slot = self.checked_node(node) - self._n_leaves
        if slot < 0:
            return np.empty(0, dtype=np.int64)
        return self.child_index[self.child_offsets[slot] : self.child_offsets[slot + 1]]

    def leaves(self, node: int) -> Ints:
        """Leaves below a node, a view of `leaf_order`."""
        node = self.checked_node(node)
        first = self.leaf_start[node]
        return self.leaf_order[first : first + self.sizes[node]]

    def ancestors(self, node: int) -> Ints:
        """Nodes above a node, from its parent to the root."""
        path = []
        above = self._parent[self.checked_node(node)]
        while above >= 0:
            path.append(above)
            above = self._parent[above]
        return np.array(path, dtype=np.int64)

    @overload
    def lca(self, i: int, j: int) -> int: ...

    @overload
    def lca(self, i: Sequence[Any] | NDArray[Any], j: ArrayLike) -> Ints: ...

    @overload
    def lca(self, i: ArrayLike, j: Sequence[Any] | NDArray[Any]) -> Ints: ...

    def lca(self, i: ArrayLike, j: ArrayLike) -> int | Ints:
        """Lowest common ancestor of nodes i and j, many pairs at once (arrays broadcast).

        Returns an int for two ints, otherwise an array.
        """
        left, right = np.broadcast_arrays(self.checked_nodes(i, "i"), self.checked_nodes(j, "j"))
        # flatten copies: NumPy warns when a broadcast view is handed on
        found: Ints = kernels.find_lca(
            self.leaf_start, self.sizes, self.neighbor_lca, self.range_maxima, left.flatten(), right.flatten()
        )
        return int(found[0]) if left.ndim == 0 else found.reshape(left.shape)

    def identity(self) -> tuple[Any, ...]:
        """Everything that defines the tree, for `identity_of`."""
        return self.parent, self.n_leaves, self.height, self.support, self.name, self.leaf_order

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The tree itself: it never changes, so there is nothing a copy could protect."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in _STORED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the stored arrays, read-only again; what is derived from them is derived when needed."""
        for array in state.values():
            if isinstance(array, np.ndarray):
                frozen(array)
        self.__dict__.update(state)

    def __len__(self) -> int:
        return self.n_nodes

    def __eq__(self, other: object) -> bool:
        """Same arrays: topology, numbering, heights, supports, names. See `same_topology` for shape alone."""
        if not isinstance(other, TreeArrays):
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

    def checked_node(self, node: int) -> int:
        """A node of this tree, or an error that says what was passed."""
        check_whole(node, "node", least=None)
        if not 0 <= node < self.n_nodes:
            raise ValueError(f"node must lie in [0, n_nodes={self.n_nodes}). Got {node}.")
        return int(node)

    def checked_nodes(self, nodes: ArrayLike, argument: str) -> Ints:
        """Nodes of this tree, or an error that names the argument."""
        nodes = as_ints(nodes, argument)
        if nodes.size and not (nodes.min() >= 0 and nodes.max() < self.n_nodes):
            raise ValueError(
                f"{argument} must hold nodes in [0, n_nodes={self.n_nodes}). "
                f"Got {nodes.min()}..{nodes.max()}."
            )
        return nodes

    def _per_node_floats(self, values: ArrayLike | None, argument: str) -> Floats | None:
        if values is None:
            return None
        try:
            array = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TreeError(f"{argument} must hold numbers: {error}.") from error
        if array.shape != (self.n_nodes,):
            raise TreeError(
                f"{argument} must have one value per node, shape ({self.n_nodes},). Got {array.shape}."
            )
        if argument == "height" and not np.isfinite(array).all():
            raise TreeError(f"height must be finite. Node {int(np.argmin(np.isfinite(array)))} is not.")
        if argument == "support" and ((array < -_ROUNDING) | (array > 1 + _ROUNDING)).any():
            raise TreeError(
                f"support must lie in [0, 1], NaN where unknown. "
                f"Got {np.nanmin(array):.4g}..{np.nanmax(array):.4g}."
            )
        return frozen(array)

    def _per_node_names(self, names: Sequence[Any] | Names | None) -> Names | None:
        if names is None:
            return None
        if isinstance(names, str) or not hasattr(names, "__len__"):
            raise TypeError(f"name must be a sequence of names. Got {names!r:.60}.")
        if len(names) not in (self.n_leaves, self.n_nodes):
            raise TreeError(
                f"name must be a sequence of n_leaves={self.n_leaves} or n_nodes={self.n_nodes} names. "
                f"Got {len(names)}."
            )
        array = np.full(self.n_nodes, "", dtype=object)
        # most names are text already, and there may be millions
        array[: len(names)] = [
            name if type(name) is str else "" if is_missing(name) else str(name) for name in names
        ]
        return frozen(array)

    def _checked_order(self, order: ArrayLike) -> Ints:
        order = as_ints(order, "order")
        if order.shape != (self.n_leaves,) or not np.array_equal(np.sort(order), np.arange(self.n_leaves)):
            raise TreeError(f"order must be a permutation of the {self.n_leaves} leaves.")
        return frozen(order)


_STORED = ("_parent", "_n_leaves", "_height", "_support", "_name", "_order")


def frozen(array: _Array) -> _Array:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array


def _same_optional(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def as_ints(values: ArrayLike, argument: str) -> Ints:
    """A new int64 array; values that would not survive the conversion are refused."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    is_whole = array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all()
    if array.dtype.kind not in "iu" and not is_whole:
        raise TypeError(f"{argument} must hold whole numbers. Got dtype {array.dtype}.")
    if array.dtype.kind in "uf" and (array.max() >= 2**63 or array.min() < -(2**63)):
        raise ValueError(f"{argument} must hold whole numbers of at most 64 bits. Got {array.max()}.")
    return np.array(array, dtype=np.int64, order="C")


def _checked_leaf_count(n_leaves: int, n_nodes: int) -> int:
    check_whole(n_leaves, "n_leaves", least=None)
    if n_leaves < 1 or n_nodes < n_leaves or (n_nodes == n_leaves and n_leaves > 1):
        raise TreeError(
            f"A tree needs at least one leaf, and a root above them when there are more. "
            f"Got n_leaves={n_leaves} and {n_nodes} nodes."
        )
    return int(n_leaves)
