"""Damaged and foreign files: what is read is a valid tree or table, or a clear error."""

from __future__ import annotations

import tempfile
from pathlib import Path

import checks
import inputs
import numpy as np
from calls import Generator, Note
from inputs import chance, one_of

import arbora as ab

NEWICK = "(,):;'[] \t\n0123456789abe.-+_&\x00é"


def damaged(rng: Generator, content: bytes) -> bytes:
    """Bytes flipped, cut off, doubled or put in."""
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(content) + 1))
        end = min(len(content), at + int(rng.integers(1, 40)))
        content = one_of(
            rng,
            content[:at],
            content[:at] + content[end:],
            content[:end] + content[at:],
            content[:at] + bytes(rng.integers(0, 256, 8, dtype=np.uint8)) + content[end:],
            content[:at] + bytes(8) + content[at:],
        )
    return content


def newick(rng: Generator, note: Note) -> None:
    """Text that is nearly Newick."""
    note.gives_tree = True
    if chance(rng, 0.3):
        text = "".join(one_of(rng, *NEWICK) for _ in range(int(rng.integers(0, 40))))
    else:
        text = damaged(rng, inputs.tree(rng).to_newick().encode()).decode("utf-8", "replace")
    note(repr(text))
    # text without a bracket or semicolon may be read as a path
    note.file = text
    checks.valid_tree(ab.Tree.from_newick(text))


def tree_file(rng: Generator, note: Note) -> None:
    """An archive of a tree with damage: never another tree."""
    note.gives_tree = True
    tree = inputs.tree(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.npz"
        tree.save(path)
        checks.same_topology(tree, ab.Tree.load(path))
        path.write_bytes(damaged(rng, path.read_bytes()))
        note.file = path.name
        note(tree.parent.tolist(), tree.n_leaves)
        found = ab.Tree.load(path)
    checks.valid_tree(found)
    checks.require(list(found.parent) == list(tree.parent), "a damaged file is not read as another tree")


def model_file(rng: Generator, note: Note) -> None:
    """A saved model with damage: refused, or as it was."""
    note.gives_tree = True
    X = rng.standard_normal((int(one_of(rng, 2, 5, 20)), 3))
    kind = one_of(rng, "OnlineTree", "TreeClustering", "L2H")
    options = {"OnlineTree": {}, "TreeClustering": {"n_perturbations": 0}, "L2H": {"n_bootstraps": 0}}[kind]
    model = getattr(ab, kind)(random_state=0, **options).fit(X)
    note(kind, X.shape)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        path.write_bytes(damaged(rng, path.read_bytes()))
        note.file = path.name
        found = type(model).load(path)
    checks.same_topology(model.tree_, found.tree_)


def table(rng: Generator, note: Note) -> None:
    """Tables, edge lists and matrices, whole and damaged."""
    n = int(one_of(rng, 1, 2, 5, 12))
    X = np.round(rng.standard_normal((n, 3)), 3)
    rows = "\n".join(",".join(map(str, row)) for row in X.tolist())
    edges = "\n".join(f"a{k} a{k + 1} {abs(x)}" for k, x in enumerate(X[:, 0]))
    market = f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {n}\n" + "\n".join(
        f"{k + 1} 1 1.5" for k in range(n)
    )
    name, text = one_of(
        rng,
        ("t.csv", f"x,y,z\n{rows}\n"),
        ("t.csv", rows),
        ("t.tsv", rows.replace(",", "\t")),
        ("t.edges", edges),
        ("t.mtx", market),
        ("t.json", str([{"x": x, "y": y} for x, y, _ in X.tolist()]).replace("'", '"')),
    )
    whole = chance(rng, 0.2)
    content = text.encode() if whole else damaged(rng, text.encode())
    note(name, repr(content))
    note.file = name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        data = ab.read(path)
        checks.require(data.n_points >= 0, "a table has points")
        if whole and name == "t.csv":
            checks.require(data.n_points == n, f"{data.n_points} rows instead of {n}")


FILES = {newick: 4, tree_file: 3, model_file: 1, table: 4}
