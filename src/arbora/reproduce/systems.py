"""Rows of tables that come from the registry of systems, by name: one that lands there appears in its tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from arbora.reproduce.table import Method


def baseline(
    system: str,
    name: str,
    *,
    printed: str | None = None,
    of: Callable[[Any], Any] = lambda problem: problem,
    parameters: dict[str, Any] | None = None,
    options: Callable[[Any], dict[str, Any]] = lambda problem: {},
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
    **facts
        Other attributes of `Method`.
    """
    run = partial(_fit, system, of, options)
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
