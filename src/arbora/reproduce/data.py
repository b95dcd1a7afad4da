"""The data of the tables: published sets below ``ARBORA_DATA``, what ships with scikit-learn, synthetic graphs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.similarity.graph import GraphSimilarity, graph


class Vectors(NamedTuple):
    """Points and their classes."""

    X: NDArray[Any]
    y: NDArray[Any]


def folder() -> Path | None:
    """The folder of published data sets; None where ``ARBORA_DATA`` does not name one."""
    named = os.environ.get("ARBORA_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def missing(files: tuple[str, ...]) -> str:
    """What has to be done before these files can be read; empty where nothing has."""
    here = folder()
    for name in files:
        if here is None or not (here / name).exists():
            return f"needs {name}: set ARBORA_DATA to the folder of published data sets"
    return ""


def path(name: str) -> Path:
    """A file of the published data sets."""
    problem = missing((name,))
    if problem:
        raise FileNotFoundError(problem)
    return (folder() or Path()) / name


def arrays(name: str) -> dict[str, NDArray[Any]]:
    """Arrays of a file, as in ``arrays("vectors/zoo.npz")``."""
    with np.load(path(name), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def vectors(name: str) -> Vectors:
    """Points and classes of a published set; iris, digits, wine and breast cancer come with scikit-learn."""
    if name in _BUNDLED:
        return bundled(name)
    found = arrays(f"vectors/{name}.npz")
    return Vectors(found["X"].astype(np.float64), found["y"].astype(np.int64))


_BUNDLED = ("digits", "wine", "breast-cancer", "iris")


def bundled(name: str) -> Vectors:
    """A set that ships with scikit-learn.

    Examples
    --------
    >>> from arbora.reproduce.data import bundled
    >>> bundled("wine").X.shape
    (178, 13)
    """
    from sklearn import datasets

    load = getattr(datasets, f"load_{name.replace('-', '_')}")
    X, y = load(return_X_y=True)
    return Vectors(X.astype(np.float64), y)


def standardized(X: NDArray[Any]) -> NDArray[np.float64]:
    """HypHC's recipe: z-scored columns (constant ones dropped), rows of length 1."""
    X = X[:, X.std(axis=0) > 0].astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rows: NDArray[np.float64] = X / np.linalg.norm(X, axis=1, keepdims=True)
    return rows


def centered_rows(X: NDArray[Any]) -> NDArray[np.float64]:
    """The rows as gHHC sees them: centered columns, one length."""
    X = np.asarray(X, np.float64) - np.mean(X, axis=0, dtype=np.float64)
    rows: NDArray[np.float64] = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return rows


def draw(data: Vectors, n_rows: int, seed: int) -> Vectors:
    """Some rows of a set, drawn without repetition."""
    rows = np.random.default_rng(seed).choice(len(data.y), n_rows, replace=False)
    return Vectors(data.X[rows], data.y[rows])


def network(name: str) -> GraphSimilarity:
    """A graph of the FPH paper with its weights; a self-loop is one edge of half its diagonal entry."""
    found = arrays(f"graphs/{name}.npz")
    rows, cols = found["rows"], found["cols"]
    weights = found["weights"].astype(np.float64) if "weights" in found else np.ones(len(rows))
    if "selfloops" in found:
        rows, cols = (np.concatenate([ends, found["selfloops"]]) for ends in (rows, cols))
        weights = np.concatenate([weights, found["selfloop_weights"] / 2])
    return graph((rows, cols, weights), n_points=int(found["n"]))


def bag_of_words(name: str) -> sp.csr_array:
    """Counts of words (as column numbers) in the documents of a graph."""
    found = arrays(f"graphs/{name}_attrs.npz")
    return sp.csr_array((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))


def planted_graph(n_nodes: int, n_edges: int, seed: int = 0, n_blocks: int = 4096) -> GraphSimilarity:
    """A sparse graph with two levels of communities and uneven degrees, built in a few passes.

    Half of the edges join nodes of one block, a third nodes of 64 neighboring blocks, the rest any two.

    Examples
    --------
    >>> from arbora.reproduce.data import planted_graph
    >>> planted_graph(1000, 5000, n_blocks=64).n_points
    1000
    """
    rng = np.random.default_rng(seed)
    start = np.linspace(0, n_nodes, n_blocks + 1).astype(np.int64)
    codes = []
    for share, width in ((0.5, 1), (0.33, min(64, n_blocks)), (0.17, n_blocks)):
        count = int(1.02 * n_edges * share)
        group = rng.integers(0, n_blocks // width, count) * width
        low, high = start[group], start[group + width]
        ends = [low + ((high - low) * rng.random(count) ** 1.3).astype(np.int64) for _ in range(2)]
        keep = ends[0] != ends[1]
        codes.append(np.minimum(*ends)[keep] * n_nodes + np.maximum(*ends)[keep])
    found = np.unique(np.concatenate(codes))
    found = np.sort(rng.permutation(found)[:n_edges])
    low, high = (found // n_nodes).astype(np.int32), (found % n_nodes).astype(np.int32)
    upper = sp.csr_array((np.ones(len(low), dtype=np.float32), (low, high)), shape=(n_nodes, n_nodes))
    return GraphSimilarity(sp.csr_array(upper + upper.T))
