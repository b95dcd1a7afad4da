"""Finding leaves, topics, words and values by what is typed; assets/search.js finds the same in a page."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.view.columns import MISSING
from arbora.view.content import Content

# How many of each kind are listed, in this order.
LISTED = {"node": 12, "value": 10, "word": 6, "leaf": 30, "text": 12}
MOST_MEMBERS = 20_000


def folded(text: str) -> str:
    """Text as it is compared: without case, accents and compatibility forms. The page folds alike.

    Examples
    --------
    >>> from arbora.view.search import folded
    >>> folded("Straße"), folded("MÜLLER")
    ('strasse', 'muller')
    """
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Mn")
    return text.lower().replace("ß", "ss").replace("\u03c2", "\u03c3")


class Finder:
    """Searches one page's content."""

    def __init__(self, content: Content) -> None:
        self.content = content

    @cached_property
    def _names(self) -> list[str]:
        return [folded(self.content.leaf_name(leaf)) for leaf in range(self.content.tree.n_leaves)]

    @cached_property
    def _texts(self) -> list[str]:
        return [folded(text) for text in self.content.texts or ()]

    def find(self, text: str) -> dict[str, Any]:
        """What matches: nodes and leaves by name, values of columns, words, and leaves by their text.

        ``count`` is the number of all matches, ``found`` lists the best of each kind.
        """
        wanted = folded(text.strip())
        if not wanted:
            return {"count": 0, "found": []}
        groups = [self._nodes(wanted), self._values(wanted), self._words(wanted), self._leaves(wanted)]
        named = {entry["node"] for entry in groups[3]}
        groups.append([entry for entry in self._in_texts(wanted) if entry["node"] not in named])
        found = [entry for group in groups for entry in group[: LISTED[group[0]["kind"]] if group else 0]]
        return {"count": sum(len(group) for group in groups), "found": found}

    def _nodes(self, wanted: str) -> list[dict[str, Any]]:
        sizes = self.content.tree.sizes
        hits = [
            {"kind": "node", "node": node, "title": name, "count": int(sizes[node])}
            for node, name in self.content.inner_names.items()
            if wanted in folded(name)
        ]
        return sorted(hits, key=lambda hit: (_rank(folded(hit["title"]), wanted), -hit["count"], hit["node"]))

    def _values(self, wanted: str) -> list[dict[str, Any]]:
        hits = []
        for column in self.content.columns:
            if column.kind != "category":
                continue
            counts = column.facts()["counts"]
            for code, name in enumerate(column.categories):
                if wanted in folded(name) and counts[code]:
                    hit = {"kind": "value", "title": name, "column": column.name, "code": code}
                    hits.append(hit | {"count": counts[code]})
        return sorted(hits, key=lambda hit: (_rank(folded(hit["title"]), wanted), -hit["count"]))

    def _words(self, wanted: str) -> list[dict[str, Any]]:
        words = self.content.words
        if words is None:
            return []
        return [
            {"kind": "word", "title": word, "word": k, "count": int(words.total[k])}
            for k, word in enumerate(words.vocabulary)
            if folded(word).startswith(wanted)
        ]

    def _leaves(self, wanted: str) -> list[dict[str, Any]]:
        names = self._names
        hits = [leaf for leaf, name in enumerate(names) if wanted in name]
        hits.sort(key=lambda leaf: _rank(names[leaf], wanted))
        return [{"kind": "leaf", "node": leaf, "title": self.content.leaf_name(leaf)} for leaf in hits]

    def _in_texts(self, wanted: str) -> list[dict[str, Any]]:
        found = {leaf for leaf, text in enumerate(self._texts) if wanted in text}
        order = self.content.tree.leaf_order
        for column in self.content.columns:
            if column.kind == "text":
                found |= {int(order[at]) for at, text in enumerate(column.values) if wanted in folded(text)}
        return [
            {"kind": "text", "node": leaf, "title": self.content.leaf_name(leaf)} for leaf in sorted(found)
        ]

    def with_word(self, word: int) -> NDArray[np.int32]:
        """Places in the leaf order whose text has a word."""
        words = self.content.words
        if words is None or not 0 <= word < len(words.vocabulary):
            raise ValueError("word must be a number of the vocabulary.")
        return words.leaves_with(word)[:MOST_MEMBERS].astype(np.int32)

    def with_value(self, name: str, code: int) -> NDArray[np.int32]:
        """Places in the leaf order that have a category."""
        column = self.content.column(name)
        if column.kind != "category" or not 0 <= code < min(len(column.categories), MISSING):
            raise ValueError("code must be a category of the column.")
        return np.flatnonzero(column.values == code)[:MOST_MEMBERS].astype(np.int32)


def _rank(name: str, wanted: str) -> int:
    return 0 if name == wanted else 1 if name.startswith(wanted) else 2
