"""L2H: a hierarchy of classes from the logits of a flat model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora._base.distributed import is_dask, is_dask_frame
from arbora._base.lazily import lazily
from arbora._base.params import check_choice, check_n_clusters, check_real, check_switch, check_whole, is_auto
from arbora._base.random import generator
from arbora._base.rows import is_in_pieces
from arbora._base.threads import count_threads
from arbora._base.training import FitStages, with_callbacks
from arbora._base.types import Floats, Ints, PathLike, RandomState
from arbora.logits import _prediction
from arbora.logits._levels import choose_levels
from arbora.logits._method import Method
from arbora.logits._names import column_names, unique_names
from arbora.logits._numbers import is_tensor_or_bfloat16
from arbora.logits._open import blocks_of, checked_rows, open_logits
from arbora.logits._protocol import (
    AGGREGATIONS,
    Aggregation,
    Assignment,
    ClassTotals,
    LogitRows,
    Merges,
    Reading,
)
from arbora.logits._rows import ArrayRows
from arbora.logits._warnings import warn_if_estimated, warn_if_probabilities
from arbora.logits.evaluate import evaluate_tree
from arbora.tree import Tree
from arbora.tree.consensus import support_of_nodes
from arbora.tree.cutting import Level

_BOOTSTRAPS, _MOST_NUMBERS_FOR_BOOTSTRAP = 20, 20_000_000


class L2H(CallbackSupportMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Logits to hierarchies: a tree over the classes of any flat model, from its logits alone.

    Algorithm 1 of the paper merges, at every step, the group of classes whose points are predicted least surely
    with the group to which these points would go if their own did not exist. Its tree is then refined.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Clusters in `labels_` and, unless another number is passed, in `predict`. None: the classes themselves.
    aggregation : {"sum_of_means", "sum", "mean_of_means"} or callable, default="sum_of_means"
        How the probabilities of a group's points become its score (table 7 of the paper). A function gets a list
        with one array of probabilities per class of the group that has points, and returns a number.
    merging : {"lowest", "all_pairs"}, default="lowest"
        Algorithm 1, or the variant of appendix C that considers all pairs of groups at every step.
    from_probabilities : bool, default=False
        The input holds probabilities (zeros allowed, rows need not sum to 1), not logits.
    temperature : float, default=1.0
        Logits are divided by it, probabilities raised to its inverse, which is the same; see
        `arbora.logits.fit_temperature`.
    class_names : sequence of str, optional
        Names of the classes; by default the column names of the input, if it has any. Equal names get their
        column number appended.
    refine : bool or dict, default=True
        Improve the tree of Algorithm 1: subtrees move until Dasgupta's cost is lowest on a graph of the classes
        weighted by the exponential of their mean logits for each other's points. Reads every point once more and
        takes K² numbers. A dict holds options for `arbora.refine`. False: the tree of the paper.
    n_bootstraps : int or "auto", default="auto"
        Replicates for the support of every split; 0 for none. Points are resampled within their class, and the
        whole method is repeated, refinement included. "auto" makes 20 for up to 20 million logits that are in memory
        and none for more, where they would take longer than the tree. There are none if `aggregation` is a
        function, which takes no weights.
    max_memory : int, default=2**32
        Files and batches larger than this many bytes are streamed, in at most two passes (and one more per replicate
        asked for if the tree is refined), instead of being read where they are. C-ordered arrays in memory are never
        copied.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
        Seeds the bootstrap, nothing else.
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    tree_ : Tree
        Over the classes. Without refinement nodes are numbered by merging step. Height is log(1 + score of the group
        that merged); `support` is the share of bootstrap replicates that form the same group.
    labels_ : ndarray of int64, shape (n_points,)
        Cluster of each training point at `n_clusters`.
    assignments_, confidences_ : ndarray, shape (n_points,)
        Class of each training point, and the probability the model gives it.
    merge_scores_, merge_shares_ : ndarray, shape (n_classes - 1,)
        Per step of Algorithm 1, the score of the group that merged, and which part of its reassigned probability went
        to its partner (NaN where it had no points).
    class_counts_ : ndarray of int64, shape (n_classes,)
        Points assigned to each class.
    replicates_ : list of Tree
        Trees of the bootstrap.
    exact_ : bool
        False if a streamed input had to be judged partly by what was kept of it (with a warning).
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
    >>> l2h = ab.L2H(class_names=["cat", "dog", "car", "bus"], random_state=0).fit(logits)
    >>> l2h.tree_.to_newick(lengths=False)
    '((cat,dog),(car,bus));'
    >>> l2h.predict([[1, 2, 0, 0]], n_clusters=2)
    array([0])

    With a confidence the answer is a node of the tree, a class where the model is sure enough:

    >>> nodes = l2h.predict([[9, 1, 0, 0], [2, 2, -2, -2]], confidence=0.9)
    >>> [l2h.tree_.leaves(node).tolist() for node in nodes]
    [[0], [0, 1]]

    Of a Dask array only sums leave the workers, or the threads of this machine:

    >>> import dask, dask.array as da
    >>> with dask.config.set(scheduler="threads"):
    ...     spread = ab.L2H(random_state=0).fit(da.from_array(logits, chunks=(2, -1)))
    ...     labels = spread.predict(da.from_array(logits, chunks=(2, -1))).compute()
    >>> bool((spread.tree_.parent == l2h.tree_.parent).all()), labels
    (True, array([0, 0, 1, 1]))
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        aggregation: Aggregation = "sum_of_means",
        merging: Literal["lowest", "all_pairs"] = "lowest",
        from_probabilities: bool = False,
        temperature: float = 1.0,
        class_names: Sequence[str] | None = None,
        refine: bool | Mapping[str, Any] = True,
        n_bootstraps: int | Literal["auto"] = "auto",
        max_memory: int = 2**32,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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
            iterable of batches such as a PyTorch DataLoader, or a function that returns one. A Dask array or frame
            stays where it is: the same merges as in memory, to the last bit, and `labels_`, `assignments_` and
            `confidences_` are Dask arrays.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, names = self._open(X)
        method = self._method
        with FitStages(self, verbose=self.verbose) as progress:
            assignment = rows.scan(progress)
            merges = method.merges(assignment, rows, progress=progress)
            while rows.settle(assignment, merges, progress, every_group=self.merging == "all_pairs"):
                merges = method.merges(assignment, rows, progress=progress)
            self.exact_ = rows.exact
            warn_if_estimated(rows)
            tree = method.tree(assignment, rows, merges)
            self.replicates_ = method.replicates(
                assignment,
                rows,
                self._n_replicates(assignment, rows),
                generator(self.random_state),
                max_memory=int(self.max_memory) // 4,
                progress=progress,
            )
        support = support_of_nodes(tree, self.replicates_) if self.replicates_ else None
        self._store(assignment, merges, tree.replace(support=support), names)
        return self

    def _check_parameters(self) -> None:
        if self.n_clusters is not None:
            check_whole(self.n_clusters, "n_clusters")
        if not callable(self.aggregation):
            check_choice(self.aggregation, "aggregation", AGGREGATIONS)
        check_choice(self.merging, "merging", ("lowest", "all_pairs"))
        check_switch(self.from_probabilities, "from_probabilities")
        check_real(self.temperature, "temperature", above=0)
        if not isinstance(self.refine, Mapping):
            check_switch(self.refine, "refine")
        if not is_auto(self.n_bootstraps):
            check_whole(self.n_bootstraps, "n_bootstraps", least=0)
        check_whole(self.max_memory, "max_memory")

    # ---- input ---------------------------------------------------------------------------------------

    @property
    def _reading(self) -> Reading:
        return Reading(self.from_probabilities, float(self.temperature), count_threads(self.n_jobs))

    def _open(self, X: Any) -> tuple[LogitRows, Sequence[str] | None]:
        """Logits to fit, and the names of their classes."""
        if is_dask(X) or is_dask_frame(X):
            from arbora.logits._dask import open_dask, refuse_bootstrap

            refuse_bootstrap(self.n_bootstraps)
            spread, columns = open_dask(X, self._reading, with_class_sums=self._is_refined)
            validate_data(self, np.broadcast_to(np.float32(0), (1, spread.n_classes)))
            return spread, column_names(self, columns)
        source = checked_rows(self, X, reset=True)
        names = column_names(self, source.column_names)
        if not self.from_probabilities:
            warn_if_probabilities(source)
        if is_tensor_or_bfloat16(X):
            # kernels read the bits of bfloat16 as they are
            return ArrayRows(X, self._reading), names
        limit = int(self.max_memory) if is_in_pieces(X) else 2**62
        rows = open_logits(source, self._reading, max_memory=limit, with_class_sums=self._is_refined)
        return rows, names

    @property
    def _is_refined(self) -> bool:
        return isinstance(self.refine, Mapping) or bool(self.refine)

    # ---- the tree ------------------------------------------------------------------------------------

    @property
    def _method(self) -> Method:
        options = None
        if self._is_refined:
            options = {"n_jobs": self.n_jobs, **(self.refine if isinstance(self.refine, Mapping) else {})}
        return Method(self.aggregation, self.merging, options)

    def _n_replicates(self, assignment: ClassTotals, rows: LogitRows) -> int:
        if callable(self.aggregation) or assignment.n_classes < 3:
            return 0
        # sums over the chunks of a Dask array do not cover single points
        if not isinstance(assignment, Assignment):
            return 0
        if not is_auto(self.n_bootstraps):
            return int(self.n_bootstraps)
        is_streamed = not isinstance(rows, ArrayRows)
        is_small = len(assignment.assigned) * assignment.n_classes <= _MOST_NUMBERS_FOR_BOOTSTRAP
        return _BOOTSTRAPS if is_small and not (is_streamed and self._is_refined) else 0

    def _store(
        self, assignment: ClassTotals, merges: Merges, tree: Tree, names: Sequence[str] | None
    ) -> None:
        self.n_classes_ = self.n_features_in_ = assignment.n_classes
        self.class_counts_ = assignment.counts
        self.assignments_ = assignment.mapped(np.arange(self.n_classes_))
        self.confidences_ = assignment.confidences()
        self.merge_scores_, self.merge_shares_ = merges.score, merges.share
        self.tree_ = tree.replace(name=unique_names(names, self.n_classes_))
        self.labels_ = assignment.mapped(self._cut(None, None))

    # ---- levels --------------------------------------------------------------------------------------

    def _cut(self, n_clusters: int | None, level: int | Level | None) -> Ints:
        """Cluster of each class at a level."""
        if level is not None:
            if n_clusters is not None:
                raise ValueError("Pass n_clusters or level, not both.")
            return self._level(level).labels
        if n_clusters is None:
            if self.n_clusters is None:
                return np.arange(self.n_classes_)
            n_clusters = self.n_clusters
        return self.tree_.cut(n_clusters=check_n_clusters(n_clusters, self.n_classes_))

    def _level(self, level: int | Level) -> Level:
        if isinstance(level, Level):
            return level
        found = self.levels()
        if not isinstance(level, Integral) or not -len(found) <= level < len(found):
            raise ValueError(
                f"level must be one of levels(), or its position (0 is the coarsest of {len(found)}). Got {level!r}."
            )
        return found[level]

    def levels(self, max_levels: int = 3, *, max_clusters: int | None = None) -> list[Level]:
        """The few most telling cuts, coarse to fine: those with a wide gap in merge score that bootstrap confirms.

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
        return choose_levels(self.tree_, self.replicates_, max_levels, max_clusters)

    # ---- unseen points -------------------------------------------------------------------------------

    @lazily
    def predict(
        self,
        X: Any,
        n_clusters: int | None = None,
        *,
        level: int | Level | None = None,
        confidence: float | None = None,
    ) -> Ints:
        """Cluster of each point: the one that holds its most probable class, so that levels are nested.

        Parameters
        ----------
        X : logits, as in `fit`
        n_clusters : int, optional
            Number of clusters; by default that of the estimator.
        level : int or Level, optional
            One of `levels()` or its position, instead of `n_clusters`.
        confidence : float in (0, 1], optional
            Instead of either: answer with the deepest node of `tree_` whose probability is at least this, a class
            where the model is that sure, else a group. From the root the walk follows the most probable child. See
            `arbora.logits.risk_coverage` for what it costs and gains.

        Returns
        -------
        labels : ndarray of int64, shape (n_points,)
            Clusters, or with `confidence` nodes of `tree_` (those below `n_classes_` are classes).
        """
        check_is_fitted(self, "tree_")
        if confidence is not None:
            if n_clusters is not None or level is not None:
                raise ValueError("Pass only one of n_clusters, level and confidence.")
            bound = check_real(confidence, "confidence", above=0, most=1)
            parts = [_prediction.sure_nodes(self.tree_, rows, [bound])[0] for rows in self.blocks(X)]
        else:
            label = self._cut(n_clusters, level)
            parts = [label[rows.scan().assigned] for rows in self.blocks(X)]
        return np.concatenate(parts)

    @lazily
    def predict_proba(
        self, X: Any, n_clusters: int | None = None, *, level: int | Level | None = None
    ) -> Floats:
        """Probability of each cluster: the sum over its classes."""
        check_is_fitted(self, "tree_")
        label = self._cut(n_clusters, level)
        order = np.argsort(label, kind="stable")
        first = np.searchsorted(label[order], np.arange(label.max() + 1))
        parts = []
        for rows in self.blocks(X):
            rows.scan()
            parts.append(np.add.reduceat(rows.probabilities()[:, order], first, axis=1))
        return np.concatenate(parts)

    @lazily
    def transform(self, X: Any) -> Floats:
        """Probability of every node of the tree, in node order: shape (n_points, n_nodes)."""
        check_is_fitted(self, "tree_")
        return np.concatenate([_prediction.node_probabilities(self.tree_, rows).T for rows in self.blocks(X)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: those of the classes and nodes, "node 7" where a node has no name."""
        check_is_fitted(self, "tree_")
        return _prediction.node_names(self.tree_)

    def blocks(self, X: Any) -> Iterator[ArrayRows]:
        """Points as this model reads them, in blocks whose probabilities can be held; what reports are made of."""
        check_is_fitted(self, "tree_")
        return blocks_of(checked_rows(self, X, reset=False), self._reading)

    def evaluate(self, X: Any, y: ArrayLike, *, coarse: Any = None) -> dict[str, Any]:
        """Quality on held-out points; see `arbora.logits.evaluate_tree`."""
        return evaluate_tree(self.tree_, y, self.predict(X, n_clusters=self.n_classes_), coarse=coarse)

    # ---- files ---------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the fitted model to a file that `load` reads; an existing file stays whole until then."""
        from arbora.logits._saving import save

        check_is_fitted(self, "tree_")
        save(self, path)

    @classmethod
    def load(cls, path: PathLike) -> L2H:
        """A fitted model from a file that `save` wrote."""
        from arbora.logits._saving import load

        return load(cls, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = bool(self.from_probabilities)
        tags.transformer_tags.preserves_dtype = []
        return tags
