"""JSON: the arrays of a tree as they are, or nested objects as D3 takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from arbora.errors import FormatError
from arbora.tree._build import leaves_first
from arbora.tree._tree import Tree

_FORMAT, _VERSION = "arbora.tree", 1


def write(tree: Tree, *, indent: int | None = None) -> str:
    """JSON text of a tree that `read` gives back unchanged.

    One object with ``n_leaves``, ``parent`` and, where the tree has them, ``height``, ``support`` (null where
    unknown), ``name`` and ``order``. Flat, so that the depth of the tree does not matter.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree([2, 2, -1], 2, name=["a", "b"]).to_json()
    '{"format": "arbora.tree", "version": 1, "n_leaves": 2, "parent": [2, 2, -1], "name": ["a", "b", ""]}'
    """
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "n_leaves": tree.n_leaves}
    content["parent"] = tree.parent.tolist()
    if tree.height is not None:
        content["height"] = tree.height.tolist()
    if tree.support is not None:
        content["support"] = [None if value != value else value for value in tree.support.tolist()]
    if tree.name is not None:
        content["name"] = tree.name.tolist()
    if tree.order is not None:
        content["order"] = tree.order.tolist()
    return json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)


def read(text: str) -> Tree:
    """Tree from JSON text: that of `write`, or nested objects with ``children``, ``name``, ``height``, ``support``.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_json('{"name": "all", "children": [{"name": "a"}, {"name": "b"}]}').to_newick()
    '(a,b)all;'
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str of JSON. Got {type(text).__name__}.")
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise FormatError("The JSON is nested too deeply. Tree.to_json writes it flat.") from error
    except ValueError as error:
        hint = "" if text.lstrip()[:1] in ("{", "[") else " Use Tree.load(path) for a file."
        raise FormatError(f"Not JSON: {error}.{hint}") from error
    if isinstance(content, dict) and content.get("format") == _FORMAT:
        return _flat(content)
    if isinstance(content, dict) and "children" in content:
        return from_nested(content)
    raise FormatError(
        "Not the JSON of a tree: it must be what Tree.to_json wrote, or nested objects with 'children'."
    )


def _flat(content: dict[str, Any]) -> Tree:
    if content.get("version") != _VERSION:
        raise FormatError(
            f"Only version {_VERSION} of the format can be read. Got {content.get('version')!r}."
        )
    try:
        support = content.get("support")
        return Tree(
            content["parent"],
            content["n_leaves"],
            height=content.get("height"),
            support=None if support is None else [np.nan if value is None else value for value in support],
            name=content.get("name"),
            order=content.get("order"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"Damaged, or not what Tree.to_json wrote: {error}") from error


def to_nested(tree: Tree) -> dict[str, Any]:
    """Nested dictionaries as ``d3.hierarchy`` takes them, children in drawing order.

    Every node has ``name`` (of a leaf its number, where it has no name), ``node`` (its number) and, where the
    tree has them, ``height`` and ``support``; leaves have ``value`` 1, which D3's ``sum`` adds up.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("(a,b)all;").to_d3()["children"]
    [{'name': 'a', 'node': 0, 'value': 1}, {'name': 'b', 'node': 1, 'value': 1}]
    """
    objects: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        is_leaf = node < tree.n_leaves
        name = tree.label(node) if is_leaf else ("" if tree.name is None else str(tree.name[node]))
        content: dict[str, Any] = {"name": name, "node": node}
        if tree.height is not None:
            content["height"] = float(tree.height[node])
        if tree.support is not None and not np.isnan(tree.support[node]):
            content["support"] = float(tree.support[node])
        # children come before parents, so theirs are complete
        if is_leaf:
            content["value"] = 1
        else:
            content["children"] = [objects[child] for child in tree.children(node)]
        objects.append(content)
    return objects[tree.root]


def from_nested(content: Mapping[str, Any]) -> Tree:
    """Tree from nested objects; leaves are numbered as they appear."""
    objects: list[Mapping[str, Any]] = []
    above: list[int] = []
    stack: list[tuple[Any, int]] = [(content, -1)]
    while stack:
        item, parent_of_item = stack.pop()
        if not isinstance(item, Mapping):
            raise FormatError(f"Every node must be an object. Got {item!r:.60}.")
        objects.append(item)
        above.append(parent_of_item)
        children = item.get("children") or []
        if not isinstance(children, list):
            raise FormatError(f"'children' must be a list of objects. Got {children!r:.60}.")
        stack.extend((child, len(objects) - 1) for child in reversed(children))
    is_leaf = np.array([not item.get("children") for item in objects])
    order, parent = leaves_first(above, is_leaf)
    height = [objects[k].get("height") for k in order]
    support = [objects[k].get("support") for k in order]
    names = [objects[k].get("name") for k in order]
    try:
        return Tree(
            parent,
            int(is_leaf.sum()),
            height=None if None in height else height,
            support=None
            if all(s is None for s in support)
            else [np.nan if s is None else s for s in support],
            name=names if any(names) else None,
        )
    except (TypeError, ValueError) as error:
        raise FormatError(f"Not a tree: {error}") from error
