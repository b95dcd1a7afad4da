"""What sets a node apart from its siblings and from the rest: features with effect sizes, rules, marker genes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import stats

from arbora._base.arrays import as_matrix, as_sparse, check_finite, row_names
from arbora._base.optional import require
from arbora._base.params import check_choice, check_whole
from arbora._base.types import Floats, Ints
from arbora._base.units import in_safe_units
from arbora.similarity import Similarity
from arbora.similarity.inputs import covering_similarity
from arbora.tree import Tree
from arbora.tree.same_order import check_same_order

if TYPE_CHECKING:
    import pandas

Against = Literal["siblings", "rest"]


class Feature(NamedTuple):
    """How one feature differs between a node and what it is compared with.

    `effect` is the difference of means in pooled standard deviations; `fold_change` the difference of means in units
    of a factor 2 (NaN where values may be negative); `p_value` that of Welch's t-test, adjusted for the number of
    features (Benjamini and Hochberg). `rule` is the best single threshold, with how many of the node's members it
    holds for and how many others.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.linkage([[0.0], [0.1], [5.0], [5.1]])
    >>> feature = ab.explain(tree, [[0.0], [0.1], [5.0], [5.1]], ["width"], n_clusters=2)[0].features[0]
    >>> feature.name, feature.mean_inside, feature.mean_outside, feature.rule
    ('width', 0.05, 5.05, 'width < 2.55: 2 of 2, and 0 of 2 others')
    """

    name: str
    effect: float
    mean_inside: float
    mean_outside: float
    fold_change: float
    p_value: float
    rule: str


@dataclass(frozen=True)
class Explanation:
    """What sets a node apart, most telling feature first.

    Attributes
    ----------
    node : int
    n_inside, n_outside : int
        Members of the node, and of what it is compared with.
    against : {"siblings", "rest"}
    features : list of Feature

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[0.0, 1.0], [0.1, 3.0], [5.0, 2.0], [5.1, 2.0]]
    >>> explanation = ab.explain(ab.linkage(X), X, ["width", "height"], n_clusters=2)[0]
    >>> explanation.n_inside, explanation.against, [feature.name for feature in explanation.features]
    (2, 'siblings', ['width'])
    """

    node: int
    n_inside: int
    n_outside: int
    against: Against
    features: list[Feature]

    def to_frame(self) -> pandas.DataFrame:
        """A pandas frame with one row per feature."""
        frame = require("pandas", "Explanation.to_frame").DataFrame
        return frame(self.features, columns=list(Feature._fields))

    def __str__(self) -> str:
        lines = [f"node {self.node}: {self.n_inside:,} members against {self.n_outside:,} ({self.against})"]
        lines += [f"  {f.name}: {f.effect:+.2f} sd, {_printed(f.p_value)}; {f.rule}" for f in self.features]
        return "\n".join(lines)


def _printed(p_value: float) -> str:
    """A p-value too small for a float is not zero, and is not printed as if it were."""
    return f"p {p_value:.2g}" if p_value > 0 else "p < 1e-300"


def explain(
    tree: Tree,
    X: Any,
    feature_names: Sequence[str] | None = None,
    *,
    node: int | str | None = None,
    n_clusters: int | None = None,
    against: Against = "siblings",
    n_features: int = 5,
) -> list[Explanation]:
    """What sets nodes of a tree apart, by the columns of its data.

    Parameters
    ----------
    tree : Tree
    X : array-like, frame or sparse matrix, shape (n_leaves, n_features)
        One row per leaf: the vectors that were clustered, or other facts about the same points, such as the genes
        behind principal components.
    feature_names : sequence of str, optional
        By default the columns of a frame, or their numbers.
    node : int or str, optional
        One node, by number or name.
    n_clusters : int, optional
        The clusters of this cut. Without either, the children of the root.
    against : {"siblings", "rest"}
        What a node is compared with.
    n_features : int
        Features per node.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> tree = ab.cluster(iris.data, random_state=0)
    >>> first = ab.explain(tree, iris.data, iris.feature_names, n_clusters=2, n_features=1)[0]
    >>> first.features[0].rule
    'petal length (cm) < 2.45: 50 of 50, and 0 of 100 others'
    """
    check_choice(against, "against", ("siblings", "rest"))
    values, names = _columns(X, feature_names, tree.n_leaves)
    check_same_order(tree, row_names(X), "X")
    chosen = _chosen_nodes(tree, node, n_clusters)
    found = []
    for one in chosen:
        inside, outside = _sides(tree, one, against)
        if len(outside) == 0:
            raise ValueError(f"Node {one} is the whole tree: there is nothing to set it apart from.")
        features = _tell_apart(values, names, inside, outside, check_whole(n_features, "n_features"))
        found.append(Explanation(one, len(inside), len(outside), against, features))
    return found


class GraphReason(NamedTuple):
    """What a node of a tree over a graph is: its most central members and how dense it is inside and outside."""

    node: int
    n_members: int
    central: Ints
    density_inside: float
    density_outside: float


def explain_graph(
    tree: Tree,
    similarity: Similarity,
    *,
    node: int | str | None = None,
    n_clusters: int | None = None,
    n_central: int = 5,
) -> list[GraphReason]:
    """The central members of nodes, and the mean similarity inside them and to all other points.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity
        What the tree was built on.
    node : int or str, optional
        One node, by number or name.
    n_clusters : int, optional
        The clusters of this cut. Without either, the children of the root.
    n_central : int
        Members per node: those most alike to the others.

    Examples
    --------
    >>> import arbora as ab
    >>> graph = ab.similarity.graph(([0, 0, 0, 4], [1, 2, 3, 5]))
    >>> tree = ab.cluster(graph, random_state=0)
    >>> ab.insight.explain_graph(tree, graph, n_clusters=2, n_central=1)[0].central
    array([0])
    """
    similarity = covering_similarity(similarity, tree)
    most = check_whole(n_central, "n_central")
    found, n = [], tree.n_leaves
    for one in _chosen_nodes(tree, node, n_clusters):
        members = np.sort(tree.leaves(one))
        size, member = len(members), np.zeros(n)
        member[members] = 1.0
        toward = similarity.multiply(member[:, None])[:, 0]
        inside = float(toward @ member) / max(size * (size - 1), 1)
        outside = float(toward @ (1 - member)) / max(size * (n - size), 1)
        central = members[np.argsort(-toward[members], kind="stable")[:most]]
        found.append(GraphReason(one, size, central, inside, outside))
    return found


def _columns(X: Any, feature_names: Sequence[str] | None, n_leaves: int) -> tuple[Any, list[str]]:
    if sp.issparse(X):
        values, given = sp.csc_array(as_sparse(X, argument="X"), dtype=np.float64), None
    else:
        matrix = as_matrix(X, argument="X")
        values, given = np.asarray(matrix.values, dtype=np.float64), matrix.column_names
        check_finite(values, "X")
    if values.shape[0] != n_leaves:
        raise ValueError(f"X must have one row per leaf, {n_leaves}. Got {values.shape[0]}.")
    names = [
        str(name)
        for name in (feature_names if feature_names is not None else given or range(values.shape[1]))
    ]
    if len(names) != values.shape[1]:
        raise ValueError(
            f"feature_names must name the {values.shape[1]} columns of X. Got {len(names)} names."
        )
    return values, names


def _chosen_nodes(tree: Tree, node: int | str | None, n_clusters: int | None) -> list[int]:
    if node is not None and n_clusters is not None:
        raise ValueError("Pass node or n_clusters, not both.")
    if node is not None:
        return [tree.find(node) if isinstance(node, str) else tree.checked_node(node)]
    if n_clusters is not None:
        return [int(v) for v in tree.cut_nodes(n_clusters)]
    return [int(child) for child in tree.children(tree.root)]


def _sides(tree: Tree, node: int, against: Against) -> tuple[Ints, Ints]:
    inside = tree.leaves(node)
    above = int(tree.parent[node])
    around = tree.leaf_order if against == "rest" or above < 0 else tree.leaves(above)
    return inside, np.setdiff1d(around, inside)


def _tell_apart(values: Any, names: list[str], inside: Ints, outside: Ints, most: int) -> list[Feature]:
    # without units, effects and p-values are the same in any
    unit = _units(values)
    mean_in, var_in = _moments(values, inside, unit)
    mean_out, var_out = _moments(values, outside, unit)
    effect = effect_sizes(mean_in - mean_out, var_in, var_out, len(inside), len(outside))
    p_value = _adjusted_p_values(mean_in, var_in, len(inside), mean_out, var_out, len(outside))
    order = np.argsort(-np.abs(effect), kind="stable")[:most]
    return [
        Feature(
            names[k],
            float(effect[k]),
            float(mean_in[k] * unit[k]),
            float(mean_out[k] * unit[k]),
            _fold_change(float(mean_in[k]), float(mean_out[k])),
            float(p_value[k]),
            _rule(names[k], _column(values, inside, k), _column(values, outside, k)),
        )
        for k in order.tolist()
        if effect[k] != 0
    ]


def _units(values: Any) -> Floats:
    """Per column, what to divide by so that variances are numbers."""
    largest = abs(values).max(axis=0).toarray() if sp.issparse(values) else np.abs(values).max(axis=0)
    return in_safe_units(np.reshape(largest, (1, -1)))[1]


def _moments(values: Any, rows: Ints, unit: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each column, in its unit, over the given rows."""
    part = values.tocsr()[rows] if sp.issparse(values) else values[rows]
    if (unit != 1).any():
        part = part @ sp.diags_array(1 / unit) if sp.issparse(values) else part / unit
    mean = np.asarray(part.mean(axis=0)).ravel()
    if sp.issparse(values):
        squares = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        return mean, np.maximum(squares - mean**2, 0.0)
    return mean, part.var(axis=0)


