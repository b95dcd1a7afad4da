"""Rows of tables that come from the registry of systems, by name: one that lands there appears in its tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from arbora._base.types import Ints
from arbora.reproduce.table import Method
from arbora.tree import Tree

# What a table says of a row of which `has_outliers` holds.
LEAST_SIZE = "Points in sparse regions join its tree late, so it is cut with a least size of clusters."


class WithOutliers(NamedTuple):
    """The tree of a system that leaves points of sparse regions out; a cut must not take them for clusters."""

    tree: Tree


def cut(result: Tree | WithOutliers, n_clusters: int) -> Ints:
    """Cluster of every point, with the number of clusters nearest to the one wanted.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.reproduce.systems import WithOutliers, cut
    >>> cut(WithOutliers(ab.Tree.from_newick("((0,1),(2,3));")), 2)
    array([0, 0, 1, 1])
    """
    if not isinstance(result, WithOutliers):
        return result.cut(n_clusters=n_clusters, exact="nearest", min_size=1)
    labels = result.tree.cut(n_clusters=n_clusters, exact="nearest", min_size="auto")
    if labels.max() == 0 and result.tree.n_leaves > 1:
        # below a wide root there is no number between 1, which is no clustering, and that of its children
        n_children = len(result.tree.children(result.tree.root))
        labels = result.tree.cut(n_clusters=n_children, exact="nearest", min_size="auto")
    return labels


def baseline(
    system: str,
    name: str,
    *,
    printed: str | None = None,
    of: Callable[[Any], Any] = lambda problem: problem,
    parameters: dict[str, Any] | None = None,
    options: Callable[[Any], dict[str, Any]] = lambda problem: {},
    has_outliers: bool = False,
    **facts: Any,
) -> Method:
    """A row of a system of `arbora.baselines`.

    Parameters
    ----------
    system : str
        Its name there.
    name, printed : str
        What the table calls it here, and in the paper.
    of : callable
        What of a problem the system takes.
    parameters : dict
        Options of the system.
    options : callable
        Further options that the problem decides.
    has_outliers : bool
        Whether its tree leaves points out, so that only a cut with a least size is a clustering.
    **facts
        Other attributes of `Method`.
    """
    run = partial(_fit_with_outliers if has_outliers else _fit, system, of, options)
    facts |= {"missing": partial(_missing, system), "deviations": partial(_deviations, system)}
    return Method(name, run, printed=printed, parameters=parameters or {}, **facts)


def _fit(
    system: str,
    of: Callable[[Any], Any],
    options: Callable[[Any], dict[str, Any]],
    problem: Any,
    seed: int,
    **parameters: Any,
) -> Any:
    from arbora import baselines

    return baselines.fit(system, of(problem), random_state=seed, **parameters, **options(problem))


def _fit_with_outliers(*arguments: Any, **parameters: Any) -> WithOutliers:
    return WithOutliers(_fit(*arguments, **parameters))


def _missing(system: str) -> str:
    """What keeps a system from running here; empty where nothing does."""
    from arbora import baselines

    if system not in baselines.names():
        return f"{system} is not in arbora.baselines"
    return baselines.describe(system).reason or ""


def _deviations(system: str) -> str:
    """How a system differs from what was published."""
    from arbora import baselines

    return baselines.describe(system).deviations if system in baselines.names() else ""
