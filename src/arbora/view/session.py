"""The questions a page may ask about a tree too large to send whole, and their answers.

The local server and the notebook widget are two ways of carrying the same messages; a page that holds its data
answers the same questions itself (assets/source_local.js). tests/view/test_contract.py holds both to one contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import PathLike
from arbora.view import scores
from arbora.view._pack import pack
from arbora.view.content import Content, of_leaves
from arbora.view.editing import Editable, Editor
from arbora.view.inputs import snippet
from arbora.view.layout import largest_nodes
from arbora.view.search import Finder
from arbora.view.tangle import tangle_parts

OVERVIEW_NODES = 24_000
CHUNK_NODES = 8_000
_MAX_ASKED = 200_000
_MAX_SEARCH_TEXT = 200
_PATH_ON_CARD = 40
_CHILDREN_ON_CARD = 50


class Session:
    """Answers for one page.

    Parameters
    ----------
    content : Content
        What is shown.
    editor : Editor, optional
        Lets the page change the tree; `content` is then built again for every new tree by `rebuild`.
    rebuild : callable, optional

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view._pack import unpack
    >>> from arbora.view.content import Content
    >>> from arbora.view.session import Session
    >>> session = Session(Content(Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)))
    >>> facts, arrays = unpack(session.answer("nodes", {"root": 6}))
    >>> arrays["id"].tolist()
    [4, 5, 0, 1, 2, 3]
    """

    def __init__(
        self,
        content: Content,
        editor: Editor | None = None,
        rebuild: Callable[[], Content] | None = None,
    ) -> None:
        self.content = content
        self._finder = Finder(content)
        self._editor, self._rebuild = editor, rebuild
        self._answers: dict[str, Callable[[Mapping[str, Any]], bytes]] = {
            "overview": self._overview,
            "nodes": self._nodes,
            "path": self._path,
            "names": self._names,
            "search": self._search,
            "members": self._members,
            "column": self._column,
            "leaves": self._leaves,
            "cut": self._cut,
            "labels": self._labels,
            "card": self._card,
            "points": self._points,
            "tangle": self._tangle,
        }
        if editor is not None:
            self._answers |= {"edit": self._edit, "newick": self._newick}

    @property
    def can_edit(self) -> bool:
        """Whether the page may change the tree."""
        return self._editor is not None

    @property
    def questions(self) -> frozenset[str]:
        """What can be asked."""
        return frozenset(self._answers)

    def answer(self, question: str, details: Mapping[str, Any]) -> bytes:
        """Packed answer to one question; ValueError for an unknown one and for unusable details."""
        if question not in self._answers:
            raise ValueError(f"There is no question {question!r}.")
        return self._answers[question](details)

    # ---- the tree ----------------------------------------------------------------------------------------

    def _packed_nodes(
        self,
        nodes: NDArray[np.int64],
        opened: NDArray[np.int64],
        facts: Mapping[str, Any],
        column: str | None,
    ) -> bytes:
        """Listed nodes with their arrays, and the values of one column."""
        arrays: dict[str, NDArray[Any]] = {"id": nodes.astype(np.int32), "opened": opened.astype(np.int32)}
        arrays |= {name: values[nodes] for name, values in self.content.node_arrays.items()}
        if column:
            value, share = self.content.colorable(column).of_nodes
            arrays |= {"value": value[nodes], "share": share[nodes]}
        return pack(facts, arrays)

    def _overview(self, details: Mapping[str, Any]) -> bytes:
        nodes, opened = largest_nodes(self.content.tree, self.content.tree.root, OVERVIEW_NODES)
        facts = self.content.facts() | {"editable": self._editor is not None}
        return self._packed_nodes(nodes, opened, facts, _column_name(details))

    def _nodes(self, details: Mapping[str, Any]) -> bytes:
        root = self._node(details, "root")
        if root < self.content.tree.n_leaves:
            raise ValueError(f"root must be an internal node. Got leaf {root}.")
        nodes, opened = largest_nodes(self.content.tree, root, CHUNK_NODES)
        facts = {"root": root, "rootOpened": int(opened[0])}
        return self._packed_nodes(nodes[1:], opened[1:], facts, _column_name(details))

    def _path(self, details: Mapping[str, Any]) -> bytes:
        node = self._node(details, "node")
        return pack({"path": [node, *self.content.tree.ancestors(node).tolist()]})

    # ---- names, search, columns --------------------------------------------------------------------------

    def _names(self, details: Mapping[str, Any]) -> bytes:
        return pack({"names": [self.content.node_name(node) for node in self._node_list(details).tolist()]})

    def _search(self, details: Mapping[str, Any]) -> bytes:
        text = details.get("text")
        if not isinstance(text, str) or len(text) > _MAX_SEARCH_TEXT:
            raise ValueError(f"text must be a string of at most {_MAX_SEARCH_TEXT} characters.")
        return pack(self._finder.find(text))

    def _members(self, details: Mapping[str, Any]) -> bytes:
        """Places in the leaf order that have a word, or a value of a column."""
        column = _column_name(details)
        if column is None:
            places = self._finder.with_word(_whole(details, "word", 0, _MAX_ASKED))
        else:
            places = self._finder.with_value(column, _whole(details, "code", 0, _MAX_ASKED))
        return pack({}, {"places": places})

    def _column(self, details: Mapping[str, Any]) -> bytes:
        nodes = self._node_list(details)
        value, share = self.content.colorable(str(details.get("column"))).of_nodes
        return pack({}, {"value": value[nodes], "share": share[nodes]})

    def _leaves(self, details: Mapping[str, Any]) -> bytes:
        return pack({}, {"values": self.content.colorable(str(details.get("column"))).values})

    # ---- cutting -----------------------------------------------------------------------------------------

    def _cut(self, details: Mapping[str, Any]) -> bytes:
        k = _whole(details, "k", 1, self.content.tree.n_leaves)
        column = _column_name(details)
        tree, layout = self.content.tree, self.content.layout
        parts, pieces = scores.cut_parts(layout, k), scores.cut_pieces(layout, k)
        truth = self.content.column(column) if column else None
        facts = scores.describe_cut(layout, parts.labels, truth)
        facts["splits"] = scores.splits_for(layout, k)
        arrays = {
            "roots": parts.nodes,
            "sizes": np.bincount(parts.labels),
            "pieces": pieces.nodes,
            "pieceCluster": pieces.cluster,
            "pieceStart": tree.leaf_start[pieces.nodes],
            "pieceSize": tree.sizes[pieces.nodes],
        }
        return pack(facts, {name: values.astype(np.int32) for name, values in arrays.items()})

    def _labels(self, details: Mapping[str, Any]) -> bytes:
        k = _whole(details, "k", 1, self.content.tree.n_leaves)
        tree = self.content.tree
        label = scores.cut_parts(self.content.layout, k).labels.astype(np.int32)
        return pack(
            {"names": [self.content.leaf_name(leaf) for leaf in range(tree.n_leaves)]}, {"label": label}
        )

    # ---- the node card -----------------------------------------------------------------------------------

    def _card(self, details: Mapping[str, Any]) -> bytes:
        node = self._node(details, "node")
        facts, shown = card_facts(self.content, node)
        images = self.content.images
        return pack(facts, {} if images is None else {"images": images[shown].ravel()})

    # ---- scatter and second tree -------------------------------------------------------------------------

    def _points(self, details: Mapping[str, Any]) -> bytes:
        return pack({}, {"points": quantised_points(self.content)})

    def _tangle(self, details: Mapping[str, Any]) -> bytes:
        facts, arrays = tangle_parts(self.content, limit=OVERVIEW_NODES)
        return pack(facts, arrays)

    # ---- editing -----------------------------------------------------------------------------------------

    def _edit(self, details: Mapping[str, Any]) -> bytes:
        """Change the tree; the page then asks for everything again."""
        if self._editor is None or self._rebuild is None:
            raise ValueError("This page cannot be edited.")
        facts = self._editor.apply(details)
        if self._editor.tree is not self.content.tree:
            self.content = self._rebuild()
            self._finder = Finder(self.content)
        return pack(facts)

    def _newick(self, details: Mapping[str, Any]) -> bytes:
        return pack({"newick": self.content.tree.to_newick()})

    # ---- checks ------------------------------------------------------------------------------------------

    def _node(self, details: Mapping[str, Any], key: str) -> int:
        return _whole(details, key, 0, self.content.tree.root)

    def _node_list(self, details: Mapping[str, Any]) -> NDArray[np.int64]:
        nodes, root = details.get("nodes"), self.content.tree.root
        if not isinstance(nodes, list) or len(nodes) > _MAX_ASKED:
            raise ValueError(f"nodes must be a list of at most {_MAX_ASKED} integers.")
        if not all(type(node) is int and 0 <= node <= root for node in nodes):
            raise ValueError("nodes must hold node numbers of this tree.")
        return np.array(nodes, dtype=np.int64)


def editing_session(start: Editable, path: PathLike | None = None) -> Session:
    """Answers for a page that changes its tree, and may save it to `path`."""
    editor = Editor(start.tree, start.similarity, path)
    return Session(start.content, editor, lambda: Content(editor.tree, **of_leaves(start.about, editor.kept)))


def card_facts(content: Content, node: int) -> tuple[dict[str, Any], list[int]]:
    """What the card of a node says, and the leaves whose images it shows."""
    tree = content.tree
    shown = [int(leaf) for leaf in content.exemplars[node] if leaf >= 0]
    is_leaf = node < tree.n_leaves
    facts = {
        "node": node,
        "name": content.node_name(node),
        "size": int(tree.sizes[node]),
        "depth": int(tree.depths[node]),
        "height": _finite(None if tree.height is None else tree.height[node]),
        "support": _finite(None if tree.support is None else tree.support[node]),
        "children": [int(child) for child in tree.children(node)[:_CHILDREN_ON_CARD]],
        "path": [[a, content.node_name(a), int(tree.sizes[a])] for a in _above(content, node)],
        "columns": [column.summary(node) for column in content.columns],
        "exemplars": [[leaf, content.leaf_name(leaf)] for leaf in shown],
        "reasons": content.reasons(node),
        "words": [] if content.words is None or is_leaf else content.words.top(node),
        "similar": [[leaf, content.leaf_name(leaf)] for leaf in content.similar(node)] if is_leaf else [],
        "text": snippet(content.texts[node]) if content.texts is not None and is_leaf else None,
    }
    return facts, shown


def _above(content: Content, node: int) -> list[int]:
    """The nearest ancestors: a chain of a million nodes has more than a card can show."""
    path: list[int] = []
    above = int(content.tree.parent[node])
    while above >= 0 and len(path) < _PATH_ON_CARD:
        path.append(above)
        above = int(content.tree.parent[above])
    return path


def quantised_points(content: Content) -> NDArray[np.uint16]:
    """Scatter positions in leaf order, each axis scaled to 0..65535 with one scale for both."""
    points = content.points
    if points is None:
        return np.empty(0, dtype=np.uint16)
    points = points / max(float(np.abs(points).max()), 1e-300)
    low = points.min(axis=0)
    span = max(float((points.max(axis=0) - low).max()), 1e-300)
    margin = (span - (points.max(axis=0) - low)) / 2
    scaled = (points - low + margin) / span * 65535
    places: NDArray[np.uint16] = np.round(scaled[content.tree.leaf_order]).astype(np.uint16).ravel()
    return places


def _column_name(details: Mapping[str, Any]) -> str | None:
    name = details.get("column")
    if name is not None and not isinstance(name, str):
        raise ValueError("column must be a string.")
    return name


def _whole(details: Mapping[str, Any], key: str, low: int, high: int) -> int:
    value = details.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{key} must be an integer in [{low}, {high}].")
    return value


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
