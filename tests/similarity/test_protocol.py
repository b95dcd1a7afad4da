"""The base class against plain definitions, and every kind against the base class."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from similarities import TableSimilarity, same_numbers
from trees import random_tree, trees

import arbora as ab
from arbora._base.checkpoint import identity_of


def kinds(n=12, seed=0):
    """A similarity of each kind, over numbers of their own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    return {
        "own": TableSimilarity(rng.random() + W + W.T),
        "dense": ab.similarity.dense(W + W.T),
        "cosine": ab.similarity.cosine(X),
        "signed cosine": ab.similarity.cosine(X, affine=False),
        "gaussian": ab.similarity.gaussian(X),
        "graph": ab.similarity.graph(sp.csr_array(W + W.T)),
        "knn": ab.similarity.knn(X, n_neighbors=3),
    }


KINDS = tuple(kinds())


def table_of(similarity):
    """All pairs, one at a time, self-loops on the diagonal."""
    n = similarity.n_points
    table = np.array([[float(similarity.pairs(i, j)) for j in range(n)] for i in range(n)])
    np.fill_diagonal(table, similarity.self_loops)
    return table


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_sums_products_and_rows_are_those_of_the_pairs(kind, seed):
    similarity = kinds(seed=seed)[kind]
    W = table_of(similarity)
    different = W - np.diag(np.diag(W))
    x = np.random.default_rng(seed).normal(size=(len(W), 2))
    np.testing.assert_allclose(similarity.total, np.triu(W).sum(), atol=1e-6)
    np.testing.assert_allclose(similarity.degrees, different.sum(axis=1) + 2 * np.diag(W), atol=1e-6)
    np.testing.assert_allclose(similarity.multiply(x), different @ x, atol=1e-5)
    np.testing.assert_allclose(similarity.multiply(x[:, 0]), different @ x[:, 0], atol=1e-5)
    rows = similarity.rows([3, 0])
    rows[[0, 1], [3, 0]] = 0
    np.testing.assert_allclose(rows, different[[3, 0]], atol=1e-7)
    expected = ((W - 0.3)[np.triu_indices(len(W), 1)] ** 2).sum()
    np.testing.assert_allclose(similarity.sum_of_squares(0.3), expected, rtol=1e-6)
    assert similarity.is_non_negative == bool((different >= 0).all())


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_the_callers_to_change(kind):
    similarity = kinds()[kind]
    before = similarity.rows([0, 1])
    similarity.rows([0, 1])[:] = -7
    np.testing.assert_array_equal(similarity.rows([0, 1]), before)


@given(trees(unary=0.2), st.integers(0, 10**6))
def test_cross_of_your_own_similarity_is_that_of_the_matrix(tree, seed):
    table = np.random.default_rng(seed).random((tree.n_leaves, tree.n_leaves))
    own, dense = TableSimilarity(table + table.T), ab.similarity.DenseSimilarity(table + table.T)
    np.testing.assert_allclose(own.cross(tree), dense.cross(tree), atol=1e-12)


def test_self_loops_of_your_own_similarity_meet_at_the_leafs_parent():
    tree = random_tree(6, np.random.default_rng(0))
    own = TableSimilarity(np.zeros((6, 6)))
    own.self_loops = np.arange(6.0)
    graph = ab.similarity.graph(sp.csr_array(np.diag(np.arange(6.0))))
    np.testing.assert_allclose(own.cross(tree), graph.cross(tree))
    assert own.total == graph.total == 15
    np.testing.assert_allclose(own.degrees, graph.degrees)
    assert own.without_self_loops().total == graph.without_self_loops().total == 0
    assert own.total == 15


