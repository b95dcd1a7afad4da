"""The page of a tree's upper part: what lies below is folded; its counts, words and exemplars are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.view._pack import pack
from arbora.view.columns import MISSING, Column
from arbora.view.content import Content
from arbora.view.session import card_facts

MOST_GROUPS = 20_000
_MOST_IMAGE_BYTES = 16_000_000


def folded_pack(content: Content, max_leaves: int) -> bytes:
    """What a page needs of the finest cut of at most `max_leaves` groups: every node above them, and them."""
    done = _n_splits(content, max_leaves)
    nodes, opened = _upper_nodes(content, done)
    groups = nodes[opened <= 0]
    groups = groups[np.argsort(content.tree.leaf_start[groups])]
    cards = [card_facts(content, int(node)) for node in nodes]
    facts = content.facts() | {
        "folded": True,
        "nGroups": len(groups),
        "mostClusters": int(content.layout.parting.n_clusters[done]),
        "hasPoints": False,
        "hasTangle": False,
        "hasTexts": False,
        "names": None,
        "innerNames": {},
        "titles": {str(node): content.node_name(int(node)) for node in nodes},
        "cards": [_without_path(card) for card, _ in cards],
    }
    arrays = _node_arrays(content, nodes, opened)
    arrays["groupStart"] = content.tree.leaf_start[groups].astype(np.int32)
    for k, column in enumerate(content.columns):
        if column.kind != "text":
            value, share = column.of_nodes
            arrays |= {f"value{k}": value[nodes], f"share{k}": share[nodes]}
        if column.kind == "category":
            arrays |= _cells(content, column, groups, k)
    facts["image"], images = _images(content, [shown for _, shown in cards])
    return pack(facts, arrays | images)


def _n_splits(content: Content, max_leaves: int) -> int:
    """Steps after which the tree lies in at most `max_leaves` groups, clusters or small branches that belong to one."""
    tree, first = content.tree, content.layout.split_rank
    n_steps = len(content.layout.parting.nodes)
    more = np.bincount(first[tree.n_leaves :], tree.n_children - 1, n_steps)[:n_steps]
    return int(np.searchsorted(1 + np.cumsum(more), max_leaves, side="right"))


def _upper_nodes(content: Content, done: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes of the page, breadth first, and how many children of each follow: -1 for a group of several leaves."""
    tree, layout = content.tree, content.layout
    nodes, opened = [tree.root], []
    for node in nodes:
        splits = node >= tree.n_leaves and layout.split_rank[node] < done
        children = tree.children(node).tolist() if splits else []
        nodes += children
        opened.append(len(children) if splits else 0 if node < tree.n_leaves else -1)
    return np.array(nodes, dtype=np.int64), np.array(opened, dtype=np.int64)


def _node_arrays(
    content: Content, nodes: NDArray[np.int64], opened: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    tree = content.tree
    smallest = [
        int(tree.leaf_order[s : s + n].min())
        for s, n in zip(tree.leaf_start[nodes], tree.sizes[nodes], strict=True)
    ]
    arrays: dict[str, NDArray[Any]] = {
        "id": nodes.astype(np.int32),
        "opened": opened.astype(np.int32),
        "first": np.array(smallest, dtype=np.int32),
    }
    return arrays | {name: values[nodes] for name, values in content.node_arrays.items()}


def _cells(content: Content, column: Column, groups: NDArray[np.int64], k: int) -> dict[str, NDArray[Any]]:
    """How many leaves of each group have each class, as a list of those that occur."""
    tree = content.tree
    group = np.repeat(np.arange(len(groups)), tree.sizes[groups])
    known = column.values != MISSING
    n_classes = max(len(column.categories), 1)
    cell, count = np.unique(
        group[known] * n_classes + column.values[known].astype(np.int64), return_counts=True
    )
    return {
        f"cellGroup{k}": (cell // n_classes).astype(np.int32),
        f"cellCode{k}": (cell % n_classes).astype(np.int32),
        f"cellCount{k}": count.astype(np.int32),
    }


def _images(content: Content, shown: list[list[int]]) -> tuple[list[int] | None, dict[str, NDArray[Any]]]:
    """Thumbnails of all exemplars, each once; none where they would make the page too large."""
    leaves = np.unique([leaf for one in shown for leaf in one]).astype(np.int32)
    if content.images is None or content.images[leaves].nbytes > _MOST_IMAGE_BYTES:
        return None, {}
    shape = [int(length) for length in content.images.shape[1:]]
    return shape, {"imageLeaf": leaves, "images": content.images[leaves].ravel()}


def _without_path(card: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in card.items() if key != "path"}
