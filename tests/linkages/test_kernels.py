"""Kernels against plain Python twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import opened

from arbora.linkages import _heaps as heaps
from arbora.linkages import _kernels as kernels
from arbora.linkages.small import merge_small


def small_graph(seed, n=8):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.6
    end = np.column_stack([i[keep], j[keep]]).astype(np.int32).ravel()
    weight = rng.integers(1, 9, keep.sum()).astype(np.float64)
    return kernels.start_graph(end, weight, n, np.ones(n), kernels.AVERAGE)


@given(st.integers(0, 10**6))
def test_popping_a_heap_gives_its_keys_in_descending_order(seed):
    graph = small_graph(seed)
    rng = np.random.default_rng(seed)
    for cluster in range(8):
        own = np.flatnonzero(graph.half["end"] == cluster)
        for half in own[rng.random(len(own)) < 0.3]:
            opened(heaps.raise_key)(graph, half, graph.half["key"][half] + float(rng.integers(0, 9)))
        popped = []
        while graph.top[cluster] != heaps.NOTHING:
            popped.append(opened(heaps.pop)(graph, cluster))
        assert sorted(popped) == own.tolist()
        assert (np.diff(graph.half["key"][popped]) <= 0).all()


@given(st.integers(0, 10**6))
def test_the_hash_finds_edges_after_they_moved_and_not_those_gone(seed):
    graph = small_graph(seed)
    rng = np.random.default_rng(seed)
    expected = {frozenset(graph.half["end"][2 * e : 2 * e + 2].tolist()): e for e in range(len(graph.weight))}
    for _ in range(60):  # more moves than slots: the hash has to be rebuilt
        edge = int(rng.integers(len(graph.weight)))
        a, b = (int(x) for x in rng.choice(8, 2, replace=False))
        old = frozenset(graph.half["end"][2 * edge : 2 * edge + 2].tolist())
        if frozenset((a, b)) in expected or expected.get(old) != edge:
            continue
        del expected[old]
        if rng.random() < 0.2:
            opened(kernels.drop_edge)(graph, edge)
            continue
        expected[frozenset((a, b))] = edge
        graph.half["end"][2 * edge : 2 * edge + 2] = a, b
        opened(heaps.file_edge)(graph, edge)
    for a in range(8):
        for b in range(a):
            assert opened(heaps.find_edge)(graph, a, b) == expected.get(frozenset((a, b)), heaps.NOTHING)


def join_smallest_by_definition(sizes):
    """Sizes of the two parts joined at each step, smallest first."""
    sizes, steps = sorted(sizes), []
    while len(sizes) > 1:
        steps.append(sizes[0] + sizes[1])
        sizes = sorted([*sizes[2:], steps[-1]])
    return steps


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_parts_are_joined_smallest_first(sizes):
    left, right, node, leaf = [], [], sum(sizes), 0
    for size in sizes:  # each part a chain
        part = leaf
        for k in range(1, size):
            left.append(part)
            right.append(leaf + k)
            part, node = node, node + 1
        leaf += size
    order = np.arange(len(left))
    parent = kernels.parents_of_merges(
        np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), order, leaf
    )
    below = np.ones(len(parent), dtype=int)
    below[leaf:] = 0
    for v in range(len(parent) - 1):
        below[parent[v]] += below[v]
    assert below[leaf + len(left) :].tolist() == join_smallest_by_definition(sizes)


@given(st.integers(2, 30), st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6))
def test_kmeans_assigns_every_row_to_the_nearest_mean(n, d, k, seed):
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(n, d)), 1)
    label, total = kernels.kmeans(rows, rng.random(k), 1000)
    present = np.unique(label)
    means = np.array([rows[label == part].mean(axis=0) for part in present])
    gaps = ((rows[:, None] - means[None]) ** 2).sum(axis=2)
    own = gaps[np.arange(n), np.searchsorted(present, label)]
    np.testing.assert_allclose(own, gaps.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(total, own.sum(), atol=1e-9)


@given(st.integers(2, 40), st.integers(0, 10**6), st.sampled_from([0.1, 0.5]), st.booleans())
def test_merges_on_the_full_matrix_are_those_of_the_heaps_to_the_last_bit(n, seed, density, tied):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    end = np.column_stack([i[keep], j[keep]]).astype(np.int32).ravel()
    weight = rng.integers(1, 4, keep.sum()).astype(np.float64) if tied else rng.random(keep.sum())
    mass = rng.integers(1, 3, n).astype(np.float64) if tied else rng.random(n) + 0.1
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kernels, "SMALL", 0)
        expected = kernels.agglomerate(end, weight.copy(), mass.copy(), kernels.AVERAGE)
    for found, wanted in zip(merge_small(end, weight, mass), expected):
        np.testing.assert_array_equal(found, wanted)
