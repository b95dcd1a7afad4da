"""Seeding, the initial hierarchy, and sampling."""

from itertools import pairwise

import fastcluster
import ghhc_worlds as worlds
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic.ghhc import sampling, seeding
from arbora.hyperbolic.ghhc.initialize import initial_nodes, merge_order, place
from arbora.hyperbolic.ghhc.model import LARGEST_NORM


@pytest.mark.parametrize("kind", seeding.SEEDINGS)
def test_seeds_are_distinct_rows_also_among_duplicates(kind):
    points = np.repeat(worlds.random_points(np.random.default_rng(0), 5), 8, axis=0)
    rows = seeding.SEEDINGS[kind](points, 20, np.random.default_rng(1))
    assert len(set(rows.tolist())) == 20


def test_farthest_first_takes_the_farthest_row_each_time():
    points = worlds.random_points(np.random.default_rng(2), 40)
    rows = seeding.farthest_first(points, 10, np.random.default_rng(0))
    for c in range(1, 10):
        nearest = ((points[:, None] - points[rows[:c]]) ** 2).sum(axis=2).min(axis=1)
        assert nearest[rows[c]] == pytest.approx(nearest.max())


def test_markov_chain_seeding_spreads_as_k_means_plus_plus_does():
    rng = np.random.default_rng(3)
    points, label = worlds.blobs(rng, [500, 20, 20, 20, 20], spread=0.05)

    def plain(rng):
        chosen = [int(rng.integers(len(points)))]
        while len(chosen) < 5:
            nearest = ((points[:, None] - points[chosen]) ** 2).sum(axis=2).min(axis=1)
            chosen.append(int(rng.choice(len(points), p=nearest / nearest.sum())))
        return chosen

    def covered(choose):
        return np.mean([len(set(label[choose(np.random.default_rng(seed))])) for seed in range(30)])

    chains = covered(lambda rng: seeding.kmeans_plus_plus(points, 5, rng))
    exact = covered(plain)
    uniform = covered(lambda rng: seeding.random_leaves(points, 5, rng))
    assert abs(chains - exact) < 0.5
    assert chains > uniform + 1


def test_lloyd_never_raises_the_sum_of_squares():
    points = worlds.random_points(np.random.default_rng(4), 200)
    cost = []
    for sweeps in range(5):
        leaves, nearest = seeding.move_to_means(points, points[:10], sweeps)
        cost.append(((points - leaves[nearest]) ** 2).sum())
    assert all(b <= a + 1e-9 for a, b in pairwise(cost))


@given(st.integers(0, 10_000))
def test_ward_with_equal_sizes_merges_as_fastcluster_does(seed):
    points = np.random.default_rng(seed).standard_normal((20, 3))
    found = merge_order(points, np.ones(20, np.int64), "ward")
    expected = fastcluster.linkage_vector(points, method="ward")[:, :2]
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))


@given(st.integers(0, 10_000))
def test_ward_with_sizes_merges_as_on_the_repeated_points(seed):
    rng = np.random.default_rng(seed)
    means, size = rng.standard_normal((6, 2)), rng.integers(1, 5, size=6)
    repeated = np.repeat(np.arange(6), size)
    found = merged_sets(merge_order(means, size, "ward"), 6)
    whole = merged_sets(
        fastcluster.linkage_vector(means[repeated], method="ward")[:, :2].astype(int), len(repeated)
    )
    assert {frozenset(c) for c in found} == {frozenset(repeated[list(c)].tolist()) for c in whole[-5:]}


def merged_sets(merges, n_leaves):
    """Leaves of every merge, in order."""
    sets = [{leaf} for leaf in range(n_leaves)]
    for left, right in merges:
        sets.append(sets[left] | sets[right])
    return sets[n_leaves:]


@pytest.mark.parametrize("leaves", seeding.SEEDINGS)
@pytest.mark.parametrize("norms", ["log", "centroid"])
def test_initial_nodes_lie_inside_the_data_with_the_root_nearest_the_origin(leaves, norms):
    points = worlds.random_points(np.random.default_rng(5), 100, 6)
    nodes = initial_nodes(points, 31, np.random.default_rng(0), leaves=leaves, norms=norms)
    norm = np.linalg.norm(nodes, axis=1)
    assert nodes.shape == (31, 6)
    assert (norm < 0.9).all()
    assert norm.argmin() == 30


@pytest.mark.parametrize("norms", ["centroid", "log"])
def test_leaves_of_a_single_point_still_start_below_the_data(norms):
    points = worlds.random_points(np.random.default_rng(5), 20)
    nodes = initial_nodes(points, 39, np.random.default_rng(0), norms=norms)
    assert np.linalg.norm(nodes, axis=1).max() <= 0.9 * LARGEST_NORM + 1e-12


def test_the_norms_of_the_paper_fall_with_the_logarithm_of_the_merges():
    averages = worlds.random_points(np.random.default_rng(0), 9, norm=0.5)
    norm = np.linalg.norm(place(averages, 5, 0.9, "log"), axis=1)
    np.testing.assert_allclose(norm[5:], 0.99 * 0.9 * np.log([4, 3, 2, 1]) / np.log(5))


def test_nodes_cannot_outnumber_the_points():
    points = worlds.random_points(np.random.default_rng(6), 4)
    assert len(initial_nodes(points, 63, np.random.default_rng(0))) == 7
    assert len(initial_nodes(points[:1], 63, np.random.default_rng(0))) == 1


def sampler(points, pool_size=4096, seed=0):
    return sampling.RowTripleSampler(points.__getitem__, len(points), seed, 5, pool_size, 10)


def test_triples_put_the_nearest_pair_first_and_never_repeat_a_point():
    points = worlds.random_points(np.random.default_rng(7), 60)
    source = sampler(points)
    for step in range(5):
        triples = source.draw(step, 200, sampling.step_generator(0, step))
        assert (np.diff(np.sort(triples, axis=0), axis=0) > 0).all()
        i, j, k = points[triples]
        apart = [((a - b) ** 2).sum(axis=1) for a, b in ((i, j), (i, k), (j, k))]
        assert (apart[0] <= np.minimum(apart[1], apart[2]) + 1e-12).all()


def test_neighbors_are_the_nearest_other_rows():
    points = worlds.random_points(np.random.default_rng(8), 50)
    square = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    found = sampling.nearest_neighbors(points, 4)
    np.testing.assert_array_equal(np.sort(found), np.sort(np.argsort(square, axis=1)[:, :4]))


def test_a_sampler_taken_up_at_a_later_step_draws_the_same():
    points = worlds.random_points(np.random.default_rng(9), 300)
    whole, later = sampler(points, pool_size=50), sampler(points, pool_size=50)
    for step in range(25):
        expected = whole.draw(step, 20, sampling.step_generator(0, step))
        rows = whole.rows[expected]
    found = later.draw(24, 20, sampling.step_generator(0, 24))
    np.testing.assert_array_equal(later.rows[found], rows)


@given(st.integers(3, 9), st.integers(0, 1000))
def test_the_third_point_is_uniform_over_the_others(n, seed):
    first, second = np.random.default_rng(seed).permutation(n)[:2]
    third = sampling.other_than(np.full(n - 2, first), np.full(n - 2, second), np.arange(n - 2))
    assert sorted(third.tolist()) == sorted(set(range(n)) - {int(first), int(second)})
