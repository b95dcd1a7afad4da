import numpy as np
import pytest

import arbora as ab
from arbora.insight import Topic, keywords, named

TEXTS = [
    "the cat purrs on the mat",
    "cats and kittens purr",
    "a kitten sleeps",
    "stocks fell in tokyo",
    "the bank raised rates",
    "bank shares and stocks rose",
]


@pytest.fixture
def tree():
    return ab.Tree.from_newick("((a,(b,c)),(d,(e,f)));")


def test_words_set_a_node_apart_from_its_siblings(tree):
    found = keywords(tree, TEXTS, ngram_range=(1, 1), n_words=3)
    left, right = tree.children(tree.root)
    assert {"stocks", "bank"} <= {k.word for k in found[int(right)]}
    assert not {k.word for k in found[int(left)]} & {"stocks", "bank", "the"}


def test_shares_are_the_share_of_texts_with_the_word(tree):
    found = keywords(tree, TEXTS, ngram_range=(1, 1), n_words=20)
    for node, words in found.items():
        texts = [TEXTS[leaf].split() for leaf in tree.leaves(node)]
        for keyword in words:
            assert keyword.share == pytest.approx(np.mean([keyword.word in text for text in texts]))


def test_only_the_nodes_asked_for_with_the_same_words(tree):
    everything = keywords(tree, TEXTS)
    assert keywords(tree, TEXTS, nodes=[7]) == {7: everything[7]}


def test_phrases_other_languages_and_own_tokenizers(tree):
    assert "raised rates" in {k.word for k in keywords(tree, TEXTS, ngram_range=(2, 2), n_words=9)[9]}
    without = keywords(tree, TEXTS, stop_words=["bank", "stocks"], n_words=50)
    assert not {"bank", "stocks"} & {k.word for words in without.values() for k in words}
    letters = keywords(tree, TEXTS, tokenizer=list, stop_words=None, ngram_range=(1, 1), n_words=2)
    assert all(len(k.word) == 1 for words in letters.values() for k in words)


def test_missing_texts_are_empty_and_wrong_numbers_refused(tree):
    assert keywords(tree, [None, float("nan"), "", *TEXTS[3:]])
    with pytest.raises(ValueError, match=r"one text per leaf, 6\. Got 2"):
        keywords(tree, ["a", "b"])
    with pytest.raises(ValueError, match="no words"):
        keywords(tree, ["the"] * 6)


def test_names_are_unique_and_given_ones_stay(tree):
    given = tree.replace(name=[*"abcdef", *[""] * 4, "everything"])
    found = named(given, TEXTS)
    inner = [name for name in found.name[6:] if name]
    assert len(set(inner)) == len(inner) >= 4
    assert found.name[found.root] == "everything"
    assert list(found.name[:6]) == list("abcdef")


def test_a_function_can_name_and_is_told_what_it_needs(tree):
    heard = []

    def name(topic: Topic) -> str:
        heard.append(topic)
        return "topic"

    found = named(tree, TEXTS, function=name)
    assert {topic.node for topic in heard} == set(range(6, 11))
    assert all(topic.n_texts == tree.sizes[topic.node] and topic.texts for topic in heard)
    assert len(set(found.name[6:])) == 5


def test_deep_trees_get_words_in_reasonable_time():
    n = 3000
    chain = ab.Tree([n, *range(n, 2 * n - 1), *range(n + 1, 2 * n - 1), -1], n)
    found = keywords(chain, [f"word{k % 7} filler" for k in range(n)], n_words=1)
    assert len(found) == 1000


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("ngram_range", 2),
        ("ngram_range", (2, 1)),
        ("ngram_range", "ab"),
        ("stop_words", "french"),
        ("stop_words", 5),
    ],
)
def test_wrong_options_are_named(argument, value):
    with pytest.raises((ValueError, TypeError), match=argument):
        ab.Tree.from_newick("(a,b);").keywords(["cat", "dog"], **{argument: value})
