"""The `HypHC` estimator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

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
from arbora._base.params import check_n_clusters
from arbora._base.random import generator, seed_of
from arbora._base.sharing import Shares
from arbora._base.threads import limited_threads
from arbora._base.training import FitProgress, deciding_params, history, with_callbacks
from arbora._base.types import Ints, PathLike, RandomState
from arbora.hyperbolic.hyphc.circle import CircleEngine
from arbora.hyperbolic.hyphc.decode import Decoder
from arbora.hyperbolic.hyphc.options import EngineKind, Options, SimilarityKind
from arbora.hyperbolic.hyphc.start import Start, angles_of, start_directions
from arbora.hyperbolic.hyphc.training import Best, LeafMover, Outcome, Run
from arbora.hyperbolic.hyphc.triples import TripleSampler
from arbora.metrics import dasgupta_cost
from arbora.similarity import cosine, dense, gaussian, knn
from arbora.similarity.protocol import Similarity, is_similarity
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
        Triples per epoch. By default every pair once, but at least 40,000 and at most 20 million.
    batch_size : int, optional
        Triples per step. By default four per point (eight from 2,048 points on, where a batch is shared among
        the cores), between 256 and 65,536.
    learning_rate : float or pair, default=(0.3, 1e-4)
        Of Adam. A pair is the rate at the start and at the end.
    temperature : float or pair, default=(1.0, 0.55)
        Of the softmax that picks the deepest ancestor. A pair anneals.
    radius : float or pair, default=(3.0, 6.5)
        Hyperbolic distance of the leaves from the origin (the paper's scale). A pair grows.
    learn_radius : bool, default=False
        Also train the radius, starting from its first value.
    dimension : int, default=2
        Of the ball.
    equal_radii : bool, default=True
        Hold all leaves at one radius. False lets them move freely in the ball.
    engine : {"auto", "circle", "torch"}, default="auto"
        "circle" is the fused engine for two dimensions and equal radii; "torch" the general one.
    decoder : {"auto", "exact", "greedy", "circle"}, default="auto"
        See `arbora.hyperbolic.hyphc.decode`.
    init : {"spectral", "random"}, Tree or array, default="spectral"
        Directions of the leaves to start from.
    neighbor_bias : float, default=0.0
        Share of triples whose first two leaves are neighbors; useful for sparse graphs.
    n_neighbors : int, default=10
        How many neighbors `neighbor_bias` and similarity="knn" use.
    metric : str, default="euclidean"
        Metric by which similarity="knn" finds neighbors; see `arbora.similarity.knn`.
    patience : int or None, default=20
        Stop when the decoded cost has not fallen for this many epochs.
    n_init : int, default=1
        Train from this many random starts and return the cheapest tree. On small data all of them train side by
        side, one epoch each in turn.
    refine : bool or dict, default=False
        Improve the decoded tree by `arbora.refine`; a dictionary holds options for it.
    checkpoint : path, optional
        Folder in which the state of training is saved. The same fit resumes from it and ends with the same tree;
        another is refused.
    checkpoint_every : int, default=5
        Epochs between checkpoints.
    device : str, default="cpu"
        Where PyTorch trains.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    tree_ : Tree
    labels_ : ndarray of int64, shape (n_points,)
    embedding_ : ndarray of float64, shape (n_points, dimension)
        Leaves in the ball, from which `tree_` was decoded (before refinement).
    cost_ : float
        Dasgupta's cost of `tree_` over unordered pairs.
    history_ : structured ndarray with the fields step, loss, cost
        One record per epoch of the best start: the epoch from 1, the mean loss of a triple, and the cost of the
        decoded tree (NaN where it was not decoded).
    n_epochs_ : int
    init_costs_ : ndarray of float64, shape (n_init,)
        Cost of the best tree of each start.
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

    tree_: Tree

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        similarity: SimilarityKind = "cosine",
        max_epochs: int = 50,
        n_triples: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | tuple[float, float] = (0.3, 1e-4),
        temperature: float | tuple[float, float] = (1.0, 0.55),
        radius: float | tuple[float, float] = (3.0, 6.5),
        learn_radius: bool = False,
        dimension: int = 2,
        equal_radii: bool = True,
        engine: EngineKind = "auto",
        decoder: Decoder = "auto",
        init: Start = "spectral",
        neighbor_bias: float = 0.0,
        n_neighbors: int = 10,
        metric: Literal["cosine", "euclidean"] = "euclidean",
        patience: int | None = 20,
        n_init: int = 1,
        refine: bool | dict[str, Any] = False,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 5,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: RandomState = None,
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
        self.equal_radii = equal_radii
        self.engine = engine
        self.decoder = decoder
        self.init = init
        self.neighbor_bias = neighbor_bias
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.patience = patience
        self.n_init = n_init
        self.refine = refine
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.similarity == "precomputed"
        return tags

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike | None = None) -> HypHC:
        """Learn a tree over the points of X.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features), or a similarity
            Vectors; a matrix of similarities (with similarity="precomputed"); or any similarity, made by
            `arbora.similarity` or your own. A Dask array of vectors must fit the memory of this machine and of every
            worker; large batches of triples are shared out among the workers, with the same result.
        y : ignored
        """
        options = Options.of(self)
        shares = Shares(None)
        if is_dask(X) or is_dask_frame(X):
            spread = DaskRows(X)
            X, shares = spread.in_memory("HypHC needs"), Shares(spread.workers)
        self.similarity_ = self._as_similarity(X, options)
        n_clusters = check_n_clusters(self.n_clusters, self.similarity_.n_points)
        saved = self._open_checkpoint()
        seed = seed_of(self.random_state) if saved is None else saved.seed
        self._keep(self._train(options, seed, saved, shares))
        if options.refine is not None:
            self._refine(options.refine, seed)
        names = self.similarity_.names if is_similarity(X) else row_names(X)
        if names is not None:
            self.tree_ = self.tree_.replace(name=names)
        self.labels_ = self.tree_.cut(n_clusters=n_clusters)
        return self

    @lazily
    def predict(self, X: Any, n_clusters: int | None = None) -> Ints:
        """Cluster of each new point: that of the place in the tree where it is inserted at least cost.

        Parameters
        ----------
        X : array-like
            Vectors, where the model was fitted on vectors; otherwise one row per new point with its similarity
            to each point of the tree. Points do not influence each other.
        n_clusters : int, optional
            Clusters to cut the tree into; by default those of `labels_`.

        Returns
        -------
        labels : ndarray of int64, shape (n_new,)
            -1 where a point resembles none of the tree.
        """
        check_is_fitted(self)
        if hasattr(self, "n_features_in_"):
            X = validated(self, X, reset=False, dtype=[np.float64, np.float32])
        n_points = self.tree_.n_leaves
        wanted = (
            len(np.unique(self.labels_)) if n_clusters is None else check_n_clusters(n_clusters, n_points)
        )
        if n_points == 1:
            return np.zeros(len(X), dtype=np.int64)
        from arbora.search import predict

        return predict(self.tree_, self.similarity_, X, n_clusters=wanted)

    def _as_similarity(self, X: Any, options: Options) -> Similarity:
        if is_similarity(X):
            self.__dict__.pop("n_features_in_", None)
            return X  # type: ignore[no-any-return]
        X = validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        if options.similarity == "precomputed":
            return dense(X)
        if options.similarity == "knn" and len(X) > 1:
            return knn(X, n_neighbors=min(options.n_neighbors, len(X) - 1), metric=self.metric)
        if options.similarity == "gaussian" and len(X) > 1:
            return gaussian(X)
        return cosine(X)

    def _open_checkpoint(self) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        # the similarity itself says how vectors were compared
        params = deciding_params(self, "similarity", "metric", "device")
        identity = identity_of(points=self.similarity_, **params)
        return Checkpoint(self.checkpoint, method="HypHC", identity=identity, random_state=self.random_state)

    def _train(self, options: Options, seed: int, saved: Checkpoint | None, shares: Shares) -> list[Outcome]:
        """The outcome of each start."""
        n = self.similarity_.n_points
        seeds = [seed, *(seed_of(generator(seed, number)) for number in range(1, options.n_init))]
        with (
            FitProgress(self, options.n_init * options.max_epochs, verbose=options.verbose) as progress,
            limited_threads(self.n_jobs) as n_threads,
        ):
            if n < 3:
                return [trivial_outcome(self.similarity_, options.dimension)] * len(seeds)
            if options.runs_side_by_side(n):
                runs = [
                    self._start(options, number, each, saved, shares) for number, each in enumerate(seeds)
                ]
                with ThreadPoolExecutor(n_threads) as pool:
                    self._advance(runs, options, saved, progress, pool)
                return [run.outcome() for run in runs]
            outcomes = []
            for number, each in enumerate(seeds):
                run = self._start(options, number, each, saved, shares)
                self._advance([run], options, saved, progress)
                outcomes.append(run.outcome())
            return outcomes

    def _start(
        self, options: Options, number: int, seed: int, saved: Checkpoint | None, shares: Shares
    ) -> Run:
        engine = self._engine(options, seed, shares)
        run = Run(engine, self.similarity_, options.max_epochs, options.decoder, options.patience, number)
        before = None if saved is None else saved.load(f"start{number}")
        if before is not None:
            run.load(before)
        return run

    def _engine(self, options: Options, seed: int, shares: Shares) -> LeafMover:
        n = self.similarity_.n_points
        sampler = TripleSampler(
            self.similarity_,
            options.triples_per_epoch(n),
            neighbor_bias=options.neighbor_bias,
            n_neighbors=options.n_neighbors,
            seed=seed,
        )
        rng = np.random.default_rng(seed)
        directions = start_directions(self.init, self.similarity_, options.dimension, rng)
        schedule, batch_size = options.schedule, options.triples_per_step(n)
        if options.engine == "circle":
            return CircleEngine(
                sampler,
                angles_of(directions),
                schedule,
                n_epochs=options.max_epochs,
                batch_size=batch_size,
                shares=shares,
            )
        # PyTorch, only where it is needed
        from arbora.hyperbolic.hyphc.ball import BallEngine

        return BallEngine(
            sampler,
            directions * np.tanh(schedule.radius[0] / 2),
            schedule,
            n_epochs=options.max_epochs,
            batch_size=batch_size,
            equal_radii=options.equal_radii,
            device=self.device,
        )

    def _advance(
        self,
        runs: list[Run],
        options: Options,
        saved: Checkpoint | None,
        progress: FitProgress,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        """Run all epochs: of every run in turn, those of one round in the threads of the pool."""
        while active := [run for run in runs if not run.is_over]:
            if pool is None:
                active[0].advance()
            else:
                list(pool.map(Run.advance, active))
            for run in active:
                self._report(run, options, saved, progress)

    def _report(self, run: Run, options: Options, saved: Checkpoint | None, progress: FitProgress) -> None:
        """Report an epoch to callbacks, which may stop the run, and save it where it is due."""
        cost = np.nan if run.best is None else run.best.cost
        stop = progress.step(
            run.number * options.max_epochs + run.epoch,
            note=f"start {run.number + 1}, best cost {cost:.6g}",
            reconstruction_attributes=lambda: self._snapshot(run),
        )
        run.is_stopped = run.is_stopped or stop
        if saved is not None and (run.is_over or run.epoch % options.checkpoint_every == 0):
            saved.keep(run.arrays(), f"start{run.number}")

    def _snapshot(self, run: Run) -> dict[str, Any]:
        """Attributes of a model fitted so far, for callbacks."""
        tree = run.decoded()
        names = {"n_features_in_": self.n_features_in_} if hasattr(self, "n_features_in_") else {}
        cost = run.history[-1][2]
        return {
            **names,
            "tree_": tree,
            "labels_": tree.cut(n_clusters=min(self.n_clusters, tree.n_leaves)),
            "embedding_": run.engine.embedding,
            "cost_": cost if np.isfinite(cost) else float(dasgupta_cost(tree, self.similarity_)),
            "history_": history(run.history),
            "n_epochs_": run.epoch,
            "similarity_": self.similarity_,
        }

    def _keep(self, outcomes: list[Outcome]) -> None:
        cheapest = min(outcomes, key=lambda outcome: outcome.best.cost)
        self.tree_ = cheapest.best.tree
        self.embedding_, self.cost_ = cheapest.best.embedding, cheapest.best.cost
        self.history_ = history(cheapest.history)
        self.n_epochs_ = len(self.history_)
        self.init_costs_ = np.array([outcome.best.cost for outcome in outcomes])

    def _refine(self, options: dict[str, Any], seed: int) -> None:
        from arbora.search import refine

        chosen = {"n_jobs": self.n_jobs, "random_state": seed, **options}
        self.tree_ = refine(self.tree_, self.similarity_, **chosen)
        self.cost_ = float(dasgupta_cost(self.tree_, self.similarity_))


def trivial_outcome(similarity: Similarity, dimension: int) -> Outcome:
    """The only tree over one or two points; opposite ends of the ball."""
    n = similarity.n_points
    tree = Tree([-1], 1, height=[0.0]) if n == 1 else Tree([2, 2, -1], 2, height=[0.0, 0.0, 1.0])
    embedding = np.zeros((n, dimension))
    embedding[:, 0] = [0.5, -0.5][:n]
    best = Best(tree, embedding, float(dasgupta_cost(tree, similarity)))
    return Outcome(best, [(1, 0.0, best.cost)])
