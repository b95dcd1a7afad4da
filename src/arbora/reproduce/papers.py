"""The figures that the papers print, from the table that ships with the package."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """A figure of a paper, with the deviation it prints beside it (0 where it prints none)."""

    value: float
    deviation: float
    note: str


@cache
def _figures() -> dict[tuple[str, ...], Printed]:
    text = (files("arbora.reproduce") / "targets.csv").read_text(encoding="utf-8")
    keys = ("paper", "table", "dataset", "method", "metric")
    return {
        tuple(row[key] for key in keys): Printed(
            float(row["value"]), float(row["deviation"] or 0), row["note"] or ""
        )
        for row in csv.DictReader(text.splitlines())
    }


def printed(paper: str, table: str, dataset: str, method: str | None, metric: str) -> Printed | None:
    """The figure that a paper prints for a method, or None.

    Examples
    --------
    >>> from arbora.reproduce.papers import printed
    >>> printed("hyphc", "3c", "zoo", "HypHC two-step", "accuracy_percent").value
    84.8
    """
    return _figures().get((paper, table, dataset, method or "", metric))
