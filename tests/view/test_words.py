"""Words of a node, by their definition."""

import math

import numpy as np
from trees import random_tree

from arbora import Tree
from arbora.view.words import WordCounts


def score_by_definition(word, texts, leaves):
    inside = sum(word in texts[leaf].split() for leaf in leaves) / len(leaves)
    everywhere = sum(word in text.split() for text in texts) / len(texts)
    return inside * math.log(inside / everywhere) if inside else 0.0


def test_top_words_are_those_of_the_highest_score():
    rng = np.random.default_rng(0)
    tree = random_tree(30, rng)
    vocabulary = ["apple", "pear", "plum", "cherry", "quince", "medlar"]
    texts = [" ".join(rng.choice(vocabulary, 3)) for _ in range(30)]
    words = WordCounts(texts, tree)
    for node in range(30, tree.root):
        leaves = tree.leaves(node)
        scores = [score_by_definition(word, texts, leaves) for word in words.top(node)]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        best = max(score_by_definition(word, texts, leaves) for word in vocabulary)
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
