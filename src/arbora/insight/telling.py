"""The few features that tell most about the largest splits of a tree: what to color it by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_matrix
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.insight.reasons import effect_sizes
from arbora.tree import Tree

# Rows that are summed at a time, so that a large matrix is never copied.
_ROWS = 4096
# Children of one node that are compared with their siblings.
_MOST_CHILDREN = 8


def telling_features(
    tree: Tree,
    X: Any,
    feature_names: Sequence[str] | None = None,
    *,
    n_features: int = 12,
    n_splits: int = 8,
) -> list[str]:
    """The features that tell most about the largest splits: the marker genes to color a tree of cells by.

    The largest splits are those whose second largest side has the most leaves, so that a few outliers split off at
    the top do not count. Each gives its most telling feature (the largest difference of means in standard
    deviations), then each its second, and so on. `arbora.explain` says more about a single node.

    Parameters
    ----------
    tree : Tree
    X : array-like, frame or sparse matrix, shape (n_leaves, n_features)
        One row per leaf, such as the expression of all genes. It is read in pieces and never copied as a whole.
    feature_names : sequence of str, optional
        By default the columns of a frame, or their numbers.
    n_features : int
        Features at most.
    n_splits : int
        Splits at most.

    Returns
    -------
    list of str
        Names, the most telling of the largest split first.

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[0.0, 1.0, 7.0], [0.1, 3.0, 7.0], [5.0, 2.0, 7.0], [5.1, 2.5, 7.0]]
    >>> ab.insight.telling_features(ab.linkage(X), X, ["CD3D", "LYZ", "ACTB"], n_features=1)
    ['CD3D']
    """
    most = check_whole(n_features, "n_features")
    rows, given = _rows(X)
    if rows.shape[0] != tree.n_leaves:
        raise ValueError(f"X must have one row per leaf, {tree.n_leaves}. Got {rows.shape[0]}.")
    given = feature_names if feature_names is not None else given
    names = [str(name) for name in (range(rows.shape[1]) if given is None else given)]
    if len(names) != rows.shape[1]:
        raise ValueError(f"feature_names must name the {rows.shape[1]} columns of X. Got {len(names)} names.")
    sides = _sides(tree, check_whole(n_splits, "n_splits"))
    if not sides:
        return []
    effects = _effects(tree, rows, sides)
    best = np.argsort(-effects, axis=1, kind="stable")[:, : most * len(sides)]
    chosen: dict[int, None] = {}
    for column in best.T:
        for effect, feature in zip(effects, column.tolist(), strict=True):
            if effect[feature] > 0:
                chosen.setdefault(feature)
    return [names[feature] for feature in list(chosen)[:most]]


def _rows(X: Any) -> tuple[Any, Sequence[str] | None]:
    """The matrix as it is, and the names of its columns where it has some."""
    if sp.issparse(X):
        return X.tocsr(), None
    matrix = as_matrix(X, argument="X")
    return np.asarray(matrix.values), matrix.column_names


def _sides(tree: Tree, n_splits: int) -> list[tuple[int, int]]:
    """Nodes with their parent at the largest splits; of two siblings one is enough."""
    found: list[tuple[int, int, int]] = []
    for node in range(tree.n_leaves, tree.n_nodes):
        children = tree.children(node)
        if len(children) >= 2:
            size = np.sort(tree.sizes[children])
            found.append((-int(size[-2]), -int(tree.sizes[node]), node))
    sides = []
    for *_, node in sorted(found)[:n_splits]:
        children = tree.children(node)
        largest = children[np.argsort(-tree.sizes[children], kind="stable")]
        kept = largest[:1] if len(children) == 2 else largest[:_MOST_CHILDREN]
        sides += [(int(child), node) for child in kept]
    return sides


def _effects(tree: Tree, rows: Any, sides: list[tuple[int, int]]) -> Floats:
    """How far each side's mean lies from that of its siblings, in pooled deviations: (n_sides, n_features)."""
    nodes = np.unique(np.array(sides))
    total, squares = _sums(rows, [tree.leaves(int(node)) for node in nodes])
    place = {int(node): k for k, node in enumerate(nodes)}
    found = np.zeros((len(sides), rows.shape[1]))
    for k, (child, parent) in enumerate(sides):
        inside, around = place[child], place[parent]
        n_in = int(tree.sizes[child])
        n_out = int(tree.sizes[parent]) - n_in
        mean_in, var_in = _moments(total[inside], squares[inside], n_in)
        mean_out, var_out = _moments(total[around] - total[inside], squares[around] - squares[inside], n_out)
        found[k] = np.abs(effect_sizes(mean_in - mean_out, var_in, var_out, n_in, n_out))
    return np.nan_to_num(found, nan=0.0)


def _sums(rows: Any, groups: list[Ints]) -> tuple[Floats, Floats]:
    """Sums of every column and of its squares over each group of rows."""
    n, width = rows.shape
    member = sp.csr_array(
        (
            np.ones(sum(map(len, groups))),
            np.concatenate(groups),
            np.concatenate([[0], np.cumsum([len(group) for group in groups])]),
        ),
        shape=(len(groups), n),
    ).tocsc()
    total, squares = np.zeros((len(groups), width)), np.zeros((len(groups), width))
    for start in range(0, n, _ROWS):
        block = rows[start : start + _ROWS].astype(np.float64)
        of_block = member[:, start : start + _ROWS]
        total += _dense(of_block @ block)
        squares += _dense(of_block @ (block.multiply(block) if sp.issparse(block) else block**2))
    return total, squares


def _dense(product: Any) -> Floats:
    return np.asarray(product.toarray() if sp.issparse(product) else product)


def _moments(total: Floats, squares: Floats, n: int) -> tuple[Floats, Floats]:
    mean = total / n
    return mean, np.maximum(squares / n - mean**2, 0.0)
