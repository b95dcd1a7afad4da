"""The `FPH` estimator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from arbora.probabilistic import parameters as settings
from arbora.probabilistic.elbow import candidate_sizes, elbow
from arbora.probabilistic.expected import sample_parents
from arbora.probabilistic.flat import flat_labels
from arbora.probabilistic.graph_input import looks_like_graph, read_graph
from arbora.probabilistic.spare_nodes import use_spare_nodes
from arbora.probabilistic.sparse import Model, binary_model, edge_distribution, fundamental_matrix
from arbora.probabilistic.start import model_of_tree, start_tree, tree_of_parents
from arbora.probabilistic.training import Progress, Settings, load_checkpoint, save_checkpoint, train
from arbora.tree import Tree


class FPH(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Flexible probabilistic hierarchies: a distribution over trees on a graph, trained by gradient.

    Every leaf has a distribution over n' internal nodes (A), every internal node one over those after it (B).
    Training lowers Dasgupta's cost, or raises the tree sampling divergence, of the trees this describes, and
    keeps the model whose most likely tree is best [1]_.

    Parameters
    ----------
    n_internal : int or "elbow", default=512
        Internal nodes n', at most one less than there are leaves. "elbow" tries powers of two for a few epochs.
    objective : {"dasgupta", "tsd"}, default="dasgupta"
    relaxation : {"auto", "expected", "soft", "straight-through"}, default="auto"
        What is descended: the expected loss of sampled trees by exact conditional costs ("expected"), the
        paper's soft loss, or the soft loss's slope at sampled trees. "auto" is "expected" for Dasgupta and
        "soft" for TSD, which measured best.
    optimizer : {"projected", "softmax", "embedding"}, default="projected"
        Projected gradient on sparse A; or Adam on scores, or on embeddings (both in PyTorch, with a full n x n'
        matrix, where "expected" means straight-through).
    init : {"average", "ward", "louvain", "search", "random"} or Tree, default="average"
        The tree to start from, compressed to `n_internal` nodes.
    n_clusters : int, default=2
        Clusters of `labels_`, by `arbora.probabilistic.flat.flat_labels`.
    learning_rate : float or pair, optional
        For A and for B. Scaled so that the same rates serve graphs of all sizes.
    max_epochs : int, default=500
    patience : int, default=100
        Start the next round, or stop after the last, when the decoded tree has not improved for so many epochs.
        It often gets worse first.
    n_rounds : int, optional
        Rounds after the first start again from the best tree so far, as if it were certain; the first takes half
        of the epochs, the second half of what is left. By default 3 for the soft losses, and 1 for the expected
        one, which gains by being sampled on. Batches, and Adam, know one round.
    exact_q : bool, default=True
        Of Soft-TSD: q as in App. A.11, or the paper's proxy.
    batch_size, batch_limit : int
        Train on the subgraph of `batch_size` random leaves and their neighbors, at most `batch_limit`; by
        default on the whole graph.
    evaluate_every : int, optional
        Decode after so many epochs; by default every one, with batches every 20.
    directed : {"sum", "max", "mean"}, default="sum"
        How an asymmetric adjacency becomes symmetric; "sum" counts a reciprocated edge twice, as in the paper.
    similarity : {"auto", "graph", "knn"}, default="auto"
        "auto" takes a sparse square matrix, networkx graph or edge tuple as a graph, and an array as vectors,
        of which a graph of the `n_neighbors` nearest is built.
    n_neighbors : int, default=15
    use_spare_nodes : bool, default=True
        Give internal nodes that the most likely tree leaves without use a place in its widest splits, where that
        improves it (`arbora.probabilistic.spare_nodes`). Not with batches: it takes the whole graph.
    refine : bool, default=False
        Improve the decoded tree by `arbora.refine`, with no more than `n_internal` nodes.
    callback : callable, optional
        Called after every epoch with the `Progress`; returning True stops.
    checkpoint : path, optional
        Written every `checkpoint_every` epochs; where it exists, training goes on from it.
    checkpoint_every : int, default=50
    dtype : {"float64", "float32"}, default="float64"
        Of A and B. Sums of the soft losses cancel; in float32 they are less exact (see the docs).
    n_jobs : int, optional
        Threads of the compiled loops; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default=False

    Attributes
    ----------
    tree_ : Tree
        The most likely tree (refined, where asked); `tree_.support` is the probability of each node's parent.
    A_ : scipy.sparse.csr_array, shape (n_leaves, n_internal)
    B_ : ndarray, shape (n_internal, n_internal)
    labels_ : ndarray of int64, shape (n_leaves,)
    score_ : float
        Dasgupta cost over the total weight, or normalized TSD, of `tree_`.
    history_ : ndarray, shape (n_evaluations, 3)
        Epoch, loss that was descended, loss of the decoded tree (TSD with a minus, in nats).
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
    >>> model = ab.FPH(n_internal=3, max_epochs=20, random_state=0).fit(edges)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> round(model.score_, 4)
    3.4286
    """

    def __init__(
        self,
        n_internal: int | str = 512,
        *,
        objective: str = "dasgupta",
        relaxation: str = "auto",
        optimizer: str = "projected",
        init: Any = "average",
        n_clusters: int = 2,
        learning_rate: Any = None,
        max_epochs: int = 500,
        patience: int = 100,
        n_rounds: int | None = None,
        exact_q: bool = True,
        batch_size: int | None = None,
        batch_limit: int = 200_000,
        evaluate_every: int | None = None,
        directed: str = "sum",
        similarity: str = "auto",
        n_neighbors: int = 15,
        use_spare_nodes: bool = True,
        refine: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 50,
        dtype: str = "float64",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_internal = n_internal
        self.objective = objective
        self.relaxation = relaxation
        self.optimizer = optimizer
        self.init = init
        self.n_clusters = n_clusters
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
        self.use_spare_nodes = use_spare_nodes
        self.refine = refine
        self.callback = callback
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> FPH:
        """Learn a hierarchy over the nodes of a graph.

        Parameters
        ----------
        X : sparse matrix, networkx graph, tuple (rows, cols[, weights]), GraphSimilarity, or array of vectors
            Several components are allowed; self-loops count at the leaf's parent.
        y : ignored
        """
        settings.check(self)
        self.similarity_ = similarity = self._read(X)
        settings.check_n_clusters(self.n_clusters, similarity.n_points)
        context = self._init_callback_context(max_subtasks=self.max_epochs)
        context.call_on_fit_task_begin(estimator=self)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        if similarity.n_points < 3 or similarity.total <= 0:
            self._keep_start(similarity, rng)
        else:
            self._train(similarity, rng, context)
        if self.refine:
            self._refine(similarity, rng)
        self.score_ = settings.score(self.tree_, similarity, self.objective)
        self.labels_ = flat_labels(self.tree_, similarity, min(self.n_clusters, similarity.n_points))
        context.call_on_fit_task_end(estimator=self)
        return self

    def sample_trees(self, n_samples: int = 1, random_state: Any = None) -> list[Tree]:
        """Draw trees from the model (Sec. 2.2): every node picks its parent independently.

        Each tree's `support` holds the probabilities of the parents picked.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        model = Model(self.A_, self.B_)
        return [tree_with_support(model, *sample_parents(model, rng))[0] for _ in range(n_samples)]

    def leaf_support(self, node: int | None = None) -> NDArray[np.float64]:
        """How sure the model is of each leaf's place.

        Without `node`, the probability of the parent that the most likely tree gives it. With an internal node of
        `tree_`, the probability of every leaf to lie below that node (Thm 2).
        """
        check_is_fitted(self)
        if node is None:
            first = self.A_.indptr[:-1]
            return np.maximum.reduceat(self.A_.data, first).astype(np.float64)
        if self.columns_ is None:
            raise ValueError("The nodes of a refined tree are not in the model. Fit with refine=False.")
        n = self.tree_.n_leaves
        if not n <= node < self.tree_.n_nodes:
            raise ValueError(f"node must be an internal node, in [{n}, {self.tree_.n_nodes}). Got {node!r}.")
        return np.asarray(self.A_ @ fundamental_matrix(self.B_)[:, self.columns_[node - n]])

    def _read(self, X):
        if self.similarity == "graph" or (self.similarity == "auto" and looks_like_graph(X)):
            self.__dict__.pop("n_features_in_", None)
            return read_graph(X, self.directed)
        from arbora.similarity import knn

        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1)
        settings.refuse_matrix(X, self.similarity)
        if len(X) == 1:
            return read_graph(sp.csr_array((1, 1)))
        return knn(X, n_neighbors=min(self.n_neighbors, len(X) - 1))

    def _keep_start(self, similarity, rng):
        """A graph with nothing to learn: one or two nodes, or no edge."""
        tree = start_tree(similarity, "average", max(similarity.n_points - 1, 1), "dasgupta", rng)
        self._keep(tree, model_of_tree(tree), np.arange(tree.n_internal))
        self.history_ = np.zeros((0, 3))
        self.n_epochs_ = self.best_epoch_ = 0

    def _train(self, similarity, rng, context):
        graph = edge_distribution(similarity, np.dtype(self.dtype))
        self.n_internal_ = self._choose_size(similarity, graph, rng)
        plan = settings.plan(self)
        progress = self._begin(similarity, self.n_internal_, rng)
        take_step = settings.unconstrained_step(self, graph, progress, similarity, plan)
        train(
            *(graph, progress, plan, lambda state: self._report(state, context), take_step),
            lambda state: self._next_start(similarity, graph, state),
        )
        if self.checkpoint is not None:
            save_checkpoint(self.checkpoint, progress)
        if self.use_spare_nodes and self.batch_size is None:
            use_spare_nodes(similarity, graph, progress, self.objective)
        tree, columns = tree_with_support(progress.best_model, *progress.best_parents)
        self._keep(tree, progress.best_model, columns)
        self.history_ = np.array(progress.history)
        self.n_epochs_, self.best_epoch_ = progress.epoch, progress.best_epoch

    def _next_start(self, similarity, graph, progress):
        """What a later round starts from: the best tree so far, as if it were certain."""
        if self.use_spare_nodes:
            use_spare_nodes(similarity, graph, progress, self.objective)
        return binary_model(*progress.best_parents, dtype=np.dtype(self.dtype))

    def _begin(self, similarity, n_internal, rng):
        if self.checkpoint is not None and os.path.exists(self.checkpoint):
            return load_checkpoint(self.checkpoint, similarity.n_points)
        tree = start_tree(similarity, self.init, n_internal, self.objective, rng)
        return Progress(model_of_tree(tree, np.dtype(self.dtype)), rng)

    def _choose_size(self, similarity, graph, rng):
        if self.n_internal != "elbow":
            return min(self.n_internal, similarity.n_points - 1)
        plan = Settings(**{**settings.plan(self).__dict__, "max_epochs": 20, "patience": 20, "n_rounds": 1})
        self.elbow_ = {}
        for size in candidate_sizes(similarity.n_points):
            tree = start_tree(similarity, self.init, size, self.objective, rng)
            tried = train(graph, Progress(model_of_tree(tree, np.dtype(self.dtype)), rng), plan)
            self.elbow_[size] = tried.best_loss
        return elbow(list(self.elbow_), list(self.elbow_.values()))

    def _keep(self, tree, model, columns):
        self.tree_ = tree
        self.A_, self.B_ = model
        self.n_internal_ = model.n_internal
        self.columns_ = columns

    def _refine(self, similarity, rng):
        from arbora.search import refine

        seed = int(rng.integers(2**31))
        size = max(self.n_internal_, 1)
        better = refine(self.tree_, similarity, self.objective, n_internal=size, random_state=seed)
        old, new = (settings.score(tree, similarity, self.objective) for tree in (self.tree_, better))
        if new < old if self.objective == "dasgupta" else new > old:
            self.tree_, self.columns_ = better, None

    def _report(self, progress, context):
        if self.verbose and progress.history[-1][0] == progress.epoch:
            epoch, loss, decoded = progress.history[-1]
            print(
                f"[FPH] epoch {epoch}/{self.max_epochs}: loss {loss:.6g}, decoded {decoded:.6g}, "
                f"best {progress.best_loss:.6g}",
                file=sys.stderr,
                flush=True,
            )
        if self.checkpoint is not None and progress.epoch % self.checkpoint_every == 0:
            save_checkpoint(self.checkpoint, progress)
        stop = False
        if context._callbacks:
            task = context.subcontext(task_name="epoch")
            task.call_on_fit_task_begin(estimator=self)
            stop = bool(
                task.call_on_fit_task_end(
                    estimator=self, reconstruction_attributes=lambda: self._snapshot(progress)
                )
            )
        return bool(self.callback(progress)) | stop if self.callback is not None else stop

    def _snapshot(self, progress):
        tree, columns = tree_with_support(progress.best_model, *progress.best_parents)
        kept = {"n_features_in_": self.n_features_in_} if hasattr(self, "n_features_in_") else {}
        fitted = {
            "tree_": tree,
            "A_": progress.best_model.A,
            "B_": progress.best_model.B,
            "columns_": columns,
        }
        labels = flat_labels(tree, self.similarity_, min(self.n_clusters, tree.n_leaves))
        return {**kept, **fitted, "labels_": labels, "similarity_": self.similarity_}


def tree_with_support(model: Model, leaf_parent, parent) -> tuple[Tree, NDArray[np.int64]]:
    """Tree of given parents with their probabilities, and the model's column of each internal node."""
    A, B = model
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    chosen = A.indices == leaf_parent[row]
    leaf_support = np.zeros(A.shape[0])
    leaf_support[row[chosen]] = A.data[chosen]
    support = np.append(B[np.arange(len(B) - 1), parent[:-1]], 1.0).astype(np.float64)
    return tree_of_parents(leaf_parent, parent, leaf_support, support)
