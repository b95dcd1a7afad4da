"""The estimator `GHHC`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc import decode, model, settings
from arbora.hyperbolic.ghhc.distances import Floats, NodeTable
from arbora.hyperbolic.ghhc.initialize import initial_nodes
from arbora.hyperbolic.ghhc.model import Ints
from arbora.hyperbolic.ghhc.rows import BallPlacement, RowReader, first_projection, is_out_of_core
from arbora.hyperbolic.ghhc.sampling import TripleSampler, draw_rows, generator
from arbora.hyperbolic.ghhc.train import (
    TrainingState,
    fingerprint,
    read_checkpoint,
    restore,
    save_checkpoint,
    start,
    train,
)
from arbora.tree import Tree

_START_STREAM, _PROJECTION_STREAM = 2, 3
ROWS_PER_LEAF = 10  # rows read for the initial hierarchy
POOL_STEPS = 50


class GHHC(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Hierarchical clustering by gradient descent on nodes in the Poincaré ball (gHHC, Monath et al., 2019).

    A fixed number of internal nodes live in the ball, the data at its edge. A child's parent is a nearby
    node closer to the origin; triples of points, two of them neighbors, say which nodes should be common
    ancestors. Cost and memory depend on the number of nodes and the steps, not on the number of points: data
    may be a memory map or a stream.

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
        Of the distributions over least common ancestors; 1 is the paper's, lower is more decided.
    noise : float, default 0.5
        Strength of the Gumbel noise on them, falling to zero over the fit.
    margin, margin_weight : float
        Margin between the norms of child and parent (Eq. 16), and weight of that cost (0: without).
    n_neighbors : int, default 10
        x_j of a triple is one of so many nearest neighbors of x_i.
    pool_size : int, default 4096
        Rows among which neighbors are looked up; exact for data of at most so many rows.
    n_candidates : int, None or "auto", default "auto"
        Nodes considered as ancestors of a triple: the nearest so many, None for all (exact). "auto" looks, every
        500 steps, how many it takes to leave out no more than 1 % of the mass over ancestors, and considers all
        where that is more than a quarter of them.
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
        File the state of the fit is kept in. A fit that finds the checkpoint of the same fit continues from
        it, to the same result.
    checkpoint_every : int, default 500
        Steps between checkpoints.
    random_state : int, RandomState or None

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
    costs_ : ``float64[n_steps_]``
        Mean ranking cost of each step; 0 is undecided, lower is better.
    n_steps_ : int

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ab.GHHC(n_clusters=2, n_internal=31, max_steps=50, random_state=0).fit(X)
    >>> bool((model.labels_[:50] == model.labels_[0]).all())
    True
    >>> model.predict(X[:2], level="parent").tolist() == model.tree_.parent[:2].tolist()
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
        optimizer: str = "sgd",
        temperature: float = 0.2,
        noise: float = 0.5,
        margin: float = 0.3,
        margin_weight: float = 0.01,
        n_neighbors: int = 10,
        pool_size: int = 4096,
        n_candidates: int | str | None = "auto",
        norm: float = 0.9,
        projection: str | None = None,
        n_components: int | None = None,
        init: str = "k-means++",
        init_linkage: str = "ward",
        init_norms: str = "centroid",
        init_sweeps: int = 10,
        checkpoint: str | os.PathLike | None = None,
        checkpoint_every: int = 500,
        random_state: Any = None,
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
        self.random_state = random_state

    # ---- training ----------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: object = None) -> GHHC:
        """Learn nodes from X and decode the tree over its rows.

        Parameters
        ----------
        X : array-like of shape (n, d), memory map, on-disk array, or list of 2-D chunks
        y : ignored
        """
        settings.check(self)
        rows = self._rows(X, reset=True)
        stored = None if self.checkpoint is None else read_checkpoint(self.checkpoint)
        seed = self._seed() if stored is None or self._has_seed() else int(stored["seed"])
        state = self._run(rows, seed, stored)
        self._keep(state, seed)
        self._decode(rows)
        return self

    def partial_fit(self, X: Any, y: object = None) -> GHHC:
        """Learn from a chunk of a stream; about one step for every `batch_size` rows.

        The first chunk sets the mean and the initial nodes and should be representative. `tree_` and
        `labels_` are those of the last chunk; `tree_over` gives the tree over any data.
        """
        settings.check(self)
        first = not hasattr(self, "_state")
        rows = self._rows(X, reset=first)
        if first:
            seed = self._seed()
            state = self._start(rows, seed)
        else:
            seed, state = self._stream_seed, self._state
        n_steps = max(1, rows.shape[0] // self.batch_size) if rows.shape[0] >= 3 else 0
        # each chunk draws its pools afresh
        sampler = self._sampler(rows, state.placement, (seed + state.step) % 2**32)
        plan = settings.plan(self, seed, state.step + n_steps, anneal=False)
        train(plan, state, sampler, rows.take)
        self._keep(state, seed)
        self._decode(rows)
        return self

    def _rows(self, X: Any, reset: bool) -> RowReader:
        if is_out_of_core(X):
            rows = RowReader(X)
            if reset:
                self.n_features_in_ = rows.shape[1]
            elif rows.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            if rows.shape[0] == 0:
                raise ValueError("X has 0 rows. At least 1 is required.")
            return rows
        return RowReader(validate_data(self, X, dtype=[np.float64, np.float32], reset=reset))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _has_seed(self) -> bool:
        """Whether the parameters alone fix the seed; otherwise a checkpoint remembers it."""
        return isinstance(self.random_state, (int, np.integer))

    def _start(self, rows: RowReader, seed: int) -> TrainingState:
        placement = self._first_placement(rows, seed)
        n_leaves = (self.n_internal + 1) // 2
        rng = generator(seed, _START_STREAM, 0)
        sample = draw_rows(rows.shape[0], max(self.pool_size, ROWS_PER_LEAF * n_leaves), rng)
        nodes = initial_nodes(
            placement(rows.take(sample)),
            self.n_internal,
            rng,
            leaves=self.init,
            norms=self.init_norms,
            linkage=self.init_linkage,
            n_sweeps=self.init_sweeps,
        )
        return start(settings.plan(self, seed, self.max_steps), nodes, placement)

    def _first_placement(self, rows: RowReader, seed: int) -> BallPlacement:
        projection = first_projection(
            self.projection,
            rows.shape[1],
            self.n_components,
            generator(seed, _PROJECTION_STREAM, 0),
            rows.dtype,
        )
        return BallPlacement(rows.column_means(), projection, settings.placed_norm(self, rows.dtype))

    def _sampler(self, rows: RowReader, placement: BallPlacement, seed: int) -> TripleSampler:
        # neighbors are those before a projection learns, so that they do not depend on where a run was
        # taken up
        return TripleSampler(
            placement.reader(rows), rows.shape[0], seed, self.n_neighbors, self.pool_size, POOL_STEPS
        )

    def _run(self, rows: RowReader, seed: int, stored: dict | None) -> TrainingState:
        name = fingerprint(self._identity(rows, seed), rows.take(np.arange(min(64, rows.shape[0]))))
        if stored is None:
            state = self._start(rows, seed)
        elif str(stored["name"]) != name:
            raise ValueError(
                f"checkpoint={str(self.checkpoint)!r} belongs to a fit with other data or parameters. "
                "Give another path, or delete the file."
            )
        else:
            norm = settings.placed_norm(self, rows.dtype)
            state = restore(settings.plan(self, seed, self.max_steps), stored, norm)
        n_steps = self.max_steps if rows.shape[0] >= 3 else 0
        plan = settings.plan(self, seed, n_steps)
        if self.projection is None or not state.step:
            placement = state.placement
            first = BallPlacement(placement.mean, placement.projection, placement.norm)
        else:
            first = self._first_placement(rows, seed)
        sampler = self._sampler(rows, first, seed)
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        try:
            train(plan, state, sampler, rows.take, lambda now: self._after_step(now, context, name, seed))
        except DivergedError as error:
            raise DivergedError(str(error), self._last_tree(state, rows)) from error
        context.call_on_fit_task_end(estimator=self)
        return state

    @staticmethod
    def _last_tree(state: TrainingState, rows: RowReader) -> Tree | None:
        """Tree of the nodes as they are, None where they are no longer numbers."""
        if not np.isfinite(state.table.nodes).all():
            return None
        return decode.most_likely_tree(state.table, rows, state.placement)[0].tree

    def _identity(self, rows: RowReader, seed: int) -> dict:
        ignored = ("n_clusters", "checkpoint", "checkpoint_every", "random_state")
        chosen = {key: value for key, value in self.get_params().items() if key not in ignored}
        return {**chosen, "shape": rows.shape, "dtype": str(rows.dtype), "seed": seed}

    def _after_step(self, state: TrainingState, context: Any, name: str, seed: int) -> bool:
        last = state.step == self.max_steps
        if self.checkpoint is not None and (last or state.step % self.checkpoint_every == 0):
            save_checkpoint(self.checkpoint, state, name, seed)
        if not context._callbacks:
            return False
        task = context.subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=self)
        return task.call_on_fit_task_end(estimator=self, metadata={"cost": state.costs[-1]})

    # ---- what was learned --------------------------------------------------------------------------------

    def _keep(self, state: TrainingState, seed: int) -> None:
        self._state, self._stream_seed = state, seed
        self.nodes_ = state.table.nodes
        self.costs_ = np.array(state.costs)
        self.n_steps_ = state.step

    def _decode(self, rows: RowReader) -> None:
        found, self.parents_, self._node_parent = decode.most_likely_tree(self._table, rows, self._placement)
        self.tree_, self._tree_node = found
        self.labels_ = decode.cut(self.tree_, self.n_clusters)
        self.split_uncertainty_ = decode.split_uncertainty(self.tree_)
        self._data = rows

    @property
    def _table(self) -> NodeTable:
        return self._state.table

    @property
    def _placement(self) -> BallPlacement:
        return self._state.placement

    def predict(self, X: Any, level: int | str | None = None) -> Ints:
        """Where new points belong.

        Parameters
        ----------
        X : array-like of shape (n, d), memory map, on-disk array, or list of 2-D chunks
        level : int or "parent", optional
            By default the label in the flat clustering `labels_`; an integer asks for the label in the cut
            of `tree_` into so many clusters, "parent" for the node of `tree_` that is the parent of the
            point.

        Returns
        -------
        int64[n]
        """
        check_is_fitted(self, "tree_")
        rows = self._rows(X, reset=False)
        parent, _ = decode.assign(self._table, rows, self._placement, self._tree_node >= 0)
        if isinstance(level, str):
            if level != "parent":
                raise ValueError(f"level must be a number of clusters or 'parent'. Got {level!r}.")
            return self._tree_parent()[parent]
        labels = self.labels_ if level is None else decode.cut(self.tree_, level)
        place = model.ranks(self._table)
        return decode.label_of_nodes(labels, self.parents_, self._node_parent, place)[parent]

    def _tree_parent(self) -> Ints:
        """Node of `tree_` under which new data of a node of the model goes: beside its own data, if any."""
        beside = self._tree_node.copy()
        own = np.zeros(len(beside), np.int64)
        np.add.at(own, self.parents_, 1)
        several = own[self.parents_] > 1  # data alone under a node hangs from what the node was contracted to
        beside[self.parents_[several]] = self.tree_.parent[: self.tree_.n_leaves][several]
        alone = (beside >= 0) & (beside < self.tree_.n_leaves)
        beside[alone] = self.tree_.parent[beside[alone]]
        return beside

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each of `nodes_` to be the parent of each row (Eq. 5): float[n, n_nodes]."""
        check_is_fitted(self, "tree_")
        rows = self._rows(X, reset=False)
        out = np.empty((rows.shape[0], len(self._table)), rows.dtype)
        for places, chunk in decode.placed_chunks(rows, self._placement):
            for part in model.blocks(len(chunk), len(self._table)):
                logs = model.point_log_probabilities(self._table, chunk[part])
                out[places.start + part.start : places.start + part.stop] = np.exp(logs)
        return out

    def tree_over(self, X: Any) -> Tree:
        """Tree over the rows of any data by the nodes learned, as `tree_` is over the training data."""
        check_is_fitted(self, "tree_")
        return decode.most_likely_tree(self._table, self._rows(X, reset=False), self._placement)[0].tree

    def sample_trees(
        self, n_trees: int = 1, X: Any = None, *, temperature: float = 1.0, random_state: Any = None
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
        if X is None and getattr(self, "_data", None) is None:
            raise ValueError("The model was loaded without its data. Give X.")
        rows = self._data if X is None else self._rows(X, reset=False)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        generators = np.random.default_rng(seed).spawn(n_trees)
        return [
            decode.sampled_tree(self._table, rows, self._placement, rng, temperature) for rng in generators
        ]

    def log_probability(self, X: Any = None) -> float:
        """Logarithm of the probability of the most likely parents of all rows and nodes (Eq. 6)."""
        check_is_fitted(self, "tree_")
        rows = self._data if X is None else self._rows(X, reset=False)
        probability = decode.assign(self._table, rows, self._placement)[1]
        nodes = model.tree_log_probability(
            self._table, self.nodes_[:0], np.empty(0, np.int64), model.node_parents(self._table)
        )
        return float(np.log(probability).sum()) + nodes

    def __getstate__(self) -> dict:
        kept = super().__getstate__().copy()
        kept["_data"] = None  # may be larger than memory
        return kept
