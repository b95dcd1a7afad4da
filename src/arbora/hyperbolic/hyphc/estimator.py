"""The `HypHC` estimator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora.hyperbolic.hyphc import settings
from arbora.hyperbolic.hyphc._kernels import Schedule
from arbora.hyperbolic.hyphc.checkpoint import Checkpoint, fit_identity
from arbora.hyperbolic.hyphc.circle import CircleEngine
from arbora.hyperbolic.hyphc.start import angles_of, start_directions
from arbora.hyperbolic.hyphc.training import Epoch, Progress, Run, train
from arbora.hyperbolic.hyphc.triples import TripleSampler
from arbora.metrics import dasgupta_cost
from arbora.similarity.protocol import is_similarity
from arbora.tree import Tree


class HypHC(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Hyperbolic hierarchical clustering: leaves move in hyperbolic space until the tree they imply is good.

    Minimizes a continuous form of Dasgupta's cost over sampled triples of points, then decodes the embedding
    into a binary tree [1]_. With the default two dimensions the leaves lie on a circle and training runs in
    compiled code on all cores; other settings train in PyTorch. Where the paper keeps temperature and scale
    fixed, the defaults here anneal them, which finds better trees.

    Parameters
    ----------
    n_clusters : int, default=2
        Clusters of `labels_`.
    similarity : {"cosine", "knn", "gaussian", "precomputed"}, default="cosine"
        How vectors are compared; "cosine" is (1 + cos) / 2 as in the paper. "precomputed": X is a matrix of
        similarities. Ignored where X is a similarity object.
    max_epochs : int, default=50
    n_triples : int, optional
        Triples an epoch. By default every pair once, but at least 40,000 and at most 20 million.
    batch_size : int, optional
        Triples a step. By default four a point (eight from 2,048 points on, where a batch is shared out over
        cores), between 256 and 65,536.
    learning_rate : float or pair, default=(0.3, 1e-4)
        Of Adam. A pair is the rate at the start and at the end.
    temperature : float or pair, default=(1.0, 0.55)
        Of the softmax that picks the deepest ancestor. A pair anneals.
    radius : float or pair, default=(3.0, 6.5)
        Hyperbolic distance of the leaves from the origin (the paper's scale). A pair grows.
    learn_radius : bool, default=False
        Train the radius, too, from its first value.
    dimension : int, default=2
        Of the ball.
    normalize : bool, default=True
        Keep all leaves at one radius. False lets them move freely in the ball.
    engine : {"auto", "circle", "torch"}, default="auto"
        "circle" is the fused engine for two dimensions, normalized; "torch" the general one.
    decoder : {"auto", "exact", "greedy", "circle"}, default="auto"
        See `arbora.hyperbolic.hyphc.decode`.
    init : {"spectral", "random"}, Tree or array, default="spectral"
        Directions of the leaves to start from.
    neighbor_bias : float, default=0.0
        Share of triples whose first two leaves are neighbors; useful for sparse graphs.
    n_neighbors : int, default=15
        How many neighbors `neighbor_bias` and similarity="knn" use.
    patience : int or None, default=20
        Stop when the decoded cost has not fallen for so many epochs.
    restarts : int, default=1
        Train so many times and keep the cheapest tree.
    refine : bool, default=False
        Improve the decoded tree by `arbora.refine`.
    callback : callable, optional
        Called after every epoch with an `Epoch` (embedding, tree, cost, ...); returning True stops.
    checkpoint : path, optional
        File the state of training is kept in. A fit that finds the checkpoint of the same fit continues from
        it and ends with the same tree.
    checkpoint_every : int, default=5
        Epochs between checkpoints.
    device : str, default="cpu"
        Where PyTorch trains.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default=False
        Show a line an epoch on stderr.

    Attributes
    ----------
    tree_ : Tree
    labels_ : ndarray of int64, shape (n_points,)
    embedding_ : ndarray of float64, shape (n_points, dimension)
        Leaves in the ball, from which `tree_` was decoded (before refinement).
    cost_ : float
        Dasgupta's cost of `tree_` over unordered pairs.
    cost_history_, loss_history_ : ndarray, shape ``(n_epochs_,)``
        Decoded cost (NaN where an epoch was not decoded) and mean loss of a triple, of the restart kept.
    n_epochs_ : int
    restart_costs_ : ndarray of float64, shape (restarts,)
    similarity_ : Similarity
    n_features_in_ : int
        Where X was an array.

    References
    ----------
    .. [1] Chami, Gu, Chatziafratis, Ré, "From trees to continuous embeddings and back: hyperbolic
       hierarchical clustering", NeurIPS 2020.

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [-1.0, 0.1]]
    >>> model = ab.HypHC(n_clusters=3, max_epochs=5, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1, 2])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        similarity: str = "cosine",
        max_epochs: int = 50,
        n_triples: int | None = None,
        batch_size: int | None = None,
        learning_rate: Any = (0.3, 1e-4),
        temperature: Any = (1.0, 0.55),
        radius: Any = (3.0, 6.5),
        learn_radius: bool = False,
        dimension: int = 2,
        normalize: bool = True,
        engine: str = "auto",
        decoder: str = "auto",
        init: Any = "spectral",
        neighbor_bias: float = 0.0,
        n_neighbors: int = 15,
        patience: int | None = 20,
        restarts: int = 1,
        refine: bool = False,
        callback: Callable[[Epoch], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 5,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.max_epochs = max_epochs
        self.n_triples = n_triples
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.temperature = temperature
        self.radius = radius
        self.learn_radius = learn_radius
        self.dimension = dimension
        self.normalize = normalize
        self.engine = engine
        self.decoder = decoder
        self.init = init
        self.neighbor_bias = neighbor_bias
        self.n_neighbors = n_neighbors
        self.patience = patience
        self.restarts = restarts
        self.refine = refine
        self.callback = callback
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.similarity == "precomputed"
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> HypHC:
        """Learn a tree over the points of X.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features), or a similarity
            Vectors; a matrix of similarities (with similarity="precomputed"); or any object made by
            `arbora.similarity`.
        y : ignored
        """
        settings.check(self)
        similarity = self._as_similarity(X)
        settings.check_n_clusters(self.n_clusters, similarity.n_points)
        self.similarity_ = similarity
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.restarts).tolist()
        kept = None
        if self.checkpoint is not None:
            identity = fit_identity(self.get_params(deep=False), similarity)
            chosen = isinstance(self.random_state, Integral)
            kept = Checkpoint(self.checkpoint, identity, seeds, chosen=chosen)
            seeds = kept.seeds
        runs = self._run_all(similarity, seeds, kept)
        self._keep(min(runs, key=lambda run: run.cost), [run.cost for run in runs])
        if self.refine:
            self._refine(seeds[0])
        self.labels_ = self.tree_.cut(n_clusters=min(self.n_clusters, similarity.n_points))
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Cluster of each new point: that of the place in the tree where it is inserted at least cost.

        Parameters
        ----------
        X : array-like
            Vectors, where the model was fitted on vectors; otherwise one row a new point with its
            similarity to each point of the tree. Points do not influence each other.

        Returns
        -------
        labels : ndarray of int64, shape (n_new,)
            -1 where a point resembles none of the tree.
        """
        check_is_fitted(self)
        if hasattr(self, "n_features_in_"):
            X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        if self.tree_.n_leaves == 1:
            return np.zeros(len(X), dtype=np.int64)
        from arbora.search import predict

        return predict(self.tree_, self.similarity_, X, n_clusters=len(np.unique(self.labels_)))

    def _as_similarity(self, X: Any) -> Any:
        if is_similarity(X):
            self.__dict__.pop("n_features_in_", None)
            return X
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        return settings.similarity_of(X, self.similarity, self.n_neighbors)

    def _run_all(self, similarity: Any, seeds: list[int], kept: Checkpoint | None) -> list[Run]:
        n = similarity.n_points
        context = self._init_callback_context(max_subtasks=self.restarts * self.max_epochs)
        context.call_on_fit_task_begin(estimator=self)
        if n < 3:
            runs = [trivial_run(similarity, self.dimension)] * len(seeds)
        elif self._threads_over_restarts(n):
            with ThreadPoolExecutor(settings.count_threads(self.n_jobs)) as pool:
                runs = list(pool.map(lambda item: self._run(similarity, *item, None, None), enumerate(seeds)))
        else:
            with settings.limited_threads(self.n_jobs):
                runs = [self._run(similarity, k, seed, context, kept) for k, seed in enumerate(seeds)]
        context.call_on_fit_task_end(estimator=self)
        return runs

    def _threads_over_restarts(self, n: int) -> bool:
        """Whether whole restarts run side by side: those whose batches are too small to share out."""
        heard = self.callback is not None or self.verbose or getattr(self, "_skl_callbacks", None)
        heard = heard or self.checkpoint is not None  # kept restart by restart
        small = settings.batch_size(self, n) < settings.PARALLEL_FROM
        return self.restarts > 1 and not heard and small and settings.engine(self) == "circle"

    def _run(self, similarity: Any, restart: int, seed: int, context: Any, kept: Checkpoint | None) -> Run:
        engine = self._start_engine(similarity, seed)
        before = {} if kept is None else kept.progress(restart)
        if before:
            engine.load({key[7:]: value for key, value in before.items() if key.startswith("engine_")})

        def keep(progress: Progress) -> None:
            last = progress.epoch == self.max_epochs or progress.since_best == self.patience
            if kept is not None and (last or progress.epoch % self.checkpoint_every == 0):
                state = {f"engine_{key}": value for key, value in engine.state().items()}
                kept.keep(restart, progress.arrays() | state)

        return train(
            engine,
            similarity,
            n_epochs=self.max_epochs,
            decoder=self.decoder,
            patience=self.patience,
            restart=restart,
            report=lambda state: self._report(state, context),
            progress=Progress.from_arrays(before),
            keep=keep,
        )

    def _start_engine(self, similarity: Any, seed: int) -> Any:
        n = similarity.n_points
        sampler = TripleSampler(
            similarity,
            settings.n_triples(self, n),
            neighbor_bias=self.neighbor_bias,
            n_neighbors=self.n_neighbors,
            seed=seed,
        )
        schedule = Schedule(
            settings.span(self.learning_rate, "learning_rate"),
            settings.span(self.temperature, "temperature"),
            settings.span(self.radius, "radius"),
            bool(self.learn_radius),
        )
        directions = start_directions(self.init, similarity, self.dimension, np.random.default_rng(seed))
        common = {"n_epochs": self.max_epochs, "batch_size": settings.batch_size(self, n)}
        if settings.engine(self) == "circle":
            return CircleEngine(sampler, angles_of(directions), schedule, **common)
        from arbora.hyperbolic.hyphc.ball import BallEngine  # PyTorch, only where it is needed

        start = directions * np.tanh(schedule.radius[0] / 2)
        return BallEngine(sampler, start, schedule, normalize=self.normalize, device=self.device, **common)

    def _report(self, state: Epoch, context: Any) -> bool:
        if self.verbose:
            print(
                f"\r[HypHC] restart {state.restart + 1}, epoch {state.epoch + 1}/{state.n_epochs}: loss "
                f"{state.loss:.6g}, cost {state.cost:.6g}, best {state.best_cost:.6g}",
                end="" if state.epoch + 1 < state.n_epochs else "\n",
                file=sys.stderr,
                flush=True,
            )
        stop = False
        if context is not None and context._callbacks:
            task = context.subcontext(task_name="epoch")
            task.call_on_fit_task_begin(estimator=self)
            stop = task.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=lambda: self._snapshot(state)
            )
        if self.callback is not None:
            stop = bool(self.callback(state)) or stop
        return stop

    def _snapshot(self, state: Epoch) -> dict[str, Any]:
        labels = state.tree.cut(n_clusters=min(self.n_clusters, state.tree.n_leaves))
        kept = {"n_features_in_": self.n_features_in_} if hasattr(self, "n_features_in_") else {}
        fitted = {"tree_": state.tree, "labels_": labels, "embedding_": state.embedding, "cost_": state.cost}
        return {**kept, **fitted, "similarity_": self.similarity_}

    def _keep(self, run: Run, costs: list[float]) -> None:
        self.tree_ = run.tree
        self.embedding_ = run.embedding
        self.cost_ = run.cost
        self.cost_history_ = run.costs
        self.loss_history_ = run.losses
        self.n_epochs_ = len(run.costs)
        self.restart_costs_ = np.array(costs)

    def _refine(self, seed: int) -> None:
        from arbora.search import refine

        self.tree_ = refine(self.tree_, self.similarity_, random_state=seed)
        self.cost_ = dasgupta_cost(self.tree_, self.similarity_)


def trivial_run(similarity: Any, dimension: int) -> Run:
    """The only tree over one or two points; opposite ends of the ball."""
    n = similarity.n_points
    tree = Tree([-1], 1, height=[0.0]) if n == 1 else Tree([2, 2, -1], 2, height=[0.0, 0.0, 1.0])
    embedding = np.zeros((n, dimension))
    embedding[:, 0] = [0.5, -0.5][:n]
    cost = dasgupta_cost(tree, similarity)
    return Run(tree, embedding, cost, np.array([cost]), np.array([0.0]))
