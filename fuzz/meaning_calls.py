"""What trees mean and how they are edited: words, reasons, matches, edits from a page, pages with drawn columns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import checks
import inputs
import numpy as np
from calls import Generator, Note, options
from inputs import chance, one_of

import arbora as ab
from arbora.view.editing import Editor

WORDS = ("cat", "dog", "Ünï", "<b>", "a", "", "the", "naïve café", "1", "\x00", "ﬀ")
ACTIONS = ("rename", "merge", "move", "split", "remove", "undo", "redo", "save", "state", "format")


def keywords(rng: Generator, note: Note) -> None:
    """Words of nodes: known words, shares between 0 and 1, best first."""
    tree = inputs.tree(rng)
    texts = [
        " ".join(one_of(rng, *WORDS) for _ in range(int(rng.integers(0, 5)))) for _ in range(tree.n_leaves)
    ]
    given = options(rng, note, n_words=(1, 3), ngram_range=((1, 1), (1, 2)), stop_words=(None, "english"))
    note(texts)
    found = tree.keywords(texts, **given)
    for node, words in found.items():
        checks.require(tree.n_leaves <= node < tree.n_nodes, "keywords belong to internal nodes")
        scores = [word.score for word in words]
        checks.require(scores == sorted(scores, reverse=True), "keywords come best first")
        checks.require(all(0 < word.share <= 1 for word in words), "a share lies between 0 and 1")


def match(rng: Generator, note: Note) -> None:
    """Clusters of two trees: every common leaf is counted once, no cluster is matched twice."""
    n = int(one_of(rng, 2, 5, 20))
    old, new = inputs.tree(rng, n), inputs.tree(rng, n)
    k = int(rng.integers(1, n + 1))
    note(old.parent.tolist(), new.parent.tolist(), k)
    note.words = {"names"}
    found = ab.match(old, new, k)
    checks.require(found.overlap.sum() == n, "every leaf is counted once")
    taken = [int(cluster) for cluster in found.new_of_old if cluster >= 0]
    checks.require(len(taken) == len(set(taken)), "no two clusters become one")


def reasons(rng: Generator, note: Note) -> None:
    """What sets nodes apart: features of the data, finite effects, nodes of the tree."""
    tree = inputs.tree(rng)
    kind, X = inputs.numbers(rng, tree.n_leaves if chance(rng, 0.95) else 3, tame=chance(rng, 0.5))
    node = int(rng.integers(tree.n_nodes)) if chance(rng, 0.8) else inputs.wrong(rng)
    given = options(rng, note, against=("siblings", "rest", "all"), n_features=(1, 3, 100))
    given |= {"node": node} if chance(rng, 0.5) else {"n_clusters": one_of(rng, 1, 2, 3, inputs.wrong(rng))}
    note(kind, X.shape, given, tree.parent.tolist(), tree.n_leaves)
    before = checks.frozen(X)
    found = ab.explain(tree, X, **given)
    checks.unchanged(before, X)
    for explanation in found:
        checks.require(0 <= explanation.node < tree.n_nodes, "an explanation is about a node")
        for feature in explanation.features:
            checks.require(np.isfinite(feature.effect), f"an effect is a number: {feature}")


def members(rng: Generator, note: Note) -> None:
    """Exemplars and outlier scores: points of the cluster, shares."""
    found, _ = inputs.similarity(rng)
    n = found.n_points
    labels: Any = rng.integers(0, 3, n) if chance(rng, 0.85) else inputs.wrong(rng)
    given = options(rng, note, n_exemplars=(1, 3, 1000))
    note(type(found).__name__, n, labels)
    chosen = ab.insight.exemplars(found, labels, **given)
    for label, points in chosen.items():
        checks.require(all(labels[point] == label for point in points), "an exemplar lies in its cluster")
        checks.require(len(set(points.tolist())) == len(points), "no exemplar comes twice")
    scores = ab.insight.outlier_scores(found, labels)
    checks.require(scores.shape == (n,) and np.isfinite(scores).all(), "one finite outlier score per point")
    tree, k = inputs.tree(rng, n), int(rng.integers(1, n + 1))
    note(tree.parent.tolist(), k)
    for reason in ab.insight.explain_graph(tree, found, n_clusters=k):
        checks.require(0 <= reason.node < tree.n_nodes, "a reason is about a node")


def naming(rng: Generator, note: Note) -> None:
    """Trees named by words: the same tree, and names are text."""
    tree = inputs.tree(rng)
    texts: Any = [one_of(rng, *WORDS, "cat dog", "dog dog a") for _ in range(tree.n_leaves)]
    if chance(rng, 0.15):
        texts = inputs.wrong(rng)
    note(texts, tree.parent.tolist(), tree.n_leaves)
    given = options(rng, note, n_words=(1, 3), nodes=([tree.root], [0], [10**9]))
    found = ab.insight.named(tree, texts, **given)
    checks.require(list(found.parent) == list(tree.parent), "naming changes no tree")
    checks.require(all(isinstance(found.label(node), str) for node in range(found.n_nodes)), "names are text")


def merges(rng: Generator, note: Note) -> None:
    """Suggested merges and similar points: clusters of the cut, no point similar to itself."""
    found, _ = inputs.similarity(rng)
    n = found.n_points
    tree = inputs.tree(rng, n if chance(rng, 0.95) else n + 1)
    k = int(rng.integers(1, tree.n_leaves + 1))
    labels: Any = tree.cut(k, exact="nearest") if chance(rng, 0.9) else inputs.wrong(rng)
    note(type(found).__name__, tree.parent.tolist(), labels)
    for one in ab.insight.merge_suggestions(tree, found, labels):
        checks.require(0 <= one.labels[0] < one.labels[1] <= np.max(labels), f"clusters of the cut: {one}")
        checks.require(
            not np.isnan([one.loss, one.times_chance, one.share_of_inside]).any(), f"numbers: {one}"
        )
    points: Any = rng.integers(0, n, 2).tolist() if chance(rng, 0.8) else inputs.wrong(rng)
    note(points)
    similar = ab.insight.similar(found, points, 3)
    for point, others in zip(np.atleast_1d(points), similar, strict=True):
        checks.require(point not in [other.point for other in others], "no point is similar to itself")
        checks.require(len(others) <= 3, "no more than asked for")


def over_time(rng: Generator, note: Note) -> None:
    """Clusters over time: every point is counted once or left out."""
    n = int(one_of(rng, 1, 3, 20))
    labels: Any = rng.integers(-1, 3, n) if chance(rng, 0.9) else inputs.wrong(rng)
    unit = one_of(rng, "ns", "s", "D", "Y")
    dates: Any = rng.integers(-300, 300, n).astype(f"datetime64[{unit}]")
    if chance(rng, 0.3):
        dates = one_of(rng, dates.astype(str), dates.tolist(), [None] * n, inputs.wrong(rng))
    elif chance(rng, 0.3):
        dates[rng.integers(n)] = np.datetime64("NaT")
    given = options(rng, note, every=("auto", "hour", "day", "week", "month", "quarter", "year"))
    note(labels, dates)
    found = ab.insight.over_time(labels, dates, **given)
    checks.require(found.counts.sum() + found.n_left_out == n, "every point is counted once or left out")
    checks.require(bool((np.diff(found.starts) > np.timedelta64(0)).all()), "bins follow each other")


def telling(rng: Generator, note: Note) -> None:
    """Features that tell most about splits: columns of the data, none twice."""
    tree = inputs.tree(rng)
    kind, X = inputs.numbers(rng, tree.n_leaves if chance(rng, 0.95) else 3, tame=chance(rng, 0.5))
    given = options(rng, note, n_features=(1, 3, 100), n_splits=(1, 8))
    note(kind, X.shape, tree.parent.tolist(), tree.n_leaves)
    before = checks.frozen(X)
    found = ab.insight.telling_features(tree, X, **given)
    checks.unchanged(before, X)
    checks.require(len(found) == len(set(found)) <= X.shape[1], "features of the data, none twice")


def consensus(rng: Generator, note: Note) -> None:
    """What trees agree on: a tree of the same leaves, supports above the share that was asked for."""
    n, share = int(one_of(rng, 2, 5, 20)), one_of(rng, 0.5, 0.7, 1.0, inputs.wrong(rng))
    trees = [inputs.tree(rng, n).replace(name=None) for _ in range(int(rng.integers(1, 5)))]
    if chance(rng, 0.1):
        trees.append(inputs.tree(rng, n + 1))
    note([tree.parent.tolist() for tree in trees], share)
    found = ab.Tree.consensus(trees, min_share=share)
    checks.require(found.n_leaves == n, "the leaves of the trees")
    inside = found.support[found.n_leaves :]
    checks.require(bool((inside >= share - 1e-12).all() and (inside <= 1).all()), "shares of the trees")


def edits(rng: Generator, note: Note) -> None:
    """What a page may ask of its tree: a valid tree after each, and all of it can be taken back."""
    first = inputs.tree(rng)
    editor = Editor(first)
    note.words = {"action", "node", "nodes", "name", "to", "nothing", "file", "leaf", "leaves"}
    for _ in range(int(rng.integers(1, 6))):
        node = int(rng.integers(editor.tree.n_nodes))
        details: dict[str, Any] = {
            "action": one_of(rng, *ACTIONS),
            "node": inputs.wrong(rng) if chance(rng, 0.1) else node,
            "nodes": [node, int(rng.integers(editor.tree.n_nodes))],
            "to": int(rng.integers(editor.tree.n_nodes)),
            "name": one_of(rng, *WORDS),
        }
        note(details)
        try:
            editor.apply(details)
        except (ValueError, TypeError) as refused:
            checks.require(len(str(refused)) > 10, "a refusal says why")
        checks.valid_tree(editor.tree, len(editor.kept))
    while editor.state()["canUndo"]:
        editor.apply({"action": "undo"})
    checks.require(editor.tree is first, "every edit can be taken back")


def page(rng: Generator, note: Note) -> None:
    """A page with columns of any kind is whole."""
    tree = inputs.tree(rng)
    n = tree.n_leaves
    columns: dict[str, Any] = {
        "numbers": rng.standard_normal(n) * 10.0 ** int(rng.integers(-300, 300)),
        "limits": np.array([one_of(rng, np.nan, np.inf, -np.inf, 1.7e308, 5e-324, 0.0) for _ in range(n)]),
        "words": [one_of(rng, *WORDS, None) for _ in range(n)],
        "whole": rng.integers(-(2**62), 2**62, n),
        "dates": np.array(["1970-01-01", "NaT", "2026-02-28"], dtype="datetime64[D]")[rng.integers(0, 3, n)],
    }
    shown = {name: values for name, values in columns.items() if chance(rng, 0.5)}
    note(list(shown), n)
    with tempfile.TemporaryDirectory() as folder:
        text = tree.to_html(Path(folder) / "p.html", metadata=shown).read_text(encoding="utf-8")
    checks.require(text.rstrip().endswith("</html>"), "a page is whole")


MEANING: dict[Callable[[Generator, Note], None], int] = {
    keywords: 2, naming: 1, reasons: 3, members: 3, match: 2, merges: 2, over_time: 2, telling: 1, consensus: 1,
    edits: 3, page: 1,
}  # fmt: skip
