"""Data, graphs, trees and parameters, ordinary and hostile; everything is drawn from the generator it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import arbora as ab

SIZES = (1, 2, 3, 4, 5, 7, 12, 20, 33, 60)
LARGEST = np.finfo(float).max

# Wrong for every number, choice and switch alike.
WRONG = (
    None,
    "3",
    -1,
    0,
    2.5,
    True,
    np.nan,
    np.inf,
    -np.inf,
    [],
    [1, 2],
    {},
    10**30,
    np.array([1, 2]),
    b"x",
    1j,
    object,
)


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    """One of the choices, as it is: no conversion to NumPy's types."""
    return choices[int(rng.integers(len(choices)))]


def chance(rng: np.random.Generator, share: float) -> bool:
    """True in this share of all cases."""
    return bool(rng.random() < share)


def wrong(rng: np.random.Generator) -> Any:
    """A value that most parameters must refuse."""
    return one_of(rng, *WRONG)


# ---- vectors ---------------------------------------------------------------------------------------------

VALUES = {
    "normal": lambda rng, X: X,
    "uniform": lambda rng, X: rng.random(X.shape),
    "equal rows": lambda rng, X: np.repeat(X[:1], len(X), axis=0),
    "duplicates": lambda rng, X: X[rng.integers(0, max(1, len(X) // 4), len(X))],
    "zeros": lambda rng, X: np.zeros_like(X),
    "zero rows": lambda rng, X: X * (rng.random((len(X), 1)) > 0.4),
    "constant columns": lambda rng, X: np.where(rng.random(X.shape[1]) < 0.7, 3.0, X),
    "huge": lambda rng, X: X * 10.0 ** rng.integers(100, 307),
    "tiny": lambda rng, X: X * 10.0 ** -float(rng.integers(100, 300)),
    "denormal": lambda rng, X: X * 1e-310,
    "many scales": lambda rng, X: X * 10.0 ** rng.integers(-300, 300, (len(X), 1)).astype(float),
    "not a number": lambda rng, X: _with_one(rng, X, np.nan),
    "infinite": lambda rng, X: _with_one(rng, X, np.inf),
    "whole numbers": lambda rng, X: rng.integers(-3, 4, X.shape).astype(float),
    "zeros and ones": lambda rng, X: (rng.random(X.shape) < 0.3).astype(float),
    "on a line": lambda rng, X: np.outer(X[:, 0], np.arange(1.0, X.shape[1] + 1)),
    "outlier": lambda rng, X: np.concatenate([X[:1] * 1e200, X[1:]]),
    "largest": lambda rng, X: np.sign(X) * LARGEST,
    "probabilities": lambda rng, X: rng.dirichlet(np.ones(X.shape[1]), len(X)),
}  # fmt: skip


def _with_one(rng: np.random.Generator, X: np.ndarray, value: float) -> np.ndarray:
    X = X.copy()
    X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = value
    return X


def numbers(rng: np.random.Generator, n: int | None = None, *, tame: bool = False) -> tuple[str, np.ndarray]:
    """(kind, float64 matrix); `tame` leaves out what a method may well refuse."""
    n = int(one_of(rng, *SIZES)) if n is None else n
    d = int(rng.integers(1, 7))
    kinds = ("normal", "uniform", "duplicates", "whole numbers", "probabilities") if tame else tuple(VALUES)
    kind = one_of(rng, *kinds)
    with np.errstate(all="ignore"):
        return kind, VALUES[kind](rng, rng.standard_normal((n, d)))


def _strided(X: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _frame(X: np.ndarray, **options: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(X, **options)


# What holds the same numbers, so that the same tree is due.
SAME_NUMBERS = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": _read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "frame": lambda X: _frame(X, columns=[f"c{k}" for k in range(X.shape[1])]),
    "frame with names": lambda X: _frame(X, index=[f"row {k}" for k in range(len(X))]),
}
# What holds other numbers, or nothing that can be clustered.
OTHER_NUMBERS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: X.astype(np.int8),
    "bool": lambda X: X.astype(bool),
    "object": lambda X: X.astype(object),
    "text": lambda X: X.astype(str),
    "complex": lambda X: X + 1j,
    "masked": lambda X: np.ma.masked_array(X, mask=X > 0),
    "structured": lambda X: np.zeros(len(X), dtype=[("a", float), ("b", int)]),
    "dates": lambda X: np.full(X.shape, np.datetime64("2020-01-01")),
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[:, :, None],
    "a number": lambda X: 1.5,
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "ragged": lambda X: [[1.0], [1.0, 2.0]],
    "dict": lambda X: {"a": 1},
    "None": lambda X: None,
    "frame with text": lambda X: _frame(X).assign(text="a"),
    "frame with a repeated index": lambda X: _frame(X, index=["same"] * len(X)),
    "csr": sp.csr_array,
    "coo": sp.coo_array,
    "dia": sp.dia_array,
}


def vectors(rng: np.random.Generator) -> tuple[str, Any, np.ndarray | None]:
    """(what it is, the data, its numbers as float64 or None where the container changes or refuses them)."""
    kind, X = numbers(rng, tame=chance(rng, 0.4))
    if chance(rng, 0.65):
        dress = one_of(rng, *SAME_NUMBERS)
        return f"{kind}, {dress}", SAME_NUMBERS[dress](X), X
    dress = one_of(rng, *OTHER_NUMBERS)
    with np.errstate(all="ignore"):
        return f"{kind}, {dress}", OTHER_NUMBERS[dress](X), None


# ---- graphs and similarities -----------------------------------------------------------------------------


def weights(rng: np.random.Generator, n: int) -> np.ndarray:
    """A symmetric matrix of non-negative weights with a zero diagonal, some of it at the ends of the range."""
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < one_of(rng, 0.1, 0.4, 1.0)), 1)
    W *= one_of(rng, 1.0, 1.0, 1.0, 1.0, 1e-7, 1e12, 1e-165, 1e150)
    return W + W.T


def _repeated_entries(W: np.ndarray) -> sp.csr_array:
    half = sp.coo_array(W / 2)
    row, column = half.coords
    twice = sp.csr_array(W.shape)
    order = np.argsort(np.concatenate([row, row]), kind="stable")
    twice.indices = np.concatenate([column, column])[order].astype(np.int32)
    twice.data = np.concatenate([half.data, half.data])[order]
    twice.indptr = np.concatenate([[0], np.cumsum(2 * np.bincount(row, minlength=len(W)))]).astype(np.int32)
    return twice


def _edges(W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    i, j = np.nonzero(np.triu(W))
    return i, j, W[i, j]


GRAPHS = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "dia": sp.dia_array,
    "bsr": sp.bsr_array,
    "csr matrix": sp.csr_matrix,
    "repeated entries": _repeated_entries,
    "edges": _edges,
}


def graphs(rng: np.random.Generator) -> tuple[str, Any, np.ndarray]:
    """(what it is, a graph in some form, its weights)."""
    W = weights(rng, int(one_of(rng, *SIZES)))
    if chance(rng, 0.2):
        W = W + np.diag(rng.random(len(W)))
    form = one_of(rng, *GRAPHS)
    return form, GRAPHS[form](W), W


def bad_graph(rng: np.random.Generator) -> Any:
    """A graph that must be refused."""
    D = np.array([[0.0, 5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 5], [1, 0, 0, 0]])
    return one_of(
        rng,
        sp.csr_array(D),
        sp.csr_array(D * 1e-7),
        sp.csr_array(np.ones((3, 4))),
        sp.csr_array(-np.ones((3, 3))),
        sp.csr_array(np.full((3, 3), np.nan)),
        sp.csr_array((0, 0)),
        sp.csr_array(np.ones((3, 3)) * 1j),
        ([0, 1], [1]),
        ([0, -1], [1, 2]),
        ([0.5, 1], [1, 2]),
        ("a", "b"),
        wrong(rng),
    )


def similarity(rng: np.random.Generator) -> tuple[ab.similarity.Similarity, np.ndarray | None]:
    """(a similarity that can be clustered, the vectors it was made of or None)."""
    n = int(one_of(rng, *SIZES[1:]))
    X = rng.standard_normal((n, 3))
    kind = one_of(rng, "graph", "knn", "cosine", "gaussian", "dense", "knn euclidean")
    if kind == "graph":
        return ab.similarity.graph(sp.csr_array(weights(rng, n))), None
    if kind == "dense":
        return ab.similarity.dense(weights(rng, n)), None
    if kind == "cosine":
        return ab.similarity.cosine(X), X
    if kind == "gaussian":
        return ab.similarity.gaussian(X, random_state=0), X
    metric = "euclidean" if kind == "knn euclidean" else "cosine"
    return ab.similarity.knn(X, min(5, n), metric, random_state=0), X


# ---- trees -----------------------------------------------------------------------------------------------


def parents(rng: np.random.Generator, n: int, *, unary: float = 0.0) -> list[int]:
    """Parent array of a random tree over n leaves, children before parents."""
    branching = int(one_of(rng, 2, 2, 3, 6))
    roots, parent = list(range(n)), [-1] * n
    while len(roots) > 1 or len(parent) == n:
        picked = [roots.pop(int(rng.integers(len(roots)))) for _ in range(min(branching, len(roots)))]
        for single in (False, True):
            if single and not chance(rng, unary):
                continue
            for member in picked:
                parent[member] = len(parent)
            picked = [len(parent)]
            parent.append(-1)
        roots.extend(picked)
    return parent


def tree(rng: np.random.Generator, n: int | None = None) -> ab.Tree:
    """A random tree; sometimes with heights, names and nodes of one child."""
    n = int(one_of(rng, *SIZES)) if n is None else n
    parent = parents(rng, n, unary=one_of(rng, 0.0, 0.0, 0.2))
    height = None
    if chance(rng, 0.4):
        height = [0.0] * len(parent)
        for node, above in enumerate(parent):
            if above >= 0:
                height[above] = max(height[above], height[node] + rng.random())
    name = [f"n{k}" for k in range(len(parent))] if chance(rng, 0.3) else None
    return ab.Tree(parent, n, height=height, name=name)
