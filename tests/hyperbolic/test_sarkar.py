import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from trees import binary_trees, chain, leaf_sets, random_tree, trees

from arbora import Tree
from arbora.hyperbolic import poincare
from arbora.hyperbolic.hyphc.decode import decode_circle, decode_exact
from arbora.hyperbolic.sarkar import circle_angles, sarkar_embedding


def clusters(tree):
    return {frozenset(below) for below in leaf_sets(tree)}


@given(binary_trees(min_leaves=2, max_leaves=12))
def test_decoding_sarkars_embedding_returns_the_tree(tree):
    points = sarkar_embedding(tree)
    assert decode_exact(points[: tree.n_leaves]).same_topology(tree)


def test_so_it_does_for_larger_trees():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tree = random_tree(int(rng.integers(20, 80)), rng)
        assert decode_exact(sarkar_embedding(tree)[: tree.n_leaves]).same_topology(tree)


@given(trees(min_leaves=2, max_leaves=14, max_branching=6))
def test_n_ary_trees_come_back_as_binary_refinements(tree):
    decoded = decode_exact(sarkar_embedding(tree)[: tree.n_leaves])
    assert clusters(tree) <= clusters(decoded)


@given(trees(min_leaves=2, max_leaves=10), st.floats(0.5, 2.5))
def test_all_edges_have_the_length_asked_for(tree, length):
    points = torch.tensor(sarkar_embedding(tree, length))
    lengths = poincare.distance(points[:-1], points[torch.tensor(tree.parent[:-1])])
    torch.testing.assert_close(lengths, torch.full_like(lengths, length), rtol=1e-4, atol=1e-5)
    assert points[-1].abs().max() == 0


def test_a_tree_too_deep_for_double_precision_is_refused():
    with pytest.raises(ValueError, match="too deep"):
        sarkar_embedding(chain(40))
    with pytest.raises(ValueError, match="edge_length"):
        sarkar_embedding(chain(4), -1.0)


@given(binary_trees(min_leaves=1, max_leaves=40))
def test_circle_decoding_undoes_circle_angles(tree):
    assert decode_circle(circle_angles(tree)).same_topology(tree)


def test_circle_angles_take_a_chain_of_ten_thousand():
    tree = chain(10_000)
    assert decode_circle(circle_angles(tree)).same_topology(tree)


def test_one_leaf_has_its_place():
    assert sarkar_embedding(Tree([-1], 1)).tolist() == [[0.0, 0.0]]
