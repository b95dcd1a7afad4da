"""Block models: blocks are nested, the tree is theirs, and impossible ones are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import clades

from arbora.probabilistic import hierarchical_block_model


@settings(max_examples=25)
@given(st.integers(1, 3), st.lists(st.integers(1, 3), min_size=1, max_size=2), st.integers(0, 1000))
def test_blocks_are_nested_and_are_the_nodes_of_the_tree(n_levels, branching, seed):
    drawn = hierarchical_block_model(
        np.linspace(0.1, 0.9, n_levels + 1), branching, (1, 3), random_state=seed
    )
    n = drawn.adjacency.shape[0]
    assert drawn.levels.shape == (n_levels, n) and drawn.tree.n_leaves == n
    for coarse, fine in zip(drawn.levels, drawn.levels[1:]):
        assert all(len(set(coarse[fine == block])) == 1 for block in np.unique(fine))
    wanted = {
        frozenset(np.flatnonzero(level == block).tolist())
        for level in drawn.levels
        for block in np.unique(level)
    }
    wanted = {block for block in wanted if len(block) > 1} | ({frozenset(range(n))} if n > 1 else set())
    assert clades(drawn.tree) == wanted


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(8, 24))
def test_as_many_nodes_as_asked_for_in_communities_of_the_sizes_asked_for(seed, n_nodes):
    drawn = hierarchical_block_model([0.1, 0.5, 0.9], 2, (2, 6), n_nodes, random_state=seed)
    sizes = np.bincount(drawn.levels[-1])
    assert sizes.sum() == n_nodes and len(sizes) == 4 and sizes.min() >= 2 and sizes.max() <= 6


def test_certain_edges_are_there_and_impossible_ones_are_not():
    drawn = hierarchical_block_model([0, 1], 3, (4, 4), random_state=0)
    same = drawn.levels[0][:, None] == drawn.levels[0]
    np.testing.assert_array_equal(drawn.adjacency.toarray(), same & ~np.eye(12, dtype=bool))


def test_the_same_seed_draws_the_same_graph():
    one, same, other = (
        hierarchical_block_model([0.1, 0.6], 2, (5, 9), random_state=seed) for seed in (3, 3, 4)
    )
    assert (one.adjacency != same.adjacency).nnz == 0
    assert one.adjacency.shape != other.adjacency.shape or (one.adjacency != other.adjacency).nnz > 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.5], 2, (3, 4)), ValueError, "probabilities must be two or more numbers"),
        (([0.1, float("nan")], 2, (3, 4)), ValueError, "probabilities must be two or more numbers"),
        (([[0.1, 0.5]], 2, (3, 4)), ValueError, "probabilities"),
        (([0.1, 0.5], 0, (3, 4)), ValueError, "branching must be at least 1. Got 0"),
        (([0.1, 0.5], [2, -1], (3, 4)), ValueError, "branching must be at least 1. Got -1"),
        (([0.1, 0.5], 2.5, (3, 4)), TypeError, "branching must be a whole number. Got 2.5"),
        (([0.1, 0.5], [], (3, 4)), ValueError, "branching must be a whole number, or several"),
        (([0.1, 0.5], 2, (0, 4)), ValueError, "community_size"),
        (([0.1, 0.5], 2, (3, 4), 5), ValueError, "No draw of branching"),
    ],
)
def test_impossible_models_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        hierarchical_block_model(*arguments, random_state=0)
