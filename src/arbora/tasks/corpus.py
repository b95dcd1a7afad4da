"""Text as numbers: words by frequency, and how often they occur near each other."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from arbora._base.types import Ints, PathLike
from arbora.errors import FormatError
from arbora.tasks import _glove_kernels as kernels

_DOCUMENT_END, _OUTSIDE = -2, -1
# Tokens whose pairs are summed at a time.
_PAIR_BLOCK = 400_000


def read_documents(path: PathLike) -> Iterator[list[str]]:
    """Lower-case words of each line of a text file, plain or gzip."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for line in file:
                words = line.lower().split()
                if words:
                    yield words
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise FormatError(f"{path} is not a text file in UTF-8, or is cut short ({error}).") from error


class Corpus(NamedTuple):
    """Words by falling frequency, and the text as their numbers."""

    words: list[str]
    counts: Ints
    tokens: NDArray[np.int32]


def build_corpus(documents: Iterable[Sequence[str]], n_words: int, min_count: int = 5) -> Corpus:
    """The most frequent words and the text in terms of them.

    Examples
    --------
    >>> from arbora.tasks.word_embeddings import build_corpus
    >>> corpus = build_corpus([["a", "b", "a"], ["b", "c", "a"]], n_words=10, min_count=1)
    >>> corpus.words, corpus.tokens.tolist()
    (['a', 'b', 'c'], [0, 1, 0, -2, 1, 2, 0, -2])
    """
    documents = [list(document) for document in documents]
    counted = Counter(word for document in documents for word in document)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:n_words]
    kept = [(word, count) for word, count in ranked if count >= min_count]
    if len(kept) < 3:
        raise ValueError(
            f"The text must hold at least 3 words {min_count} times. It has {len(kept)} such words."
        )
    number = {word: place for place, (word, _) in enumerate(kept)}
    tokens = [
        place
        for document in documents
        for place in [*(number.get(word, _OUTSIDE) for word in document), _DOCUMENT_END]
    ]
    return Corpus(
        [word for word, _ in kept], np.array([count for _, count in kept]), np.array(tokens, np.int32)
    )


def cooccurrences(corpus: Corpus, window: int = 10) -> coo_array:
    """Symmetric counts of words within `window` of each other, weighted by 1 / distance."""
    n_words = len(corpus.words)
    total = csr_array((n_words, n_words), dtype=np.float32)
    for begin in range(0, len(corpus.tokens), _PAIR_BLOCK):
        end = min(begin + _PAIR_BLOCK, len(corpus.tokens))
        left, right, weight = kernels.window_pairs(corpus.tokens, begin, end, window)
        total = total + coo_array((weight, (left, right)), shape=(n_words, n_words)).tocsr()
    return (total + total.T).tocoo()
