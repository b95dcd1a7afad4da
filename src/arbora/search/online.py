"""A tree that grows point by point."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora._base.files import read_archive, write_archive
from arbora.errors import FormatError
from arbora.search import _feature_kernels as kernels
from arbora.search._gather_kernels import Work, make_work
from arbora.search._state import LINKS, NO_NODE, State, empty_nodes
from arbora.search.moves import sweep_until_still
from arbora.search.predict import labels_of_features
from arbora.search.run import started
from arbora.similarity.features import _cosine_features
from arbora.tree import Tree

_FIRST_CAPACITY = 1024
_FILE_MARKER = "arbora.online-tree"
SIMILARITIES = ("cosine", "dot")


class OnlineTree(ClusterMixin, BaseEstimator):
    """Hierarchical clustering of a stream: each point goes to its exactly best place in the tree so far.

    The place is the one that adds least to Dasgupta's cost, found by branch and bound in about log n looks.

    Parameters
    ----------
    similarity : {"cosine", "dot"}
        (1 + cos) / 2, or the inner product of vectors without negative entries.
    n_clusters : int
        Clusters of `labels_` and `predict`.
    shuffle : bool
        Insert the points of a batch in random order, which a sorted batch needs. Leaf numbers stay in order.
    random_state : int, RandomState or None
        Seed of the shuffling.

    Attributes
    ----------
    tree_ : Tree
        Over the points present, numbered in order of arrival.
    labels_ : ndarray of int64
        Cluster of each point present.
    n_features_in_ : int
        Length of the vectors.

    Examples
    --------
    >>> import arbora as ab
    >>> model = ab.OnlineTree(random_state=0)
    >>> model.partial_fit([[0.0, 1.0], [0.1, 1.0]]).partial_fit([[1.0, 0.0], [1.0, 0.1]]).tree_.n_leaves
    4
    >>> model.labels_
    array([0, 0, 1, 1])
    """

    _state: State
    _work: Work
    _stack: kernels.Stack
    _sums: np.ndarray
    _gap: np.ndarray
    _present: np.ndarray
    _capacity: int
    _largest: float = 0.0  # similarity of two points
    _least_size: float = np.inf  # of a point
    _is_even: bool = True  # whether all points have size 1
    _n_arrived: int
    _root: int

    def __init__(
        self,
        similarity: str = "cosine",
        *,
        n_clusters: int = 2,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.n_clusters = n_clusters
        self.shuffle = shuffle
        self.random_state = random_state

    # ---- growing -----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> OnlineTree:
        """Start anew with these points."""
        self._forget()
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None) -> OnlineTree:
        """Insert a batch of points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        y : ignored
        sample_weight : array-like of float, shape (m,), optional
            A point of weight 3 counts as three in every size.
        """
        is_first = not hasattr(self, "_state")
        X = validate_data(self, X, reset=is_first, dtype=[np.float64, np.float32])
        rows = self._features(X)
        weights = _checked_weights(sample_weight, len(rows))
        if is_first:
            self._random = check_random_state(self.random_state)
            self._allocate(max(_FIRST_CAPACITY, len(rows)), rows.shape[1])
        elif self._n_arrived + len(rows) > self._capacity:
            self._grow(max(2 * self._capacity, self._n_arrived + len(rows)))
        leaves = np.arange(self._n_arrived, self._n_arrived + len(rows))
        self._sums[leaves], self._state.nodes["size"][leaves] = rows, weights
        self._present[leaves] = True
        self._widen_bounds(leaves)
        self._n_arrived += len(rows)
        order = self._random.permutation(leaves) if self.shuffle else leaves
        self._root = int(
            kernels.insert_rows(
                self._state, self._features_view(), self._work, self._stack, self._root, order
            )
        )
        self._changed()
        return self

    def insert(self, x: ArrayLike, *, weight: float = 1.0) -> int:
        """Insert one point; returns its number, which `remove` takes."""
        self.partial_fit(np.atleast_2d(np.asarray(x)), sample_weight=[weight])
        return self._n_arrived - 1

    def remove(self, point: int) -> OnlineTree:
        """Take out the point with this number (its place in order of arrival)."""
        check_is_fitted(self, "_state")
        if not (0 <= point < self._n_arrived and self._present[point]):
            raise ValueError(f"point must be one that is present, below {self._n_arrived}. Got {point!r}.")
        if self._present.sum() == 1:
            raise ValueError("The last point cannot be removed: a tree has at least one leaf.")
        nodes = self._state.nodes
        if self._root == nodes["parent"][point] and nodes["n_children"][self._root] == 2:
            self._root = int(max(nodes["after"][point], nodes["before"][point]))
        kernels.remove_leaf(self._state, self._features_view(), self._work, point)
        self._present[point] = False
        self._changed()
        return self

    def refine(
        self, *, max_sweeps: int = 10, max_seconds: float | None = None, verbose: bool = False
    ) -> OnlineTree:
        """Move the subtrees touched since the last refinement to better places."""
        check_is_fitted(self, "_state")
        with started("refine", max_seconds=max_seconds, verbose=verbose) as run:

            def regraft(subtrees: np.ndarray) -> int:
                return kernels.regraft(
                    self._state, self._features_view(), self._work, self._stack, subtrees, np.inf
                )[0]

            for _ in range(max_sweeps):
                touched = np.flatnonzero(self._work.dirty)
                if len(touched) == 0 or run.is_over:
                    break
                sweep_until_still(regraft, self._work.dirty, touched, 1, run)
        self._root = int(kernels.find_root(self._state, int(np.argmax(self._present))))
        self._changed()
        return self

    # ---- reading -----------------------------------------------------------------------------------------

    @property
    def tree_(self) -> Tree:
        """The tree over the points present."""
        check_is_fitted(self, "_state")
        if not self._built:
            self._built.append(self._build_tree())
        return self._built[0]

    @property
    def labels_(self) -> np.ndarray:
        """Cluster of each point present."""
        return self.tree_.cut(n_clusters=min(self._checked_n_clusters(), self.tree_.n_leaves))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new points, which are not inserted."""
        check_is_fitted(self, "_state")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        old = np.flatnonzero(self._present[: self._n_arrived])
        n_clusters = min(self._checked_n_clusters(), len(old))
        return labels_of_features(self.tree_, self._sums[old], self._features(X), n_clusters)

    def _checked_n_clusters(self) -> int:
        if (
            isinstance(self.n_clusters, bool)
            or not isinstance(self.n_clusters, (int, np.integer))
            or self.n_clusters < 1
        ):
            raise ValueError(f"n_clusters must be a whole number, 1 or more. Got {self.n_clusters!r}.")
        return int(self.n_clusters)

    def _build_tree(self) -> Tree:
        used = np.ones(len(self._state.nodes), dtype=bool)
        used[: self._capacity] = self._present
        used[self._state.free[: self._state.numbers[0]]] = False
        number = np.cumsum(used) - 1
        above = self._state.nodes["parent"][used]
        n_leaves = int(self._present.sum())
        return Tree.from_parents(np.where(above >= 0, number[above], -1), n_leaves, sort=True)

    # ---- keeping -----------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole state, so that `load` can go on with it."""
        check_is_fitted(self, "_state")
        arrays = {f"state_{key}": value for key, value in self._state._asdict().items()}
        arrays |= {"sums": self._sums, "gap": self._gap, "present": self._present, "dirty": self._work.dirty}
        arrays |= {"numbers": np.array([self._n_arrived, self._root, self._capacity, self.n_features_in_])}
        arrays |= {"similarity": np.array(self.similarity), "n_clusters": np.array(self.n_clusters)}
        _, keys, *position = self._random.get_state()
        arrays |= {"random_keys": keys, "random_position": np.array(position, dtype=np.float64)}
        write_archive(path, _FILE_MARKER, arrays | {"shuffle": np.array(self.shuffle)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> OnlineTree:
        """Read what `save` wrote; `FormatError` for any other file."""
        file = read_archive(path, _FILE_MARKER)
        try:
            model = cls(
                str(file["similarity"]), n_clusters=int(file["n_clusters"]), shuffle=bool(file["shuffle"])
            )
            model._restore(file)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise FormatError(f"{Path(path)} is damaged: {error}") from error
        return model

    def _restore(self, file: Any) -> None:
        numbers = [int(number) for number in file["numbers"]]
        self._n_arrived, self._root, self._capacity, self.n_features_in_ = numbers
        self._state = State(**{key: file[f"state_{key}"] for key in State._fields})
        self._sums, self._gap, self._present = file["sums"], file["gap"], file["present"]
        self._make_scratch()
        self._work.dirty[:] = file["dirty"]
        self._widen_bounds(np.arange(self._n_arrived))
        self._random = np.random.RandomState()
        position = file["random_position"]
        self._random.set_state(
            ("MT19937", file["random_keys"], int(position[0]), int(position[1]), position[2])
        )
        self._changed()

    # ---- arrays ------------------------------------------------------------------------------------------

    def _features(self, X: np.ndarray) -> np.ndarray:
        if self.similarity not in SIMILARITIES:
            raise ValueError(f"similarity must be one of {SIMILARITIES}. Got {self.similarity!r}.")
        if self.similarity == "cosine":
            return _cosine_features(X, True, np.float64)
        if X.min() < 0:
            raise ValueError('similarity="dot" needs vectors without negative entries. Use "cosine".')
        return X.astype(np.float64)

    def _features_view(self) -> kernels.Features:
        steepness = kernels.steepness_of(self._largest, self._least_size)
        # gaps are kept for one largest similarity, which only that of cosines stays
        largest = 1.0 if self.similarity == "cosine" and self._is_even else np.inf
        return kernels.Features(self._sums, self._gap, largest, steepness)

    def _widen_bounds(self, leaves: np.ndarray) -> None:
        """Keep the bound of the search true for these leaves too."""
        self._largest = max(self._largest, kernels.largest_similarity(self._sums[leaves]))
        sizes = self._state.nodes["size"][leaves]
        self._least_size = min(self._least_size, float(sizes.min()))
        if self._is_even and (sizes != 1).any():
            self._is_even = False
            self._gap[self._capacity :] = np.inf

    def _forget(self) -> None:
        for name in (
            "_state",
            "_sums",
            "_present",
            "_work",
            "_stack",
            "_built",
            "_gap",
            "_largest",
            "_least_size",
            "_is_even",
        ):
            self.__dict__.pop(name, None)

    def _changed(self) -> None:
        self._built: list[Tree] = []  # the tree, once somebody has asked for it

    def _allocate(self, capacity: int, n_features: int) -> None:
        n_nodes = 2 * capacity  # leaves first, then as many internal nodes as they can need
        free = np.arange(n_nodes - 1, capacity - 1, -1)
        numbers = np.array([len(free), capacity, len(free)])
        self._state = State(empty_nodes(n_nodes), np.zeros((capacity, 2)), free, numbers)
        self._sums, self._gap = np.zeros((n_nodes, n_features)), np.zeros(n_nodes)
        self._present = np.zeros(capacity, dtype=bool)
        self._capacity, self._n_arrived, self._root = capacity, 0, NO_NODE
        self._make_scratch()

    def _make_scratch(self) -> None:
        n_nodes = len(self._state.nodes)
        self._work, self._stack = make_work(n_nodes, n_nodes), kernels.make_stack(n_nodes)
        self._work.dirty[:] = False

    def _grow(self, capacity: int) -> None:
        """Room for more leaves: internal nodes, which follow the leaves, move up."""
        old_state, old_sums, old_gap = self._state, self._sums, self._gap
        old_present, old_dirty = self._present, self._work.dirty
        old_capacity, n_arrived, root = self._capacity, self._n_arrived, self._root
        self._allocate(capacity, old_sums.shape[1])
        shift = capacity - old_capacity

        def moved(nodes: Any) -> Any:
            return np.where(nodes >= old_capacity, nodes + shift, nodes)

        place = moved(np.arange(len(old_state.nodes)))
        nodes = old_state.nodes.copy()
        for link in LINKS:
            nodes[link] = moved(nodes[link])
        self._state.nodes[place] = nodes
        self._sums[place], self._gap[place] = old_sums, old_gap
        self._work.dirty[place] = old_dirty
        self._present[:old_capacity] = old_present
        n_old_free = int(old_state.numbers[0])
        added = np.arange(2 * capacity - 1, capacity + old_capacity - 1, -1)
        free = np.concatenate([added, moved(old_state.free[:n_old_free])])
        self._state.free[: len(free)] = free
        self._state.numbers[:] = [len(free), capacity, len(free)]
        self._n_arrived, self._root = n_arrived, int(moved(root))


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError(f"sample_weight must hold {n_rows} positive numbers. Got shape {weights.shape}.")
    return weights
