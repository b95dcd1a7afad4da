"""The estimator `GHHC`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from arbora._base.arrays import row_names, validated
from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.dask_rows import DaskRows
from arbora._base.distributed import is_dask, is_dask_frame
from arbora._base.lazily import lazily
from arbora._base.params import check_n_clusters, check_real, check_whole
from arbora._base.random import seed_of
from arbora._base.rows import Rows, is_in_pieces, open_rows
from arbora._base.sharing import Shares
from arbora._base.threads import count_threads, limited_threads
from arbora._base.training import FitProgress, deciding_params, history, with_callbacks
from arbora._base.types import AnyFloats, Ints, PathLike, RandomState
from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc import decode, model, stages
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.initialize import Linkage, Norms
from arbora.hyperbolic.ghhc.objectives import RankingCost, ranking_cost
from arbora.hyperbolic.ghhc.optimizers import OptimizerKind
from arbora.hyperbolic.ghhc.options import Candidates, Options
from arbora.hyperbolic.ghhc.placement import BallPlacement, Projection
from arbora.hyperbolic.ghhc.seeding import Seeding
from arbora.hyperbolic.ghhc.shares import SharedRankingCost
from arbora.hyperbolic.ghhc.train import TrainingState, restore, train
from arbora.tree import Tree


class GHHC(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Hierarchical clustering by gradient descent on nodes in the Poincaré ball (gHHC, Monath et al., 2019).

    A fixed number of internal nodes live in the ball, the data at its edge. A child's parent is a nearby
    node closer to the origin; triples of points, two of them neighbors, determine which nodes should be common
    ancestors. Cost and memory depend on the number of nodes and the steps, not on the number of points: data
    may be a memory map, a file or a stream.

    Parameters
    ----------
    n_clusters : int, default 2
        Clusters of the flat clustering `labels_`.
    n_internal : int, default 64
        Largest number of internal nodes.
    max_steps : int, default 500
        Steps of gradient descent, a batch of triples each.
    batch_size : int, default 100
    learning_rate : float, default 0.1
    optimizer : {"sgd", "adam"}, default "sgd"
        Riemannian descent with the paper's retraction, or Riemannian Adam.
    temperature : float, default 0.2
        Of the distributions over least common ancestors; 1 is the paper's, lower is more decisive.
    noise : float, default 0.5
        Strength of the Gumbel noise on them, falling to zero over the fit.
    margin, margin_weight : float
        Margin between the norms of child and parent (Eq. 16), and weight of that cost (0: none).
    n_neighbors : int, default 10
        x_j of a triple is one of this many nearest neighbors of x_i.
    pool_size : int, default 4096
        Rows among which neighbors are searched; exact for data with no more rows than this.
    n_candidates : int, None or "auto", default "auto"
        Nodes considered as ancestors of a triple: this many of the nearest, None for all (exact). "auto" determines,
        every 500 steps, how many are needed to leave out no more than 1 % of the mass over ancestors, and considers
        all nodes if that is more than a quarter of them.
    norm : float in (0, 1], default 0.9
        Euclidean norm at which the data sits in the ball.
    projection : {None, "random", "learned"}
        How data gets into the ball before it is scaled to `norm`: as it is (centered), by a random linear map,
        or by one that is learned along with the nodes.
    n_components : int, optional
        Dimension of the ball with a projection; by default that of the data.
    init : {"k-means++", "farthest", "random"}
        How seeds of the initial hierarchy are chosen.
    init_linkage : str, default "ward"
        Linkage that merges them.
    init_norms : {"centroid", "log"}
        Norms of the initial nodes: hyperbolic centroids, or the paper's logarithm of the order of merging.
    init_sweeps : int, default 10
        Sweeps of Lloyd's algorithm that move the leaves of the initial hierarchy.
    checkpoint : path, optional
        Folder in which the state of the fit is saved. The same fit resumes from it, to the same result; another is
        refused (all of X counts, which takes one pass over it).
    checkpoint_every : int, default 500
        Steps between checkpoints.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default False
        Show a progress bar on standard error.

    Attributes
    ----------
    tree_ : Tree
        Over the rows of X (of the last chunk after `partial_fit`); `support` is the probability of a node's
        parent, `height` the hyperbolic distance from the data's sphere.
    labels_ : int64[n]
        Flat clustering into `n_clusters`.
    nodes_ : float[n_nodes, d]
        Internal nodes in the ball.
    parents_ : int64[n]
        Row of `nodes_` each row of X selected as parent.
    split_uncertainty_ : ``float64[tree_.n_internal]``
        Mean probability that a child of the split belongs elsewhere.
    history_ : structured ndarray with the fields step, loss, cost
        One record per step; the loss is its mean ranking cost (0 is undecided, lower is better). No tree is decoded
        on the way, so that the cost is NaN.
    n_steps_ : int

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ab.GHHC(n_clusters=2, n_internal=31, max_steps=50, random_state=0).fit(X)
    >>> bool((model.labels_[:50] == model.labels_[0]).all())
    True
    >>> model.predict_parent(X[:2]).tolist() == model.tree_.parent[:2].tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_internal: int = 64,
        max_steps: int = 500,
        batch_size: int = 100,
        learning_rate: float = 0.1,
        optimizer: OptimizerKind = "sgd",
        temperature: float = 0.2,
        noise: float = 0.5,
        margin: float = 0.3,
        margin_weight: float = 0.01,
        n_neighbors: int = 10,
        pool_size: int = 4096,
        n_candidates: Candidates = "auto",
        norm: float = 0.9,
        projection: Projection = None,
        n_components: int | None = None,
        init: Seeding = "k-means++",
        init_linkage: Linkage = "ward",
        init_norms: Norms = "centroid",
        init_sweeps: int = 10,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 500,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_internal = n_internal
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.temperature = temperature
        self.noise = noise
        self.margin = margin
        self.margin_weight = margin_weight
        self.n_neighbors = n_neighbors
        self.pool_size = pool_size
        self.n_candidates = n_candidates
        self.norm = norm
        self.projection = projection
        self.n_components = n_components
        self.init = init
        self.init_linkage = init_linkage
        self.init_norms = init_norms
        self.init_sweeps = init_sweeps
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- training ----------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike | None = None) -> GHHC:
        """Learn nodes from X and decode the tree over its rows.

        Parameters
        ----------
        X : array-like of shape (n, d), or rows in pieces
            A memory map, a path (.npy, HDF5, zarr, Parquet, or a directory of them), an open store, a list of 2-D
            chunks, or a function that returns an iterator of them. Of a Dask array only samples of rows come to this
            machine, and one number or two per row for the tree; large batches of triples are shared out among its
            workers. The number of workers changes nothing.
        y : ignored
        """
        options = Options.of(self)
        rows = self._rows(X, reset=True)
        check_whole(self.n_clusters, "n_clusters")
        saved = self._open_checkpoint(rows)
        seed = seed_of(self.random_state) if saved is None else saved.seed
        with (
            FitProgress(self, options.max_steps, unit="step", verbose=options.verbose) as progress,
            # shares of work are fixed and run in threads of our own: how a library splits a product changes rounding
            limited_threads(1),
        ):
            self._keep(self._train(rows, options, seed, saved, progress), seed)
            self._decode(rows, row_names(X))
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None) -> GHHC:
        """Learn from a chunk of a stream; about one step for every `batch_size` rows.

        The first chunk sets the mean and the initial nodes and should be representative. `tree_` and
        `labels_` are those of the last chunk; `tree_over` gives the tree over any data.
        """
        options = Options.of(self)
        is_first = not hasattr(self, "_state")
        rows = self._rows(X, reset=is_first)
        n_rows = rows.count_rows()
        with limited_threads(1):
            if is_first:
                seed = seed_of(self.random_state)
                state = stages.first_state(rows, options, seed)
            else:
                seed, state = self._stream_seed, self._state
            n_steps = max(1, n_rows // options.batch_size) if n_rows >= 3 else 0
            # each chunk draws its own pools
            sampler = stages.sampler(rows, state.placement, options, (seed + state.step) % 2**32)
            plan = options.plan(seed, state.step + n_steps, anneal=False)
            train(plan, state, sampler, rows.take, cost_of=_cost_over(rows))
            self._keep(state, seed)
            self._decode(rows, row_names(X))
        return self

    def _rows(self, X: Any, reset: bool) -> Rows:
        if not is_in_pieces(X):
            # scikit-learn sums to find NaN; values near the largest float overflow there, and are not NaN
            with np.errstate(over="ignore", invalid="ignore"):
                return open_rows(validated(self, X, dtype=[np.float64, np.float32], reset=reset))
        rows = DaskRows(X) if is_dask(X) or is_dask_frame(X) else open_rows(X)
        rows = rows.as_type(np.float64 if rows.dtype == np.float64 else np.float32)
        if reset:
            self.n_features_in_ = rows.shape[1]
        elif rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if rows.count_rows() == 0:
            raise ValueError("X has 0 rows. At least 1 is required.")
        return rows

    def _open_checkpoint(self, rows: Rows) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        identity = identity_of(rows=rows, **deciding_params(self))
        return Checkpoint(self.checkpoint, method="GHHC", identity=identity, random_state=self.random_state)

    def _train(
        self, rows: Rows, options: Options, seed: int, saved: Checkpoint | None, progress: FitProgress
    ) -> TrainingState:
        arrays = None if saved is None else saved.load()
        if arrays is None:
            state = stages.first_state(rows, options, seed)
        else:
            norm = options.norm_in(rows.dtype)
            state = restore(options.plan(seed, options.max_steps), arrays, norm)
        # neighbors are those before a projection learns, so that they do not depend on where training resumed
        if options.projection is None or not state.step:
            now = state.placement
            first = BallPlacement(now.mean, now.projection, now.norm)
        else:
            first = stages.first_placement(rows, options, seed)
        plan = options.plan(seed, options.max_steps if rows.count_rows() >= 3 else 0)
        sampler = stages.sampler(rows, first, options, seed)

        def after_step(now: TrainingState) -> bool:
            return self._after_step(now, options, saved, progress)

        try:
            return train(plan, state, sampler, rows.take, after_step, _cost_over(rows))
        except DivergedError as error:
            raise DivergedError(str(error), stages.last_tree(state, rows)) from error

    def _after_step(
        self, state: TrainingState, options: Options, saved: Checkpoint | None, progress: FitProgress
    ) -> bool:
        """Save and report; whether a callback asks to stop."""
        is_last = state.step == options.max_steps
        if saved is not None and (is_last or state.step % options.checkpoint_every == 0):
            saved.keep(state.arrays())
        cost = state.costs[-1]
        return progress.step(state.step, note=f"ranking cost {cost:.4g}", metadata={"cost": cost})

    # ---- what was learned --------------------------------------------------------------------------------

    def _keep(self, state: TrainingState, seed: int) -> None:
        self._state, self._stream_seed = state, seed
        self.nodes_ = state.table.nodes
        self.history_ = history((step, cost, np.nan) for step, cost in enumerate(state.costs, start=1))
        self.n_steps_ = state.step

    def _decode(self, rows: Rows, names: list[str] | None) -> None:
        found, self.parents_, self._node_parent = decode.most_likely_tree(
            self._table, rows, self._placement, count_threads(self.n_jobs)
        )
        self._tree_node = found.tree_node
        self.tree_ = found.tree if names is None else found.tree.replace(name=names)
        self.labels_ = decode.cut(self.tree_, self.n_clusters)
        self.split_uncertainty_ = decode.split_uncertainty(self.tree_)
        self._data: Rows | None = rows

    @property
    def _table(self) -> NodeTable:
        return self._state.table

    @property
    def _placement(self) -> BallPlacement:
        return self._state.placement

    @lazily
    def predict(self, X: Any, n_clusters: int | None = None) -> Ints:
        """Cluster of new points: that of most of the training data below the node they select as parent.

        Parameters
        ----------
        X : array-like of shape (n, d), or rows in pieces
            As in `fit`.
        n_clusters : int, optional
            Clusters to cut `tree_` into; by default those of `labels_`.

        Returns
        -------
        labels : ndarray of int64, shape (n,)
        """
        parent = self._assign(X)
        labels = self.labels_
        if n_clusters is not None:
            labels = decode.cut(self.tree_, check_n_clusters(n_clusters, self.tree_.n_leaves))
        place = model.ranks(self._table)
        of_node = decode.label_of_nodes(labels, self.parents_, self._node_parent, place)
        return of_node[parent]

    @lazily
    def predict_parent(self, X: Any) -> Ints:
        """Node of `tree_` that is the parent of each new point.

        Parameters
        ----------
        X : array-like of shape (n, d), or rows in pieces
            As in `fit`.

        Returns
        -------
        nodes : ndarray of int64, shape (n,)
        """
        return self._tree_parent()[self._assign(X)]

    def _assign(self, X: Any) -> Ints:
        """Row of `nodes_` that each point selects among those that have data below."""
        check_is_fitted(self, "tree_")
        rows = self._rows(X, reset=False)
        n_threads = count_threads(self.n_jobs)
        with limited_threads(1):
            return decode.assign(self._table, rows, self._placement, self._tree_node >= 0, n_threads)[0]

    def _tree_parent(self) -> Ints:
        """Node of `tree_` under which new data of a node of the model goes: beside its own data, if any."""
        beside = self._tree_node.copy()
        own = np.zeros(len(beside), np.int64)
        np.add.at(own, self.parents_, 1)
        # data alone under a node hangs from what the node was contracted to
        several = own[self.parents_] > 1
        beside[self.parents_[several]] = self.tree_.parent[: self.tree_.n_leaves][several]
        alone = (beside >= 0) & (beside < self.tree_.n_leaves)
        beside[alone] = self.tree_.parent[beside[alone]]
        return beside

    @lazily
    def predict_proba(self, X: Any) -> AnyFloats:
        """Probability of each of `nodes_` to be the parent of each row (Eq. 5): float[n, n_nodes]."""
        check_is_fitted(self, "tree_")
        rows = self._rows(X, reset=False)
        out = np.empty((rows.count_rows(), len(self._table)), rows.dtype)
        for places, chunk in decode.placed_chunks(rows, self._placement):
            for part in model.blocks(len(chunk), len(self._table)):
                logs = model.point_log_probabilities(self._table, chunk[part])
                out[places.start + part.start : places.start + part.stop] = np.exp(logs)
        return out

    def tree_over(self, X: Any) -> Tree:
        """Tree over the rows of any data, given by the learned nodes, as `tree_` is over the training data."""
        check_is_fitted(self, "tree_")
        rows, n_threads = self._rows(X, reset=False), count_threads(self.n_jobs)
        with limited_threads(1):
            return decode.most_likely_tree(self._table, rows, self._placement, n_threads)[0].tree

    def sample_trees(
        self, n_trees: int = 1, X: Any = None, *, temperature: float = 1.0, random_state: RandomState = None
    ) -> list[Tree]:
        """Trees drawn from the distribution over trees (Eq. 6).

        Parameters
        ----------
        n_trees : int
        X : data to draw trees over; by default that of the fit (which a pickled model does not keep)
        temperature : float
            1 is the model's distribution; lower draws nearer to `tree_`.
        random_state : int, RandomState or None
        """
        check_is_fitted(self, "tree_")
        rows = self._data_or(X)
        n_trees = check_whole(n_trees, "n_trees", least=0)
        temperature = check_real(temperature, "temperature", above=0)
        generators = np.random.default_rng(seed_of(random_state)).spawn(n_trees)
        return [
            decode.sampled_tree(self._table, rows, self._placement, rng, temperature) for rng in generators
        ]

    def log_probability(self, X: Any = None) -> float:
        """Logarithm of the probability of the most likely parents of all rows and nodes (Eq. 6)."""
        check_is_fitted(self, "tree_")
        rows = self._data_or(X)
        probability = decode.assign(self._table, rows, self._placement)[1]
        nodes = model.tree_log_probability(
            self._table, self.nodes_[:0], np.empty(0, np.int64), model.node_parents(self._table)
        )
        return float(np.log(probability).sum()) + nodes

    def _data_or(self, X: Any) -> Rows:
        """The rows of X, or by default those of the fit."""
        if X is not None:
            return self._rows(X, reset=False)
        data: Rows | None = getattr(self, "_data", None)
        if data is None:
            raise ValueError("The model was loaded without its data. Pass X.")
        return data

    def __getstate__(self) -> dict[str, Any]:
        # data may be larger than memory
        return {**super().__getstate__(), "_data": None}


def _cost_over(rows: Rows) -> Callable[..., RankingCost]:
    """The ranking cost of a batch; where the rows are spread over machines, so are its triples."""
    return SharedRankingCost(Shares(rows.workers)) if isinstance(rows, DaskRows) else ranking_cost
