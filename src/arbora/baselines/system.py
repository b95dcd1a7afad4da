"""What is known about a system: what it takes and gives, who published it, where it runs, how it differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

Takes: TypeAlias = Literal[
    "vectors", "graph", "distances", "similarities", "logits", "partly labeled vectors", "tasks"
]
Gives: TypeAlias = Literal["tree", "labels", "scores", "predictions"]

TAKES: tuple[Takes, ...] = (
    "vectors",
    "graph",
    "distances",
    "similarities",
    "logits",
    "partly labeled vectors",
    "tasks",
)
GIVES: tuple[Gives, ...] = ("tree", "labels", "scores", "predictions")


@dataclass(frozen=True)
class System:
    """A system of the registry.

    Attributes
    ----------
    name : str
        As `fit` and ``arbora fit --method`` take it.
    title : str
        As the papers' tables print it.
    takes : tuple of str
        Kinds of data.
    gives : {"tree", "labels", "scores", "predictions"}
        What `fit` returns.
    paper : str
        Where it was published.
    call : str
        Function or estimator, as ``module:name``.
    fixed : dict
        Parameters that make this system of the function.
    library : str
        What does the work.
    deviations : str
        How it differs from the published system; empty where it does not.
    needs : tuple of str
        Packages that are not dependencies of arbora.
    extra : str or None
        The extra of arbora that installs them; None if there is none, so that they have to be installed by name.
    metrics : tuple of str
        Ways to compare vectors, the default first; empty where there is no choice.
    cannot : str
        Why it does not run anywhere yet; empty where it does.

    Examples
    --------
    >>> from arbora import baselines
    >>> ward = baselines.describe("ward")
    >>> ward.title, ward.takes, ward.gives, ward.reason
    ('Ward linkage', ('vectors', 'distances', 'similarities'), 'tree', None)
    """

    name: str
    title: str
    takes: tuple[Takes, ...]
    gives: Gives
    paper: str
    call: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    library: str = "arbora"
    deviations: str = ""
    needs: tuple[str, ...] = ()
    extra: str | None = None
    metrics: tuple[str, ...] = ()
    cannot: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages that it needs and that are not installed."""
        return tuple(package for package in self.needs if find_spec(package) is None)

    @property
    def reason(self) -> str | None:
        """Why it cannot run here; None where it can."""
        if self.cannot:
            return self.cannot
        if not self.missing:
            return None
        wanted = f"'arbora[{self.extra}]'" if self.extra else " ".join(self.missing)
        return f"{self.title} needs {', '.join(self.missing)}. Install it with: pip install {wanted}"

    def load(self) -> Callable[..., Any]:
        """The function or estimator, imported now."""
        module, _, name = self.call.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def __str__(self) -> str:
        lines = [
            f"{self.title} ({self.name})",
            f"takes: {', '.join(self.takes)}",
            f"gives: {self.gives}",
            f"paper: {self.paper}",
            f"library: {self.library}",
            f"deviations: {self.deviations or 'none'}",
            f"needs: {', '.join(self.needs) or 'nothing more'}",
        ]
        return "\n".join(lines if self.reason is None else [*lines, f"cannot run here: {self.reason}"])
