"""Words that set the nodes of a tree over documents apart, and names made of them.

Words are ranked by `arbora.tree.word_scores`, as in the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import is_missing
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.insight.stop_words import LANGUAGES, of_language
from arbora.tree import Tree
from arbora.tree.same_order import row_of_leaf
from arbora.tree.word_scores import word_scores

Tokenizer = Callable[[str], Sequence[str]]
# Nodes that get words unless others are named: the largest ones.
_MOST_NODES = 1000
_WORDS_IN_A_NAME = 3
_EXEMPLARS = 3


class Keyword(NamedTuple):
    """A word, its score, and the share of the node's texts that contain it.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree.from_newick("((0,1),(2,3));")
    >>> found = tree.keywords(["red apple", "green apple", "fast car", "slow car"], n_words=1)
    >>> found[4][0].word, found[4][0].share
    ('apple', 1.0)
    """

    word: str
    score: float
    share: float


class Topic(NamedTuple):
    """What a naming function learns about a node.

    Examples
    --------
    A naming function gets one and returns a name.

    >>> import arbora as ab
    >>> def name_of(topic):
    ...     return f"{topic.keywords[0].word} ({topic.n_texts} texts)"
    >>> tree = ab.Tree.from_newick("((0,1),(2,3));")
    >>> named = tree.named(["red apple", "green apple", "fast car", "slow car"], function=name_of)
    >>> named.name[4:6].tolist()
    ['apple (2 texts)', 'car (2 texts)']
    """

    node: int
    n_texts: int
    keywords: list[Keyword]
    texts: list[str]


def keywords(
    tree: Tree,
    texts: Sequence[str],
    *,
    n_words: int = 5,
    nodes: Sequence[int] | None = None,
    ngram_range: tuple[int, int] = (1, 2),
    stop_words: str | Sequence[str] | None = "english",
    tokenizer: Tokenizer | None = None,
    max_words: int = 20_000,
) -> dict[int, list[Keyword]]:
    """The words that set each node apart from its siblings.

    Parameters
    ----------
    tree : Tree
        Over the documents.
    texts : sequence of str
        One per leaf; None or "" where a leaf has no text.
    n_words : int
        Words per node.
    nodes : sequence of int, optional
        By default the 1,000 largest internal nodes.
    ngram_range : (int, int)
        Shortest and longest run of words that counts as one.
    stop_words : str, sequence of str or None
        Words left out: those of a language ("english", "dutch", "french", "german", "italian", "portuguese",
        "spanish"), or a list.
    tokenizer : callable, optional
        From a text to its words, instead of runs of letters.
    max_words : int
        Size of the vocabulary: the most frequent words.

    Returns
    -------
    dict
        Node to its keywords, best first.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.insight import keywords
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> found = keywords(tree, ["cats purr", "cats sleep", "dogs bark", "big dogs"], n_words=1)
    >>> found[4][0].word, found[5][0].word
    ('cats', 'dogs')
    """
    check_whole(n_words, "n_words")
    counts, vocabulary = _occurrences(
        _texts_of_leaves(tree, texts), ngram_range, stop_words, tokenizer, max_words
    )
    chosen = _largest(tree) if nodes is None else _with_families(tree, nodes)
    sums = _sums(tree, counts, chosen)
    wanted = chosen.tolist() if nodes is None else [tree.checked_node(node) for node in nodes]
    place = {int(node): k for k, node in enumerate(chosen)}
    return {
        node: _best(tree, node, sums, place, vocabulary, n_words) for node in sorted(wanted, reverse=True)
    }


def named(
    tree: Tree,
    texts: Sequence[str] | None = None,
    *,
    words: Mapping[int, Sequence[Keyword]] | None = None,
    function: Callable[[Topic], str] | None = None,
    nodes: Sequence[int] | None = None,
    **options: Any,
) -> Tree:
    """The tree with a name on its inner nodes, no two alike; nodes that have a name keep it.

    Parameters
    ----------
    tree : Tree
    texts : sequence of str, optional
        One per leaf; needed unless `words` are given.
    words : mapping, optional
        What `keywords` returned, perhaps edited.
    function : callable, optional
        Makes the name of a `Topic` (node, number of texts, keywords, a few of its texts), for instance by asking a
        language model. By default the three best words.
    nodes : sequence of int, optional
        Which nodes to name; by default those that have keywords.
    **options
        For `keywords`.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.insight import named
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> named(tree, ["cats purr", "cats sleep", "dogs bark", "big dogs"], ngram_range=(1, 1)).name[4]
    'cats, purr, sleep'
    """
    given = [] if texts is None else _texts_of_leaves(tree, texts)
    if words is None:
        if texts is None:
            raise ValueError("named() needs texts, one per leaf, or words, what keywords() returned.")
        words = keywords(tree, given, nodes=nodes, **options)
    names = [""] * tree.n_nodes if tree.name is None else [str(name) for name in tree.name]
    taken = {name for name in names if name}
    # large nodes first: they keep the plain name where two would be alike
    for node in sorted(words, key=lambda v: -int(tree.sizes[v])):
        if names[node]:
            continue
        found = list(words[node])
        topic = Topic(int(node), int(tree.sizes[node]), found, _some_texts(tree, given, int(node)))
        name = _plain_name(topic) if function is None else str(function(topic)).strip()
        names[node] = _unique(name, found, taken)
        taken.add(names[node])
    return tree.replace(name=names)


def _texts_of_leaves(tree: Tree, texts: Iterable[Any]) -> list[str]:
    """One text per leaf, in their order; "" where a leaf has none."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must hold one text per leaf. Got {type(texts).__name__}.")
    given = ["" if is_missing(text) else str(text) for text in texts]
    if len(given) != tree.n_leaves:
        raise ValueError(f"texts must hold one text per leaf, {tree.n_leaves}. Got {len(given)}.")
    return [given[row] for row in row_of_leaf(tree, texts, "texts")]


