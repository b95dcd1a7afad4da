import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import arbora as ab
from arbora.hyperbolic.hyphc import triples as module
from arbora.hyperbolic.hyphc.triples import TripleSampler, arrays_of, count_pairs, neighbor_lists, weigh


def cosine(n, seed=0, d=3):
    return ab.similarity.cosine(np.random.default_rng(seed).normal(size=(n, d)))


def drawn(sampler, epoch=0, size=1000):
    return np.concatenate([triples for triples, _ in sampler.blocks(epoch, size)])


def unordered(pairs):
    return {frozenset(map(int, pair)) for pair in pairs}


@given(st.integers(3, 30), st.integers(0, 99))
def test_one_pass_visits_every_pair_once_with_a_third_leaf(n, seed):
    triples = drawn(TripleSampler(cosine(n), seed=seed))
    assert len(triples) == count_pairs(n)
    assert unordered(triples[:, :2]) == {frozenset(p) for p in itertools.combinations(range(n), 2)}
    assert all(len(set(triple)) == 3 for triple in triples.tolist())
    assert triples.min() >= 0 and triples.max() < n


@given(st.integers(4, 20), st.integers(1, 400), st.integers(0, 99))
def test_any_number_of_triples_spreads_evenly_over_the_pairs(n, n_triples, seed):
    triples = drawn(TripleSampler(cosine(n), n_triples, seed=seed))
    assert len(triples) == n_triples
    _, visits = np.unique(np.sort(triples[:, :2], axis=1), axis=0, return_counts=True)
    passes = -(-n_triples // count_pairs(n))
    assert visits.max() <= passes
    assert visits.min() >= passes - 1 or n_triples < count_pairs(n)


@given(st.integers(3, 40), st.integers(1, 200), st.integers(0, 9))
def test_blocks_of_any_size_hold_the_same_triples(n, size, seed):
    sampler = TripleSampler(cosine(n), 300, seed=seed)
    np.testing.assert_array_equal(drawn(sampler, size=size), drawn(sampler, size=10_000))


def test_epochs_and_seeds_differ_and_repeat():
    draw = lambda seed, epoch: drawn(TripleSampler(cosine(20), seed=seed), epoch)  # noqa: E731
    np.testing.assert_array_equal(draw(1, 2), draw(1, 2))
    assert not np.array_equal(draw(1, 2), draw(1, 3))
    assert not np.array_equal(draw(1, 2), draw(2, 2))


def test_third_leaves_are_uniform():
    n = 7
    third = np.concatenate([drawn(TripleSampler(cosine(n), 20_000, seed=s))[:, 2] for s in range(3)])
    counts = np.bincount(third, minlength=n)
    assert np.abs(counts / counts.mean() - 1).max() < 0.05


@given(st.integers(3, 25), st.integers(0, 99))
def test_weights_equal_the_similarity_of_each_kind(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    for similarity in (
        ab.similarity.cosine(X),
        ab.similarity.cosine(X.astype(np.float32)),
        ab.similarity.dense((half + half.T) + np.eye(n)),
        ab.similarity.graph(sp.csr_array(half + half.T)),
    ):
        triples = drawn(TripleSampler(similarity, seed=seed))
        i, j, k = triples.T
        expected = [similarity.pairs(i, j), similarity.pairs(i, k), similarity.pairs(j, k)]
        for arrays in (None, arrays_of(similarity)):
            found = weigh(similarity, triples, arrays)
            np.testing.assert_allclose(found, np.column_stack(expected), atol=1e-6)


def test_many_points_are_weighed_from_their_features():
    similarity = cosine(module._DENSE_BELOW + 5)
    assert arrays_of(similarity).values.shape[1] == 4
    triples = drawn(TripleSampler(similarity, 500))
    expected = similarity.pairs(triples[:, 1], triples[:, 2])
    found = weigh(similarity, triples, arrays_of(similarity))[:, 2]
    np.testing.assert_allclose(found, expected, atol=1e-12)


class OnlyPairs(ab.similarity.Similarity):
    """A similarity of a kind the kernels do not know."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def n_points(self):
        return self.inner.n_points

    def pairs(self, i, j):
        return self.inner.pairs(i, j)


def test_any_similarity_with_pairs_will_do():
    known = cosine(12)
    ours, theirs = TripleSampler(OnlyPairs(known), seed=3), TripleSampler(known, seed=3)
    for (_, first), (_, second) in zip(ours.blocks(0), theirs.blocks(0)):
        np.testing.assert_allclose(first, second, atol=1e-12)


def test_neighbor_lists_hold_the_most_similar():
    similarity = cosine(30, d=3)
    W = similarity.pairs(*np.meshgrid(np.arange(30), np.arange(30), indexing="ij"))
    np.fill_diagonal(W, -1)
    for kind in (similarity, OnlyPairs(similarity), ab.similarity.dense(np.maximum(W, 0) + np.eye(30))):
        indptr, indices = neighbor_lists(kind, 4)
        for i in range(30):
            assert set(indices[indptr[i] : indptr[i + 1]]) == set(np.argsort(-W[i])[:4])


def test_biased_sampling_prefers_neighbors_and_leaves_the_rest():
    rows = np.arange(60)
    ring = ab.similarity.graph((rows, (rows + 1) % 60))
    share = lambda bias: np.mean(weigh_pairs(ring, bias) > 0)  # noqa: E731
    assert share(1.0) == 1.0
    assert 0.45 < share(0.5) < 0.6
    assert share(0.0) < 0.1
    lonely = ab.similarity.graph(([0], [1]), n_points=5)
    triples = drawn(TripleSampler(lonely, 200, neighbor_bias=1.0))
    assert all(len(set(triple)) == 3 for triple in triples.tolist())


def weigh_pairs(similarity, bias):
    return weigh(similarity, drawn(TripleSampler(similarity, 4000, neighbor_bias=bias)))[:, 0]


@pytest.mark.parametrize(
    ("n", "options", "name"),
    [(2, {}, "3 points"), (5, {"n_triples": 0}, "n_triples"), (5, {"neighbor_bias": 1.5}, "neighbor_bias")],
)
def test_bad_settings_are_named(n, options, name):
    with pytest.raises(ValueError, match=name):
        TripleSampler(cosine(n), **options)
