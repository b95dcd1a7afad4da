"""Systems by name: a list of them, a description of each, and one call that runs any of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from arbora._base.params import check_choice
from arbora.baselines.classic import CLASSIC
from arbora.baselines.learned import LEARNED
from arbora.baselines.system import GIVES, TAKES, System
from arbora.errors import MissingExtraError

if TYPE_CHECKING:
    from arbora._base.types import Floats, Ints, RandomState
    from arbora.tree import Tree

SYSTEMS: dict[str, System] = {system.name: system for system in (*LEARNED, *CLASSIC)}
# data that is a tuple, which the system itself unpacks
_IN_TUPLES = ("partly labeled vectors", "tasks")
# what `arbora fit --method` offers: a tree over the data, or flat clusters of it
FIT_NAMES: tuple[str, ...] = tuple(
    name
    for name, system in SYSTEMS.items()
    if system.gives in ("tree", "labels") and not system.cannot and not set(system.takes) & set(_IN_TUPLES)
)


def names(kind: str | None = None) -> list[str]:
    """Names of the systems, those that cannot run here included.

    Parameters
    ----------
    kind : str, optional
        Only systems that take this ("vectors", "graph", "distances", "similarities", "logits",
        "partly labeled vectors", "tasks") or give this ("tree", "labels", "scores", "predictions").

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> import arbora as ab
    >>> ab.baselines.names("scores")
    ['deepwalk-links', 'vgae-links', 'adamic-adar', 'dcsbm-links']
    """
    if kind is not None:
        check_choice(kind, "kind", (*TAKES, *GIVES))
    return [name for name, system in SYSTEMS.items() if kind is None or kind in (*system.takes, system.gives)]


def describe(name: str) -> System:
    """What a system takes and gives, its paper, what runs it, and how it differs from what was published.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    system : System
        Printed, it is a short text; `reason` says why it cannot run here, None where it can.

    Examples
    --------
    >>> import arbora as ab
    >>> print(ab.baselines.describe("louvain"))
    Louvain (louvain)
    takes: graph
    gives: tree
    paper: Blondel et al. 2008, Fast unfolding of communities in large networks
    library: arbora
    deviations: none
    needs: nothing more
    """
    return SYSTEMS[check_choice(name, "name", SYSTEMS)]


def fit(
    name: str, data: Any, *, n_clusters: int | None = None, random_state: RandomState = None, **options: Any
) -> Tree | Ints | Floats:
    """Run a system.

    Parameters
    ----------
    name : str
        One of `names`.
    data : array, graph, similarity or tuple
        What the system takes: vectors as an array, a graph as a similarity, sparse matrix, networkx graph or tuple of
        edges, logits as an array; (X, y) with -1 for unknown classes for label propagation, (X, y, task) with NaN
        for unknown targets for multi-task regression.
    n_clusters : int, optional
        Systems that give a tree then give the labels of a cut into that many clusters, or as near as the tree's nodes
        allow. Systems that give labels look for that many, if they can.
    random_state : int, RandomState, Generator or None
    **options
        Parameters of the function or estimator behind the name (``describe(name).call``). Scores of links need
        `pairs`, an array of two nodes per row.

    Returns
    -------
    Tree, or ndarray
        int64 labels for systems that give labels, and where `n_clusters` is given; float64 scores and predictions.

    Raises
    ------
    MissingExtraError
        Where a package that the system needs is not installed.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.baselines.fit("ward", [[0.0], [1.0], [5.0], [7.0]]).to_newick(lengths=False)
    '((0,1),(2,3));'
    >>> ab.baselines.fit("louvain", ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]), n_clusters=2, random_state=0)
    array([0, 0, 0, 1, 1, 1])
    """
    system = describe(name)
    if system.cannot:
        raise ValueError(f"{name} cannot run: {system.cannot}")
    if system.reason is not None:
        raise MissingExtraError(system.reason)
    _check_kind(system, data)
    call = system.load()
    given = {**system.fixed, **options}
    accepted = parameters(system)
    unknown = [option for option in options if option not in accepted]
    if unknown:
        raise TypeError(f"{name} has no parameter {unknown[0]!r}. It has {', '.join(accepted)}.")
    if "random_state" in accepted:
        given["random_state"] = random_state
    if system.gives == "labels" and n_clusters is not None:
        if "n_clusters" not in accepted:
            raise ValueError(f"{name} chooses the number of clusters itself. Got n_clusters={n_clusters!r}.")
        given["n_clusters"] = n_clusters
    result = _run(system, call, data, given)
    if system.gives == "tree" and n_clusters is not None:
        # as the system's own library cuts its trees: a branch of any size is a cluster
        labels: Ints = result.cut(n_clusters=n_clusters, exact="nearest", min_size=1)
        return labels
    return result  # type: ignore[no-any-return]


def parameters(system: System) -> list[str]:
    """Parameters of the function or estimator, without the data and what is fixed."""
    call = system.load()
    found = list(inspect.signature(call).parameters)
    return [name for name in (found if inspect.isclass(call) else found[1:]) if name not in system.fixed]


def _run(system: System, call: Any, data: Any, given: dict[str, Any]) -> Any:
    if not inspect.isclass(call):
        return call(data, **given)
    estimator: Any = call
    model = estimator(**given).fit(data)
    return model.tree_ if system.gives == "tree" else model.labels_


def _check_kind(system: System, data: Any) -> None:
    """Refuse data that the system cannot take, and say what it takes."""
    if any(kind in system.takes for kind in _IN_TUPLES):
        return
    kind = _kind_of(data)
    takes = [*system.takes, *(["vectors"] if "logits" in system.takes else [])]
    if kind not in takes:
        advice = " Pass arbora.similarity.knn(X)." if kind == "vectors" and "graph" in system.takes else ""
        raise TypeError(f"{system.name} takes {' or '.join(system.takes)}. Got {kind}.{advice}")


def _kind_of(data: Any) -> str:
    import scipy.sparse as sp

    from arbora._base.arrays import is_dataset
    from arbora.similarity import Similarity
    from arbora.similarity.graph import is_network

    if is_dataset(data):
        return str(data.kind)
    if isinstance(data, Similarity):
        return "similarities" if data.csr is None else "graph"
    is_edges = isinstance(data, tuple)
    is_adjacency = sp.issparse(data) and data.shape[0] == data.shape[-1]
    return "graph" if is_edges or is_adjacency or is_network(data) else "vectors"
