"""The `FPH` estimator."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from arbora._base.arrays import row_names, validated
from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.dask_rows import DaskRows
from arbora._base.distributed import is_dask
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_n_clusters, check_whole
from arbora._base.random import generator, seed_of
from arbora._base.training import FitProgress, deciding_params, history, with_callbacks
from arbora._base.types import Floats, Ints, Objective, PathLike, RandomState
from arbora.probabilistic import stages
from arbora.probabilistic.elbow import elbow
from arbora.probabilistic.expected import sample_parents
from arbora.probabilistic.flat import cut_labels
from arbora.probabilistic.graph_input import looks_like_graph, of_moderate_weights, shares_of
from arbora.probabilistic.options import Directed, GraphSource, Optimizer, Options, Precision
from arbora.probabilistic.row_blocks import rows_on
from arbora.probabilistic.spare_nodes import use_spare_nodes
from arbora.probabilistic.sparse import EdgeDistribution, Model, fundamental_matrix
from arbora.probabilistic.start import Start, model_of_tree, start_tree, tree_with_support
from arbora.probabilistic.training import Relaxation, TrainingState, train
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.similarity.knn import Metric
from arbora.tree import Tree


class FPH(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Flexible probabilistic hierarchies: a distribution over trees on a graph, trained by gradient.

    Every leaf has a distribution over n' internal nodes (A), every internal node one over those after it (B).
    Training lowers Dasgupta's cost, or raises the tree sampling divergence, of the trees that these describe, and
    returns the model whose most likely tree is best [1]_.

    Parameters
    ----------
    n_clusters : int, default=2
        Clusters of `labels_`.
    n_internal : int or "elbow", default=512
        Internal nodes n', at most one less than there are leaves. "elbow" tries powers of two for a few epochs.
    objective : {"dasgupta", "tsd"}, default="dasgupta"
    relaxation : {"auto", "expected", "soft", "straight-through"}, default="auto"
        What is descended: the expected loss of sampled trees by exact conditional costs ("expected"), the
        paper's soft loss, or the soft loss's slope at sampled trees. "auto" is "expected" for Dasgupta and
        "soft" for TSD, which did best in our measurements.
    optimizer : {"projected", "softmax", "embedding"}, default="projected"
        Projected gradient on sparse A; or Adam on scores, or on embeddings (both in PyTorch, with a full n x n'
        matrix, where "expected" means straight-through).
    init : {"average", "ward", "louvain", "search", "random"} or Tree, default="average"
        The tree to start from, compressed to `n_internal` nodes.
    learning_rate : float or pair, optional
        For A and for B. Scaled so that the same rates serve graphs of all sizes.
    max_epochs : int, default=500
    patience : int, default=100
        Start the next round, or stop after the last, when the decoded tree has not improved for this many epochs.
        It often gets worse first.
    n_rounds : int, optional
        Rounds after the first start again from the best tree so far, as if it were certain; the first takes half
        of the epochs, the second half of what is left. By default 3 for the soft losses, and 1 for the expected
        one, which gains from longer sampling. Batches, and Adam, have one round.
    exact_q : bool, default=True
        Of Soft-TSD: q as in App. A.11, or the paper's proxy.
    batch_size, batch_limit : int
        Train on the subgraph of `batch_size` random leaves and their neighbors, at most `batch_limit`; by
        default on the whole graph.
    evaluate_every : int, optional
        Epochs between decodings; by default 1, or 20 with batches.
    directed : {"sum", "max", "mean"}, default="sum"
        How an asymmetric adjacency becomes symmetric; "sum" counts a reciprocated edge twice, as in the paper.
    similarity : {"auto", "graph", "knn"}, default="auto"
        "auto" takes a sparse square matrix, networkx graph or edge tuple as a graph, and an array as vectors,
        of which a graph of the `n_neighbors` nearest is built.
    n_neighbors : int, default=10
    metric : str, default="euclidean"
        Metric by which neighbors of vectors are found; see `arbora.similarity.knn`.
    use_spare_nodes : bool, default=True
        Give internal nodes that the most likely tree leaves unused a place in its widest splits, where that
        improves it (`arbora.probabilistic.spare_nodes`). Not with batches: it needs the whole graph.
    refine : bool or dict, default=False
        Improve the decoded tree by `arbora.refine`, with no more than `n_internal` nodes; a dictionary holds
        options for it.
    checkpoint : path, optional
        Folder in which training is saved every `checkpoint_every` epochs. The same fit resumes from it; another
        is refused.
    checkpoint_every : int, default=50
    dtype : {"float64", "float32"}, default="float64"
        Of A and B. Sums of the soft losses cancel; in float32 they are less exact (see the docs).
    n_jobs : int, optional
        Threads of the compiled loops; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    tree_ : Tree
        The most likely tree (refined, where asked); `tree_.support` is the probability of each node's parent.
    A_ : scipy.sparse.csr_array, shape (n_leaves, n_internal)
    B_ : ndarray, shape (n_internal, n_internal)
    labels_ : ndarray of int64, shape (n_leaves,)
        A cut of the tree: ``tree_.cut(n_clusters, by="information", similarity=similarity_, exact="nearest")``. For
        exactly `n_clusters`, which wide splits may not offer, see `flat_labels`.
    n_clusters_ : int
        Clusters of `labels_`: as asked for, or the nearest number that the tree offers.
    score_ : float
        Dasgupta cost over the total weight, or normalized TSD, of `tree_`.
    history_ : structured ndarray with the fields step, loss, cost
        One record per evaluation: the epoch, the loss that was descended, and the loss of the decoded tree (TSD
        with a minus, in nats). Step 0 is the start.
    n_epochs_, best_epoch_ : int
    n_internal_ : int
    elbow_ : dict
        Decoded loss of each size tried, with ``n_internal="elbow"``.
    similarity_ : GraphSimilarity

    References
    ----------
    .. [1] Zügner, Charpentier, Geringer, Ayle, Günnemann, "End-to-end learning of probabilistic hierarchies on
       graphs", ICLR 2022.

    Examples
    --------
    >>> import arbora as ab
    >>> edges = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]  # two triangles and a bridge
    >>> model = ab.FPH(2, n_internal=3, max_epochs=20, random_state=0).fit(edges)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> round(model.score_, 4)
    3.4286
    """

    tree_: Tree

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_internal: int | Literal["elbow"] = 512,
        objective: Objective = "dasgupta",
        relaxation: Literal["auto"] | Relaxation = "auto",
        optimizer: Optimizer = "projected",
        init: Start = "average",
        learning_rate: float | tuple[float, float] | None = None,
        max_epochs: int = 500,
        patience: int = 100,
        n_rounds: int | None = None,
        exact_q: bool = True,
        batch_size: int | None = None,
        batch_limit: int = 200_000,
        evaluate_every: int | None = None,
        directed: Directed = "sum",
        similarity: GraphSource = "auto",
        n_neighbors: int = 10,
        metric: Metric = "euclidean",
        use_spare_nodes: bool = True,
        refine: bool | dict[str, Any] = False,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 50,
        dtype: Precision = "float64",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_internal = n_internal
        self.objective = objective
        self.relaxation = relaxation
        self.optimizer = optimizer
        self.init = init
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.n_rounds = n_rounds
        self.exact_q = exact_q
        self.batch_size = batch_size
        self.batch_limit = batch_limit
        self.evaluate_every = evaluate_every
        self.directed = directed
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.use_spare_nodes = use_spare_nodes
        self.refine = refine
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike | None = None) -> FPH:
        """Learn a hierarchy over the nodes of a graph.

        Parameters
        ----------
        X : sparse matrix, networkx graph, tuple (rows, cols[, weights]), GraphSimilarity, or array of vectors
            Several components are allowed; self-loops count at the leaf's parent. A graph in shards (a Dask frame of
            edges, or `arbora.similarity.graph` of one) of more than 100,000 nodes or 5 million edges stays where it is
            if `batch_size` is given, and must fit the memory of this machine otherwise; the leaves of large steps are
            shared out among its workers, with the same result.
        y : ignored
        """
        options = Options.of(self)
        self.similarity_ = self._read(X, options)
        n_clusters = check_n_clusters(self.n_clusters, self.similarity_.n_points)
        saved = self._open_checkpoint()
        rng = np.random.default_rng(seed_of(self.random_state) if saved is None else saved.seed)
        spread = stages.spread_graph(self.similarity_, options)
        # every objective is the same for weights that are a multiple of these
        similarity = of_moderate_weights(self.similarity_) if spread is None else spread
        with (
            FitProgress(self, options.plan.max_epochs, verbose=options.verbose) as progress,
            rows_on(shares_of(self.similarity_)),
        ):
            if similarity.n_points < 3 or similarity.total <= 0:
                self._keep_start(similarity, rng)
            else:
                rng = self._train(similarity, options, rng, saved, progress)
            if options.refine is not None:
                self._refine(similarity, options, rng)
            self.score_ = stages.score(self.tree_, similarity, options.objective)
            self.labels_ = cut_labels(self.tree_, similarity, n_clusters)
            self.n_clusters_ = int(self.labels_.max()) + 1
        names = row_names(X) if self.similarity_.names is None else self.similarity_.names
        if names is not None:
            self.tree_ = self.tree_.replace(name=names)
        return self

    def flat_labels(self, n_clusters: int | None = None) -> Ints:
        """Exactly as many flat clusters as asked for, keeping most of the information in the tree.

        They follow the tree, but are not a cut of it: wide splits are first resolved, and the leaves of small
        outlying branches join the cluster their edges lead to. The tables of the paper are compared by these. On a
        graph in shards that was too large for one machine the leaves of an internal node stay together.

        Parameters
        ----------
        n_clusters : int, optional
            By default that of the model.

        Returns
        -------
        labels : ndarray of int64, shape (n_leaves,)

        Examples
        --------
        >>> import arbora as ab
        >>> edges = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
        >>> ab.FPH(2, n_internal=3, max_epochs=20, random_state=0).fit(edges).flat_labels(3)
        array([0, 1, 0, 2, 2, 2])
        """
        check_is_fitted(self)
        wanted = self.n_clusters if n_clusters is None else n_clusters
        count = check_n_clusters(wanted, self.tree_.n_leaves)
        return stages.labels_of(self.tree_, self.similarity_, count)

    def sample_trees(self, n_trees: int = 1, *, random_state: RandomState = None) -> list[Tree]:
        """Draw trees from the model (Sec. 2.2): every node picks its parent independently.

        Each tree's `support` holds the probabilities of the parents picked.
        """
        check_is_fitted(self)
        rng = generator(random_state)
        model = Model(self.A_, self.B_)
        n_trees = check_whole(n_trees, "n_trees", least=0)
        return [tree_with_support(model, sample_parents(model, rng))[0] for _ in range(n_trees)]

    def leaf_support(self, node: int | None = None) -> Floats:
        """How sure the model is of each leaf's place.

        Without `node`, the probability of the parent that the most likely tree gives it. With an internal node of
        `tree_`, the probability of every leaf to lie below that node (Thm 2).
        """
        check_is_fitted(self)
        if node is None:
            first = self.A_.indptr[:-1]
            return np.maximum.reduceat(self.A_.data, first).astype(np.float64)
        if self._columns is None:
            raise ValueError("The nodes of a refined tree are not in the model. Fit with refine=False.")
        n = self.tree_.n_leaves
        if not n <= node < self.tree_.n_nodes:
            raise ValueError(f"node must be an internal node, in [{n}, {self.tree_.n_nodes}). Got {node!r}.")
        return np.asarray(self.A_ @ fundamental_matrix(self.B_)[:, self._columns[node - n]])

    def _read(self, X: Any, options: Options) -> GraphSimilarity:
        if options.source == "graph" or (options.source == "auto" and looks_like_graph(X)):
            self.__dict__.pop("n_features_in_", None)
            return graph(X, directed=options.directed)
        from arbora.similarity import knn

        if is_dask(X):
            X = DaskRows(X).in_memory("FPH needs")
        X = validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        if options.source == "auto":
            stages.refuse_adjacency(X)
        if len(X) == 1:
            return graph(sp.csr_array((1, 1)))
        return knn(X, n_neighbors=min(options.n_neighbors, len(X) - 1), metric=self.metric)

    def _open_checkpoint(self) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        # the graph itself says how it was read
        params = deciding_params(self, "similarity", "directed", "n_neighbors", "metric")
        identity = identity_of(similarity=self.similarity_, **params)
        return Checkpoint(self.checkpoint, method="FPH", identity=identity, random_state=self.random_state)

    def _keep_start(self, similarity: GraphSimilarity, rng: np.random.Generator) -> None:
        """A graph with nothing to learn: one or two nodes, or no edge."""
        tree = start_tree(similarity, "average", max(similarity.n_points - 1, 1), "dasgupta", rng)
        self._keep(tree, model_of_tree(tree), np.arange(tree.n_internal))
        self.history_ = history([])
        self.n_epochs_ = self.best_epoch_ = 0

    def _train(
        self,
        similarity: GraphSimilarity,
        options: Options,
        rng: np.random.Generator,
        saved: Checkpoint | None,
        progress: FitProgress,
    ) -> np.random.Generator:
        """Train, and keep the best model; returns the generator as training left it."""
        graph = stages.distribution_of(similarity, options)
        if options.n_internal == "elbow":
            self.elbow_ = stages.losses_of_sizes(similarity, graph, options, rng, saved)
            size = elbow(list(self.elbow_), list(self.elbow_.values()))
        else:
            size = min(options.n_internal, similarity.n_points - 1)
        refuse_if_too_large(
            48 * size * size, f"The tables of {size} x {size} internal nodes", "Choose a smaller n_internal."
        )
        arrays = None if saved is None else saved.load()
        if arrays is None:
            state = stages.start(similarity, graph, options, size, rng)
        else:
            state = TrainingState.from_arrays(arrays)
        state = train(
            graph,
            state,
            options.plan,
            on_epoch=lambda now: self._after_epoch(now, options, saved, progress),
            take_step=stages.adam_step(similarity, graph, state, options),
            start_round=lambda now: stages.next_start(similarity, graph, now, options),
        )
        if saved is not None:
            saved.keep(state.arrays())
        best = state.best
        if options.use_spare_nodes and isinstance(graph, EdgeDistribution):
            best = use_spare_nodes(similarity, graph, best, options.objective)
        tree, columns = tree_with_support(best.model, best.parents)
        self._keep(tree, best.model, columns)
        self.history_ = history(state.history)
        self.n_epochs_, self.best_epoch_ = state.epoch, best.epoch
        return state.rng

    def _keep(self, tree: Tree, model: Model, columns: Ints) -> None:
        self.tree_ = tree
        self.A_, self.B_ = model
        self.n_internal_ = model.n_internal
        # which internal node of the model each internal node of the tree is; None where it was refined
        self._columns: Ints | None = columns

    def _refine(self, similarity: GraphSimilarity, options: Options, rng: np.random.Generator) -> None:
        from arbora.search import refine

        chosen = {
            "n_internal": max(self.n_internal_, 1),
            "n_jobs": self.n_jobs,
            "random_state": int(rng.integers(2**31)),
            **(options.refine or {}),
        }
        better = refine(self.tree_, similarity, options.objective, **chosen)
        old, new = (stages.score(tree, similarity, options.objective) for tree in (self.tree_, better))
        if new < old if options.objective == "dasgupta" else new > old:
            self.tree_, self._columns = better, None

    def _after_epoch(
        self, state: TrainingState, options: Options, saved: Checkpoint | None, progress: FitProgress
    ) -> bool:
        """Save and report; whether a callback asks to stop."""
        if saved is not None and state.epoch % options.checkpoint_every == 0:
            saved.keep(state.arrays())
        return progress.step(
            state.epoch,
            note=f"best loss {state.best.loss:.6g}",
            reconstruction_attributes=lambda: self._snapshot(state),
        )

    def _snapshot(self, state: TrainingState) -> dict[str, Any]:
        """Attributes of a model fitted so far, for callbacks."""
        tree, columns = tree_with_support(state.best.model, state.best.parents)
        names = {"n_features_in_": self.n_features_in_} if hasattr(self, "n_features_in_") else {}
        n_clusters = min(self.n_clusters, tree.n_leaves)
        return {
            **names,
            "tree_": tree,
            "A_": state.best.model.A,
            "B_": state.best.model.B,
            "_columns": columns,
            "labels_": cut_labels(tree, of_moderate_weights(self.similarity_), n_clusters),
            "similarity_": self.similarity_,
            "history_": history(state.history),
            "n_epochs_": state.epoch,
        }
