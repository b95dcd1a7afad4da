"""A table of a paper as data: data sets, methods, metrics, and what is known about each before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["bound", "baseline", "as published", "with tree search", "experiment"]


@dataclass(frozen=True)
class Metric:
    """A figure of a table: which way is better, and to how many digits the paper prints it.

    A figure is printed to `decimals`, or where `significant` is not 0 to that many significant digits.

    Examples
    --------
    >>> from arbora.reproduce import Metric
    >>> cost = Metric("dasgupta", "Dasgupta's cost", "lower", decimals=2)
    >>> cost.shown_decimals(83.7), cost.shown_decimals(36_463)
    (2, 0)
    """

    key: str
    title: str
    better: Literal["lower", "higher", "neither"]
    decimals: int = 3
    significant: int = 0

    def shown_decimals(self, value: float) -> int:
        """Decimals of a figure; none where it has five digits before the point, as in the papers."""
        return 0 if abs(value) >= 10_000 else self.decimals


@dataclass(frozen=True)
class Data:
    """A data set of a table.

    Attributes
    ----------
    name : str
        As the paper's figures call it.
    files : tuple of str
        What it is read from, below ``ARBORA_DATA``; empty where it comes with scikit-learn or is drawn.
    absent : str
        Why it cannot be run here; empty where it can.
    incomparable : str
        Why its figures cannot be compared with the paper's; empty where they can.
    seconds : float
        Rough CPU seconds of a cell, by which cells are ordered and the time left is estimated.

    Examples
    --------
    >>> from arbora.reproduce import Data
    >>> Data("zoo", files=("vectors/zoo.npz",)).absent
    ''
    """

    name: str
    files: tuple[str, ...] = ()
    absent: str = ""
    incomparable: str = ""
    seconds: float = 2.0


class Found(NamedTuple):
    """What a cell found: a value per metric, and facts that pictures and listings are made from.

    Examples
    --------
    >>> from arbora.reproduce import Found
    >>> Found(values={"purity": 0.9}, facts={"n_leaves": 150}).values["purity"]
    0.9
    """

    values: dict[str, float]
    facts: dict[str, Any]


def _nothing() -> str:
    return ""


@dataclass(frozen=True)
class Method:
    """A row of a table.

    Attributes
    ----------
    name : str
    run : callable
        ``run(problem, seed, **parameters)``; what it returns is judged by the table's `score`.
    kind : str
    printed : str or None
        What the paper's table calls it; None where it has no such row.
    parameters, quick : dict
        Keyword arguments of `run`, and those that ``--quick`` puts in their place.
    is_random : bool
        Whether it depends on the seed; if not, and the data does not either, it runs once.
    incomparable : str
        Why its figures cannot be compared with the paper's; empty where they can.
    skips : dict of str to str
        Data sets on which it cannot run here, each with the reason.
    slower : float
        How many times longer it takes than most.
    seconds : dict of str to float
        Rough CPU seconds on data sets where `slower` is far off.
    missing : callable
        What has to be installed before it can run; empty where nothing has.
    deviations : callable
        How a system of the registry differs from the published one, kept with its results.
    note : str
        What differs from the published method, or how its settings were chosen.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.reproduce import Method
    >>> method = Method(
    ...     "linkage", lambda X, seed, kind: ab.linkage(X, kind), parameters={"kind": "ward"}, is_random=False
    ... )
    >>> method.run([[0.0], [1.0], [5.0]], 0, **method.parameters_for(quick=False))
    Tree(n_leaves=3, n_internal=2, binary)
    """

    name: str
    run: Callable[..., Any]
    kind: Kind = "baseline"
    printed: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    is_random: bool = True
    incomparable: str = ""
    skips: Mapping[str, str] = field(default_factory=dict)
    slower: float = 1.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    missing: Callable[[], str] = _nothing
    deviations: Callable[[], str] = _nothing
    note: str = ""

    def seconds_on(self, data: Data) -> float:
        """Rough CPU seconds of a run."""
        return self.seconds.get(data.name, data.seconds * self.slower)

    def parameters_for(self, quick: bool) -> dict[str, Any]:
        """Keyword arguments of `run`."""
        return {**self.parameters, **(self.quick if quick else {})}


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, name, title : str
    data : tuple of Data
    metrics : tuple of Metric
    methods : tuple of Method
    load : callable
        ``load(dataset, seed, quick)``: the problem that every method gets.
    score : callable
        ``score(problem, result)``: a dict of values, or `Found`.
    n_seeds : int
    draws : bool
        Whether the data itself depends on the seed (a draw, a split), so that every method runs once per seed.
    note : str
        What a reader has to know: conventions, and how settings were chosen.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.reproduce import Data, Method, Metric, Table
    >>> table = Table(
    ...     "mine", "1", "A table of one's own", (Data("line"),), (Metric("depth", "Depth", "lower"),),
    ...     (Method("ward", lambda X, seed: ab.linkage(X, "ward"), is_random=False),),
    ...     load=lambda dataset, seed, quick: [[0.0], [1.0], [5.0]],
    ...     score=lambda X, tree: {"depth": float(tree.depths.max())},
    ... )
    >>> problem, ward = table.load("line", 0, False), table.method("ward")
    >>> table.key, table.score(problem, ward.run(problem, 0)), len(table.seeds(ward, quick=False))
    ('mine/1', {'depth': 2.0}, 1)
    """

    paper: str
    name: str
    title: str
    data: tuple[Data, ...]
    metrics: tuple[Metric, ...]
    methods: tuple[Method, ...]
    load: Callable[[str, int, bool], Any]
    score: Callable[[Any, Any], Any]
    n_seeds: int = 3
    draws: bool = False
    note: str = ""

    @property
    def key(self) -> str:
        """Paper and table, as the pages and the command name them."""
        return f"{self.paper}/{self.name}"

    def shows(self, values: Mapping[str, float]) -> bool:
        """Whether it prints any of these values."""
        return any(metric.key in values for metric in self.metrics)

    def method(self, name: str) -> Method:
        """The method of that name."""
        return next(method for method in self.methods if method.name == name)

    def dataset(self, name: str) -> Data:
        """The data set of that name."""
        return next(data for data in self.data if data.name == name)

    def seeds(self, method: Method, quick: bool, n_seeds: int | None = None) -> range:
        """Seeds that a method runs with."""
        wanted = n_seeds if n_seeds is not None else min(2, self.n_seeds) if quick else self.n_seeds
        return range(wanted if method.is_random or self.draws else 1)
