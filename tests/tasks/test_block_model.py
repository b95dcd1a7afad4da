"""Degree-corrected block models: gains of moves are differences of likelihoods, and moves never lower it."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import arbora as ab
from arbora.probabilistic import hierarchical_block_model
from arbora.tasks import _block_kernels as kernels
from arbora.tasks.block_model import _block_sums, _log_likelihood, _sweep, block_model_scores, fit_block_model


def log_likelihood_by_definition(W, blocks):
    total = 0.0
    for r in np.unique(blocks):
        for s in np.unique(blocks):
            edges = W[np.ix_(blocks == r, blocks == s)].sum()
            if edges > 0:
                total += edges * np.log(edges / (W[blocks == r].sum() * W[blocks == s].sum()))
    return 0.5 * total


def world(n, seed, n_blocks=3):
    similarity = random_graph(n, np.random.default_rng(seed), density=0.6)
    return similarity, similarity.csr.toarray(), np.random.default_rng(seed + 1).integers(0, n_blocks, n)


@settings(max_examples=25)
@given(st.integers(3, 10), st.integers(0, 1000))
def test_the_likelihood_equals_its_definition(n, seed):
    similarity, W, blocks = world(n, seed)
    assert _log_likelihood(similarity, blocks) == pytest.approx(log_likelihood_by_definition(W, blocks))


@settings(max_examples=40)
@given(st.integers(3, 10), st.integers(0, 1000))
def test_the_gain_of_a_move_is_twice_the_difference_of_likelihoods(n, seed):
    similarity, W, blocks = world(n, seed)
    blocks[:3] = [0, 1, 2]
    edges, degree = _block_sums(similarity, blocks)
    node = seed % n
    own, other = blocks[node], (blocks[node] + 1) % 3
    to_block = np.bincount(blocks, W[node], minlength=3)
    gain = kernels.gain_of_move(node, own, other, to_block, edges, degree, W[node].sum())
    moved = blocks.copy()
    moved[node] = other
    wanted = 2 * (log_likelihood_by_definition(W, moved) - log_likelihood_by_definition(W, blocks))
    assert gain == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(4, 14), st.integers(0, 1000))
def test_a_sweep_never_lowers_the_likelihood_and_counts_its_moves(n, seed):
    similarity, W, blocks = world(n, seed)
    before = blocks.copy()
    order = np.random.default_rng(seed).permutation(n)
    moved = _sweep(similarity, order, blocks)
    assert moved == (blocks != before).sum()
    assert log_likelihood_by_definition(W, blocks) >= log_likelihood_by_definition(W, before) - 1e-9
    if moved == 0:
        np.testing.assert_array_equal(blocks, before)


def test_planted_blocks_are_found_and_the_same_seed_gives_the_same():
    drawn = hierarchical_block_model([0.05, 0.6], 3, (20, 20), random_state=0)
    similarity = ab.similarity.graph(drawn.adjacency)
    blocks = fit_block_model(similarity, random_state=0)
    assert adjusted_rand_score(drawn.levels[0], blocks) > 0.9
    np.testing.assert_array_equal(blocks, fit_block_model(similarity, random_state=0))
    assert blocks.dtype == np.int64 and set(blocks) == set(range(blocks.max() + 1))


def test_expected_edges_sum_to_the_edges_of_each_pair_of_blocks():
    similarity, W, blocks = world(9, 5)
    pairs = np.array([(i, j) for i in range(9) for j in range(9)])
    scores = block_model_scores(blocks, similarity, pairs).reshape(9, 9)
    for r in range(3):
        for s in range(3):
            assert scores[np.ix_(blocks == r, blocks == s)].sum() == pytest.approx(
                W[np.ix_(blocks == r, blocks == s)].sum()
            )


def test_pairs_of_blocks_without_edges_score_zero():
    similarity = ab.similarity.graph(sp.csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))))
    blocks = np.repeat([0, 1], 3)
    assert block_model_scores(blocks, similarity, [(0, 5)]).tolist() == [0.0]


def test_a_graph_without_edges_is_one_block_in_which_no_edge_is_expected():
    empty = ab.similarity.graph(sp.csr_array((3, 3)))
    blocks = fit_block_model(empty, random_state=0)
    assert blocks.tolist() == [0, 0, 0]
    assert block_model_scores(blocks, empty, [(0, 1), (1, 2)]).tolist() == [0, 0]
