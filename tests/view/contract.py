"""Questions and answers of a page, written for JavaScript: what Python answers, the page must answer too."""

from __future__ import annotations

import base64
import json

import numpy as np
from trees import random_tree

import arbora as ab
from arbora import Tree
from arbora.view._pack import unpack
from arbora.view.content import Content
from arbora.view.editing import editable
from arbora.view.folding import folded_pack
from arbora.view.page import edit_parts, whole_pack
from arbora.view.session import Session, editing_session

HOSTILE = "</script><b>Straße ÉCOLE</b>"


def with_dust():
    """Two groups and many points far from everything, which no cut into few clusters makes a cluster."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 20, 300 * rng.normal(size=(30, 2))])
    return ab.linkage(X, "average")


def contents():
    """Pages that between them hold everything a page can hold."""
    rng = np.random.default_rng(0)
    n = 90
    tree = random_tree(n, rng, max_branching=4)
    classes = np.array(["red", "Grün", None, HOSTILE], dtype=object)[rng.integers(0, 4, n)]
    words = ["apple", "Pear", "plum", "Straße", "école", "the"]
    yield (
        "everything",
        Content(
            tree.replace(
                name=[f"Leaf {k} Müller" for k in range(n)]
                + [f"Topic {k}" if k % 3 else "" for k in range(n, tree.n_nodes)],
                height=tree.sizes.astype(float) - 1,
                support=np.where(np.arange(tree.n_nodes) < n, np.nan, 0.25),
            ),
            classes={"color": classes},
            metadata={
                "date": np.datetime64("2020-01-01") + rng.integers(0, 400, n),
                "wait": rng.integers(0, 10**6, n).astype("timedelta64[s]"),
                "score": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(0, 3, n)),
                "note": [f"note ÜBER number {k}" for k in range(n)],
                "address": [f"https://example.org/{k}" if k % 3 else None for k in range(n)],
            },
            similarity=ab.similarity.knn(rng.normal(size=(n, 4)), 3),
            texts=[" ".join(rng.choice(words, 5)) for _ in range(n)],
            images=rng.integers(0, 256, (n, 3, 4)).astype(np.uint8),
            features=rng.normal(size=(n, 5)),
            feature_names=[f"feature {k}" for k in range(5)],
            compare=random_tree(n, np.random.default_rng(5)).replace(
                name=[f"Leaf {k} Müller" for k in range(n)]
            ),
        ),
    )
    yield "bare", Content(random_tree(30, rng))
    yield "taxonomy", Content(random_tree(40, rng).taxonomy([3, 9, 15]), classes=np.arange(40) % 5)
    yield "leaf", Content(Tree([-1], 1))
    yield "dust", Content(with_dust(), classes=np.arange(330) % 4)
    wide = with_dust().prune(max_size=3)
    yield "wide dust", Content(wide.compress(60), classes=np.arange(wide.n_leaves) % 4)
    yield "unnamed words", Content(random_tree(25, rng), texts=[f"word{k % 4} shared" for k in range(25)])


def folded_questions(content, nodes):
    """What a page of the upper part answers, for nodes that it holds."""
    for node in nodes:
        yield "path", [node], "path", {"node": node}
        yield "card", [node], "card", {"node": node}
    yield "names", [nodes], "names", {"nodes": nodes}
    for column in content.columns:
        if column.kind != "text":
            yield "column", [column.name, nodes], "column", {"column": column.name, "nodes": nodes}
    for k in (1, 4, 11):
        for column in [None, *(column.name for column in content.columns if column.kind == "category")]:
            yield "cut", [k, column], "cut", {"k": k, "column": column}


def questions(content):
    """(method of a source, its arguments, question to Python, its details)."""
    tree = content.tree
    nodes = sorted(
        {0, tree.n_leaves // 2, tree.n_leaves - 1, tree.root, max(tree.root - 3, 0), tree.n_nodes // 2}
    )
    for node in nodes:
        yield "path", [node], "path", {"node": node}
        yield "card", [node], "card", {"node": node}
    yield "names", [nodes], "names", {"nodes": nodes}
    for text in (
        "",
        "7",
        "topic 9",
        "LEAF 1",
        "müller",
        "Muller",
        "strasse",
        "STRASSE",
        "école",
        "gr",
        "note uber",
        "pl",
        "word",
        "<b>",
        "ﬁ",
        "İ",
        "Σ",
    ):
        yield "search", [text], "search", {"text": text}
    scored = [None, *(column.name for column in content.columns if column.kind == "category")]
    for k in {1, 2, 5, 9, min(17, tree.n_leaves), tree.n_leaves}:
        if k <= tree.n_leaves:
            yield "labels", [k], "labels", {"k": k}
            for column in scored:
                yield "cut", [k, column], "cut", {"k": k, "column": column}
    for column in content.columns:
        if column.kind != "text":
            yield "leaves", [column.name], "leaves", {"column": column.name}
            yield "column", [column.name, nodes], "column", {"column": column.name, "nodes": nodes}
        if column.kind == "category":
            yield (
                "members",
                [{"column": column.name, "code": 0}],
                "members",
                {"column": column.name, "code": 0},
            )
    if content.words is not None:
        yield "members", [{"word": 1}], "members", {"word": 1}
    if content.points is not None:
        yield "points", [], "points", {}
    if content.compare is not None:
        yield "tangle", [], "tangle", {}


def asked_of(session, asked):
    """Questions with Python's answers."""
    return [
        {"method": method, "args": args, "question": question, "details": details,
         "answer": base64.b64encode(session.answer(question, details)).decode()}
        for method, args, question, details in asked
    ]  # fmt: skip


