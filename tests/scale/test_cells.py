"""Cells of a graph: bounded, made of alike nodes, and the same in any buckets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora._base.exact_sums import rounders
from arbora.scale._cell_kernels import join_in_order
from arbora.scale.cells import (
    Links,
    choose_neighbors,
    find_cells,
    joined_clusters,
    links_of,
    relabeled,
    summed_links,
)
from arbora.scale.graph_parts import part_graph, send_edges
from arbora.similarity.shards import Edges, in_buckets, joined_edges

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("arbora._base.distributed")


def random_edges(rng, n, m):
    ends = rng.integers(0, n, (2, m))
    edges = Edges(ends.min(axis=0), ends.max(axis=0), rng.random(m))
    return joined_edges([edges.where(edges.low < edges.high)])


def joined_by_definition(left, right, size, most, target):
    """The same with sets."""
    groups = [{k} for k in range(len(size))]
    for a, b in zip(left, right):
        if len(groups) <= target:
            break
        one, two = (next(group for group in groups if node in group) for node in (a, b))
        if one is not two and sum(size[k] for k in one | two) <= most:
            groups = [group for group in groups if group not in (one, two)] + [one | two]
    root = np.empty(len(size), dtype=int)
    for group in groups:
        root[list(group)] = min(group)
    return root


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 9999), st.integers(1, 12), st.integers(0, 30), st.integers(1, 5))
def test_joining_in_order_equals_its_definition(seed, n, n_pairs, target):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n, (2, n_pairs))
    size = rng.integers(1, 4, n).astype(float)
    found = join_in_order(left, right, size, 6.0, target)
    assert np.array_equal(found, joined_by_definition(left, right, size, 6.0, target))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 9999))
def test_each_cluster_chooses_the_neighbor_with_the_largest_mean_similarity(seed):
    rng = np.random.default_rng(seed)
    edges, weight = random_edges(rng, 12, 30), rng.integers(1, 5, 12).astype(float)
    dense = np.zeros((12, 12))
    dense[edges.low, edges.high] = dense[edges.high, edges.low] = edges.weight
    mean = dense / np.outer(weight, weight)
    choice = choose_neighbors(links_of(edges, rounders(60)), weight)
    assert np.array_equal(choice.cluster, np.flatnonzero(dense.any(axis=1)))
    assert np.allclose(choice.value, mean.max(axis=1)[choice.cluster])
    assert np.allclose(mean[choice.cluster, choice.neighbor], choice.value)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 9999), st.integers(1, 4))
def test_links_between_clusters_are_summed_to_the_same_bits_in_any_buckets(seed, n_buckets):
    rng = np.random.default_rng(seed)
    edges, label, by = random_edges(rng, 20, 60), rng.integers(0, 5, 20), rounders(120)
    whole = summed_links(relabeled(links_of(edges, by), label, 1))
    moved = [relabeled(links_of(part, by), label, n_buckets) for part in in_buckets(edges, n_buckets)]
    found = summed_links([summed_links([one[k] for one in moved]) for k in range(n_buckets)])
    assert all(np.array_equal(a, b) for a, b in zip(found, whole))
    member = np.eye(5)[label]
    dense = np.zeros((20, 20))
    dense[edges.low, edges.high] = dense[edges.high, edges.low] = edges.weight
    sums = np.zeros((5, 5))
    sums[whole.low, whole.high] = whole.levels.sum(axis=0)
    assert np.allclose(sums, np.triu(member.T @ dense @ member, 1))


def cells_of(edges, n, n_buckets, **limits):
    buckets = [dask.delayed(part) for part in in_buckets(edges, n_buckets)]
    weight = np.ones(n)
    with dask.config.set(scheduler="sync"):
        return find_cells(
            distributed.Workers(None), dask.delayed, buckets, weight, rounders(2 * n * n), **limits
        )


def test_cells_are_bounded_and_do_not_depend_on_buckets(monkeypatch):
    # several buckets in later rounds too
    monkeypatch.setattr("arbora.scale.cells._LINKS_OF_A_BUCKET", 100)
    rng = np.random.default_rng(0)
    edges = random_edges(rng, 300, 1500)
    one, other = (cells_of(edges, 300, k, most=20.0, target=25) for k in (1, 6))
    assert np.array_equal(one.of_node, other.of_node)
    assert np.array_equal(one.graph.toarray(), other.graph.toarray())
    assert one.weight.max() <= 20
    assert np.array_equal(one.weight, np.bincount(one.of_node))
    assert len(one.weight) <= 40


def test_cells_of_clear_groups_are_these_groups():
    """Ten cliques in a ring, tied by weak edges."""
    inside = [(10 * g + a, 10 * g + b, 1.0) for g in range(10) for a in range(10) for b in range(a)]
    ties = [(10 * g, (10 * g + 11) % 100, 0.1) for g in range(10)]
    left, right, weight = map(np.array, zip(*inside, *ties))
    edges = Edges(np.minimum(left, right), np.maximum(left, right), weight)
    cells = cells_of(edges, 100, 2, most=10.0, target=10)
    assert np.array_equal(cells.of_node, np.arange(100) // 10)
    assert np.isclose(cells.graph.sum(), 2 * 0.1 * 10)


def test_leaves_of_a_star_and_lonely_nodes_are_put_together():
    edges = Edges(np.zeros(60, int), np.arange(1, 61), np.ones(60))
    cells = cells_of(edges, 100, 2, most=10.0, target=5)
    assert cells.weight.max() <= 10
    assert len(cells.weight) <= 20


def test_joined_clusters_stop_at_the_number_asked_for():
    links = Links(np.array([0, 2, 4]), np.array([1, 3, 5]), np.array([[3.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    choice = choose_neighbors(links, np.ones(6))
    assert joined_clusters(choice, np.ones(6), 10.0, 4).tolist() == [0, 0, 1, 1, 2, 3]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 9999), st.integers(1, 4), st.integers(1, 3))
def test_parts_hold_all_edges_of_their_nodes(seed, n_parts, n_buckets):
    rng = np.random.default_rng(seed)
    n = 25
    edges = random_edges(rng, n, 60)
    part_of_node = rng.integers(0, n_parts, n).astype(np.int32)
    sent = [send_edges(bucket, part_of_node) for bucket in in_buckets(edges, n_buckets)]
    found = np.zeros((n, n))
    for part in range(n_parts):
        graph = part_graph([one.get(part) for one in sent], part, part_of_node)
        assert np.array_equal(graph.ids, np.flatnonzero(part_of_node == part))
        assert np.array_equal(graph.out_owner, part_of_node[graph.out_id])
        assert np.array_equal(np.lexsort((graph.out_id, graph.out_point)), np.arange(len(graph.out_id)))
        found[np.ix_(graph.ids, graph.ids)] = graph.csr.toarray()
        found[graph.ids[graph.out_point], graph.out_id] = graph.out_weight
    dense = np.zeros((n, n))
    dense[edges.low, edges.high] = dense[edges.high, edges.low] = edges.weight
    assert np.array_equal(found, dense)
