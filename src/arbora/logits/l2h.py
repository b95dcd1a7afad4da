"""L2H: a hierarchy of classes from the logits of a flat model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora.logits import _affinity, _bootstrap, _stream_kernels
from arbora.logits._merge import AGGREGATIONS, Merges, merge_classes
from arbora.logits._rows import Rows, count_threads
from arbora.logits._stream import StreamedRows, open_rows
from arbora.logits.evaluate import evaluate_tree
from arbora.logits.progress import Reporter
from arbora.logits.sources import is_batches, kernel_array, open_batches, sliced
from arbora.tree import Tree

_ROWS_PER_BLOCK = 1 << 15
_BOOTSTRAPS, _MOST_NUMBERS_FOR_BOOTSTRAP = 20, 20_000_000


class EstimateWarning(UserWarning):
    """Some groups were judged by the largest probabilities of their points alone."""


class L2H(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Logits to hierarchies: a tree over the classes of any flat model, from its logits alone.

    Algorithm 1 of the paper. At every step the group of classes whose points are predicted least surely merges
    with the group to which these points would go if their own did not exist.

    Parameters
    ----------
    n_clusters : int, optional
        Level of `labels_` and default level of `predict`. None: the classes themselves.
    aggregation : {"sum_of_means", "sum", "mean_of_means"} or callable, default="sum_of_means"
        How the probabilities of a group's points become its score (table 7 of the paper). A function gets a list
        with one array of probabilities per class of the group that has points, and returns a number.
    merging : {"lowest", "all_pairs"}, default="lowest"
        Algorithm 1, or the variant of appendix C that considers all pairs of groups at every step.
    from_probabilities : bool, default=False
        The input holds probabilities (zeros allowed, rows need not sum to 1), not logits.
    temperature : float, default=1.0
        Logits are divided by it; see `arbora.logits.fit_temperature`.
    class_names : sequence of str, optional
        Names of the classes; by default the column names of the input, if it has any.
    refine : bool, default=False
        Improve the tree of Algorithm 1: subtrees move until Dasgupta's cost is lowest on a graph of the classes
        weighted by the exponential of their mean logits for each other's points. Costs one more look at every point
        and K² numbers.
    n_bootstraps : int or "auto", default="auto"
        Replicates for the support of every split; 0 for none. "auto" makes 20 for up to 20 million logits and
        none for more, where they would take longer than the tree. Points are drawn again within their class, and
        Algorithm 1 is repeated. There are none where `aggregation` is a function: it knows no weights.
    max_memory : int, default=2**32
        Files and batches larger than this many bytes are streamed, in at most two passes, instead of being
        looked at where they lie. C-ordered arrays in memory are never copied.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
        Seeds the bootstrap, nothing else.
    verbose : bool, default=False
        Show progress on stderr.

    Attributes
    ----------
    tree_ : Tree
        Over the classes. Nodes are numbered by merging step; height is log(1 + merge score); `support` is the share
        of bootstrap replicates that form the same group.
    labels_ : ndarray of int64, shape (n_points,)
        Cluster of each training point at `n_clusters`.
    assignments_, confidences_ : ndarray, shape (n_points,)
        Class of each training point, and the probability the model gives it.
    merge_scores_, merge_shares_ : ndarray, shape (n_classes - 1,)
        Per step, the score of the group that merged, and which part of its reassigned probability went to its partner
        (NaN where it had no points).
    class_counts_ : ndarray of int64, shape (n_classes,)
        Points assigned to each class.
    exact_ : bool
        False if a streamed input had to be judged partly by what was kept of it (a warning says so).
    n_classes_, n_features_in_ : int

    Notes
    -----
    A class to which no point is assigned has no score. It joins first, the class whose points give it the highest
    probability on average; if no point gives it any, it joins last, at the root. Of equal scores the group that exists
    longest is chosen, of equal relatedness likewise.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> logits = np.array([[5, 3, 0, 0], [3, 4, 0, 0], [0, 0, 3, 2.5], [0, 1, 3, 4.0]])
    >>> l2h = ab.L2H(class_names=["cat", "dog", "car", "bus"]).fit(logits)
    >>> l2h.tree_.to_newick(lengths=False)
    '((cat,dog),(car,bus));'
    >>> l2h.predict([[1, 2, 0, 0]], n_clusters=2)
    array([0])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        aggregation: str | Callable[[Sequence[NDArray[np.float64]]], float] = "sum_of_means",
        merging: str = "lowest",
        from_probabilities: bool = False,
        temperature: float = 1.0,
        class_names: Sequence[str] | None = None,
        refine: bool = False,
        n_bootstraps: int | str = "auto",
        max_memory: int = 2**32,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.aggregation = aggregation
        self.merging = merging
        self.from_probabilities = from_probabilities
        self.temperature = temperature
        self.class_names = class_names
        self.refine = refine
        self.n_bootstraps = n_bootstraps
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> L2H:
        """Build the tree.

        Parameters
        ----------
        X : array-like, path, store or batches, shape (n_points, n_classes)
            Logits: an array (float16, bfloat16, float32, float64; also a torch tensor or a memory map), the path of a
            .npy, HDF5, Parquet or zarr store (or a directory of such files), an opened zarr or HDF5 array, an
            iterable of batches, or a function that returns one.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        report = Reporter(self, self.verbose)
        rows = self._open(X, reset=True)
        rows.sums_by_class = self.refine
        assignment = rows.scan(report)
        merges = self._merge(assignment, rows, report)
        if isinstance(rows, StreamedRows) and not rows.exact and rows.source.repeatable:
            rows.reexamine(assignment, merges, report, every_group=self.merging == "all_pairs")
            merges = self._merge(assignment, rows, report)
        self.exact_ = rows.exact
        self._warn_if_estimated(rows)
        self._bootstrap(assignment, rows, report)
        self._store(assignment, merges, self._tree(assignment, rows, merges))
        report.finish()
        return self

    def _check_parameters(self) -> None:
        if not callable(self.aggregation) and self.aggregation not in AGGREGATIONS:
            raise ValueError(
                f"aggregation must be one of {AGGREGATIONS} or a function. Got {self.aggregation!r}."
            )
        if self.merging not in ("lowest", "all_pairs"):
            raise ValueError(f"merging must be 'lowest' or 'all_pairs'. Got {self.merging!r}.")
        if not isinstance(self.temperature, Real) or not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature must be a positive number. Got {self.temperature!r}.")
        if self.from_probabilities and self.temperature != 1.0:
            raise ValueError("temperature divides logits. It cannot be used with from_probabilities=True.")
        if self.n_bootstraps != "auto" and (
            not isinstance(self.n_bootstraps, Integral) or self.n_bootstraps < 0
        ):
            raise ValueError(
                f"n_bootstraps must be 'auto' or a whole number, 0 or more. Got {self.n_bootstraps!r}."
            )
        if not isinstance(self.max_memory, Integral) or self.max_memory < 1:
            raise ValueError(f"max_memory must be a positive number of bytes. Got {self.max_memory!r}.")

    def _open(self, X: Any, *, reset: bool) -> Rows | StreamedRows:
        settings: dict[str, Any] = {
            "from_probabilities": self.from_probabilities,
            "temperature": float(self.temperature),
            "n_threads": count_threads(self.n_jobs),
        }
        names = None
        large_map = isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > self.max_memory
        if is_batches(X) or large_map:
            source = sliced([X]) if large_map else open_batches(X)
            names = getattr(source, "names", None)
            rows = open_rows(source, max_memory=int(self.max_memory), **settings)
        else:
            rows = Rows(*self._checked_array(X, reset), **settings)
        if reset:
            self._names_of_input = names or getattr(self, "feature_names_in_", None)
        return rows

    def _checked_array(self, X: Any, reset: bool) -> tuple[NDArray[Any], int]:
        if type(X).__module__.split(".")[0] == "torch" or (
            getattr(X, "dtype", None) is not None and (str(X.dtype) == "bfloat16")
        ):
            X, code = kernel_array(X)
            validate_data(self, np.broadcast_to(np.float32(0), X.shape), reset=reset)
            return X, code
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32, np.float16],
            ensure_all_finite=False,  # the first look at the rows finds NaN and infinity without another pass
        )
        return kernel_array(X)

    def _merge(self, assignment: Any, rows: Any, report: Reporter) -> Merges:
        return merge_classes(
            assignment, rows, aggregation=self.aggregation, merging=self.merging, progress=report
        )

    def _bootstrap(self, assignment: Any, rows: Any, report: Reporter) -> None:
        self._replicates: list[Merges] = []
        n_bootstraps = self.n_bootstraps
        if n_bootstraps == "auto":
            small = len(assignment.assigned) * assignment.n_classes <= _MOST_NUMBERS_FOR_BOOTSTRAP
            n_bootstraps = _BOOTSTRAPS if small else 0
        if not n_bootstraps or callable(self.aggregation) or assignment.n_classes < 3:
            return
        seed = check_random_state(self.random_state).randint(2**31)
        self._replicates = _bootstrap.resample_merges(
            assignment,
            rows,
            int(n_bootstraps),
            np.random.default_rng(seed),
            aggregation=self.aggregation,
            merging=self.merging,
            max_memory=int(self.max_memory) // 4,
            progress=report,
        )

    def _tree(self, assignment: Any, rows: Any, merges: Merges) -> Tree:
        n = assignment.n_classes
        tree = Tree.from_merges(merges.pairs, n) if n > 1 else Tree([-1], 1)
        if self.refine and n > 2:
            affinity = _affinity.class_affinity(rows.class_sums(assignment), assignment.counts)
            tree = _affinity.refine_tree(tree, affinity, seed=0)
            height = _affinity.heights_from_scores(tree, _affinity.class_scores(assignment))
        else:
            height = np.zeros(2 * n - 1)
            height[n:] = np.log1p(np.maximum.accumulate(merges.score)) if n > 1 else []
        support = _bootstrap.support_of_nodes(tree, self._replicates) if self._replicates else None
        return tree.replace(height=height, support=support)

    def _store(self, assignment: Any, merges: Merges, tree: Tree) -> None:
        self.n_classes_ = self.n_features_in_ = assignment.n_classes
        self.class_counts_ = assignment.counts
        self.assignments_, self.confidences_ = assignment.assigned.astype(np.int64), assignment.confidence
        self.merge_scores_, self.merge_shares_ = merges.score, merges.share
        self.tree_ = tree.replace(name=self._names())
        self.labels_ = self._cut(self.n_clusters, None)[self.assignments_]

    def _names(self) -> list[str] | None:
        names = self._names_of_input if self.class_names is None else self.class_names
        del self._names_of_input
        if names is None:
            return None
        if len(names) != self.n_classes_:
            raise ValueError(f"class_names must name all {self.n_classes_} classes. Got {len(names)} names.")
        return [str(name) for name in names]

    def _warn_if_estimated(self, rows: Any) -> None:
        if not self.exact_:
            warnings.warn(
                f"{rows.n_estimated} groups were judged by the {rows.n_kept} largest probabilities of their points. "
                "Pass something that can be read twice (a path, a list, a function that returns the batches), or a "
                "larger max_memory.",
                EstimateWarning,
                stacklevel=3,
            )

    # ---- levels --------------------------------------------------------------------------------------

    def _cut(self, n_clusters: int | None, level: Any) -> NDArray[np.int64]:
        """Cluster of each class at a level."""
        if level is not None:
            if n_clusters is not None:
                raise ValueError("Give n_clusters or level, not both.")
            return self._level(level).labels
        if n_clusters is None:
            n_clusters = self.n_clusters
        return np.arange(self.tree_.n_leaves) if n_clusters is None else self.tree_.cut(n_clusters=n_clusters)

    def _level(self, level: Any) -> Any:
        if hasattr(level, "labels"):
            return level
        found = self.levels()
        if not isinstance(level, (int, np.integer)) or not -len(found) <= level < len(found):
            raise ValueError(
                f"level must be one of levels(), or its position (0 is the coarsest of {len(found)}). Got {level!r}."
            )
        return found[level]

    def levels(self, max_levels: int = 3, *, max_clusters: int | None = None) -> list[Any]:
        """The few cuts that carry most, coarse to fine: those with a wide gap in merge score that bootstrap confirms.

        Parameters
        ----------
        max_levels : int
        max_clusters : int, optional
            Propose no finer cut.

        Returns
        -------
        levels : list of Level
            With `n_clusters`, `labels` of the classes, `nodes`, `gap`, and `stability`: the mean adjusted Rand index
            with the same cut of the bootstrap replicates (NaN without a bootstrap).
        """
        check_is_fitted(self, "tree_")
        from arbora.logits._levels import choose_levels

        return choose_levels(self.tree_, self._replicates, max_levels, max_clusters)

    # ---- unseen points -------------------------------------------------------------------------------

    def _blocks(self, X: Any) -> Iterator[Rows]:
        """Unseen points in blocks small enough for their probabilities to be held."""
        check_is_fitted(self, "tree_")
        rows = self._open(X, reset=False)
        for part in rows._pass() if isinstance(rows, StreamedRows) else [rows]:
            if part.n_classes != self.n_classes_:
                raise ValueError(
                    f"X has {part.n_classes} features, but L2H is expecting {self.n_classes_} features as input."
                )
            for start in range(0, part.n_points, _ROWS_PER_BLOCK):
                yield part.slice(start, start + _ROWS_PER_BLOCK)

    def predict(self, X: Any, *, n_clusters: int | None = None, level: Any = None) -> NDArray[np.int64]:
        """Cluster of each point: the one that holds its most probable class, so that levels are nested.

        Parameters
        ----------
        X : logits, as in `fit`
        n_clusters : int, optional
            Number of clusters; by default that of the estimator, or the classes.
        level : int or Level, optional
            One of `levels()` or its position, instead of `n_clusters`.
        """
        check_is_fitted(self, "tree_")
        label = self._cut(n_clusters, level)
        return np.concatenate([label[rows.scan().assigned] for rows in self._blocks(X)])

    def predict_proba(
        self, X: Any, *, n_clusters: int | None = None, level: Any = None
    ) -> NDArray[np.float64]:
        """Probability of each cluster: the sum over its classes."""
        check_is_fitted(self, "tree_")
        label = self._cut(n_clusters, level)
        order = np.argsort(label, kind="stable")
        first = np.searchsorted(label[order], np.arange(label.max() + 1))
        return np.concatenate(
            [np.add.reduceat(_probabilities(rows)[:, order], first, axis=1) for rows in self._blocks(X)]
        )

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Probability of every node of the tree, in node order: shape (n_points, n_nodes)."""
        return np.concatenate(
            [_node_probabilities(self.tree_, _probabilities(rows)) for rows in self._blocks(X)]
        )

    @property
    def _n_features_out(self) -> int:
        return self.tree_.n_nodes

    def evaluate(self, X: Any, y: Any, *, coarse: Any = None) -> dict[str, Any]:
        """Quality on held-out points; see `arbora.logits.evaluate_tree`."""
        return evaluate_tree(self.tree_, self.predict(X, n_clusters=self.n_classes_), y, coarse=coarse)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = bool(self.from_probabilities)
        tags.transformer_tags.preserves_dtype = []
        return tags


def _probabilities(rows: Rows) -> NDArray[np.float64]:
    rows.scan()  # raises at rows that cannot be used
    out = np.empty((rows.n_points, rows.n_classes))
    _stream_kernels.column_probabilities(
        rows.array, rows.code, rows.mode, rows.sharpness, 0, rows.n_points, *rows._buffers(),
        np.arange(rows.n_classes), out,
    )  # fmt: skip
    return out


def _node_probabilities(tree: Tree, leaf: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.zeros((tree.n_nodes, len(leaf)))
    out[: tree.n_leaves] = leaf.T
    for v in range(tree.n_leaves, tree.n_nodes):
        for child in tree.children(v):
            out[v] += out[child]
    return out.T
