"""The expected objective, which the paper leaves open (App. A.1), by sampled trees.

Rows of A and B are sampled independently, so the expectation is linear in each row: its derivative with
respect to A[i, k] is the expected cost of the tree *given* that leaf i has parent k. For one sampled tree,
that conditional cost is computed exactly for every leaf, every internal node and every parent at once
(`_move_kernels`), in O(m + n n'); averaged over samples it is an unbiased gradient of the expectation,
without any relaxation. (The straight-through estimator in `objectives.py` has the soft loss's slope at the
sampled tree in its place, and is biased.)
"""

from __future__ import annotations

import numpy as np

from arbora._base.types import AnyFloats, Floats, Ints, Objective
from arbora.probabilistic import _kernels, _move_kernels, _row_kernels, _tree_kernels
from arbora.probabilistic._move_kernels import Mover, TreeTerms
from arbora.probabilistic.row_blocks import CsrParts, csr_from_parts, in_row_blocks
from arbora.probabilistic.sparse import EdgeDistribution, Model, Parents, binary_model, neighbor_sums
from arbora.tree.pass_kernels import meeting_mass, sum_to_root


def sample_parents(model: Model, rng: np.random.Generator) -> Parents:
    """Parents of a sampled tree (Sec. 2.2): of the leaves, and of the internal nodes (root: itself)."""
    A, B = model
    leaf_parent = _kernels.sample_columns(A.indptr, A.indices, A.data, rng.random(A.shape[0]))
    cumulative = np.cumsum(B[:-1], axis=1)
    drawn = rng.random(len(B) - 1) * cumulative[:, -1] if len(B) > 1 else np.empty(0)
    parent = np.empty(len(B), dtype=np.int64)
    parent[:-1] = (cumulative <= drawn[:, None]).sum(axis=1) if len(B) > 1 else 0
    parent[-1] = len(B) - 1
    return leaf_parent, np.minimum(parent, len(B) - 1)


def most_likely_parents(model: Model) -> Parents:
    """The most likely parent of every leaf and internal node (root: itself): the most likely tree."""
    A, B = model
    leaf_parent = _kernels.most_likely_columns(A.indptr, A.indices, A.data)
    parent = np.argmax(B, axis=1)
    parent[-1] = len(B) - 1
    return leaf_parent, parent.astype(np.int64)


def edge_sums(graph: EdgeDistribution, leaf_parent: Ints, n_internal: int) -> AnyFloats:
    """Edge probability between the leaves at every two internal nodes: dense n' x n'."""
    pairs = graph.pairs
    sums: AnyFloats = _kernels.edge_sums(pairs.indptr, pairs.indices, pairs.data, leaf_parent, n_internal)
    return sums


def tree_terms(
    graph: EdgeDistribution,
    leaf_parent: Ints,
    parent: Ints,
    objective: Objective,
    S: AnyFloats | None = None,
) -> TreeTerms:
    """p(z), q(z) and what lies below every internal node of a discrete tree."""
    k = len(parent)
    S = edge_sums(graph, leaf_parent, k) if S is None else S
    lca = _kernels.lca_table(parent).ravel()
    p = np.bincount(lca, S.ravel(), minlength=k) + np.bincount(leaf_parent, graph.loops, minlength=k)
    if objective == "tsd":
        law = np.bincount(leaf_parent, graph.nodes, minlength=k)
        below = sum_to_root(parent, law)
        # the leaves of a node count as one, whose pair with itself meets at the node
        above = np.concatenate([np.arange(k, 2 * k), k + parent])
        q = meeting_mass(above, law, law**2)[k:]
    else:
        below = sum_to_root(parent, np.bincount(leaf_parent, minlength=k).astype(np.float64))
        q = None
    return TreeTerms(parent, below, p, q, _tree_kernels.path_sums(parent, p))


def tree_loss(terms: TreeTerms, objective: Objective) -> float:
    """Loss of a discrete tree: the Dasgupta cost over the total weight, or minus the TSD in nats."""
    if objective == "dasgupta" or terms.q is None:
        return float(terms.p @ terms.below)
    inside = (terms.p > 0) & (terms.q > 0)
    return -float(np.sum(terms.p[inside] * np.log(terms.p[inside] / terms.q[inside])))


