"""Top words of a node, as `Tree.keywords` ranks them: those its texts use more than its siblings' do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from arbora.tree import Tree
from arbora.tree.word_scores import word_scores

_WORD = re.compile(r"[^\W\d_][\w'-]+")
_IN_A_TITLE = 3


class WordCounts:
    """Which of the most frequent words occur in which leaf.

    Parameters
    ----------
    texts : sequence of str
        One text per leaf.
    tree : Tree
    max_words : int
        Size of the vocabulary.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view.words import WordCounts
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> WordCounts(["cats purr", "cats sleep", "dogs bark", "big dogs"], tree).top(4)[0]
    'cats'
    """

    def __init__(self, texts: Sequence[str], tree: Tree, max_words: int = 5000) -> None:
        # slow to import, seldom needed
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        found = [sorted(_words(str(text)) - ENGLISH_STOP_WORDS) for text in texts]
        documents = Counter(word for words in found for word in words)
        kept = [word for word, _ in documents.most_common(max_words)]
        number = {word: k for k, word in enumerate(kept)}
        in_order = [[number[word] for word in found[leaf] if word in number] for leaf in tree.leaf_order]
        self.tree = tree
        self.vocabulary = kept
        self.offsets = np.concatenate([[0], np.cumsum([len(words) for words in in_order])]).astype(np.int32)
        self.index = np.array([word for words in in_order for word in words], dtype=np.int32)
        self.total = np.bincount(self.index, minlength=len(kept))
        self._titles: dict[int, str] = {}

    def top(self, node: int, most: int = 10) -> list[str]:
        """Words of the node's texts by their score, best first; those not more frequent than beside it are left out."""
        here, sizes = self._counts(node), self.tree.sizes
        above = int(self.tree.parent[node])
        beside = () if above < 0 else (self._counts(above), int(sizes[above]))
        score = word_scores(here, int(sizes[node]), *beside)
        order = np.argsort(-score, kind="stable")
        return [self.vocabulary[k] for k in order if here[k] > 0 and score[k] > 0][:most]

    def _counts(self, node: int) -> np.ndarray:
        """How many texts of a node contain each word."""
        start, size = int(self.tree.leaf_start[node]), int(self.tree.sizes[node])
        found = self.index[self.offsets[start] : self.offsets[start + size]]
        return np.bincount(found, minlength=len(self.vocabulary))

    def title(self, node: int) -> str:
        """A name for a node that has none: its first words."""
        if node not in self._titles:
            self._titles[node] = ", ".join(self.top(node, _IN_A_TITLE))
        return self._titles[node]

    def leaves_with(self, word: int) -> np.ndarray:
        """Places in the leaf order whose text has this word of the vocabulary."""
        return np.searchsorted(self.offsets, np.flatnonzero(self.index == word), side="right") - 1


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
