"""Losses and labels that know a tree of classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbora as ab

torch = pytest.importorskip("torch")


def random_tree(n_leaves, seed):
    """n-ary: pieces of a random order, joined."""
    rng = np.random.default_rng(seed)
    pieces = [str(leaf) for leaf in range(n_leaves)]
    while len(pieces) > 1:
        k = min(len(pieces), int(rng.integers(2, 4)))
        chosen = [pieces.pop(int(rng.integers(len(pieces)))) for _ in range(k)]
        pieces.append("(" + ",".join(chosen) + ")")
    tree = ab.Tree.from_newick(pieces[0] + ";")
    order = np.argsort([int(name) for name in tree.name[:n_leaves]])
    assert len(order) == n_leaves
    return tree


def loss_by_definition(tree, logits, target, alpha):
    """Sum over the path of -exp(-alpha * (depth - 1)) * log p(node | parent)."""
    p = np.exp(logits) / np.exp(logits).sum()
    total, node = 0.0, target
    while node != tree.root:
        above = tree.parent[node]
        conditional = p[tree.leaves(node)].sum() / p[tree.leaves(above)].sum()
        total -= np.exp(-alpha * (tree.depths[node] - 1)) * np.log(conditional)
        node = above
    return total


@given(st.integers(2, 12), st.integers(0, 10**6), st.floats(0, 2))
def test_loss_equals_its_definition(n_classes, seed, alpha):
    tree = random_tree(n_classes, seed)
    rng = np.random.default_rng(seed)
    logits, target = rng.normal(0, 3, (5, n_classes)), rng.integers(0, n_classes, 5)
    loss = ab.nn.HierarchicalCrossEntropy(tree, alpha=alpha, reduction="none")
    found = loss(torch.from_numpy(logits), torch.from_numpy(target))
    expected = [loss_by_definition(tree, row, int(c), alpha) for row, c in zip(logits, target)]
    assert np.allclose(found.numpy(), expected, rtol=1e-5)


def test_without_alpha_it_is_cross_entropy_for_any_tree():
    logits, target = torch.randn(20, 9, dtype=torch.float64), torch.randint(0, 9, (20,))
    loss = ab.nn.HierarchicalCrossEntropy(random_tree(9, 3), alpha=0.0)
    assert torch.allclose(loss(logits, target), torch.nn.functional.cross_entropy(logits, target))


def test_gradients_are_right_and_survive_extreme_logits():
    tree = random_tree(6, 1)
    loss = ab.nn.HierarchicalCrossEntropy(tree, reduction="sum")
    logits = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([0, 3, 5])
    assert torch.autograd.gradcheck(lambda z: loss(z, target), (logits,))
    far = torch.tensor([[500.0, 0, 0, 0, 0, -500]], requires_grad=True)
    value = loss(far, torch.tensor([5]))
    value.backward()
    assert torch.isfinite(value) and torch.isfinite(far.grad).all()


def test_wrong_arguments_are_refused():
    tree = random_tree(4, 0)
    with pytest.raises(ValueError, match="alpha"):
        ab.nn.HierarchicalCrossEntropy(tree, alpha=-1)
    with pytest.raises(ValueError, match="reduction"):
        ab.nn.HierarchicalCrossEntropy(tree, reduction="max")
    with pytest.raises(ValueError, match="n_classes=4"):
        ab.nn.HierarchicalCrossEntropy(tree)(torch.zeros(2, 5), torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ValueError, match="beta"):
        ab.nn.hierarchical_labels(tree, beta=-1)


@given(st.integers(1, 12), st.integers(0, 10**6), st.floats(0, 30))
def test_soft_labels_are_distributions_that_fall_with_distance(n_classes, seed, beta):
    tree = random_tree(n_classes, seed)
    labels = ab.nn.hierarchical_labels(tree, beta=beta).numpy()
    assert np.allclose(labels.sum(axis=1), 1, atol=1e-5)
    for c in range(n_classes):
        sizes = [tree.sizes[tree.lca(c, b)] for b in range(n_classes)]
        order = np.argsort(sizes, kind="stable")
        # classes that meet c lower down have the larger share
        assert (np.diff(labels[c][order]) <= 1e-6).all()


def test_soft_labels_reach_from_uniform_to_one_hot():
    tree = random_tree(5, 2)
    assert torch.allclose(ab.nn.hierarchical_labels(tree, beta=0), torch.full((5, 5), 0.2))
    assert torch.allclose(ab.nn.hierarchical_labels(tree, beta=1000), torch.eye(5), atol=1e-6)
