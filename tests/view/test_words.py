"""Words of a node, by their definition."""

import math

import numpy as np
from trees import random_tree

from arbora import Tree
from arbora.view.words import WordCounts


def score_by_definition(word, texts, tree, node):
    leaves = set(tree.leaves(node).tolist())
    beside = set(tree.leaves(tree.parent[node]).tolist()) - leaves
    inside = sum(word in texts[leaf].split() for leaf in leaves) / len(leaves)
    others = (sum(word in texts[leaf].split() for leaf in beside) + 0.5) / (len(beside) + 1)
    return inside * math.log(inside / others) if inside else 0.0


def test_top_words_are_those_of_the_highest_score():
    rng = np.random.default_rng(0)
    tree = random_tree(30, rng)
    vocabulary = ["apple", "pear", "plum", "cherry", "quince", "medlar"]
    texts = [" ".join(rng.choice(vocabulary, 3)) for _ in range(30)]
    words = WordCounts(texts, tree)
    for node in range(30, tree.root):
        scores = [score_by_definition(word, texts, tree, node) for word in words.top(node)]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        best = max(score_by_definition(word, texts, tree, node) for word in vocabulary)
        assert not scores or math.isclose(scores[0], best)


def test_the_root_shows_the_most_frequent_words():
    tree = Tree.from_newick("((a,b),(c,d));")
    words = WordCounts(["cat cat", "cat dog", "cat", "bird"], tree)
    assert words.top(6)[0] == "cat"
    assert words.title(5).startswith("bird")


def test_leaves_with_a_word_are_places_of_the_leaf_order():
    tree = Tree.from_newick("((a,b),(c,d));").reorder([3.0, 2.0, 1.0, 0.0])
    texts = ["cat", "dog", "cat dog", ""]
    words = WordCounts(texts, tree)
    for number, word in enumerate(words.vocabulary):
        found = {int(tree.leaf_order[place]) for place in words.leaves_with(number)}
        assert found == {leaf for leaf, text in enumerate(texts) if word in text}


def test_no_texts_have_no_words():
    words = WordCounts(["", ""], Tree.from_newick("(a,b);"))
    assert words.top(2) == []
    assert words.title(0) == ""


def test_a_page_says_what_keywords_says():
    rng = np.random.default_rng(1)
    tree = random_tree(25, rng)
    texts = [" ".join(rng.choice(["apple", "pear", "plum", "cherry", "quince"], 2)) for _ in range(25)]
    found = tree.keywords(texts, n_words=3, ngram_range=(1, 1))
    words = WordCounts(texts, tree)
    for node in range(25, tree.n_nodes):
        assert {keyword.word for keyword in found[node][:1]} <= set(words.top(node, 3))
