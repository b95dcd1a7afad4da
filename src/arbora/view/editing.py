"""Edits of a tree from its page: rename, merge, move, split, remove, undo, redo, and saving the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.files import write_whole
from arbora._base.types import Ints, PathLike
from arbora.metrics import dasgupta_cost
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.view.columns import compact
from arbora.view.content import Content
from arbora.view.inputs import similarity_or_neighbors

_NEWICK = (".nwk", ".newick", ".tree", ".tre")
_MOST_STEPS = 200
_LONGEST_NAME = 300
# Leaves up to which a page holds the similarity of every pair.
_MOST_COMPARED = 500
NO_COST = "What edits cost is not known here: pass the data (features) or their similarity to see it."


class State(NamedTuple):
    """A tree, and which of the first tree's leaves its leaves are."""

    tree: Tree
    kept: Ints


class Editor:
    """A tree that its page may change, with every state it had.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, optional
        Shows what an edit costs: Dasgupta's cost before and after.
    path : path-like, optional
        Where `save` writes: ``.npz`` or Newick (``.nwk``). Without it nothing is ever written.

    Attributes
    ----------
    tree : Tree
        As it is now.
    kept : int64[n_leaves]
        Which of the first tree's leaves its leaves are.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view.editing import Editor
    >>> editor = Editor(Tree.from_newick("((owl,hen),(cod,eel));"))
    >>> editor.apply({"action": "rename", "node": 4, "name": "birds"})["select"]
    4
    >>> editor.tree.label(4), editor.apply({"action": "undo"})["canRedo"]
    ('birds', True)
    """

    def __init__(
        self, tree: Tree, similarity: Similarity | None = None, path: PathLike | None = None
    ) -> None:
        self._now = self._first = self._saved = State(tree, np.arange(tree.n_leaves))
        self.similarity = similarity
        self.path = None if path is None else _checked_path(path)
        self._past: list[State] = []
        self._future: list[State] = []
        self._costs: dict[int, float] = {}
        self._actions: dict[str, Callable[[Mapping[str, Any]], int | None]] = {
            "rename": self._rename,
            "merge": self._merge,
            "move": self._move,
            "split": self._split,
            "remove": self._remove,
            "undo": self._undo,
            "redo": self._redo,
            "save": self._save,
            "state": lambda details: None,
        }

    @property
    def tree(self) -> Tree:
        return self._now.tree

    @property
    def kept(self) -> Ints:
        return self._now.kept

    def apply(self, details: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a page asks; ValueError if that is impossible.

        ``details["action"]`` is rename (``node``, ``name``), merge (``nodes``, ``name``), move (``node``, ``to``),
        split (``node``, which goes; its children take its place), remove (``node`` and all below it), undo, redo, save,
        or state. The answer says what can be undone, what the tree costs and which node to select.
        """
        action = details.get("action")
        if not isinstance(action, str) or action not in self._actions:
            raise ValueError(f"action must be one of {sorted(self._actions)}.")
        select = self._actions[action](details)
        return self.state() | {"select": select}

    def state(self) -> dict[str, Any]:
        """What the page shows about the edits so far."""
        return {
            "canUndo": bool(self._past),
            "canRedo": bool(self._future),
            "changed": self._now is not self._saved,
            "path": None if self.path is None else self.path.name,
            "cost": self._cost(self._now),
            "costBefore": self._cost(self._past[-1] if self._past else self._first),
            "costFirst": self._cost(self._first),
            "costNote": NO_COST if self.similarity is None else None,
        }

    # ---- actions -----------------------------------------------------------------------------------------

    def _rename(self, details: Mapping[str, Any]) -> int:
        node, name = self._node(details, "node"), details.get("name")
        if not isinstance(name, str) or len(name) > _LONGEST_NAME:
            raise ValueError(f"name must be a string of at most {_LONGEST_NAME} characters.")
        self._become(self.tree.rename({node: name.strip()}))
        return node

    def _merge(self, details: Mapping[str, Any]) -> int:
        nodes, name = details.get("nodes"), details.get("name")
        if not isinstance(nodes, list) or not 2 <= len(nodes) <= 1000:
            raise ValueError("nodes must be a list of at least two nodes.")
        if name is not None and (not isinstance(name, str) or len(name) > _LONGEST_NAME):
            raise ValueError(f"name must be a string of at most {_LONGEST_NAME} characters.")
        chosen = [self._node({"node": node}, "node") for node in nodes]
        leaves = [int(leaf) for node in chosen for leaf in self.tree.leaves(node)]
        self._become(self.tree.merge(chosen, name=name or None))
        return self._node_over(leaves)

    def _move(self, details: Mapping[str, Any]) -> int:
        node, to = self._node(details, "node"), self._node(details, "to")
        leaves = [int(leaf) for leaf in self.tree.leaves(node)]
        self._become(self.tree.move(node, to))
        return self._node_over(leaves)

    def _split(self, details: Mapping[str, Any]) -> int:
        node = self._node(details, "node")
        leaves = [int(leaf) for leaf in self.tree.leaves(node)]
        self._become(self.tree.split(node))
        return self._node_over(leaves)

    def _remove(self, details: Mapping[str, Any]) -> int:
        node, tree = self._node(details, "node"), self.tree
        gone = tree.leaves(node)
        inner = [""] * tree.n_internal if tree.name is None else tree.name[tree.n_leaves :].tolist()
        # leaves are numbered again: those without a name keep their number as one
        labeled = tree.replace(name=[*(tree.label(leaf) for leaf in range(tree.n_leaves)), *inner])
        self._become(labeled.remove([node]), np.delete(self.kept, gone))
        return self.tree.root

    def _undo(self, details: Mapping[str, Any]) -> None:
        if not self._past:
            raise ValueError("There is nothing to undo.")
        self._future.append(self._now)
        self._now = self._past.pop()

    def _redo(self, details: Mapping[str, Any]) -> None:
        if not self._future:
            raise ValueError("There is nothing to redo.")
        self._past.append(self._now)
        self._now = self._future.pop()

    def _save(self, details: Mapping[str, Any]) -> None:
        if self.path is None:
            raise ValueError("There is no file to save to. Open the tree with explore(edit='tree.npz').")
        if self.path.suffix.lower() in _NEWICK:
            write_whole(self.path, (self.tree.to_newick() + "\n").encode("utf-8"))
        else:
            self.tree.save(self.path)
        self._saved = self._now

    # ---- helpers -----------------------------------------------------------------------------------------

    def _become(self, tree: Tree, kept: Ints | None = None) -> None:
        self._past = [*self._past[-_MOST_STEPS + 1 :], self._now]
        self._future = []
        self._now = State(tree, self.kept if kept is None else kept)

    def _node(self, details: Mapping[str, Any], key: str) -> int:
        node = details.get(key)
        if type(node) is not int or not 0 <= node <= self.tree.root:
            raise ValueError(f"{key} must be a node of the tree, in [0, {self.tree.root}].")
        return node

    def _node_over(self, leaves: list[int]) -> int:
        """The smallest node that holds all of these leaves."""
        found = leaves[0]
        for leaf in leaves[1:]:
            found = int(self.tree.lca(found, leaf))
        return found

    def _cost(self, state: State) -> float | None:
        if self.similarity is None or state.tree.n_leaves < 2:
            return None
        tree = state.tree
        # trees do not change, and those in the history stay alive: their identity is theirs alone
        if id(tree) not in self._costs:
            alive = {id(one.tree) for one in (*self._past, *self._future, self._now, self._first)}
            self._costs = {key: cost for key, cost in self._costs.items() if key in alive}
            is_whole = len(state.kept) == self._first.tree.n_leaves
            similarity = self.similarity if is_whole else self.similarity.subset(state.kept)
            self._costs[id(tree)] = float(dasgupta_cost(tree, similarity))
        return self._costs[id(tree)]


class Editable(NamedTuple):
    """What an editor begins with: the tree with all names, what is known about its leaves, and a similarity."""

    tree: Tree
    about: dict[str, Any]
    content: Content
    similarity: Similarity | None


def editable(tree: Tree, about: dict[str, Any], similarity: Similarity | None) -> Editable:
    """Content of a page that edits: names belong to the tree, and what is read again after every edit is a list.

    The similarity is by default the neighbor graph of the features.
    """
    for argument in ("compare", "report"):
        if about.get(argument) is not None:
            raise ValueError(
                f"{argument} is about the tree as it is, which edits change. Leave out {argument} or edit."
            )
    about = dict(about)
    for argument in ("names", "texts", "feature_names"):
        if about.get(argument) is not None:
            about[argument] = list(about[argument])
    similarity = similarity_or_neighbors(similarity, about.get("features"), tree.n_leaves)
    # edits change densities, which a page without a server does not compute again
    about |= {"similarity": similarity, "graph_reasons": False}
    content = Content(tree, **about)
    if content.names is not None:
        inner = [""] * tree.n_internal if tree.name is None else list(tree.name[tree.n_leaves :])
        tree, about["names"] = tree.replace(name=[*content.names, *inner]), None
        content = Content(tree, **about)
    return Editable(tree, about, content, similarity)


def edges_in_page(similarity: Similarity | None) -> tuple[dict[str, NDArray[Any]], str | None]:
    """Every pair that has a similarity, for a page that computes costs itself, or the reason why it cannot."""
    if similarity is None:
        return {}, NO_COST
    n = similarity.n_points
    if similarity.csr is not None:
        pairs = sp.triu(similarity.csr, k=1, format="coo")
        first, second, weight = pairs.row, pairs.col, pairs.data
    elif n <= _MOST_COMPARED:
        first, second = np.triu_indices(n, k=1)
        weight = similarity.pairs(first, second)
    else:
        return {}, (
            f"What edits cost is not known here: the similarity compares all pairs of {n:,} leaves, too many for a "
            "page. A graph of neighbors fits, and so does the page of arbora show --edit."
        )
    loops = np.flatnonzero(similarity.self_loops)
    return {
        "edgeFrom": np.concatenate([first, loops]).astype(np.int32),
        "edgeTo": np.concatenate([second, loops]).astype(np.int32),
        "edgeWeight": compact(np.concatenate([weight, similarity.self_loops[loops]]).astype(np.float64)),
    }, None


def _checked_path(path: PathLike) -> Path:
    found = Path(path)
    if found.suffix.lower() not in (".npz", *_NEWICK):
        raise ValueError(
            f"edit must be True or the path of an .npz or Newick (.nwk) file. Got {str(path)!r}."
        )
    return found