def _occurrences(
    texts: list[str],
    ngram_range: tuple[int, int],
    stop_words: str | Sequence[str] | None,
    tokenizer: Tokenizer | None,
    max_words: int,
) -> tuple[Any, list[str]]:
    """Which leaf's text contains which word: sparse float32[n_leaves, n_words]."""
    from sklearn.feature_extraction.text import CountVectorizer

    options: dict[str, Any] = {"token_pattern": r"(?u)[^\W\d_][\w'-]+"}
    if tokenizer is not None:
        options = {"tokenizer": tokenizer, "token_pattern": None}
    vectorizer = CountVectorizer(
        binary=True,
        ngram_range=_checked_range(ngram_range),
        stop_words=_checked_stop_words(stop_words),
        max_features=check_whole(max_words, "max_words"),
        dtype=np.float32,
        **options,
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise ValueError("texts hold no words apart from stop words.") from error
    return sp.csr_array(counts), vectorizer.get_feature_names_out().tolist()


def _checked_range(given: Any) -> tuple[int, int]:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ValueError(f"ngram_range must be the shortest and the longest run of words. Got {given!r}.")
    shortest = check_whole(given[0], "ngram_range")
    return shortest, check_whole(given[1], "ngram_range", least=shortest)


def _checked_stop_words(given: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, str) and given in LANGUAGES:
        return of_language(given)
    if (
        isinstance(given, str)
        or not isinstance(given, Iterable)
        or not all(isinstance(one, str) for one in given)
    ):
        raise ValueError(
            f"stop_words must be a language ({', '.join(LANGUAGES)}), a list of words, or None. Got {given!r}."
        )
    return sorted(given)


def _largest(tree: Tree) -> Ints:
    """The largest internal nodes; with a node its ancestors are among them, since they are larger."""
    internal = np.arange(tree.n_leaves, tree.n_nodes)
    # of equally large ones the higher, which has the larger number
    order = np.lexsort((-internal, -tree.sizes[internal]))
    return np.sort(internal[order[:_MOST_NODES]])


def _with_families(tree: Tree, nodes: Sequence[int]) -> Ints:
    """The nodes with their parents, whose sums give those of the siblings."""
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise TypeError(f"nodes must be a sequence of nodes. Got {nodes!r:.100}.")
    chosen = np.array([tree.checked_node(node) for node in nodes], dtype=np.int64)
    above = tree.parent[chosen]
    return np.unique(np.concatenate([chosen, above[above >= 0]]))


def _sums(tree: Tree, counts: Any, chosen: Ints) -> Floats:
    """Number of texts below each chosen node that contain each word.

    Each leaf is counted once, at its lowest chosen ancestor; the rest is sums of sums.
    """
    place = np.full(tree.n_nodes, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    lowest = place.copy()
    for node in range(tree.n_nodes - 2, -1, -1):
        if lowest[node] < 0:
            lowest[node] = lowest[tree.parent[node]]
    leaves = np.flatnonzero(lowest[: tree.n_leaves] >= 0)
    member = sp.csr_array(
        (np.ones(len(leaves), dtype=np.float32), (lowest[leaves], leaves)), shape=(len(chosen), tree.n_leaves)
    )
    refuse_if_too_large(
        16 * len(chosen) * counts.shape[1],
        f"Counts of {counts.shape[1]:,} words in {len(chosen):,} nodes",
        "Pass fewer nodes or a smaller max_words.",
    )
    sums = np.asarray((member @ counts).toarray(), dtype=np.float64)
    for k, node in enumerate(chosen.tolist()):
        above = tree.parent[node]
        while above >= 0 and place[above] < 0:
            above = tree.parent[above]
        if above >= 0:
            sums[place[above]] += sums[k]
    return sums


def _best(
    tree: Tree, node: int, sums: Floats, place: dict[int, int], vocabulary: list[str], n_words: int
) -> list[Keyword]:
    here, size, above = sums[place[node]], int(tree.sizes[node]), int(tree.parent[node])
    share = here / size
    score = (
        word_scores(here, size)
        if above < 0
        else word_scores(here, size, sums[place[above]], int(tree.sizes[above]))
    )
    order = np.argsort(-score, kind="stable")[:n_words]
    return [
        Keyword(vocabulary[k], float(score[k]), float(share[k]))
        for k in order
        if share[k] > 0 and score[k] > 0
    ]


def _some_texts(tree: Tree, texts: list[str], node: int) -> list[str]:
    if not texts:
        return []
    leaves = tree.leaves(node)
    spread = np.unique(np.linspace(0, len(leaves) - 1, _EXEMPLARS).astype(int))
    return [texts[int(leaf)] for leaf in leaves[spread]]


def _plain_name(topic: Topic) -> str:
    return ", ".join(keyword.word for keyword in topic.keywords[:_WORDS_IN_A_NAME])


def _unique(name: str, found: Sequence[Keyword], taken: set[str]) -> str:
    """The name, with further words and then a number where it is taken; empty where there is nothing to say."""
    if not name:
        return ""
    for keyword in found[_WORDS_IN_A_NAME:]:
        if name not in taken:
            return name
        name = f"{name}, {keyword.word}"
    number, plain = 2, name
    while name in taken:
        name, number = f"{plain} ({number})", number + 1
    return name
