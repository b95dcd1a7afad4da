"""Curves beside a tree: how a cost fell, and how good the cuts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora._base.params import check_whole
from arbora.tree import Tree
from arbora.view import palette
from arbora.view.columns import read_column
from arbora.view.layout import Layout
from arbora.view.picture import STYLE, pyplot
from arbora.view.scores import cut_parts, describe_cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_cost_history(
    history: Any, *, ax: Axes | None = None, label: str = "cost", best: bool = True
) -> Axes:
    """The cost of a tree (or a training loss) step by step.

    Parameters
    ----------
    history : sequence of float, mapping of name to sequence, or fitted estimator
        Of an estimator, or a training curve with the fields ``step, loss, cost`` (its ``history_``), the cost of
        the decoded tree, or the loss where no tree was decoded. Steps without a value are NaN.
    ax : matplotlib axes, optional
    label : str
        Label of the vertical axis.
    best : bool
        Mark the lowest value of each curve.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from arbora import view
    >>> ax = view.plot_cost_history({"refine": [5.0, 4.2, 4.0, 4.0]})
    >>> len(ax.lines)
    2
    """
    curves = _read_curves(history)
    with pyplot().rc_context(STYLE):
        ax = _new_axes() if ax is None else ax
        for k, (name, (steps, values)) in enumerate(curves.items()):
            color = palette.LIGHT[k % len(palette.LIGHT)]
            ax.plot(steps, values, color=color, linewidth=1.2, label=name)
            if best and np.isfinite(values).any():
                at = int(np.nanargmin(values))
                ax.plot([steps[at]], [values[at]], marker="o", markersize=3.5, color=color, linestyle="none")
        ax.set(xlabel="step", ylabel=label)
        ax.spines[["top", "right"]].set_visible(False)
        if len(curves) > 1:
            ax.legend()
    return ax


def _read_curves(history: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and values of each curve."""
    history = getattr(history, "history_", history)
    if getattr(getattr(history, "dtype", None), "names", None) is not None:
        # estimators that decode no tree while they train have only a loss
        field = "cost" if np.isfinite(history["cost"]).any() else "loss"
        return {field: (history["step"], history[field])} if len(history) else _checked({"cost": np.zeros(0)})
    if isinstance(history, Mapping):
        curves = {str(name): np.asarray(values, dtype=np.float64) for name, values in history.items()}
    elif isinstance(history, Sequence) and len(history) and isinstance(history[0], Mapping):
        # one record per step
        names = list(history[0])
        curves = {
            str(name): np.array([step.get(name, np.nan) for step in history], dtype=np.float64)
            for name in names
        }
    else:
        curves = {"cost": np.asarray(history, dtype=np.float64)}
    return _checked(curves)


def _checked(curves: dict[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Curves over the steps 1, 2, ..."""
    for name, values in curves.items():
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(
                f"history must hold non-empty one-dimensional curves. {name!r} has shape {values.shape}."
            )
    return {name: (np.arange(1, len(values) + 1), values) for name, values in curves.items()}


def _new_axes() -> Axes:
    axes: Axes = pyplot().figure(figsize=(4.2, 2.8), layout="constrained").add_subplot()
    return axes


def plot_levels(tree: Tree, y: Any = None, *, max_clusters: int = 50, ax: Axes | None = None) -> Axes:
    """How the cuts of a tree compare, from 2 clusters to `max_clusters`.

    Parameters
    ----------
    tree : Tree
    y : array-like of shape (n_leaves,), optional
        Classes: draws purity, NMI and ARI of every cut. Without them, the height lost at every split (a cut
        before a large step separates well), or the share of the largest cluster where there are no heights.
    max_clusters : int
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from arbora import Tree, view
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> ax = view.plot_levels(tree, ["x", "x", "y", "y"])
    >>> [line.get_label() for line in ax.lines]
    ['purity', 'NMI', 'ARI']
    """
    max_clusters = check_whole(max_clusters, "max_clusters", least=2)
    layout = Layout(tree)
    counts = np.unique(layout.clusters_after)
    counts = counts[(counts >= 2) & (counts <= max_clusters)]
    curves, label = _level_curves(tree, layout, counts, y)
    with pyplot().rc_context(STYLE):
        ax = _new_axes() if ax is None else ax
        for k, (name, values) in enumerate(curves.items()):
            ax.plot(
                counts, values, color=palette.LIGHT[k], linewidth=1.2, marker="o", markersize=2, label=name
            )
        ax.set(xlabel="clusters", ylabel=label)
        ax.spines[["top", "right"]].set_visible(False)
        if len(curves) > 1:
            ax.legend()
    return ax


def _level_curves(
    tree: Tree, layout: Layout, counts: np.ndarray, y: Any
) -> tuple[dict[str, list[float]], str]:
    if y is not None:
        column = read_column(tree, "y", y, as_classes=True)
        found = [describe_cut(layout, cut_parts(layout, int(k)).labels, column) for k in counts]
        keys = (("purity", "purity"), ("NMI", "nmi"), ("ARI", "ari"))
        return {name: [one[key] for one in found] for name, key in keys}, "score"
    if tree.height is None:
        largest = [np.bincount(cut_parts(layout, int(k)).labels).max() / tree.n_leaves for k in counts]
        return {"largest cluster": largest}, "share of the largest cluster"
    height = np.append(layout.parting.height[:-1], layout.effective_height.min())
    split = np.searchsorted(layout.clusters_after, counts)
    # a small branch that joins high may part late
    lost = np.maximum(np.minimum.accumulate(height)[split] - height[split + 1], 0)
    return {"height": list(lost)}, "height lost at the split"
