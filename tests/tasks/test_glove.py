"""GloVe's state, the graph autoencoder, and words of WordNet in odd places."""

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.tasks.corpus import build_corpus, read_documents
from arbora.tasks.glove import GloVe
from arbora.tasks.topics import topic_words
from arbora.tasks.wordnet import WordNet, judge
from arbora.tree.word_scores import word_scores

COUNTS = sp.coo_array(np.array([[0, 4.0, 1.0], [4.0, 0, 200.0], [1.0, 200.0, 0]]))


def glove(**options):
    defaults = {"dimension": 4, "x_max": 100.0, "alpha": 0.75, "learning_rate": 0.05}
    return GloVe(COUNTS, **{**defaults, **options}, rng=np.random.default_rng(0))


def test_strengths_are_capped_and_logs_are_those_of_the_counts():
    state = glove()
    for row, column, log, strength in zip(state.rows, state.columns, state.logs, state.strengths):
        count = COUNTS.toarray()[row, column]
        assert log == pytest.approx(np.log(count), abs=1e-6)
        assert strength == pytest.approx(min((count / 100) ** 0.75, 1.0), rel=1e-6)


def test_epochs_lower_the_cost_and_repeat():
    one, other = glove(), glove()
    costs = [one.run_epoch(np.random.default_rng(1)) for _ in range(50)]
    assert costs[-1] < costs[0]
    assert [other.run_epoch(np.random.default_rng(1)) for _ in range(50)] == costs


def test_vectors_are_words_plus_contexts_without_biases():
    state = glove()
    np.testing.assert_array_equal(state.vectors(), state.word[:, :-1] + state.context[:, :-1])
    assert state.vectors(np.array([2])).shape == (1, 4)


class Placement:
    mean = np.zeros(4, dtype=np.float32)


def test_turning_keeps_lengths_and_moves_against_the_gradient():
    state = glove()
    before = state.vectors().astype(np.float64)
    gradient = np.random.default_rng(2).normal(size=(3, 4))
    # words may come several times; their gradients add up
    rows = np.array([0, 1, 1])
    state.turn(rows, Placement, gradient, weight=0.1)
    after = state.vectors().astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(before, axis=1), rtol=1e-4)
    np.testing.assert_array_equal(after[2], before[2])
    total = np.stack([gradient[0], gradient[1] + gradient[2]])
    assert (((after - before)[:2] * total).sum(axis=1) < 0).all()


def test_no_weight_turns_nothing():
    state = glove()
    before = state.vectors().copy()
    state.turn(np.array([0, 1]), Placement, np.ones((2, 4)), weight=0.0)
    np.testing.assert_allclose(state.vectors(), before, atol=1e-7)


def test_equally_frequent_words_are_in_the_order_of_the_alphabet():
    corpus = build_corpus([["b", "a", "c", "c"], ["d"]], n_words=3, min_count=1)
    assert corpus.words == ["c", "a", "b"] and corpus.counts.tolist() == [2, 1, 1]
    assert corpus.tokens.tolist() == [2, 1, 0, 0, -2, -1, -2], "d is outside, and keeps its place"


def test_documents_are_the_lines_that_have_words(tmp_path):
    (tmp_path / "t.txt").write_text("One  TWO\n\n   \nthree\n", encoding="utf-8")
    assert list(read_documents(tmp_path / "t.txt")) == [["one", "two"], ["three"]]
    with pytest.raises(FileNotFoundError):
        list(read_documents(tmp_path / "absent.txt"))


def test_a_word_with_several_ways_up_has_the_depth_of_the_shortest():
    #  0 - 1 - 2 - 3, and 3 directly below 0 as well
    wordnet = WordNet(["a", "b", "c", "d|Dee"], np.array([1, 2, 3, 3]), np.array([0, 1, 2, 0]))
    assert wordnet.ancestors(3) == {3: 1, 2: 2, 1: 1, 0: 0}
    assert wordnet.common_depth("d", "c") == 2 and "dee" in wordnet
    assert wordnet.ancestors(3) is wordnet.ancestors(3), "found once"


def test_words_without_a_common_ancestor_meet_at_depth_zero():
    assert WordNet(["a", "b"], np.array([], int), np.array([], int)).common_depth("a", "b") == 0


def test_pairs_are_drawn_where_there_are_too_many():
    wordnet = WordNet(["top", *"abcdef"], np.arange(1, 7), np.zeros(6, int))
    assert judge(list("abcdef"), np.zeros(6, int), wordnet, max_pairs=4).n_pairs == 4
    with pytest.raises(ValueError, match="knows fewer than two"):
        judge(["a", "unknown"], np.zeros(2, int), wordnet)


@pytest.mark.parametrize("distinct", [True, False])
def test_topics_rank_words_by_the_one_formula(distinct):
    rng = np.random.default_rng(0)
    tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], 4)
    counts = rng.integers(0, 5, size=(4, 8)).astype(float)
    found = topic_words(tree, sp.csr_array(counts), n_words=1, max_depth=1, distinct=distinct)
    assert found[6] == [int(counts.sum(axis=0).argmax())]
    for node in (4, 5):
        here, above = counts[tree.leaves(node)].sum(axis=0), counts.sum(axis=0)
        score = word_scores(here, 2, above, 4) if distinct else word_scores(here, 2)
        score[found[6]] = -np.inf
        assert found[node] == [int(score.argmax())]


def test_a_word_that_is_rarer_than_beside_has_a_negative_score():
    score = word_scores(np.array([1, 2, 0]), 2, np.array([3, 2, 4]), 4)
    assert score[0] < 0 < score[1] and score[2] == 0


def test_the_autoencoder_puts_neighbors_together():
    torch = pytest.importorskip("torch")
    from arbora.tasks.graph_autoencoder import GraphAutoencoder, _normalized, embed_graph

    cliques = ab.similarity.graph(sp.csr_array(np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6))))
    vectors = embed_graph(cliques, latent=4, max_epochs=60, random_state=0)
    products = vectors @ vectors.T
    same = np.kron(np.eye(2), np.ones((6, 6))).astype(bool)
    assert products[same].mean() > products[~same].mean() + 0.5
    np.testing.assert_array_equal(vectors, embed_graph(cliques, latent=4, max_epochs=60, random_state=0))
    propagate = _normalized(cliques).to_dense().numpy()
    np.testing.assert_allclose(propagate, np.kron(np.eye(2), np.full((6, 6), 1 / 6)), atol=1e-6)
    module = GraphAutoencoder(12, hidden=5, latent=3, generator=torch.Generator().manual_seed(0))
    assert module.first.abs().max() <= np.sqrt(6 / 17)
    mean, log_scale = module(torch.eye(12))
    torch.testing.assert_close(mean, torch.relu(module.first) @ module.mean)
    assert log_scale.shape == (12, 3)
