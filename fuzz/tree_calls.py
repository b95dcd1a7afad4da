"""Trees themselves: constructors, methods, cuts, formats, scores, and what a page asks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import checks
import inputs
import numpy as np
from calls import Generator, Note, options
from inputs import chance, one_of

import arbora as ab


def tree_from_arrays(rng: Generator, note: Note) -> None:
    """Constructors with arrays that are nearly or not at all trees."""
    note.gives_tree = True
    n = int(one_of(rng, 1, 2, 3, 5, 9))
    parent: list[Any] = list(inputs.parents(rng, n))
    for _ in range(int(rng.integers(0, 3))):
        parent[int(rng.integers(len(parent)))] = one_of(
            rng, -1, 0, 3, len(parent), -7, 2**40, 1.5, "a", None, 2**70
        )
    which = one_of(rng, "Tree", "from_parents", "from_merges", "from_linkage")
    note(which, parent, n)
    if which == "Tree":
        height = one_of(rng, None, [0.0] * len(parent), [np.nan] * len(parent), [1.0], "ab")
        tree = ab.Tree(parent, one_of(rng, n, n, n, n + 1, 0, "2"), height=height)
    elif which == "from_parents":
        tree = ab.Tree.from_parents(parent, one_of(rng, n, None), sort=chance(rng, 0.5))
    elif which == "from_merges":
        tree = ab.Tree.from_merges([(a, b) for a, b in zip(parent[::2], parent[1::2])])
    else:
        Z = np.random.default_rng(n).random((n, 4)) if chance(rng, 0.5) else inputs.wrong(rng)
        tree = ab.Tree.from_linkage(Z)
    checks.valid_tree(tree)
    checks.copied(tree)


def tree_methods(rng: Generator, note: Note) -> None:
    """Methods of a valid tree; what they return is again valid."""
    tree = inputs.tree(rng)
    n = tree.n_leaves
    node = int(rng.integers(tree.n_nodes)) if chance(rng, 0.85) else inputs.wrong(rng)
    k = int(rng.integers(1, n + 1)) if chance(rng, 0.85) else inputs.wrong(rng)
    leaves = rng.permutation(n)[: int(rng.integers(1, n + 1))] if chance(rng, 0.85) else inputs.wrong(rng)
    calls: dict[str, Callable[[], Any]] = {
        "subtree": lambda: tree.subtree(node),
        "restrict": lambda: tree.restrict(leaves),
        "remove": lambda: tree.remove([node]),
        "prune": lambda: tree.prune(k),
        "compress": lambda: tree.compress(k),
        "binarize": tree.binarize,
        "collapse_unary": tree.collapse_unary,
        "move": lambda: tree.move(node, int(rng.integers(tree.n_nodes))),
        "merge": lambda: tree.merge([node, int(rng.integers(tree.n_nodes))]),
        "split": lambda: tree.split(node),
        # what cannot be a key is no call of ours
        "rename": lambda: tree.rename({node if isinstance(node, Hashable) else 0: "new"}),
        "reorder": lambda: tree.reorder(one_of(rng, "optimal", "size", None)),
        "taxonomy": lambda: tree.taxonomy([k]),
        "expand": lambda: tree.expand(rng.integers(0, n, 3 * n)),
    }
    name = one_of(rng, *calls)
    note(name, "node", node, "k", k, "of", tree.parent.tolist(), n)
    result = calls[name]()
    checks.valid_tree(result)
    if name == "restrict":
        checks.require(result.n_leaves == len(np.unique(leaves)), "restrict keeps the leaves asked for")


def cut(rng: Generator, note: Note) -> None:
    """Flat clusters: as many as asked, each a clade."""
    tree = inputs.tree(rng)
    k = int(rng.integers(1, tree.n_leaves + 2)) if chance(rng, 0.85) else inputs.wrong(rng)
    given = options(
        rng,
        note,
        by=("height", "density", "balance"),
        min_size=(1, 2),
        max_size=(1, 3),
        height=(0.0, 0.5),
        exact=("raise", "nearest"),
    )
    note(k, tree.parent.tolist(), tree.n_leaves)
    found = tree.cut(k, **given)
    free = {"min_size", "max_size", "height", "exact"} & set(given)
    checks.labels(found, tree.n_leaves, None if free or not isinstance(k, int) else k)
    if "min_size" not in given:
        checks.clades(tree, found)


def round_trips(rng: Generator, note: Note) -> None:
    """Newick, JSON, linkage and networkx give the same tree back."""
    tree = inputs.tree(rng)
    note(tree.parent.tolist(), tree.n_leaves)
    checks.same_topology(
        tree.collapse_unary(), _by_name(ab.Tree.from_newick(tree.to_newick()), tree).collapse_unary()
    )
    checks.same_topology(tree, ab.Tree.from_json(tree.to_json()))
    if tree.is_binary and tree.n_leaves > 1:
        checks.same_topology(tree, ab.Tree.from_linkage(tree.to_linkage()))


def _by_name(found: ab.Tree, tree: ab.Tree) -> ab.Tree:
    """Leaves in the order of `tree`; those without a name are written by their numbers."""
    wanted = [tree.label(leaf) for leaf in range(tree.n_leaves)]
    place = {name: k for k, name in enumerate(wanted)}
    new = [place[found.label(leaf)] for leaf in range(found.n_leaves)]
    parent = list(found.parent)
    moved = parent.copy()
    for leaf, target in enumerate(new):
        moved[target] = parent[leaf]
    return ab.Tree(moved, found.n_leaves)


def metrics(rng: Generator, note: Note) -> None:
    """Scores equal their definitions."""
    W = inputs.weights(rng, int(one_of(rng, 2, 3, 5, 9, 14)))
    tree = inputs.tree(rng, len(W))
    note(tree.parent.tolist(), len(W))
    found = ab.similarity.dense(W) if chance(rng, 0.5) else ab.similarity.graph(inputs.GRAPHS["csr"](W))
    checks.close(ab.metrics.dasgupta_cost(tree, found), checks.dasgupta(tree, W), "Dasgupta's cost", 1e-6)
    y = rng.integers(0, 3, len(W)) if chance(rng, 0.9) else inputs.wrong(rng)
    purity = ab.metrics.dendrogram_purity(tree, y)
    checks.require(np.isnan(purity) or 0 <= purity <= 1 + 1e-12, f"purity is a share: {purity}")
    other = inputs.tree(rng, len(W))
    apart = tree.robinson_foulds(other)
    inner, outer = (set(checks.leaf_sets(t)) for t in (tree, other))
    checks.close(apart, len(inner ^ outer), "Robinson-Foulds distance")


# What the page's questions have in common: keys, and values from right to hostile.
KEYS = (
    "root",
    "node",
    "nodes",
    "text",
    "column",
    "k",
    "word",
    "code",
    "action",
    "name",
    "to",
    "from",
    "limit",
)
HOSTILE = (
    "",
    "\x00",
    "<script>",
    "../../etc/passwd",
    "é" * 300,
    -1,
    2**63,
    2**70,
    1e308,
    [[]],
    {"a": {}},
    [None],
    [True],
)


def questions(rng: Generator, note: Note) -> None:
    """What a page asks its server, some of it by whoever pretends to be one: an answer, or ValueError."""
    session = _session(rng)
    for _ in range(int(rng.integers(1, 5))):
        tree = session.content.tree
        question = one_of(rng, *sorted(session.questions), "edit", "nothing", "__init__")
        details = {key: _detail(rng, key, tree) for key in KEYS if chance(rng, 0.7)}
        note(question, details, tree.n_leaves)
        note.words = {*KEYS, "question", "nothing", "file", "leaf", "leaves", question}
        try:
            checks.require(isinstance(session.answer(question, details), bytes), "an answer is bytes")
        except ValueError as refused:
            checks.require(len(str(refused)) > 10, "a refusal says why")
        checks.valid_tree(session.content.tree)


def _session(rng: Generator) -> Any:
    """A page's session, with or without columns, texts, points, a second tree, and leave to edit."""
    from arbora.view.content import Content
    from arbora.view.editing import editable
    from arbora.view.session import Session, editing_session

    tree = inputs.tree(rng)
    n = tree.n_leaves
    about: dict[str, Any] = {
        "metadata": {
            "number": rng.standard_normal(n),
            "word": [one_of(rng, "a", "b", None) for _ in range(n)],
        },
        "texts": [one_of(rng, "cat dog", "", "dog <b>") for _ in range(n)],
        "points": rng.standard_normal((n, 2)),
        "compare": inputs.tree(rng, n),
    }
    about = {key: value for key, value in about.items() if chance(rng, 0.5)}
    if chance(rng, 0.3):
        about.pop("compare", None)
        return editing_session(editable(tree, about, None))
    return Session(Content(tree, **about))


def _detail(rng: Generator, key: str, tree: ab.Tree) -> Any:
    if chance(rng, 0.2):
        return one_of(rng, *HOSTILE, inputs.wrong(rng))
    if key == "nodes":
        return rng.integers(0, tree.n_nodes, 3).tolist()
    if key in ("text", "column", "name"):
        return one_of(rng, "n1", "number", "word", "cat", "texts")
    if key == "action":
        return one_of(
            rng, "rename", "merge", "move", "split", "remove", "undo", "redo", "save", "state", "format"
        )
    return int(rng.integers(tree.n_nodes))


TREES: dict[Callable[[Generator, Note], None], int] = {
    tree_from_arrays: 3, tree_methods: 4, cut: 3, round_trips: 2, metrics: 3, questions: 3,
}  # fmt: skip
