"""Word vectors with a tree: text, counts, GloVe's objective, joint training, WordNet, the command."""

import gzip

import data_sets
import numpy as np
import pytest
from cli.in_process import run
from hypothesis import given
from hypothesis import strategies as st

from arbora.errors import FormatError
from arbora.metrics import dendrogram_purity
from arbora.tasks import _glove_kernels as kernels
from arbora.tasks import corpus as text_as_numbers
from arbora.tasks.corpus import build_corpus, cooccurrences, read_documents
from arbora.tasks.word_embeddings import TreeGloVe
from arbora.tasks.wordnet import WordNet, judge

TOPICS = [["red", "green", "blue", "paint"], ["one", "two", "three", "count"], ["oak", "elm", "ash", "wood"]]


def text(seed=0, n_documents=60, length=40):
    rng = np.random.default_rng(seed)
    return [list(rng.choice(TOPICS[k % 3], length)) for k in range(n_documents)]


def counts_by_definition(documents, words, window):
    counts = np.zeros((len(words), len(words)))
    for document in documents:
        for a in range(len(document)):
            for b in range(a + 1, min(a + window, len(document) - 1) + 1):
                if document[a] in words and document[b] in words:
                    i, j = words.index(document[a]), words.index(document[b])
                    counts[i, j] += 1 / (b - a)
                    counts[j, i] += 1 / (b - a)
    return counts


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=1, max_size=4), st.integers(1, 5))
def test_cooccurrences_equal_their_definition(documents, window):
    full = [*documents, list("abc")]
    corpus = build_corpus(full, n_words=4, min_count=1)
    found = cooccurrences(corpus, window).toarray()
    np.testing.assert_allclose(found, counts_by_definition(full, corpus.words, window), rtol=1e-5)


def test_pairs_do_not_depend_on_how_the_text_is_divided(monkeypatch):
    corpus = build_corpus(text(), n_words=12, min_count=1)
    whole = cooccurrences(corpus).toarray()
    monkeypatch.setattr(text_as_numbers, "_PAIR_BLOCK", 7)
    np.testing.assert_allclose(cooccurrences(corpus).toarray(), whole, rtol=1e-4)


def test_an_epoch_equals_plain_adagrad():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=20), rng.integers(4, size=20)
    logs, strengths, order = rng.random(20), rng.random(20), rng.permutation(20)
    state = [rng.random((4, 3)) for _ in range(2)] + [np.ones((4, 3)) for _ in range(2)]
    expected = [array.copy() for array in state]
    word, context, word_square, context_square = expected
    total = 0.0
    for place in order:
        i, j = rows[place], columns[place]
        error = word[i, :2] @ context[j, :2] + word[i, 2] + context[j, 2] - logs[place]
        pull = strengths[place] * error
        total += pull * error
        by_word, by_context = pull * np.append(context[j, :2], 1), pull * np.append(word[i, :2], 1)
        word_square[i] += by_word**2
        context_square[j] += by_context**2
        word[i] -= 0.1 * by_word / np.sqrt(word_square[i])
        context[j] -= 0.1 * by_context / np.sqrt(context_square[j])
    found = kernels.glove_epoch(rows, columns, logs, strengths, order, *state, 0.1)
    assert found == pytest.approx(total / 20)
    for a, b in zip(state, expected):
        np.testing.assert_allclose(a, b)


def learn(seed):
    return TreeGloVe(12, dimension=6, n_internal=9, max_epochs=30, tree_steps=20, random_state=seed).fit(
        text()
    )


@pytest.fixture(scope="module")
def learned():
    return learn(0)


def test_words_of_a_topic_share_a_branch(learned):
    purity = []
    for seed in range(3):  # twelve words are few: one of them may go astray
        model = learn(seed)
        topic_of = [next(k for k, topic in enumerate(TOPICS) if word in topic) for word in model.words_]
        purity.append(dendrogram_purity(model.tree_, topic_of))
    assert np.median(purity) > 0.95 and min(purity) > 0.8
    assert set(learned.nearest("oak", 3)) == {"elm", "ash", "wood"}
    assert learned.tree_.name[:12].tolist() == learned.words_