def test_blocks_do_not_show():
    whole = same_numbers(30)["own"]
    tree = random_tree(30, np.random.default_rng(1))
    expected = whole.cross(tree), whole.total, whole.identity()["pairs"]
    whole.values_at_once = 70
    np.testing.assert_allclose(whole.cross(tree), expected[0])
    assert whole.total == pytest.approx(expected[1]) and whole.identity()["pairs"] == expected[2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_subset_has_the_pairs_of_its_points_in_their_order(kind):
    similarity = kinds()[kind]
    similarity.names = [f"p{k}" for k in range(similarity.n_points)]
    points = [7, 2, 9, 4]
    part = similarity.subset(points)
    np.testing.assert_allclose(table_of(part), table_of(similarity)[np.ix_(points, points)])
    assert part.n_points == 4 and part.names == ["p7", "p2", "p9", "p4"]


@pytest.mark.parametrize("kind", KINDS)
def test_identity_is_the_same_for_the_same_numbers_and_another_for_others(kind):
    identity = identity_of(similarity=kinds()[kind])
    assert identity == identity_of(similarity=kinds()[kind])
    assert identity != identity_of(similarity=kinds(seed=1)[kind])
    assert identity != identity_of(similarity=kinds()[kind].subset(np.arange(12)[::-1]))


def test_identity_covers_the_options():
    X = np.random.default_rng(0).normal(size=(9, 2))
    similarities = [
        ab.similarity.gaussian(X, 1.0),
        ab.similarity.gaussian(X, 2.0),
        ab.similarity.cosine(X),
        ab.similarity.cosine(X, affine=False),
        ab.similarity.knn(X, 3),
        ab.similarity.knn(X, 4),
        ab.similarity.knn(X, 3, weights="heat"),
    ]
    assert len({identity_of(similarity=one) for one in similarities}) == len(similarities)


@pytest.mark.parametrize("kind", ["own", "dense", "graph"])
def test_query_takes_similarities_to_the_old_points(kind):
    similarity = kinds()[kind]
    rows = similarity.query(np.eye(12)[:2])
    assert rows.shape == (2, 12) and rows[0, 0] == 1
    sparse = sp.coo_array(([1.0, 2.0], ([0, 0], [3, 3])), shape=(1, 12))
    assert similarity.query(sparse)[0, 3] == 3 and sparse.nnz == 2
    with pytest.raises(ValueError, match=r"\(m, 12\).*Got \(2, 3\).*similarity.knn"):
        similarity.query(np.ones((2, 3)))
    with pytest.raises(ValueError, match="not negative"):
        similarity.query(-np.ones((1, 12)))
    with pytest.raises(ValueError, match="finite"):
        similarity.query(np.full((1, 12), np.nan))


@pytest.mark.parametrize("kind", ["cosine", "gaussian", "knn"])
def test_query_takes_vectors_where_the_similarity_was_built_from_vectors(kind):
    X = np.random.default_rng(0).normal(size=(12, 3))
    rows = kinds()[kind].query(X[:4]).toarray()
    assert rows.shape == (4, 12) and (rows[np.arange(4), np.arange(4)] == rows.max(axis=1)).all()
    with pytest.raises(ValueError, match="3"):
        kinds()[kind].query(np.ones((2, 12)))


def test_gaussian_query_is_the_kernel():
    X = np.random.default_rng(0).normal(size=(8, 3))
    similarity = ab.similarity.gaussian(X[:6], 0.7)
    whole = ab.similarity.gaussian(X, 0.7)
    np.testing.assert_allclose(similarity.query(X[6:]).toarray(), whole.rows([6, 7])[:, :6], rtol=1e-12)


class Wrong(TableSimilarity):
    def pairs(self, i, j):
        return np.full((2, 2), np.nan) if self.table[0, 0] else np.full(np.shape(i), np.nan)


def test_what_your_own_pairs_return_is_checked():
    with pytest.raises(ValueError, match=r"Wrong.pairs\(i, j\) must have the shape .*Got \(2, 2\)"):
        _ = Wrong(np.ones((3, 3))).total
    with pytest.raises(ValueError, match=r"Wrong.pairs\(i, j\) must be finite"):
        _ = Wrong(np.zeros((3, 3))).total


def test_a_similarity_without_pairs_cannot_be_made():
    class Incomplete(ab.similarity.Similarity):
        n_points = 3

    with pytest.raises(TypeError, match="pairs"):
        Incomplete()


def test_points_that_do_not_exist_are_refused():
    similarity = same_numbers(4)["own"]
    with pytest.raises(ValueError, match=r"points must lie in \[0, n_points=4\)"):
        similarity.rows([4])
    with pytest.raises(TypeError, match="whole numbers"):
        similarity.subset([0.5])
    with pytest.raises(TypeError, match="query"):
        similarity.features_of([[1.0]])


# ---- everywhere ----------------------------------------------------------------------------------------------


def test_every_metric_takes_your_own_similarity():
    tree = ab.linkage(np.random.default_rng(2).normal(size=(15, 3)))
    similarities = same_numbers(15)
    scores = {name: dict(ab.metrics.score(tree, one)) for name, one in similarities.items()}
    assert {"dasgupta_cost", "wang_cost", "tree_sampling_divergence"} <= set(scores["own"])
    for name, found in scores.items():
        assert found == pytest.approx(scores["own"], rel=1e-9), name
    correlations = [ab.metrics.cophenetic_correlation(tree, similarity=one) for one in similarities.values()]
    np.testing.assert_allclose(correlations, correlations[0], rtol=1e-9)


def test_searches_take_your_own_similarity(tmp_path):
    X = np.concatenate([np.full((6, 2), [0.0, 1.0]), np.full((6, 2), [1.0, 0.0])])
    X += 0.1 * np.random.default_rng(0).random(X.shape)
    own = TableSimilarity(ab.similarity.cosine(X).rows(np.arange(12)))
    halves = np.repeat([0, 1], 6)
    for tree in (
        ab.cluster(own, random_state=0),
        ab.linkage(own),
        ab.refine(ab.linkage(own), own, random_state=0, checkpoint=tmp_path / "kept"),
    ):
        np.testing.assert_array_equal(tree.cut(n_clusters=2), halves)
    found = ab.predict(ab.linkage(own), own, own.rows([0, 11]), n_clusters=2)
    np.testing.assert_array_equal(found, [0, 1])
    with pytest.raises(ValueError, match="other"):
        ab.refine(
            ab.linkage(own), TableSimilarity(own.table**2), checkpoint=tmp_path / "kept", random_state=0
        )


def test_hyphc_takes_your_own_similarity():
    pytest.importorskip("torch")
    own = same_numbers(10)["own"]
    model = ab.HypHC(max_epochs=2, random_state=0).fit(own)
    assert model.tree_.n_leaves == 10
