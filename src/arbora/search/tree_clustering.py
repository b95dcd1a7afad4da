"""The main job as a scikit-learn estimator: a tree, its similarity, flat clusters, and where new points belong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from arbora._base.arrays import row_names
from arbora._base.distributed import array_of, is_dask, is_dask_frame
from arbora._base.lazily import answered_by
from arbora._base.params import check_n_clusters, is_auto
from arbora._base.progress import ProgressCallback
from arbora._base.training import FitStages, with_callbacks
from arbora._base.types import Floats, Ints, Objective, PathLike, RandomState
from arbora.search.cluster import N_NEIGHBORS, Built, Options, build, scale_of
from arbora.search.features_seen import check_features, forget_features
from arbora.search.flat import flat_clusters
from arbora.search.growing import all_vectors, grow
from arbora.search.inputs import (
    Direction,
    Input,
    Metric,
    SettledMetric,
    SimilarityKind,
    new_rows,
)
from arbora.search.model_file import read_model, write_model
from arbora.search.predict import LabelsOfRows, Placement, place, predict
from arbora.search.refine import refine
from arbora.search.report import ClusterReport
from arbora.similarity import Similarity
from arbora.similarity.scaling import Scale, Scaling
from arbora.tree import Tree
from arbora.tree.number import find_number


class TreeClustering(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Hierarchical clustering of vectors, a graph or any similarity, with choices that suit its size.

    What `arbora.cluster` does in one call, as an estimator: it also keeps the similarity it built, so that new points
    can be placed, the search continued and the result judged on the same footing.

    Parameters
    ----------
    n_clusters : int
        Clusters in `labels_` and, unless another number is passed, in `predict`. "auto" takes the number at the
        longest step in height; `n_clusters_` is what it found, and `report_` says why.
    metric : {"auto", "cosine", "euclidean", "precomputed"}
        How vectors are compared; "auto" picks what suits them, and `report_` says why. "precomputed" where X are
        distances, a square matrix or SciPy's condensed form.
    similarity : {"auto", "knn", "cosine"}
        For vectors: "auto" and "knn" build a graph of nearest neighbors, "cosine" compares all pairs. "auto"
        compares all pairs of up to two points per neighbor, and refuses what may not be vectors:
        rows of probabilities, which `arbora.L2H` is for, and square matrices.
    scale : {"auto", "standard", "robust", "rank", "components", "none"}
        What is done with the columns of vectors first, those of new points included; as in `arbora.cluster`.
    n_neighbors : int
        Neighbors of each point in the graph.
    directed : {"sum", "max", "mean"}, optional
        How the two directions of an edge become one in a graph that is not symmetric.
    n_perturbations : int, optional
        Times the tree is perturbed at random and improved again; by default 8 for up to 2,000 points, down to none
        above 30,000. Trees far deeper than usual, as of a star, count as more points.
    max_seconds : float, optional
        Time budget of the refinement.
    n_jobs : int, optional
        Threads; by default all cores. No result depends on it.
    random_state : int, RandomState, Generator or None
        Seed.
    verbose : bool
        Show progress and print the report, on standard error.
    checkpoint : path, optional
        Folder in which finished steps of the search are saved; the same fit resumes from them.

    Attributes
    ----------
    tree_ : Tree
        Binary, with heights, and with the names that came with the data.
    labels_ : ndarray of int64, shape (n_points,)
        Cluster of each point: the highest joins are split, and branches too small to be clusters join a near one
        (``tree_.cut(n_clusters, exact="nearest")``).
    n_clusters_ : int
        Clusters found: as asked for or, where dust or an n-ary tree leaves no such cut, the nearest number.
    metric_, scale_ : str
        How vectors were compared, and what was done with their columns.
    similarity_ : similarity
        What the tree was built by.
    report_ : ClusterReport
        Costs before and after the search, and the time of each stage.
    n_features_in_ : int
        Length of the vectors, where vectors were given.
    feature_names_in_ : ndarray of str
        Their names, where a frame was given.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = ab.TreeClustering(n_clusters=3, random_state=0).fit(X[::2])
    >>> model.tree_
    Tree(n_leaves=75, n_internal=74, binary)
    >>> model.predict(X[1::2]).shape
    (75,)
    >>> model.report_.cost_after <= model.report_.cost_before
    True
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 2,
        *,
        metric: Metric = "auto",
        similarity: SimilarityKind = "auto",
        scale: Scale = "auto",
        n_neighbors: int = N_NEIGHBORS,
        directed: Direction | None = None,
        n_perturbations: int | None = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
        checkpoint: PathLike | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.similarity = similarity
        self.scale = scale
        self.n_neighbors = n_neighbors
        self.directed = directed
        self.n_perturbations = n_perturbations
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    tree_: Tree
    labels_: Ints
    n_features_in_: int
    n_clusters_: int
    similarity_: Similarity
    report_: ClusterReport
    _fitted_on: str
    metric_: SettledMetric
    _scaling: Scaling | None

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> TreeClustering:
        """Build the tree.

        Parameters
        ----------
        X : array-like of shape (n, d), frame, path, store, iterable of chunks, sparse matrix, graph, tuple of edges, \
                similarity or Dask array
            As for `arbora.cluster`.
        y : ignored
        """
        options = self._options()
        # scikit-learn's rule: names of columns count where all are strings
        are_names = is_dask_frame(X) and all(isinstance(name, str) for name in X.columns)
        X, column_names = array_of(X)
        if is_dask(X):
            return self._fit_dask(X, column_names if are_names else None, options)
        with FitStages(self, verbose=self.verbose) as progress:
            built = build(self._read(X, options, progress), options, progress)
        return self._with_built(built)

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None) -> TreeClustering:
        """Grow the tree: new points at their exactly best places, then a search around them.

        What is far from the new points stays as it is, so that topics keep their place. The first call is a `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix
            Vectors like those of `fit`. After a fit on a graph or on similarities, one row of similarities per new
            point: to the points known, shape (m, n_points), or to these and the new ones, (m, n_points + m).
        y : ignored

        Examples
        --------
        >>> import arbora as ab
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> model = ab.TreeClustering(3, random_state=0).fit(X[::2])
        >>> model.partial_fit(X[1::2]).tree_
        Tree(n_leaves=150, n_internal=149, binary)
        """
        if not hasattr(self, "tree_"):
            return self.fit(X)
        if is_dask(X):
            raise TypeError(
                "partial_fit takes rows in memory, and X is a Dask array. Fit all rows at once with fit."
            )
        options = self._options()
        rows, names = self._new_rows(X), row_names(X)
        built = Built(self.tree_, self.similarity_, self.report_, self.metric_, self._scaling)
        if self._fitted_on == "vectors" and options.compares_all_pairs_of(self.tree_.n_leaves):
            # so few points say little of many: a fit on all of them
            settled = replace(options, metric=self.metric_, scale="none")
            given = all_vectors(built.similarity, rows, names)
            with FitStages(self, verbose=self.verbose) as progress:
                whole = build(given, settled, progress)
            return self._with_built(whole._replace(scaling=self._scaling))
        with FitStages(self, verbose=self.verbose) as progress:
            return self._with_built(grow(built, rows, names, options, progress))

    def predict(self, X: Any, n_clusters: int | Literal["auto"] | None = None) -> Ints:
        """Cluster of new points: that of their best place in the tree, which stays as it is.

        After a fit on a Dask array of many parts, new points are compared with the rows that the fit had sampled.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask array
            Vectors like those of `fit`. After a fit on a graph, on similarities or on distances, similarities or
            distances to the points of the tree instead: shape (m, n_points), one row per new point. For a Dask array
            the clusters are a Dask array too, which is computed block by block when it is asked for.
        n_clusters : int, optional
            Another number of clusters than that of the model.
        """
        check_is_fitted(self)
        tree, similarity, labels = self._compared_with(n_clusters)
        if is_dask(X):
            find = LabelsOfRows(tree, similarity, labels, self._scaling)
            return cast("Ints", answered_by(find, X, np.int64, n_features=self.n_features_in_))
        return predict(tree, similarity, self._new_rows(X), labels=labels, n_jobs=self.n_jobs)

    def place(self, X: Any, n_clusters: int | Literal["auto"] | None = None) -> Placement:
        """Where new points belong: node, cluster, how sure that is, and how much they look like outliers.

        Parameters
        ----------
        X, n_clusters
            As in `predict`.

        Returns
        -------
        Placement
            With ``node``, ``label``, ``confidence`` and ``outlier_score``; see `arbora.search.place`.

        Examples
        --------
        >>> import arbora as ab
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> found = ab.TreeClustering(3, metric="euclidean", random_state=0).fit(X).place([X[0], 9 * X[0]])
        >>> found.confidence[0] > 0.9, found.outlier_score[1]
        (np.True_, np.float64(1.0))
        """
        check_is_fitted(self)
        tree, similarity, labels = self._compared_with(n_clusters)
        return place(tree, similarity, self._new_rows(X), labels=labels, n_jobs=self.n_jobs)

    def score_samples(self, X: Any) -> Floats:
        """How ordinary new points are, from 0 (an outlier) to 1: the complement of the outlier score of `place`."""
        check_is_fitted(self)
        tree, similarity, _ = self._compared_with(None)
        found = place(tree, similarity, self._new_rows(X), n_jobs=self.n_jobs)
        return 1.0 - found.outlier_score

    def refine(
        self,
        objective: Objective = "dasgupta",
        *,
        max_sweeps: int = 100,
        n_perturbations: int = 0,
        max_seconds: float | None = None,
        must_link: Sequence[tuple[int, int]] | None = None,
        cannot_link: Sequence[tuple[int, int]] | None = None,
        keep_subtrees: Sequence[int] | None = None,
        keep_top: int | None = None,
        progress: ProgressCallback | None = None,
        checkpoint: PathLike | None = None,
    ) -> TreeClustering:
        """Continue the search on the same similarity; parameters as in `arbora.refine`.

        Sets `tree_`, `labels_` and the report's cost.
        """
        check_is_fitted(self)
        tree = refine(
            self.tree_,
            self.similarity_,
            objective,
            max_sweeps=max_sweeps,
            n_perturbations=n_perturbations,
            max_seconds=max_seconds,
            must_link=must_link,
            cannot_link=cannot_link,
            keep_subtrees=keep_subtrees,
            keep_top=keep_top,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
            progress=progress,
            checkpoint=checkpoint,
        )
        self.report_ = self.report_.after(tree, self.similarity_)
        return self._with_tree(tree)

    def save(self, path: PathLike) -> None:
        """Write the fitted model with its similarity to one file, all or nothing.

        Nothing is pickled: the file holds arrays and settings, and reading it runs no code. A `random_state` that is
        not a whole number, and `checkpoint`, belong to the process and are not saved.

        Parameters
        ----------
        path : path
            Usually ends in ``.npz``.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import arbora as ab
        >>> X = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "model.npz"
        ...     ab.TreeClustering(random_state=0).fit(X).save(path)
        ...     ab.TreeClustering.load(path).predict([[0.9, 0.0]])
        array([1])
        """
        check_is_fitted(self)
        write_model(self, path)

    @classmethod
    def load(cls, path: PathLike) -> TreeClustering:
        """Read what `save` wrote; `arbora.errors.FormatError` for any other file, or a damaged one."""
        return read_model(cls(), path)

    @property
    def scale_(self) -> str:
        """What was done with the columns before they were compared."""
        check_is_fitted(self)
        return scale_of(self._scaling)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, options: Options, progress: ProgressCallback) -> Input:
        """What was given, noted and checked."""
        given = options.read(X, "X", progress)
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, given.n_points)
        forget_features(self)
        if given.kind == "vectors":
            check_features(self, X, given.values, given.column_names, reset=True)
        self._fitted_on = given.kind
        return given

    def _fit_dask(self, X: Any, column_names: list[str] | None, options: Options) -> TreeClustering:
        """Build on a cluster; the package that can stands above this one."""
        build_on_dask = import_module("arbora.scale").build_on_dask
        with FitStages(self, verbose=self.verbose) as progress:
            built = build_on_dask(X, options, progress)
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, built.tree.n_leaves)
        forget_features(self)
        self.n_features_in_ = int(X.shape[1])
        if column_names is not None:
            self.feature_names_in_ = np.array(column_names, dtype=object)
        self._fitted_on = "vectors"
        return self._with_built(built)

    def _compared_with(self, n_clusters: int | Literal["auto"] | None) -> tuple[Tree, Similarity, Ints]:
        """What new points are compared with: a tree, the similarity of its leaves, and their clusters."""
        labels = self._labels_at(n_clusters)
        tree, similarity, leaves = self.similarity_.for_new_points(self.tree_)
        return tree, similarity, labels if leaves is None else labels[leaves]

    def _labels_at(self, n_clusters: int | Literal["auto"] | None) -> Ints:
        """Clusters of the points: those of the fit, or as many as asked for."""
        if n_clusters is None:
            return self.labels_
        return flat_clusters(self.tree_, n_clusters)

    def _with_built(self, built: Built) -> TreeClustering:
        self.similarity_, self.report_ = built.similarity, built.report
        self.metric_, self._scaling = built.metric, built.scaling
        self._with_tree(built.tree)
        if self.verbose:
            print(self.report_, file=sys.stderr)
        return self

    def _options(self) -> Options:
        """The parameters, checked before any work begins."""
        given = self.get_params(deep=False)
        options = Options(**{name: value for name, value in given.items() if name != "n_clusters"})
        options.check()
        return options

    def _with_tree(self, tree: Tree) -> TreeClustering:
        self.tree_ = tree
        self.labels_ = flat_clusters(tree, self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.report_ = self.report_.with_labels(self.labels_)
        if is_auto(self.n_clusters):
            words = f"{self.n_clusters_} ({find_number(tree).reason})"
            self.report_ = replace(self.report_, choices={**self.report_.choices, "n_clusters": words})
        return self

    def _new_rows(self, X: Any) -> Any:
        rows, column_names = new_rows(X)
        if self._fitted_on == "vectors":
            check_features(self, X, rows, column_names, reset=False)
        if self._scaling is None:
            return rows
        return self._scaling.apply(rows.toarray() if sp.issparse(rows) else rows)
