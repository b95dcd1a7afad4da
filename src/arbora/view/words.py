"""Top words of a node: the words its texts use more than the rest does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from arbora.tree import Tree

_WORD = re.compile(r"[^\W\d_][\w'-]+")


class WordCounts:
    """Which words occur in which leaf, kept for the most frequent words.

    Parameters
    ----------
    texts : sequence of str
        One text a leaf.
    tree : Tree
    max_words : int
        Size of the vocabulary.
    """

    def __init__(self, texts: Sequence[str], tree: Tree, max_words: int = 5000) -> None:
        if isinstance(texts, str) or len(texts) != tree.n_leaves:
            raise ValueError(f"texts must hold one text a leaf ({tree.n_leaves}). Got {len(texts)}.")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow to import, seldom needed

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

    def top(self, node: int, most: int = 10) -> list[str]:
        """Words by their share of the node's texts times the log of its ratio to their share of all texts."""
        start, size = int(self.tree.leaf_start[node]), int(self.tree.sizes[node])
        here = np.bincount(
            self.index[self.offsets[start] : self.offsets[start + size]], minlength=len(self.vocabulary)
        )
        share = here / size
        score = share * np.log((share + 1e-9) / (self.total / self.tree.n_leaves))
        best = np.argsort(-score, kind="stable")[:most]
        return [
            self.vocabulary[word]
            for word in best
            if score[word] > 0 or (size == self.tree.n_leaves and here[word])
        ]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
