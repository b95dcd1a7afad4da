"""The theorems, against path enumeration and against sampling."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.probabilistic import markov


def random_hierarchy(rng, n, k, sparse=False):
    A = rng.dirichlet(np.full(k, 0.5), size=n)
    B = np.zeros((k, k))
    for row in range(k - 1):
        B[row, row + 1 :] = rng.dirichlet(np.full(k - 1 - row, 0.5))
    return torch.as_tensor(A), torch.as_tensor(B)


def paths_up(A, B, leaf, node):
    """All paths from a leaf to an internal node with their probabilities."""
    k = len(B)
    for size in range(node + 1):
        for between in itertools.combinations(range(node), size):
            path = (*between, node)
            probability = A[leaf, path[0]]
            for low, high in itertools.pairwise(path):
                probability = probability * B[low, high]
            yield path, probability
    assert node < k


def lca_by_enumeration(A, B, i, j):
    """Thm 3: the sum over pairs of paths that meet at a node for the first time."""
    k = len(B)
    found = np.zeros(k)
    for node in range(k):
        for (one, p), (other, q) in itertools.product(paths_up(A, B, i, node), paths_up(A, B, j, node)):
            if set(one) & set(other) == {node}:
                found[node] += p * q
    return found


def ancestors_by_enumeration(A, B, leaf):
    return np.array([sum(float(p) for _, p in paths_up(A, B, leaf, node)) for node in range(len(B))])


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_ancestor_and_lca_probabilities_equal_path_enumeration(seed, k):
    A, B = random_hierarchy(np.random.default_rng(seed), 2, k)
    pair = torch.tensor([0]), torch.tensor([1])
    np.testing.assert_allclose(markov.leaf_ancestors(A, B)[0], ancestors_by_enumeration(A, B, 0), atol=1e-12)
    by_paths = lca_by_enumeration(A, B, 0, 1)
    np.testing.assert_allclose(markov.lca_probabilities(A, B, *pair)[0], by_paths, atol=1e-12)
    np.testing.assert_allclose(markov.lca_by_recursion(A, B, 0, 1), by_paths, atol=1e-12)
    assert by_paths.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("node", range(5))
def test_pairs_of_paths_that_meet_first_at_the_kth_node_number_three_to_the_k_minus_one(node):
    A, B = torch.ones(2, 6), torch.ones(6, 6)
    pairs = itertools.product(paths_up(A, B, 0, node), paths_up(A, B, 1, node))
    assert sum(set(one) & set(other) == {node} for (one, _), (other, _) in pairs) == 3**node


def sampled_parents(A, B, generator):
    hard_A, hard_B = markov.sample_tree(A, B, generator)
    return hard_A.argmax(1).numpy(), hard_B.argmax(1).numpy()


def path_to_root(parent, node):
    path = [node]
    while path[-1] != len(parent) - 1:
        path.append(parent[path[-1]])
    return path


def test_sampled_trees_have_the_ancestors_and_lcas_of_the_theorems():
    A, B = random_hierarchy(np.random.default_rng(3), 4, 5)
    generator = torch.Generator().manual_seed(0)
    n_samples = 4000
    ancestors, meets = np.zeros((4, 5)), np.zeros(5)
    for _ in range(n_samples):
        leaf_parent, parent = sampled_parents(A, B, generator)
        paths = [path_to_root(parent, node) for node in leaf_parent]
        for leaf, path in enumerate(paths):
            ancestors[leaf, path] += 1
        meets[min(set(paths[0]) & set(paths[1]))] += 1
    error = 4 * 0.5 / np.sqrt(n_samples)  # four standard errors of a share, at its largest
    np.testing.assert_allclose(ancestors / n_samples, markov.leaf_ancestors(A, B), atol=error)
    exact = markov.lca_probabilities(A, B, torch.tensor([0]), torch.tensor([1]))[0]
    np.testing.assert_allclose(meets / n_samples, exact, atol=error)


def test_probabilities_of_all_trees_sum_to_one_and_the_most_likely_is_the_largest():
    A, B = random_hierarchy(np.random.default_rng(0), 3, 3)
    chances = {}
    for leaves in itertools.product(range(3), repeat=3):
        for first in (1, 2):
            parents = torch.tensor([first, 2, 2])
            chances[leaves, first] = float(markov.log_probability(A, B, torch.tensor(leaves), parents).exp())
    assert sum(chances.values()) == pytest.approx(1.0)
    hard_A, hard_B = markov.most_likely_tree(A, B)
    best = tuple(hard_A.argmax(1).tolist()), int(hard_B[0].argmax())
    assert best == max(chances, key=chances.get)


def test_distribution_over_edges_is_the_sum_over_pairs():
    rng = np.random.default_rng(5)
    A, B = random_hierarchy(rng, 6, 4)
    W = np.triu(rng.random((6, 6)), 1)
    W = (W + W.T) / (2 * W.sum() * 1.25)
    loops = np.full(6, 0.2 / 6)
    i, j = (torch.as_tensor(index) for index in np.nonzero(W))
    by_pairs = (torch.as_tensor(W)[i, j][:, None] * markov.lca_probabilities(A, B, i, j)).sum(0)
    by_pairs = by_pairs + torch.as_tensor(loops) @ A
    p = markov.edge_lca_distribution(A, B, torch.as_tensor(W), torch.as_tensor(loops))
    np.testing.assert_allclose(p, by_pairs, atol=1e-12)
    assert float(p.sum()) == pytest.approx(1.0)


def test_distribution_over_independent_leaves_is_the_sum_over_all_pairs():
    rng = np.random.default_rng(6)
    A, B = random_hierarchy(rng, 5, 4)
    nodes = torch.as_tensor(rng.dirichlet(np.ones(5)))
    i, j = (torch.as_tensor(index).ravel() for index in np.indices((5, 5)))
    by_pairs = ((nodes[i] * nodes[j])[:, None] * markov.lca_probabilities(A, B, i, j)).sum(0)
    np.testing.assert_allclose(markov.node_lca_distribution(A, B, nodes), by_pairs, atol=1e-12)
    proxy = markov.node_lca_distribution(A, B, nodes, exact=False)
    assert float(proxy.sum()) == pytest.approx(1.0)
    assert not torch.allclose(proxy, by_pairs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda A, B: (A[:, :2], B), "n x n'"),
        (lambda A, B: (A * np.nan, B), "finite"),
        (lambda A, B: (-A, B), "negative"),
        (lambda A, B: (A, B.T), "upper triangular"),
        (lambda A, B: (2 * A, B), "sum to 1"),
    ],
)
def test_what_is_no_hierarchy_is_refused(change, message):
    A, B = random_hierarchy(np.random.default_rng(0), 3, 3)
    markov.check_parameters(A, B)
    with pytest.raises(ValueError, match=message):
        markov.check_parameters(*change(A, B))