def folded_fixture(name, content):
    """The page of the upper part of a tree."""
    packed = folded_pack(content, 15)
    nodes = unpack(packed)[1]["id"].tolist()
    asked = asked_of(Session(content), folded_questions(content, nodes))
    return {"name": f"{name}, folded", "pack": base64.b64encode(packed).decode(), "asked": asked}


def edited_pages():
    """Pages that edit: a tree, what is known of it, its similarity, and edits (or None: choose them by chance)."""
    rng = np.random.default_rng(7)
    n = 60
    tree = random_tree(n, rng, max_branching=4)
    about = {
        "classes": {"color": np.array(["red", "green", None, HOSTILE], dtype=object)[rng.integers(0, 4, n)]},
        "metadata": {"score": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(0, 3, n)),
                     "note": [f"note number {k}" for k in range(n)]},
        "texts": [" ".join(rng.choice(["apple", "pear", "plum"], 5)) for _ in range(n)],
        "images": rng.integers(0, 256, (n, 2, 2)).astype(np.uint8),
        "points": rng.normal(size=(n, 2)),
    }  # fmt: skip
    named = tree.replace(
        name=[f"it's_{k}" for k in range(n)] + [f"T {k}" if k % 3 else "" for k in range(n, tree.n_nodes)],
        height=np.maximum.accumulate(rng.random(tree.n_nodes)) * (np.arange(tree.n_nodes) >= n) * 1e-5,
        support=rng.random(tree.n_nodes),
        order=rng.permutation(n),
    )
    graph = ab.similarity.knn(rng.normal(size=(n, 3)), n_neighbors=5)
    yield "everything, edited", named, about, graph
    yield "bare, edited", random_tree(25, rng), {}, None
    yield "dust, edited", with_dust(), {}, None
    yield "dense, edited", random_tree(30, rng), {}, ab.similarity.cosine(rng.random((30, 4)))


def random_edits(tree, rng, n_steps=12):
    """Edits, some of them impossible, for a tree that they themselves change."""
    actions = ["rename", "merge", "move", "split", "move", "merge", "undo", "redo", "remove"]
    yield {"action": "state"}
    for k in range(n_steps):
        action, root = actions[k % len(actions)], tree().root
        node, other = (int(v) for v in rng.integers(0, root + 1, 2))
        inner = int(rng.integers(tree().n_leaves, root + 1))
        yield {
            "rename": {"action": action, "node": inner, "name": f" new {k} "},
            "merge": {"action": action, "nodes": [node, other], "name": None},
            "move": {"action": action, "node": node, "to": other},
            "split": {"action": action, "node": inner},
            "remove": {"action": action, "node": node},
        }.get(action, {"action": action})


def edited_fixture(name, tree, about, similarity):
    """One page, edited step by step, with questions after each step."""
    start = editable(tree, about, similarity)
    session, rng = editing_session(start), np.random.default_rng(1)
    packed = whole_pack(start.content, edit_parts(start))
    steps = []
    for details in random_edits(lambda: session.content.tree, rng):
        try:
            answer = {"facts": unpack(session.answer("edit", details))[0]}
        except ValueError as error:
            answer = {"error": str(error)}
        asked = list(questions(session.content))
        if session.content.tree.n_leaves < tree.n_leaves:
            # Python reads the columns of what is left again, and numbers their categories so
            asked = [one for one in asked if one[0] in ("path", "names", "labels")]
        steps.append(
            {"details": details, **answer, "asked": asked_of(session, [*asked, ("newick", [], "newick", {})])}
        )
    return {"name": name, "pack": base64.b64encode(packed).decode(), "steps": steps}


def write_edits(path):
    """Every page that edits, as JSON."""
    path.write_text(json.dumps([edited_fixture(*page) for page in edited_pages()]), encoding="utf-8")
    return path


def write_fixture(path):
    """Every page with its questions and packed answers, as JSON."""
    pages = []
    for name, content in contents():
        asked = asked_of(Session(content), questions(content))
        pages.append({"name": name, "pack": base64.b64encode(whole_pack(content)).decode(), "asked": asked})
        if content.tree.n_leaves > 20:
            pages.append(folded_fixture(name, content))
    path.write_text(json.dumps(pages), encoding="utf-8")
    return path
