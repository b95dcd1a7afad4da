"""Editing by hand: find, rename, merge, move, split and remove nodes. Every edit returns a new tree.

Nodes are given by number or by name. After an edit, nodes left with no child or only one are removed; a
parent is never lower than its children; and a node whose leaves have changed loses its support.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from arbora._base.arrays import is_missing
from arbora._base.types import Bools, Floats, Ints
from arbora.tree import pass_kernels as kernels
from arbora.tree._tree import Tree

NodeLike: TypeAlias = "int | str"


def find(tree: Tree, name: str) -> int:
    """The node of this name.

    Raises
    ------
    ValueError
        Where no node has the name (the most similar names are shown), or several do (their numbers are).

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((owl,hen)birds,cod);")
    >>> tree.find("birds"), tree.label(tree.find("birds"))
    (3, 'birds')
    """
    if not isinstance(name, str) or name == "":
        raise TypeError(f"name must be a non-empty string. Got {name!r}.")
    if tree.name is None:
        raise ValueError(f"No node is called {name!r}: this tree has no names. Give nodes by number.")
    found = np.flatnonzero(tree.name == name)
    if len(found) == 1:
        return int(found[0])
    if len(found) > 1:
        raise ValueError(
            f"{len(found)} nodes are called {name!r}: {found[:8].tolist()}. Give the node by number."
        )
    near = difflib.get_close_matches(name, [str(other) for other in tree.name if other], n=3)
    raise ValueError(
        f"No node is called {name!r}." + (f" Similar: {', '.join(map(repr, near))}." if near else "")
    )


def rename(tree: Tree, names: Mapping[Any, Any]) -> Tree:
    """The tree with other names for some nodes; None or an empty string removes a name.

    Parameters
    ----------
    tree : Tree
    names : mapping
        From node, or its present name, to the new name.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((owl,hen),cod);").rename({3: "birds", "cod": "fish"}).to_newick()
    '((owl,hen)birds,fish);'
    """
    if not isinstance(names, Mapping):
        raise TypeError(f"names must map nodes to new names. Got {type(names).__name__}.")
    changed = np.full(tree.n_nodes, "", dtype=object) if tree.name is None else tree.name.copy()
    given: dict[int, Any] = {}
    for key, new in names.items():
        node = _node(tree, key)
        if node in given:
            raise ValueError(f"names has node {node} ({tree.label(node)!r}) twice.")
        given[node] = new
    for node, new in given.items():
        changed[node] = "" if is_missing(new) else str(new)
    return tree.replace(name=changed)


def merge(tree: Tree, nodes: Iterable[NodeLike], *, name: str | None = None) -> Tree:
    """Several nodes merged into one, which has the children of them all and stands where they met.

    Parameters
    ----------
    tree : Tree
    nodes : iterable of nodes or names
        None above another. A leaf among them becomes a child of the new node.
    name : str, optional
        Of the new node; by default the name of the largest internal node merged.

    Returns
    -------
    Tree
        The new node is as high as the highest of them. Where they are all that was below the node at which
        they met, that node itself takes their children.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b)x,(c,d)y,e)all;").merge(["x", "y"], name="xy").to_newick()
    '((a,b,c,d)xy,e)all;'
    """
    merged = _antichain(tree, nodes)
    if len(merged) < 2:
        raise ValueError(f"merge needs at least two different nodes. Got {len(merged)}.")
    draft = _Draft(tree)
    at = int(np.max(tree.lca(merged[0], np.array(merged))))
    largest_first = sorted(merged, key=lambda node: -int(tree.sizes[node]))
    internal = [node for node in largest_first if node >= tree.n_leaves]
    names = [draft.name[node] for node in internal if draft.name[node]]
    if tree.sizes[merged].sum() == tree.sizes[at]:
        new = at
        draft.name[at] = name or draft.name[at]
    else:
        highest = max(draft.height[node] for node in merged)
        new = draft.add(at, height=highest, name=name or next(iter(names), ""))
    for node in merged:
        members = [node] if node < tree.n_leaves else tree.children(node).tolist()
        for member in members:
            draft.parent[member] = new
    return draft.tree()


def move(tree: Tree, node: NodeLike, to: NodeLike) -> Tree:
    """A subtree moved elsewhere: it becomes a child of `to`, or joins `to` under a new node if that is a leaf.

    Nodes that would be lower than what is moved below them are raised to its height.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b,x)left,(c,d)right);").move("x", to="right").to_newick()
    '((a,b)left,(x,c,d)right);'
    """
    moved, target = _node(tree, node, "node"), _node(tree, to, "to")
    if moved == tree.root:
        raise ValueError("The root cannot be moved: it contains every node.")
    if moved == target or (target < moved and tree.lca(moved, target) == moved):
        raise ValueError(f"to={to!r} lies inside node={node!r}, so it cannot receive it.")
    if tree.parent[moved] == target:
        return tree
    draft = _Draft(tree)
    if target < tree.n_leaves:
        above = int(tree.parent[target])
        lowest = max(draft.height[moved], draft.height[target])
        joined = draft.add(above, height=max(lowest, (lowest + draft.height[above]) / 2))
        draft.parent[target] = joined
        target = joined
    draft.parent[moved] = target
    return draft.tree()


def split(
    tree: Tree,
    node: NodeLike,
    groups: Iterable[Iterable[NodeLike]] | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Tree:
    """A node taken apart: into its children, or into groups of what is below it.

    Parameters
    ----------
    tree : Tree
    node : node or name
        Internal. Without `groups` it goes, and its children become children of its parent.
    groups : iterable of iterables of nodes or names, optional
        Each group becomes a child of `node`: a new node over its members, which are taken out of where they
        are below `node`. What is in no group stays as it is.
    names : sequence of str, optional
        One name per group of at least two members.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((a,b,c,d)x,e);")
    >>> tree.split("x").to_newick()
    '(a,b,c,d,e);'
    >>> tree.split("x", [["a", "c"], ["b", "d"]], names=["one", "two"]).to_newick()
    '(((a,c)one,(b,d)two)x,e);'
    """
    at = _node(tree, node, "node")
    if at < tree.n_leaves:
        raise ValueError(f"node={node!r} is a leaf and cannot be split.")
    draft = _Draft(tree)
    if groups is None:
        if at == tree.root:
            raise ValueError("The root has no parent to receive its children. Give groups.")
        for child in tree.children(at):
            draft.parent[child] = tree.parent[at]
        return draft.tree()
    chosen = [_antichain(tree, group) for group in groups]
    members = [member for group in chosen for member in group]
    if len(set(members)) < len(members):
        raise ValueError("A node is in two groups.")
    _antichain(tree, members)
    if names is not None and len(names) != len(chosen):
        raise ValueError(f"names must have one name per group ({len(chosen)}). Got {len(names)}.")
    for k, group in enumerate(chosen):
        outside = [member for member in group if member == at or tree.lca(member, at) != at]
        if outside:
            raise ValueError(f"Node {outside[0]} ({tree.label(outside[0])!r}) is not below node={node!r}.")
        new = at
        if len(group) > 1:
            highest = max(draft.height[member] for member in group)
            given = "" if names is None else names[k]
            new = draft.add(at, height=(highest + draft.height[at]) / 2, name=given)
        for member in group:
            draft.parent[member] = new
    return draft.tree()


def remove(tree: Tree, nodes: Iterable[NodeLike]) -> Tree:
    """Without these nodes and all that is below them; the leaves that remain are numbered in their order.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b)x,(c,d)y,e);").remove(["x", "e"]).to_newick()
    '(c,d)y;'
    """
    chosen = _nodes(tree, nodes)
    is_gone = np.zeros(tree.n_leaves, dtype=np.bool_)
    for node in chosen:
        is_gone[tree.leaves(node)] = True
    if is_gone.all():
        raise ValueError("nodes must leave at least one leaf. Got all of them.")
    return tree if not chosen else tree.restrict(np.flatnonzero(~is_gone))


# ---- nodes by number or name -----------------------------------------------------------------------------------


def _node(tree: Tree, node: Any, argument: str = "node") -> int:
    if isinstance(node, str):
        return find(tree, node)
    if not isinstance(node, (int, np.integer)) or isinstance(node, bool):
        raise TypeError(f"{argument} must be the number or the name of a node. Got {node!r}.")
    return tree.checked_node(int(node))


def _nodes(tree: Tree, nodes: Any) -> list[int]:
    """Distinct nodes in the order given."""
    if isinstance(nodes, (str, int, np.integer)):
        raise TypeError(f"nodes must be a list of nodes or names. Got {nodes!r}; write [{nodes!r}].")
    return list(dict.fromkeys(_node(tree, node) for node in nodes))


def _antichain(tree: Tree, nodes: Any) -> list[int]:
    """Distinct nodes, refused where one lies above another."""
    chosen = _nodes(tree, nodes)
    by_start = sorted(chosen, key=lambda node: (int(tree.leaf_start[node]), -node))
    for above, below in pairwise(by_start):
        if tree.leaf_start[below] < tree.leaf_start[above] + tree.sizes[above]:
            raise ValueError(
                f"Node {below} ({tree.label(below)!r}) lies below node {above} ({tree.label(above)!r})."
            )
    return chosen


# ---- a tree that can change -----------------------------------------------------------------------------------


class _Draft:
    """Parents, heights and names of a tree with room for new nodes; `tree` makes it whole again."""

    def __init__(self, tree: Tree) -> None:
        self._before = tree
        self.parent: list[int] = tree.parent.tolist()
        self.height: list[float] = _heights(tree).tolist()
        self.name: list[str] = [""] * tree.n_nodes if tree.name is None else tree.name.tolist()

    def add(self, parent: int, *, height: float, name: str | None = None) -> int:
        """A new node below `parent`."""
        self.parent.append(parent)
        self.height.append(height)
        self.name.append(name or "")
        return len(self.parent) - 1

    def tree(self) -> Tree:
        """The tree of what has children left, in as much of the old numbering as the new parents allow."""
        before = self._before
        parent = np.array(self.parent, dtype=np.int64)
        remains = _without_idle_nodes(parent, before)
        source = _children_first(parent, remains, before.n_leaves)
        number = np.full(len(parent) + 1, -1, dtype=np.int64)
        number[source] = np.arange(len(source))
        height = np.array(self.height)[source]
        above = number[parent[source]]
        if _is_monotone(before):
            height = kernels.max_to_root(above, height)
        named = before.name is not None or any(self.name[before.n_nodes :])
        after = Tree(
            above,
            before.n_leaves,
            height=None if before.height is None else height,
            name=[self.name[node] for node in source] if named else None,
            order=before.order,
        )
        return after if before.support is None else after.replace(support=_supports(before, after, source))


def _heights(tree: Tree) -> Floats:
    """Heights to compare; sizes where the tree has none."""
    return tree.sizes.astype(np.float64) if tree.height is None else tree.height


def _is_monotone(tree: Tree) -> bool:
    height = _heights(tree)
    return bool((height[:-1] <= height[tree.parent[:-1]]).all())


def _without_idle_nodes(parent: Ints, before: Tree) -> Bools:
    """Drop nodes left with no child or only one (not those that had one before); returns which nodes remain.

    `parent` is changed in place: the only child of a node that goes takes its place.
    """
    n_leaves, n_nodes = before.n_leaves, len(parent)
    count = np.bincount(parent[parent >= 0], minlength=n_nodes)
    remains = np.ones(n_nodes, dtype=np.bool_)
    idle = [node for node in np.flatnonzero(count == 0).tolist() if node >= n_leaves]
    while idle:
        node = idle.pop()
        remains[node] = False
        above = int(parent[node])
        if above >= 0:
            count[above] -= 1
            if count[above] == 0:
                idle.append(above)
    was_unary = np.zeros(n_nodes, dtype=np.bool_)
    was_unary[n_leaves : before.n_nodes] = before.n_children == 1
    passed = remains & (count == 1) & ~was_unary
    passed[:n_leaves] = False
    remains &= ~passed
    for node in np.flatnonzero(remains).tolist():
        while parent[node] >= 0 and passed[parent[node]]:
            parent[node] = parent[parent[node]]
    return remains


def _children_first(parent: Ints, remains: Bools, n_leaves: int) -> Ints:
    """The nodes that remain, children before parents, by number as far as that allows."""
    nodes = np.flatnonzero(remains)
    above = parent[nodes]
    if (above[:-1] > nodes[:-1]).all() and above[-1] < 0:
        return nodes
    waiting = np.bincount(above[above >= 0], minlength=len(parent))
    order = list(range(n_leaves))
    for leaf in order[:]:
        waiting[parent[leaf]] -= 1
    ready = [node for node in nodes.tolist() if node >= n_leaves and waiting[node] == 0]
    heapify(ready)
    while ready:
        node = heappop(ready)
        order.append(node)
        target = int(parent[node])
        if target >= 0:
            waiting[target] -= 1
            if waiting[target] == 0:
                heappush(ready, target)
    return np.array(order, dtype=np.int64)


def _supports(before: Tree, after: Tree, source: Ints) -> Floats:
    """Support of the nodes whose leaves are the same as before; NaN for the others."""
    key = np.random.default_rng(0).integers(-(2**62), 2**62, before.n_leaves)
    ours, theirs = _sums(after, key), _sums(before, key)
    support = np.full(after.n_nodes, np.nan)
    old = source < before.n_nodes
    same = old.copy()
    same[old] = ours[old] == theirs[source[old]]
    if before.support is not None:
        support[same] = before.support[source[same]]
    return support


def _sums(tree: Tree, key: Ints) -> Ints:
    """Sum of random numbers over the leaves below each node, modulo 2^64: equal for equal sets of leaves."""
    total = np.zeros(tree.n_nodes, dtype=np.int64)
    total[: tree.n_leaves] = key
    summed: Ints = kernels.sum_to_root(tree.parent, total)
    return summed