def decoded_loss(graph: EdgeDistribution, model: Model, objective: Objective) -> tuple[float, Parents]:
    """Loss of the most likely tree, with its parents: what training is judged by."""
    leaf_parent, parent = most_likely_parents(model)
    joining = _tree_kernels.joining_parents(leaf_parent, parent)
    return tree_loss(tree_terms(graph, joining, parent, objective), objective), (leaf_parent, parent)


def _leaf_mover(
    graph: EdgeDistribution, leaf_parent: Ints, n_internal: int, objective: Objective, n_threads: int
) -> Mover:
    n = len(leaf_parent)
    hard = binary_model(leaf_parent, np.full(n_internal, n_internal - 1))
    sums = neighbor_sums(graph, hard.A, n_threads)
    size = graph.nodes if objective == "tsd" else np.ones(n)
    own = graph.nodes**2 if objective == "tsd" else np.zeros(n)
    first = np.zeros(n, dtype=np.int64)
    return Mover(sums.indptr, sums.indices, sums.data, leaf_parent, size, graph.loops, own, first)


def _internal_mover(terms: TreeTerms, S: AnyFloats) -> Mover:
    k = len(terms.parent)
    outside = _tree_kernels.outside_weights(terms.parent, S)
    rows, columns = np.nonzero(outside)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=k))))
    current = terms.parent.copy()
    # the root stays where it is
    current[-1] = -1
    none = np.zeros(k)
    return Mover(
        ptr,
        columns.astype(np.int32),
        outside[rows, columns],
        current,
        terms.below,
        none,
        none,
        np.arange(1, k + 1),
    )


def conditional_costs(
    graph: EdgeDistribution, leaf_parent: Ints, parent: Ints, objective: Objective
) -> tuple[Floats, Floats]:
    """Loss of a tree with each leaf (n x n') and each internal node (n' x n') under each parent.

    Up to a constant per row; for an internal node only the parents after it. The unbiased gradient of the
    expected loss when the tree was sampled from the model.
    """
    S = edge_sums(graph, leaf_parent, len(parent))
    terms = tree_terms(graph, leaf_parent, parent, objective, S)
    leaves = _leaf_mover(graph, leaf_parent, len(parent), objective, 1)
    internal = _internal_mover(terms, S)
    return (
        _move_kernels.move_costs(0, len(leaf_parent), terms, leaves, True),
        _move_kernels.move_costs(0, len(parent), terms, internal, True),
    )


def expected_step(
    graph: EdgeDistribution,
    model: Model,
    objective: Objective,
    leaf_rate: float,
    internal_rate: float,
    rng: np.random.Generator,
    n_threads: int = 1,
) -> tuple[Model, float]:
    """One projected stochastic gradient step on the expected loss; returns the model and the sample's loss.

    A row's cost is proportional to the edge weight of what it moves (times the number of leaves for
    Dasgupta): its rate is divided by that, so that one rate serves hubs and fringe, leaves and subtrees.
    """
    A, B = model
    leaf_parent, parent = sample_parents(model, rng)
    S = edge_sums(graph, leaf_parent, len(B))
    terms = tree_terms(graph, leaf_parent, parent, objective, S)
    mover = _leaf_mover(graph, leaf_parent, len(B), objective, n_threads)
    unit = 1.0 if objective == "tsd" else float(graph.n_nodes)
    tiny = np.finfo(np.float64).tiny
    step = leaf_rate / np.maximum(graph.nodes * unit, tiny)

    def block(start: int, stop: int) -> CsrParts:
        found: CsrParts = _row_kernels.descend_sampled_rows(
            start, stop, terms, mover, A.indptr, A.indices, A.data, step
        )
        return found

    moved = csr_from_parts(*in_row_blocks(block, A.shape[0], n_threads), A.shape)
    costs = _move_kernels.move_costs(0, len(B), terms, _internal_mover(terms, S), True)
    weight = sum_to_root(parent, np.bincount(leaf_parent, graph.nodes, minlength=len(B)))
    rate = internal_rate / np.maximum(weight * unit, graph.nodes.mean() * unit)
    B = B - rate[:, None] * costs
    _kernels.project_rows(B, np.arange(1, len(B) + 1))
    return Model(moved, B), tree_loss(terms, objective)
