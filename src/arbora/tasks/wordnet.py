"""Judging clusters of words against WordNet's noun hypernyms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from arbora._base.random import numpy_generator
from arbora._base.types import Ints, PathLike


class WordNet:
    """WordNet's noun hypernyms: how deep two words have a common ancestor.

    Parameters
    ----------
    lemmas : sequence of str
        Of each synset, separated by "|".
    child, parent : int[m]
        Hypernym edges between synsets.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.wordnet import WordNet
    >>> lemmas = ["thing", "animal", "dog|hound", "cat", "car"]
    >>> wordnet = WordNet(lemmas, child=np.array([1, 2, 3, 4]), parent=np.array([0, 1, 1, 0]))
    >>> wordnet.common_depth("hound", "cat"), wordnet.common_depth("dog", "car"), "plane" in wordnet
    (1, 0, False)
    """

    def __init__(self, lemmas: Sequence[str], child: Ints, parent: Ints) -> None:
        self._synsets: dict[str, list[int]] = {}
        for synset, names in enumerate(lemmas):
            for name in names.split("|"):
                self._synsets.setdefault(name.lower(), []).append(synset)
        self._above: dict[int, list[int]] = {}
        for low, high in zip(child.tolist(), parent.tolist()):
            self._above.setdefault(low, []).append(high)
        self._ancestors: dict[int, dict[int, int]] = {}

    @classmethod
    def load(cls, path: PathLike) -> WordNet:
        """From an `.npz` with `lemmas` (one synset per line), `hyper_child` and `hyper_parent`."""
        with np.load(path, allow_pickle=False) as file:
            return cls(str(file["lemmas"]).split("\n"), file["hyper_child"], file["hyper_parent"])

    def __contains__(self, word: str) -> bool:
        return word in self._synsets

    def ancestors(self, synset: int) -> dict[int, int]:
        """Every ancestor of a synset, itself included, with its depth below the root by the shortest way."""
        if synset not in self._ancestors:
            levels, seen = [[synset]], {synset}
            while levels[-1]:
                above = [high for low in levels[-1] for high in self._above.get(low, [])]
                levels.append([high for high in dict.fromkeys(above) if high not in seen])
                seen.update(levels[-1])
            self._ancestors[synset] = {node: self._depth(node) for node in seen}
        return self._ancestors[synset]

    def _depth(self, synset: int) -> int:
        depth, level = 0, [synset]
        # until one of the level is a root
        while all(self._above.get(node) for node in level):
            level = list({high for node in level for high in self._above[node]})
            depth += 1
        return depth

    def common_depth(self, first: str, second: str) -> int:
        """Depth of the deepest common ancestor of two words, over all their senses."""
        best = 0
        ways = [self.ancestors(s) for s in self._synsets[first]]
        for other in self._synsets[second]:
            depth = self.ancestors(other)
            for way in ways:
                shared = way.keys() & depth.keys()
                best = max(best, max((depth[node] for node in shared), default=0))
        return best


class WordNetScore(NamedTuple):
    """Mean depth of common ancestors of pairs within clusters, and within random ones of the same sizes.

    Examples
    --------
    >>> from arbora.tasks.wordnet import WordNetScore
    >>> score = WordNetScore(within=5.1, random=3.4, n_pairs=20_000)
    >>> score.within > score.random  # words of a cluster are nearer to each other than chance
    True
    """

    within: float
    random: float
    n_pairs: int


def judge(
    words: Sequence[str], clusters: Ints, wordnet: WordNet, max_pairs: int = 20_000, random_state: Any = 0
) -> WordNetScore:
    """Compare clusters of words with random clusters of the same sizes, over WordNet's nouns.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.wordnet import WordNet, judge
    >>> lemmas = ["thing", "animal", "dog", "cat", "vehicle", "car", "bus"]
    >>> wordnet = WordNet(lemmas, np.array([1, 2, 3, 4, 5, 6]), np.array([0, 1, 1, 0, 4, 4]))
    >>> judge(["dog", "car", "cat", "bus"], np.array([0, 1, 0, 1]), wordnet).within
    1.0
    """
    rng = numpy_generator(random_state)
    known = np.array([place for place, word in enumerate(words) if word in wordnet])
    if len(known) < 2:
        raise ValueError("WordNet knows fewer than two of the words.")
    label = np.asarray(clusters)[known]
    pairs = _pairs_within(label, max_pairs, rng)
    if not len(pairs):
        raise ValueError("No cluster holds two words that WordNet knows.")
    # the same clusters, other words in them
    shuffled = rng.permutation(len(known))
    depths = [
        np.mean([wordnet.common_depth(words[known[names[a]]], words[known[names[b]]]) for a, b in pairs])
        for names in (np.arange(len(known)), shuffled)
    ]
    return WordNetScore(float(depths[0]), float(depths[1]), len(pairs))


def _pairs_within(label: Ints, max_pairs: int, rng: np.random.Generator) -> Ints:
    """Pairs of places with equal labels, at most `max_pairs` of them, drawn at random: int64[m, 2]."""
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    pairs = [
        np.column_stack([g[a], g[b]]) for g in groups for a, b in [np.triu_indices(len(g), 1)] if len(g) > 1
    ]
    found = np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)
    if len(found) > max_pairs:
        found = found[rng.choice(len(found), max_pairs, replace=False)]
    return found
