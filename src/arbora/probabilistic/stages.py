"""The stages of a fit of FPH: where training starts, how it continues, and what its tree is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arbora._base.checkpoint import Checkpoint, rng_from_array, rng_to_array
from arbora._base.types import Ints, Objective
from arbora.errors import TooLargeError
from arbora.metrics import dasgupta_cost, tree_sampling_divergence
from arbora.probabilistic.elbow import candidate_sizes
from arbora.probabilistic.expected import most_likely_parents
from arbora.probabilistic.flat import flat_labels
from arbora.probabilistic.graph_input import of_moderate_weights
from arbora.probabilistic.options import Options
from arbora.probabilistic.spare_nodes import use_spare_nodes
from arbora.probabilistic.sparse import EdgeDistribution, Model, binary_model, edge_distribution
from arbora.probabilistic.spread import SpreadDistribution, labels_of_groups
from arbora.probabilistic.start import model_of_tree, start_tree, tree_of_parents
from arbora.probabilistic.training import Distribution, TakeStep, TrainingState, train
from arbora.scale import is_small
from arbora.similarity import Similarity
from arbora.similarity.graph import GraphSimilarity
from arbora.similarity.sharded import ShardedGraph
from arbora.tree import Tree

LARGEST_DENSE = 200_000_000


def spread_graph(similarity: Similarity, options: Options) -> ShardedGraph | None:
    """The graph to train on where it is, in batches; None where it is to be in the memory of this machine."""
    shards = similarity.in_shards()
    if shards is None or options.plan.batch_size is None or not is_spread(similarity):
        return None
    if options.init in ("ward", "louvain"):
        raise ValueError(
            f"init={options.init!r} needs all edges on one machine, and this graph is in shards that do not fit one "
            'part. Use "average", "random" or a tree.'
        )
    if options.refine is not None:
        raise ValueError(
            "refine with a number of internal nodes needs all edges on one machine, and this graph is in shards that "
            "do not fit one part. Fit with refine=False."
        )
    return shards.persisted()


def is_spread(similarity: Similarity) -> bool:
    """Whether the edges are on other machines, too many for this one."""
    shards = similarity.in_shards()
    return shards is not None and not is_small(shards)


def distribution_of(similarity: GraphSimilarity, options: Options) -> Distribution:
    """What training asks of a graph, here or where its shards are."""
    shards = similarity.in_shards()
    if shards is None or not is_spread(similarity) or options.plan.batch_size is None:
        return edge_distribution(similarity, options.dtype)
    return SpreadDistribution(shards, options.dtype)


def labels_of(tree: Tree, similarity: GraphSimilarity, n_clusters: int) -> Ints:
    """Flat clusters; on a graph in shards the leaves of an internal node stay together."""
    shards = similarity.in_shards()
    if shards is None or not is_spread(similarity):
        return flat_labels(tree, of_moderate_weights(similarity), n_clusters)
    return labels_of_groups(tree, shards, n_clusters)


def start(
    similarity: GraphSimilarity,
    graph: Distribution,
    options: Options,
    n_internal: int,
    rng: np.random.Generator,
) -> TrainingState:
    """The state before the first epoch: the model of the start tree."""
    tree = start_tree(similarity, options.init, n_internal, options.objective, rng)
    return TrainingState.start(graph, model_of_tree(tree, options.dtype), rng, options.objective)


def losses_of_sizes(
    similarity: GraphSimilarity,
    graph: Distribution,
    options: Options,
    rng: np.random.Generator,
    saved: Checkpoint | None,
) -> dict[int, float]:
    """Decoded loss after a few epochs with each candidate number of internal nodes; from a checkpoint, if it has it."""
    known = None if saved is None else saved.load("elbow")
    if known is not None:
        rng_from_array(rng, known["rng"])
        return dict(zip(known["sizes"].tolist(), known["losses"].tolist()))
    plan = replace(options.plan, max_epochs=20, patience=20, n_rounds=1)
    losses = {
        size: train(graph, start(similarity, graph, options, size, rng), plan).best.loss
        for size in candidate_sizes(similarity.n_points)
    }
    if saved is not None:
        found = {"sizes": np.array(list(losses)), "losses": np.array(list(losses.values()))}
        saved.keep({**found, "rng": rng_to_array(rng)}, "elbow")
    return losses


def next_start(
    similarity: GraphSimilarity, graph: Distribution, state: TrainingState, options: Options
) -> Model:
    """What a later round starts from: the best tree so far, as if it were certain."""
    if options.use_spare_nodes and isinstance(graph, EdgeDistribution):
        state.best = use_spare_nodes(similarity, graph, state.best, options.objective)
    return binary_model(*state.best.parents, dtype=options.dtype)


def adam_step(
    similarity: GraphSimilarity, graph: Distribution, state: TrainingState, options: Options
) -> TakeStep | None:
    """The step of Adam on scores or embeddings, or None for the projected gradient."""
    if options.optimizer == "projected" or not isinstance(graph, EdgeDistribution):
        return None
    n_entries = graph.n_nodes * state.model.n_internal
    if n_entries > LARGEST_DENSE:
        raise TooLargeError(
            f"optimizer={options.optimizer!r} needs full n x n' matrices, {n_entries:,} numbers each. "
            'Use optimizer="projected", which keeps A sparse.'
        )
    # PyTorch, only where it is needed
    from arbora.probabilistic.parameterizations import AdamTrainer, EmbeddingParameters, SoftmaxParameters

    seed = int(state.rng.integers(2**31))
    tree = tree_of_parents(*most_likely_parents(state.model))[0]
    parameters: SoftmaxParameters | EmbeddingParameters
    if options.optimizer == "softmax":
        parameters = SoftmaxParameters(tree, seed=seed, dtype=options.dtype)
    else:
        vectors = _first_vectors(similarity, options, seed)
        parameters = EmbeddingParameters(tree, vectors, dtype=options.dtype)
    plan = options.plan
    return AdamTrainer(
        graph, parameters, plan.objective, plan.relaxation, plan.leaf_rate, seed, plan.exact_q
    ).step


def _first_vectors(similarity: GraphSimilarity, options: Options, seed: int) -> NDArray[np.floating]:
    """Embeddings of the leaves to start from."""
    if options.init == "random":
        return np.random.default_rng(seed).standard_normal((similarity.n_points, 32))
    from arbora.probabilistic.deepwalk import deepwalk

    return deepwalk(similarity, 32, random_state=seed)


def score(tree: Tree, similarity: GraphSimilarity, objective: Objective) -> float:
    """Dasgupta cost over the total weight, or normalized TSD; NaN for a graph without edges."""
    if similarity.total <= 0:
        return float("nan")
    if objective == "tsd":
        return float(tree_sampling_divergence(tree, similarity, normalize=True))
    return float(dasgupta_cost(tree, similarity, normalize=True))


def refuse_adjacency(X: NDArray[np.floating]) -> None:
    """A symmetric square array may be an adjacency meant as a graph, or vectors: ask."""
    if X.shape[0] == X.shape[1] and X.shape[0] > 2 and np.array_equal(X, X.T):
        raise ValueError(
            f"X is a symmetric array of shape {X.shape}. For an adjacency pass scipy.sparse.csr_array(X); "
            'for vectors, similarity="knn".'
        )
