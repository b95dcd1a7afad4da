import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import leaf_sets, random_tree

import arbora as ab
from arbora import Tree
from arbora.insight import Keyword, Topic, keywords, named
from arbora.insight.stop_words import LANGUAGES, of_language

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


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("dutch", "de kat zit op het dak, die hond was niet in een huis"),
        ("english", "the cat was on the roof, and that dog is not in a house"),
        ("french", "le chat est sur le toit, mais cette maison n'est pas dans une ville"),
        ("german", "die Katze ist auf dem Dach, und der Hund war nicht in einem Haus"),
        ("italian", "il gatto era sul tetto, ma questa casa non è nella città"),
        ("portuguese", "o gato estava no telhado, mas esta casa não é da cidade"),
        ("spanish", "el gato está en la casa, pero este perro no era de una ciudad"),
    ],
)
def test_stop_words_of_a_language_are_left_out(language, sentences):
    tree = Tree.from_newick("((a,b),(c,d));")
    texts = [f"{sentences} {word}" for word in ("tulip", "tulip", "comet", "comet")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = keywords(tree, texts, stop_words=language, ngram_range=(1, 1), n_words=50)
    words = {keyword.word for keyword in found[tree.root]}
    left_out = set(re.findall(r"[^\W\d_]{2,}", sentences.lower())) - words
    assert left_out <= set(of_language(language)) and len(left_out) >= 5
    assert len(words) >= 4
    assert found[4][0].word == "tulip"


def test_languages_have_lists_of_lower_case_words():
    for language in LANGUAGES:
        words = of_language(language)
        assert len(words) > 90 and all(word == word.lower() for word in words)


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
        ("stop_words", "klingon"),
        ("stop_words", 5),
    ],
)
def test_wrong_options_are_named(argument, value):
    with pytest.raises((ValueError, TypeError), match=argument):
        ab.Tree.from_newick("(a,b);").keywords(["cat", "dog"], **{argument: value})


@settings(max_examples=20)
@given(st.integers(2, 8), st.integers(0, 1000))
def test_scores_of_keywords_equal_their_definition(n, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng, max_branching=3)
    vocabulary = ["apple", "bread", "cheese", "dough"]
    has = rng.random((n, 4)) < 0.5
    has[0, 0] = True
    texts = [" ".join(word for word, there in zip(vocabulary, row) if there) for row in has]
    below = leaf_sets(tree)
    for node, found in keywords(tree, texts, ngram_range=(1, 1), n_words=9).items():
        inside = sorted(below[node])
        beside = [] if node == tree.root else sorted(below[tree.parent[node]] - below[node])
        for keyword in found:
            k = vocabulary.index(keyword.word)
            share = has[inside, k].mean()
            score = share
            if beside:
                others = (has[beside, k].sum() + 0.5) / (len(beside) + 1)
                score = share * np.log(share / others)
            elif node != tree.root:
                score = share * np.log(share / 0.5)
            assert keyword.score == pytest.approx(score) and keyword.share == pytest.approx(share)
        scores = [keyword.score for keyword in found]
        assert scores == sorted(scores, reverse=True) and all(score > 0 for score in scores)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_words": 0}, ValueError, "n_words must be at least 1"),
        ({"max_words": 0}, ValueError, "max_words must be at least 1"),
        ({"ngram_range": 2}, ValueError, "ngram_range must be the shortest and the longest"),
        ({"ngram_range": (2, 1)}, ValueError, "ngram_range must be at least 2"),
        ({"ngram_range": (1, 1.5)}, TypeError, "ngram_range must be a whole number"),
        ({"stop_words": "German"}, ValueError, r"stop_words must be a language \(english, .*german"),
        ({"stop_words": [1]}, ValueError, "stop_words must be"),
        ({"nodes": [99]}, (ValueError, IndexError), "99"),
    ],
)
def test_wrong_options_of_words_are_named(options, error, message, tree):
    with pytest.raises(error, match=message):
        keywords(tree, TEXTS, **options)


def test_only_the_most_frequent_words_count_where_there_are_too_many(tree):
    found = keywords(tree, TEXTS, ngram_range=(1, 1), max_words=2, n_words=9)
    assert len({keyword.word for words in found.values() for keyword in words}) <= 2


def test_names_need_texts_or_words(tree):
    with pytest.raises(ValueError, match="needs texts, one per leaf, or words"):
        named(tree)


def test_words_that_were_edited_make_the_names(tree):
    words = {6: [Keyword("felines", 1.0, 1.0)], 7: [Keyword("felines", 1.0, 1.0)], 8: []}
    found = named(tree, words=words)
    assert sorted([found.name[6], found.name[7]]) == ["felines", "felines (2)"]
    larger = max((6, 7), key=lambda node: tree.sizes[node])
    assert found.name[larger] == "felines", "the larger one keeps the plain name"
    assert found.name[8] == "", "nothing to say"


def test_names_that_are_taken_get_further_words_before_numbers(tree):
    four = [Keyword(word, 1.0, 1.0) for word in ("one", "two", "three", "four")]
    found = named(tree, words={10: four, 9: four})
    assert {found.name[10], found.name[9]} == {"one, two, three", "one, two, three, four"}


def test_a_function_sees_a_few_texts_spread_over_the_node(tree):
    seen = {}

    def name(topic):
        seen[topic.node] = topic.texts
        return f" {topic.node} "

    found = named(tree, TEXTS, function=name)
    assert all(1 <= len(texts) <= 3 and set(texts) <= set(TEXTS) for texts in seen.values())
    assert len(seen[tree.root]) == 3 and found.name[tree.root] == str(tree.root), "spaces are cut off"


def test_only_some_nodes_are_named(tree):
    found = named(tree, TEXTS, nodes=[7])
    assert [bool(name) for name in found.name[6:]] == [node == 7 for node in range(6, 11)]


@pytest.mark.parametrize("texts", [3, 2.5, "one string", object])
def test_what_holds_no_texts_is_refused_by_name(texts, tree):
    with pytest.raises(TypeError, match="texts must hold one text per leaf"):
        tree.keywords(texts)


@pytest.mark.parametrize("nodes", [3, 10**30, "ab", 2.5])
def test_nodes_that_are_no_sequence_are_refused_by_name(nodes, tree):
    with pytest.raises(TypeError, match="nodes must be a sequence"):
        tree.keywords(["cat dog"] * tree.n_leaves, nodes=nodes)