def effect_sizes(difference: Floats, var_in: Floats, var_out: Floats, n_in: int, n_out: int) -> Floats:
    """Difference of means in pooled standard deviations (Cohen's d); columns that do not vary have none."""
    pooled = np.sqrt((n_in * var_in + n_out * var_out) / max(n_in + n_out, 1))
    # a feature that separates perfectly has no deviation left: the largest effect there is
    scale = np.where(pooled > 0, pooled, np.abs(difference) / 1e6)
    return np.divide(difference, scale, out=np.zeros(len(difference)), where=scale > 0)


def _adjusted_p_values(
    mean_in: Floats, var_in: Floats, n_in: int, mean_out: Floats, var_out: Floats, n_out: int
) -> Floats:
    if n_in < 2 or n_out < 2:
        return np.full(len(mean_in), np.nan)
    unbiased_in, unbiased_out = var_in * n_in / (n_in - 1), var_out * n_out / (n_out - 1)
    error = unbiased_in / n_in + unbiased_out / n_out
    t = np.divide(mean_in - mean_out, np.sqrt(error), out=np.zeros(len(error)), where=error > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = error**2 / (
            (unbiased_in / n_in) ** 2 / (n_in - 1) + (unbiased_out / n_out) ** 2 / (n_out - 1)
        )
    p = 2 * stats.t.sf(np.abs(t), np.where(np.isfinite(freedom), freedom, 1.0))
    p = np.where((error == 0) & (mean_in != mean_out), 0.0, p)
    return np.asarray(stats.false_discovery_control(np.clip(p, 0.0, 1.0)))


def _fold_change(inside: float, outside: float) -> float:
    if inside < 0 or outside < 0 or (inside == 0 and outside == 0):
        return float("nan")
    larger = max(inside, outside)
    return float(np.log2((inside / larger + 1e-9) / (outside / larger + 1e-9)))


def _column(values: Any, rows: Ints, column: int) -> Floats:
    if sp.issparse(values):
        return np.asarray(values[:, [column]].toarray()).ravel()[rows]
    return np.asarray(values[rows, column])


def _rule(name: str, inside: Floats, outside: Floats) -> str:
    """The threshold that best separates inside from outside (largest difference of the shares below it)."""
    cuts = np.unique(np.concatenate([inside, outside]))
    middles = cuts[:-1] / 2 + cuts[1:] / 2
    if len(middles) == 0:
        return f"{name} is the same everywhere"
    below_in = np.searchsorted(np.sort(inside), middles) / len(inside)
    below_out = np.searchsorted(np.sort(outside), middles) / len(outside)
    best = int(np.argmax(np.abs(below_in - below_out)))
    sign = "<" if below_in[best] > below_out[best] else ">"
    holds_in, holds_out = (
        int((side < middles[best]).sum() if sign == "<" else (side > middles[best]).sum())
        for side in (inside, outside)
    )
    threshold = f"{middles[best]:.4g}"
    return f"{name} {sign} {threshold}: {holds_in} of {len(inside)}, and {holds_out} of {len(outside)} others"
