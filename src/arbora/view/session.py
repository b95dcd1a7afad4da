"""The questions a page may ask about a tree too large to send whole, and their answers.

The local server and the notebook widget are two ways of carrying the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.view import palette, scores
from arbora.view._pack import pack
from arbora.view.content import Content
from arbora.view.layout import largest_nodes
from arbora.view.tangle import tangle_parts

OVERVIEW_NODES = 24_000
CHUNK_NODES = 8_000
_MAX_ASKED = 200_000
_MAX_SEARCH_TEXT = 200


class Session:
    """Answers for one page.

    Parameters
    ----------
    content : Content
        What is shown.

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

    def __init__(self, content: Content) -> None:
        self.content = content
        self._answers: dict[str, Callable[[Mapping[str, Any]], bytes]] = {
            "overview": self._overview,
            "nodes": self._nodes,
            "path": self._path,
            "names": self._names,
            "search": self._search,
            "column": self._column,
            "leaves": self._leaves,
            "cut": self._cut,
            "labels": self._labels,
            "card": self._card,
            "points": self._points,
            "tangle": self._tangle,
        }

    def answer(self, question: str, details: Mapping[str, Any]) -> bytes:
        """Packed answer to one question; KeyError for an unknown one, ValueError for unusable details."""
        return self._answers[question](details)

    # ---- the tree ----------------------------------------------------------------------------------------

    @cached_property
    def node_arrays(self) -> dict[str, NDArray[Any]]:
        """Per-node arrays of the page, by node number."""
        tree, layout = self.content.tree, self.content.layout
        wide = np.float64 if tree.n_leaves > 100_000 else np.float32
        arrays = {
            "start": tree.leaf_start.astype(np.int32),
            "size": tree.sizes.astype(np.int32),
            "x": layout.center.astype(wide),
            "y": layout.along("height" if tree.height is not None else "size").astype(np.float32),
            "rank": layout.split_rank.astype(np.int32),
            "deep": layout.deepest.astype(np.int32),
            "rho": layout.disk_radius.astype(np.float32),
        }
        for side, values in zip(("x0", "y0", "x1", "y1"), layout.rectangles.T, strict=True):
            arrays[side] = values.astype(np.float32)
        if tree.height is not None:
            arrays["height"] = tree.height.astype(np.float32)
        if tree.support is not None:
            arrays["support"] = tree.support.astype(np.float32)
        return arrays

    def nodes_below(self, root: int, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """About `limit` nodes below `root`, the largest first: closed under parents, siblings complete."""
        return largest_nodes(self.content.tree, root, limit)

    def packed_nodes(
        self,
        nodes: NDArray[np.int64],
        opened: NDArray[np.int64],
        facts: Mapping[str, Any],
        column: str | None,
    ) -> bytes:
        """Listed nodes with their arrays, and the values of one column."""
        arrays: dict[str, NDArray[Any]] = {"id": nodes.astype(np.int32), "opened": opened.astype(np.int32)}
        arrays |= {name: values[nodes] for name, values in self.node_arrays.items()}
        if column:
            value, share = self.content.column(column).of_nodes
            arrays |= {"value": value[nodes], "share": share[nodes]}
        return pack(facts, arrays)

    def facts(self) -> dict[str, Any]:
        """What the page must know before anything else."""
        content, tree = self.content, self.content.tree
        return {
            "title": content.title,
            "nLeaves": tree.n_leaves,
            "nNodes": tree.n_nodes,
            "maxDepth": int(tree.depths.max()),
            "leafRho": float(content.layout.disk_radius[0]),
            "hasHeight": tree.height is not None,
            "scale": content.layout.readable_scale(),
            "hasNames": content.names is not None or tree.name is not None,
            "hasPoints": content.points is not None,
            "hasTangle": content.compare is not None,
            "columns": [self._column_facts(column) for column in content.columns],
            "color": content.color,
            "image": None if content.images is None else list(content.images.shape[1:]),
            "reachable": self._reachable(),
            "palette": palette.for_page(),
        }

    def _column_facts(self, column: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": column.name, "kind": column.kind, "categories": column.categories}
        if column.kind == "number":
            known = column.values[np.isfinite(column.values)]
            facts["range"] = [float(known.min()), float(known.max())] if len(known) else [0.0, 1.0]
        return facts

    def _reachable(self) -> list[int] | None:
        """Numbers of clusters a cut can give; None where all are (a binary tree)."""
        after = self.content.layout.clusters_after
        if len(after) == 0 or after[-1] == len(after) + 1:
            return None
        return [1, *np.unique(after[:2000]).tolist()]

    def _overview(self, details: Mapping[str, Any]) -> bytes:
        nodes, opened = self.nodes_below(self.content.tree.root, OVERVIEW_NODES)
        return self.packed_nodes(nodes, opened, self.facts(), _column_name(details))

    def _nodes(self, details: Mapping[str, Any]) -> bytes:
        root = self._node(details, "root")
        if root < self.content.tree.n_leaves:
            raise ValueError(f"root must be an internal node. Got leaf {root}.")
        nodes, opened = self.nodes_below(root, CHUNK_NODES)
        facts = {"root": root, "rootOpened": int(opened[0])}
        return self.packed_nodes(nodes[1:], opened[1:], facts, _column_name(details))

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
        return pack(self.search(text))

    def search(self, text: str, most: int = 50) -> dict[str, Any]:
        """Leaves whose name contains the text, those that begin with it first; and how many there are."""
        wanted = text.casefold().strip()
        if not wanted:
            return {"count": 0, "found": []}
        names: list[str] = self.content.folded_names.tolist()
        hits = [leaf for leaf, name in enumerate(names) if wanted in name]
        hits.sort(key=lambda leaf: (names[leaf] != wanted, not names[leaf].startswith(wanted)))
        return {"count": len(hits), "found": [[leaf, self.content.leaf_name(leaf)] for leaf in hits[:most]]}

    def _column(self, details: Mapping[str, Any]) -> bytes:
        nodes = self._node_list(details)
        value, share = self.content.column(str(details.get("column"))).of_nodes
        return pack({}, {"value": value[nodes], "share": share[nodes]})

    def _leaves(self, details: Mapping[str, Any]) -> bytes:
        return pack({}, {"values": self.content.column(str(details.get("column"))).values})

    # ---- cutting -----------------------------------------------------------------------------------------

    def _cut(self, details: Mapping[str, Any]) -> bytes:
        k = self._number(details, "k", 1, self.content.tree.n_leaves)
        column = _column_name(details)
        roots = scores.cluster_nodes(self.content.layout, k)
        truth = None
        if column and self.content.column(column).kind == "category":
            truth = self.content.column(column)
        facts = scores.describe_cut(self.content.tree, roots, truth)
        return pack(facts, {"roots": roots.astype(np.int32)})

    def _labels(self, details: Mapping[str, Any]) -> bytes:
        k = self._number(details, "k", 1, self.content.tree.n_leaves)
        roots = scores.cluster_nodes(self.content.layout, k)
        label = np.empty(self.content.tree.n_leaves, dtype=np.int32)
        label[self.content.tree.leaf_order] = np.repeat(np.arange(len(roots)), self.content.tree.sizes[roots])
        return pack({"names": [self.content.leaf_name(leaf) for leaf in range(len(label))]}, {"label": label})

    # ---- the node card -----------------------------------------------------------------------------------

    def _card(self, details: Mapping[str, Any]) -> bytes:
        content, tree = self.content, self.content.tree
        node = self._node(details, "node")
        column = _column_name(details)
        shown = [int(leaf) for leaf in content.exemplars[node] if leaf >= 0]
        facts = {
            "node": node,
            "name": content.node_name(node),
            "size": int(tree.sizes[node]),
            "depth": int(tree.depths[node]),
            "height": None if tree.height is None else float(tree.height[node]),
            "support": _finite(None if tree.support is None else tree.support[node]),
            "children": [int(child) for child in tree.children(node)[:50]],
            "path": [[a, content.node_name(a), int(tree.sizes[a])] for a in self._above(node, 200)],
            "mix": [],
            "mean": None,
            "exemplars": [[leaf, content.leaf_name(leaf)] for leaf in shown],
            "words": [] if content.words is None else content.words.top(node),
        }
        if column:
            chosen = content.column(column)
            if chosen.kind == "category":
                facts["mix"] = chosen.counts(node)
            else:
                facts["mean"] = _finite(chosen.of_nodes[0][node])
        images = {} if content.images is None else {"images": content.images[shown].ravel()}
        return pack(facts, images)

    def _above(self, node: int, most: int) -> list[int]:
        """The nearest ancestors: a chain of a million nodes has more than a card can show."""
        path: list[int] = []
        above = int(self.content.tree.parent[node])
        while above >= 0 and len(path) < most:
            path.append(above)
            above = int(self.content.tree.parent[above])
        return path

    # ---- scatter and second tree -------------------------------------------------------------------------

    def _points(self, details: Mapping[str, Any]) -> bytes:
        return pack({}, {"points": quantised_points(self.content)})

    def _tangle(self, details: Mapping[str, Any]) -> bytes:
        facts, arrays = tangle_parts(self.content, limit=OVERVIEW_NODES)
        return pack(facts, arrays)

    # ---- checks ------------------------------------------------------------------------------------------

    def _number(self, details: Mapping[str, Any], key: str, low: int, high: int) -> int:
        value = details.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"{key} must be an integer in [{low}, {high}].")
        return value

    def _node(self, details: Mapping[str, Any], key: str) -> int:
        return self._number(details, key, 0, self.content.tree.root)

    def _node_list(self, details: Mapping[str, Any]) -> NDArray[np.int64]:
        nodes = details.get("nodes")
        if not isinstance(nodes, list) or len(nodes) > _MAX_ASKED or not all(type(n) is int for n in nodes):
            raise ValueError(f"nodes must be a list of at most {_MAX_ASKED} integers.")
        array = np.array(nodes, dtype=np.int64)
        if array.size and not (array.min() >= 0 and array.max() <= self.content.tree.root):
            raise ValueError("nodes must hold node numbers of this tree.")
        return array


def quantised_points(content: Content) -> NDArray[np.uint16]:
    """Scatter positions in leaf order, each axis scaled to 0..65535 with one scale for both."""
    points = content.points
    if points is None:
        return np.empty(0, dtype=np.uint16)
    low = points.min(axis=0)
    span = max(float((points.max(axis=0) - low).max()), 1e-300)
    margin = (span - (points.max(axis=0) - low)) / 2
    scaled = (points - low + margin) / span * 65535
    return np.round(scaled[content.tree.leaf_order]).astype(np.uint16).ravel()


def _column_name(details: Mapping[str, Any]) -> str | None:
    name = details.get("column")
    if name is not None and not isinstance(name, str):
        raise ValueError("column must be a string.")
    return name


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
