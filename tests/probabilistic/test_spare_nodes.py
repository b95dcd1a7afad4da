"""Nodes that training left unused get a place, and the model follows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from simplex import project_parents, project_rows

import arbora as ab
from arbora.probabilistic.expected import decoded_loss, most_likely_parents
from arbora.probabilistic.flat import resolve
from arbora.probabilistic.spare_nodes import refilled, use_spare_nodes
from arbora.probabilistic.sparse import Model, edge_distribution
from arbora.probabilistic.start import tree_of_parents
from arbora.probabilistic.training import Best


def random_graph(rng, n):
    rows, cols = np.triu_indices(n)
    some = rng.random(len(rows)) < 0.4
    some[1] = True
    return ab.similarity.graph((rows[some], cols[some], rng.random(some.sum()) + 0.1), n_points=n)


def random_model(rng, n, k):
    A = project_rows(rng.standard_normal((n, k)))
    return Model(sp.csr_array(A), project_parents(rng.standard_normal((k, k))))


def clades(tree):
    return {frozenset(tree.leaves(node).tolist()) for node in range(tree.n_leaves, tree.n_nodes)}


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(seed=st.integers(0, 10_000), n=st.integers(3, 14), k=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_the_models_tree_is_the_resolved_and_compressed_one(objective, seed, n, k):
    rng = np.random.default_rng(seed)
    graph, model = random_graph(rng, n), random_model(rng, n, k)
    parents = most_likely_parents(model)
    new = refilled(model, parents, graph, objective)
    wanted = resolve(tree_of_parents(*parents)[0], graph).compress(k, graph, objective)
    assert clades(tree_of_parents(*most_likely_parents(new))[0]) == clades(wanted)
    np.testing.assert_allclose(new.A.sum(axis=1), 1.0)
    np.testing.assert_allclose(new.B.sum(axis=1)[:-1], 1.0)
    assert not np.tril(new.B).any()
    assert new.A.data.min() > 0


def test_mass_beside_the_most_likely_parents_is_kept():
    graph = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    A = np.zeros((6, 5))
    A[:3, 3], A[:3, 4] = 0.8, 0.2  # columns 0 to 2 are spare
    A[3:, 4] = 1.0
    B = np.zeros((5, 5))
    B[:4, 4] = 1.0
    model = Model(sp.csr_array(A), B)
    new = refilled(model, most_likely_parents(model), graph, "dasgupta")
    root = new.n_internal - 1
    np.testing.assert_allclose(new.A.toarray()[:3].max(axis=1), 0.8)
    np.testing.assert_allclose(new.A.toarray()[:3, root], 0.2)
    np.testing.assert_allclose(new.A.toarray()[3:].max(axis=1), 1.0)


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@given(seed=st.integers(0, 10_000), n=st.integers(3, 14), k=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_what_comes_out_is_never_worse(objective, seed, n, k):
    rng = np.random.default_rng(seed)
    graph, model = random_graph(rng, n), random_model(rng, n, k)
    pairs = edge_distribution(graph)
    loss, parents = decoded_loss(pairs, model, objective)
    found = use_spare_nodes(graph, pairs, Best(loss, model, parents, epoch=3), objective)
    assert found.loss <= loss
    assert found.epoch == 3
    assert decoded_loss(pairs, found.model, objective)[0] == pytest.approx(found.loss)