def test_both_costs_fall_and_the_tree_moves_the_words(learned):
    assert learned.glove_costs_[-1] < learned.glove_costs_[0]
    assert learned.tree_costs_[-1] <= learned.tree_costs_[0] + 0.05
    alone = TreeGloVe(
        12, dimension=6, n_internal=9, max_epochs=30, tree_steps=20, tree_weight=0.0, random_state=0
    ).fit(text())
    assert not np.allclose(alone.vectors_, learned.vectors_)


def test_the_same_seed_gives_the_same_tree(learned):
    again = TreeGloVe(12, dimension=6, n_internal=9, max_epochs=30, tree_steps=20, random_state=0).fit(text())
    np.testing.assert_array_equal(again.tree_.parent, learned.tree_.parent)
    np.testing.assert_array_equal(again.vectors_, learned.vectors_)


def little_wordnet():
    #  thing - plant - tree - oak, elm      thing - number - one, two
    lemmas = ["thing", "plant", "tree", "oak", "elm", "number", "one", "two|deuce"]
    child, parent = np.array([1, 2, 3, 4, 5, 6, 7]), np.array([0, 1, 2, 2, 0, 5, 5])
    return WordNet(lemmas, child, parent)


def test_common_depth_is_that_of_the_deepest_common_ancestor():
    wordnet = little_wordnet()
    assert wordnet.common_depth("oak", "elm") == 2
    assert wordnet.common_depth("one", "deuce") == 1
    assert wordnet.common_depth("oak", "two") == 0
    assert wordnet.common_depth("oak", "oak") == 3
    assert "oak" in wordnet and "green" not in wordnet


def test_good_clusters_are_deeper_than_random_ones():
    words = ["oak", "elm", "tree", "one", "two", "number", "green"]
    score = judge(words, np.array([0, 0, 0, 1, 1, 1, 1]), little_wordnet(), random_state=1)
    assert score.n_pairs == 6
    assert score.within == pytest.approx((3 * 2 + 3 * 1) / 6)
    assert score.within > score.random
    with pytest.raises(ValueError, match="No cluster holds two words"):
        judge(words, np.arange(7), little_wordnet())


def test_the_command_trains_shows_and_saves(tmp_path):
    corpus = tmp_path / "corpus.txt.gz"
    with gzip.open(corpus, "wt", encoding="utf-8") as file:
        file.write("\n".join(" ".join(document).upper() for document in text()))
    options = ["--words", "12", "--dimension", "6", "--nodes", "9", "--epochs", "4", "--show", "3"]
    assert "5,000" not in run("words", corpus, *options, "--quiet").out
    tree, vectors = tmp_path / "tree.nwk", tmp_path / "vectors.txt"
    done = run("words", corpus, *options, "--out", tree, "--vectors", vectors)
    assert "words: " in done.out
    assert "oak" in tree.read_text()
    assert len(vectors.read_text().splitlines()) == 12


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "x.gz").write_bytes(b"not gzip")
    for name in ("x.txt", "x.gz"):
        with pytest.raises(FormatError, match="not a text file"):
            list(read_documents(tmp_path / name))
    with pytest.raises(ValueError, match="at least 3 words"):
        TreeGloVe().fit([["one", "two"]])
    with pytest.raises(ValueError, match="n_internal must be at least 1"):
        TreeGloVe(n_internal=0).fit(text())


@pytest.mark.data
@pytest.mark.slow
def test_clusters_of_the_brown_corpus_agree_with_wordnet():
    data_sets.load("text/wordnet30_noun")
    folder = data_sets.FOLDER / "text"
    model = TreeGloVe(2000, n_internal=255, max_epochs=20, random_state=0).fit(
        read_documents(folder / "brown.txt.gz")
    )
    score = judge(model.words_, model.clusters_, WordNet.load(folder / "wordnet30_noun.npz"), 5000)
    assert score.within > score.random + 0.1
