"""A tree that grows point by point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from arbora._base.arrays import row_names, validated
from arbora._base.checkpoint import rng_from_array, rng_to_array
from arbora._base.files import read_archive, write_archive
from arbora._base.lazily import lazily
from arbora._base.params import check_choice, check_n_clusters, check_switch, check_whole
from arbora._base.random import seed_of
from arbora._base.types import Floats, Ints, PathLike, RandomState
from arbora.errors import FormatError, Interrupted
from arbora.search.moves import short_chunks, sweep_until_still
from arbora.search.online_store import FIRST_CAPACITY, Store
from arbora.search.predict import labels_of_features
from arbora.search.run import started
from arbora.similarity import cosine
from arbora.tree import Tree

_FILE_MARKER = "arbora.online-tree"
SIMILARITIES = ("cosine", "dot")
# length up to which sums of products over all points stay finite
_LONGEST = 1e50


class OnlineTree(ClusterMixin, BaseEstimator):
    """Hierarchical clustering of a stream: each point goes to its exactly best place in the tree so far.

    The place is the one that adds least to Dasgupta's cost, found by branch and bound in about log n steps.

    Parameters
    ----------
    n_clusters : int
        Clusters in `labels_` and, unless another number is passed, in `predict`.
    similarity : {"cosine", "dot"}
        (1 + cos) / 2, or the inner product of vectors with no negative entries.
    shuffle : bool
        Insert the points of a batch in random order, which a sorted batch needs. Leaf numbers stay in order.
    random_state : int, RandomState, Generator or None
        Seed of the shuffling.

    Attributes
    ----------
    tree_ : Tree
        Over the points present, numbered in order of arrival, with their names where frames with an index came.
    labels_ : ndarray of int64
        Cluster of each point present.
    n_features_in_ : int
        Length of the vectors.
    feature_names_in_ : ndarray of str
        Their names, where a frame was given.

    Examples
    --------
    >>> import arbora as ab
    >>> model = ab.OnlineTree(random_state=0)
    >>> model.partial_fit([[0.0, 1.0], [0.1, 1.0]]).partial_fit([[1.0, 0.0], [1.0, 0.1]]).tree_.n_leaves
    4
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.remove([0, 3]).tree_.n_leaves
    2
    """

    _store: Store
    _rng: np.random.Generator

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        similarity: Literal["cosine", "dot"] = "cosine",
        shuffle: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.shuffle = shuffle
        self.random_state = random_state

    # ---- growing -----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> OnlineTree:
        """Forget all points and insert these."""
        model = type(self)(**self.get_params(deep=False))
        model._insert_rows(X, None)
        for name in ("_store", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(model.__dict__)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None) -> OnlineTree:
        """Insert a batch of points. On Ctrl-C none of them is inserted, and `Interrupted` is raised.

        Parameters
        ----------
        X : array-like or frame of shape (m, n_features)
        y : ignored
        sample_weight : array-like of float, shape (m,), optional
            A point of weight 3 counts as three in every size.
        """
        self._insert_rows(X, sample_weight)
        return self

    def _insert_rows(self, X: Any, sample_weight: ArrayLike | None) -> None:
        check_choice(self.similarity, "similarity", SIMILARITIES)
        check_switch(self.shuffle, "shuffle")
        check_whole(self.n_clusters, "n_clusters")
        seed = seed_of(self.random_state) if not hasattr(self, "_store") else 0
        names = row_names(X)
        X = validated(self, X, reset=not hasattr(self, "_store"), dtype=[np.float64, np.float32])
        rows = self._features(X)
        weights = _checked_weights(sample_weight, len(rows))
        if not hasattr(self, "_store"):
            largest = 1.0 if self.similarity == "cosine" else np.inf
            self._rng = np.random.default_rng(seed)
            self._store = Store.empty(max(FIRST_CAPACITY, len(rows)), rows.shape[1], largest)
        self._grow(rows, weights, names)

    def _grow(self, rows: Floats, weights: Floats, names: list[str] | None) -> None:
        """Insert all of the rows or, if interrupted, none."""
        store = self._store = self._store.with_room_for(len(rows))
        before = store.n_used, store.next_number
        try:
            leaves = store.reserve(rows, weights, names)
            order = self._rng.permutation(leaves) if self.shuffle else leaves
            with started("insert") as run:
                for chunk in short_chunks(order):
                    store.insert(chunk)
                    if run.is_over:
                        raise KeyboardInterrupt
        except BaseException as problem:
            store.take_back(*before)
            if not isinstance(problem, KeyboardInterrupt):
                raise
            tree = self.tree_ if store.n_points else None
            raise Interrupted("Ctrl-C was pressed. None of the new points is in the tree.", tree) from None
        finally:
            if store.n_points == 0:
                del self._store

    def insert(self, x: ArrayLike, *, weight: float = 1.0) -> int:
        """Insert one point; returns its number, which `remove` takes."""
        self.partial_fit(np.atleast_2d(np.asarray(x)), sample_weight=[weight])
        return self._store.next_number - 1

    def remove(self, points: int | str | Sequence[int] | Sequence[str]) -> OnlineTree:
        """Take out the point with this number (its place in order of arrival) or name, or several of them."""
        check_is_fitted(self, "_store")
        leaves = self._leaves_of(points)
        if len(leaves) >= self._store.n_points:
            raise ValueError("points must leave one in the tree. The last point cannot be removed.")
        for leaf in leaves:
            self._store.remove(leaf)
        return self

    def _leaves_of(self, points: Any) -> list[int]:
        several = points if isinstance(points, (list, tuple, np.ndarray, range)) else [points]
        leaves = []
        for point in several:
            number = self._number_of(point) if isinstance(point, str) else point
            leaf = self._store.leaf_of(check_whole(number, "points", least=None))
            if leaf is None:
                raise ValueError(
                    f"points must be present, with numbers below {self._store.next_number}. Got {point!r}."
                )
            leaves.append(leaf)
        if len(set(leaves)) < len(leaves):
            raise ValueError(f"points must not repeat. Got {points!r}.")
        return leaves

    def _number_of(self, name: str) -> int:
        numbers = [n for n in self._store.numbers().tolist() if self._store.names.get(n) == name]
        if len(numbers) != 1:
            problem = "No point has this name" if not numbers else f"{len(numbers)} points have this name"
            raise ValueError(f"points must be numbers or names of points. {problem}: {name!r}.")
        return int(numbers[0])

    def refine(
        self, *, max_sweeps: int = 10, max_seconds: float | None = None, verbose: bool = False
    ) -> OnlineTree:
        """Move the subtrees touched since the last refinement to better places.

        On Ctrl-C `Interrupted` is raised; moves made until then stay.
        """
        check_is_fitted(self, "_store")
        check_whole(max_sweeps, "max_sweeps")
        store = self._store
        with started("refine", max_seconds=max_seconds, verbose=verbose) as run:
            for _ in range(max_sweeps):
                touched = np.flatnonzero(store.work.dirty)
                if len(touched) == 0 or run.is_over:
                    break
                sweep_until_still(store.regraft, store.work.dirty, touched, 1, run)
        if run.watch.is_interrupted:
            raise Interrupted("Ctrl-C was pressed. Moves made until then stay.", self.tree_)
        return self

    # ---- reading -----------------------------------------------------------------------------------------

    @property
    def tree_(self) -> Tree:
        """The tree over the points present."""
        check_is_fitted(self, "_store")
        return self._store.named_tree()

    @property
    def labels_(self) -> Ints:
        """Cluster of each point present."""
        tree = self.tree_
        return tree.cut(n_clusters=min(check_whole(self.n_clusters, "n_clusters"), tree.n_leaves))

    @lazily
    def predict(self, X: Any, n_clusters: int | None = None) -> Ints:
        """Cluster of new points, which are not inserted; `n_clusters` is by default that of the model."""
        check_is_fitted(self, "_store")
        X = validated(self, X, reset=False, dtype=[np.float64, np.float32])
        tree = self.tree_
        if n_clusters is None:
            wanted = min(check_whole(self.n_clusters, "n_clusters"), tree.n_leaves)
        else:
            wanted = check_n_clusters(n_clusters, tree.n_leaves)
        old = self._store.sums[np.flatnonzero(self._store.present)]
        return labels_of_features(tree, old, self._features(X), wanted)

    def _features(self, X: Any) -> Floats:
        if self.similarity == "cosine":
            return np.asarray(cosine(X.astype(np.float64)).features, dtype=np.float64)
        if X.min() < 0:
            raise ValueError('similarity="dot" needs vectors without negative entries. Use "cosine".')
        rows: Floats = X.astype(np.float64)
        longest = float(np.abs(rows).max(initial=0.0))
        if longest * rows.shape[1] > _LONGEST:
            raise ValueError(
                f"X is too large: sums of squares over all points must stay finite. Got a value of {longest:g}. "
                "Divide X by a constant."
            )
        return rows

    # ---- files -------------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the whole state; a loaded model continues as this one does."""
        check_is_fitted(self, "_store")
        # from here on both are computed from the same numbers, so that they agree to the last digit
        self._store = self._store.compact()
        arrays = self._store.to_arrays() | {
            "n_features_in": np.array(self.n_features_in_),
            "similarity": np.array(self.similarity),
            "n_clusters": np.array(self.n_clusters),
            "shuffle": np.array(self.shuffle),
            "rng": rng_to_array(self._rng),
        }
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names_in"] = np.array(self.feature_names_in_, dtype=str)
        write_archive(path, _FILE_MARKER, arrays)

    @classmethod
    def load(cls, path: PathLike) -> OnlineTree:
        """Read what `save` wrote; `FormatError` for any other file."""
        file = read_archive(path, _FILE_MARKER)
        try:
            model = cls(
                int(file["n_clusters"]),
                similarity=check_choice(str(file["similarity"]), "similarity", SIMILARITIES),
                shuffle=bool(file["shuffle"]),
            )
            model._restore(file)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise FormatError(f"{Path(path)} is damaged: {error}") from error
        return model

    def _restore(self, file: dict[str, Any]) -> None:
        self._store = Store.from_arrays(file)
        self.n_features_in_ = int(file["n_features_in"])
        if "feature_names_in" in file:
            self.feature_names_in_ = file["feature_names_in"].astype(object)
        self._rng = np.random.default_rng(0)
        rng_from_array(self._rng, file["rng"])
        if self._store.sums.shape[1] != self.n_features_in_ + (self.similarity == "cosine"):
            raise FormatError("its arrays do not fit together")


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError(f"sample_weight must hold {n_rows} positive numbers. Got shape {weights.shape}.")
    return weights
