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


def questions(rng: Generator, note: Note) -> None:
    """What a page asks its server: an answer, or ValueError."""
    from arbora.view.content import Content
    from arbora.view.session import Session

    tree = inputs.tree(rng)
    session = Session(Content(tree))
    question = one_of(rng, *sorted(session.questions), "nothing")
    keys = (
        "root",
        "node",
        "nodes",
        "text",
        "column",
        "leaf",
        "height",
        "n_clusters",
        "from",
        "count",
        "levels",
        "limit",
    )
    details = {
        key: one_of(rng, int(rng.integers(tree.n_nodes)), [0, tree.root], "n1", inputs.wrong(rng))
        for key in keys
        if chance(rng, 0.7)
    }
    note(question, details, tree.n_leaves)
    note.words = {*keys, "question"}
    checks.require(isinstance(session.answer(question, details), bytes), "an answer is bytes")


TREES: dict[Callable[[Generator, Note], None], int] = {
    tree_from_arrays: 3, tree_methods: 4, cut: 3, round_trips: 2, metrics: 3, questions: 3,
}  # fmt: skip
