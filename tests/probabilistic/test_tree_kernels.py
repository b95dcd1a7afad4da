"""Sums over one tree of internal nodes, against walking up from every node."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.probabilistic import _tree_kernels as kernels


def random_parents(k, rng):
    """Children first, the root last and its own parent."""
    return np.append(rng.integers(np.arange(1, k), k), k - 1).astype(np.int64)


def path(parent, node):
    found = [node]
    while parent[found[-1]] != found[-1]:
        found.append(int(parent[found[-1]]))
    return found


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(0, 10**6))
def test_sums_along_paths_equal_walking_up(k, seed):
    rng = np.random.default_rng(seed)
    parent, at_node = random_parents(k, rng), rng.normal(size=k)
    wanted = [at_node[path(parent, node)].sum() for node in range(k)]
    np.testing.assert_allclose(kernels.path_sums(parent, at_node), wanted, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_weights_to_the_outside_equal_their_definition(k, seed):
    rng = np.random.default_rng(seed)
    parent = random_parents(k, rng)
    # S[a, b]: weight between the leaves whose parent is a and those whose parent is b
    S = rng.random((k, k))
    S = S + S.T
    below = [[v for v in range(k) if node in path(parent, v)] for node in range(k)]
    wanted = np.array(
        [
            [0.0 if other in below[node] else S[below[node], other].sum() for other in range(k)]
            for node in range(k)
        ]
    )
    np.testing.assert_allclose(kernels.outside_weights(parent, S), wanted, atol=1e-12)


@settings(max_examples=40)
@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 10**6))
def test_leaves_join_at_the_first_node_with_company(k, n, seed):
    rng = np.random.default_rng(seed)
    parent, leaf_parent = random_parents(k, rng), rng.integers(0, k, n)
    above = [path(parent, int(node)) for node in leaf_parent]

    def has_company(node):
        children = {("leaf", i) for i in range(n) if leaf_parent[i] == node}
        children |= {
            ("node", v) for v in range(k - 1) if parent[v] == node and any(v in way for way in above)
        }
        return len(children) > 1

    wanted = [next((v for v in way if has_company(v)), k - 1) for way in above]
    assert kernels.joining_parents(leaf_parent, parent).tolist() == wanted


def test_nothing_times_the_logarithm_of_nothing_is_nothing():
    ratio = kernels.xlogy_ratio.py_func
    assert ratio(0.0, 0.5) == ratio(0.5, 0.0) == ratio(-1e-18, 0.5) == 0.0
    assert ratio(0.5, 0.25) == 0.5 * np.log(2)


def test_a_path_is_marked_from_a_node_to_the_root():
    mark = kernels.mark_path.py_func
    parent = np.array([2, 3, 3, 4, 4])
    on_path = np.zeros(5, dtype=np.bool_)
    mark(parent, 0, on_path, True)
    assert on_path.tolist() == [True, False, True, True, True]
    mark(parent, 3, on_path, False)
    assert on_path.tolist() == [True, False, True, False, False]
