"""How good predictions are in a tree of classes: per node, by how far mistakes go, and by how sure the answers are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.params import check_real, check_switch
from arbora._base.types import Floats, Ints
from arbora.logits._names import class_numbers
from arbora.logits._prediction import sure_nodes
from arbora.tree import Tree
from arbora.tree.pass_kernels import sum_to_root

if TYPE_CHECKING:
    from arbora.logits.l2h import L2H

_CONFIDENCES = 51


class NodeScores(NamedTuple):
    """Precision and recall of every node of a tree of classes, in node order.

    Attributes
    ----------
    precision : float64[n_nodes]
        Of the points predicted at or below the node, the share that belongs there (NaN where none is predicted).
    recall : float64[n_nodes]
        Of the points that belong at or below the node, the share predicted there (NaN where none belongs).
    f1 : float64[n_nodes]
        Harmonic mean of both.
    n_true, n_predicted : int64[n_nodes]
        Points that belong, and that are predicted, at or below the node.
    """

    precision: Floats
    recall: Floats
    f1: Floats
    n_true: Ints
    n_predicted: Ints


def node_scores(tree: Tree, y: ArrayLike, predicted: ArrayLike) -> NodeScores:
    """Precision, recall and F1 of every node of a tree of classes.

    Parameters
    ----------
    tree : Tree
        Over the classes.
    y : array-like, shape (n_points,)
        True class of each point: leaf numbers or names.
    predicted : array-like of int, shape (n_points,)
        Predicted node of each point: a class, or any node (`L2H.predict` with a confidence).

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree.from_newick("((cat,dog),car);")
    >>> scores = ab.logits.node_scores(tree, ["cat", "cat", "dog", "car"], [0, 1, 1, 2])
    >>> pets = tree.lca(0, 1)
    >>> float(scores.recall[0]), float(scores.recall[pets])
    (0.5, 1.0)
    """
    true, nodes = _checked(tree, y, predicted)
    meet = np.asarray(tree.lca(true, nodes))
    n_true = _summed(tree, true)
    n_predicted = _summed(tree, nodes)
    # both are at or below exactly the nodes from where they meet upwards
    hits = _summed(tree, meet)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(n_predicted > 0, hits / n_predicted, np.nan)
        recall = np.where(n_true > 0, hits / n_true, np.nan)
        f1 = np.where(n_true + n_predicted > 0, 2 * hits / (n_true + n_predicted), np.nan)
    return NodeScores(precision, recall, f1, n_true, n_predicted)


def _summed(tree: Tree, nodes: Ints) -> Ints:
    counts = np.bincount(nodes, minlength=tree.n_nodes).astype(np.int64)
    return np.asarray(sum_to_root(tree.parent, counts))


def hierarchical_f1(tree: Tree, y: ArrayLike, predicted: ArrayLike) -> float:
    """Hierarchical F1 (Kiritchenko et al. 2005): F1 over all pairs of a point and an ancestor. Higher is better.

    Every point counts with its class and all groups above it but the root. A prediction in the right group is worth
    more than one elsewhere, and an inner node is right as far as it goes.

    Parameters
    ----------
    tree, y, predicted :
        As in `node_scores`.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree.from_newick("((cat,dog),(car,bus));")
    >>> near, far = [1], [2]
    >>> ab.logits.hierarchical_f1(tree, ["cat"], near), ab.logits.hierarchical_f1(tree, ["cat"], far)
    (0.5, 0.0)
    """
    true, nodes = _checked(tree, y, predicted)
    depth = tree.depths
    shared = float(depth[np.asarray(tree.lca(true, nodes))].sum())
    everything = float(depth[true].sum() + depth[nodes].sum())
    return 2 * shared / everything if everything > 0 else 1.0


def mistake_severity(tree: Tree, y: ArrayLike, predicted: ArrayLike, *, normalize: bool = False) -> float:
    """How far mistakes go: mean height of the lowest common ancestor of prediction and truth. Lower is better.

    The measure of Bertinetto et al. (2020) over the misclassified points; the height of a node is the number of edges
    to the farthest leaf below it. A prediction that is an inner node above the truth is not a mistake. NaN without
    mistakes.

    Parameters
    ----------
    tree, y, predicted :
        As in `node_scores`; a taxonomy is the usual tree here.
    normalize : bool, default=False
        Divide by the height of the root.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree.from_newick("((cat,dog),(car,bus));")
    >>> ab.logits.mistake_severity(tree, ["cat", "cat", "bus"], [0, 1, 1])
    1.5
    """
    check_switch(normalize, "normalize")
    true, nodes = _checked(tree, y, predicted)
    meet = np.asarray(tree.lca(true, nodes))
    is_wrong = meet != nodes
    if not is_wrong.any():
        return float("nan")
    height = edges_to_leaves(tree)
    severity = float(height[meet[is_wrong]].mean())
    return severity / float(height[tree.root]) if normalize else severity


def edges_to_leaves(tree: Tree) -> Ints:
    """Number of edges from every node to the farthest leaf below it."""
    height = np.zeros(tree.n_nodes, np.int64)
    for v in range(tree.n_nodes - 1):
        height[tree.parent[v]] = max(height[tree.parent[v]], height[v] + 1)
    return height


class RiskCoverage(NamedTuple):
    """What answering with a node that is sure enough costs and gains, at falling confidence.

    Attributes
    ----------
    confidence : float64[n]
        Required probability, from 1 down.
    risk : float64[n]
        Share of points whose answer is wrong: the true class is not below the node.
    coverage : float64[n]
        How much the answers say on average: 1 for a class, 0 for the root, ``1 - log(size) / log(n_classes)`` for a
        group.
    class_share : float64[n]
        Share of points that are answered with a class.
    flat_risk, flat_coverage : float64[n]
        The same without the tree: the most probable class where it is sure enough, no answer elsewhere. Risk is the
        share of wrong answers among those given (0 if none is given).
    area : float
        Area under risk over coverage: lower is better.
    """

    confidence: Floats
    risk: Floats
    coverage: Floats
    class_share: Floats
    flat_risk: Floats
    flat_coverage: Floats
    area: float


def risk_coverage(
    model: L2H, X: Any, y: ArrayLike, *, confidences: Sequence[float] | None = None
) -> RiskCoverage:
    """Risk and coverage of ``model.predict(X, confidence=c)`` for many confidences.

    Parameters
    ----------
    model : L2H
        Fitted, best on other points.
    X : logits, as in `L2H.fit`
    y : array-like, shape (n_points,)
        True classes: column numbers or names.
    confidences : sequence of float, optional
        Each in (0, 1]; by default 51 values from 1 down to 0.02.

    Returns
    -------
    curve : RiskCoverage
        Plot ``curve.risk`` over ``curve.coverage``.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 4, 400)
    >>> near = np.array([[4, 2, 0, 0], [2, 4, 0, 1], [0, 0, 4, 2], [0, 1, 2, 4]])
    >>> logits = near[y] + 1.5 * rng.normal(size=(400, 4))
    >>> l2h = ab.L2H(random_state=0).fit(logits)
    >>> curve = ab.logits.risk_coverage(l2h, logits, y, confidences=[0.9, 0.5])
    >>> bool(curve.risk[0] < curve.risk[1] and curve.coverage[0] < curve.coverage[1])
    True
    """
    chosen = _checked_confidences(confidences)
    tree = model.tree_
    answered, top, confidence = [], [], []
    for rows in model.blocks(X):
        answered.append(sure_nodes(tree, rows, chosen.tolist()))
        scan = rows.scan()
        top.append(scan.assigned)
        confidence.append(scan.confidence)
    nodes = np.concatenate(answered, axis=1)
    true = class_numbers(y, tree, nodes.shape[1])
    is_wrong = (
        np.asarray(tree.lca(np.broadcast_to(true, nodes.shape).ravel(), nodes.ravel())) != nodes.ravel()
    )
    risk = is_wrong.reshape(nodes.shape).mean(axis=1)
    said = 1.0 - np.log(tree.sizes) / np.log(max(2, tree.n_leaves))
    coverage = said[nodes].mean(axis=1)
    flat_risk, flat_coverage = _flat(np.concatenate(top) == true, np.concatenate(confidence), chosen)
    order = np.argsort(coverage, kind="stable")
    area = float(np.trapezoid(risk[order], coverage[order]))
    class_share = (nodes < tree.n_leaves).mean(axis=1)
    return RiskCoverage(chosen, risk, coverage, class_share, flat_risk, flat_coverage, area)


def _checked_confidences(confidences: Sequence[float] | None) -> Floats:
    if confidences is None:
        return np.linspace(1.0, 0.02, _CONFIDENCES - 1).round(4)
    values = [check_real(value, "confidences", above=0, most=1) for value in confidences]
    if not values:
        raise ValueError("confidences must not be empty.")
    return np.array(sorted(values, reverse=True))


def _flat(is_hit: Any, confidence: Floats, bounds: Floats) -> tuple[Floats, Floats]:
    is_given = confidence[None, :] >= bounds[:, None]
    n_given = is_given.sum(axis=1)
    n_wrong = (is_given & ~is_hit).sum(axis=1)
    return n_wrong / np.maximum(n_given, 1), n_given / len(confidence)


def _checked(tree: Tree, y: ArrayLike, predicted: ArrayLike) -> tuple[Ints, Ints]:
    nodes = np.asarray(predicted)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
        raise TypeError(
            f"predicted must hold one node number per point. Got {nodes.dtype}, shape {nodes.shape}."
        )
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= tree.n_nodes):
        raise ValueError(
            f"predicted must lie in [0, n_nodes={tree.n_nodes}). Got {nodes.min()}..{nodes.max()}."
        )
    return class_numbers(y, tree, len(nodes)), nodes.astype(np.int64)
