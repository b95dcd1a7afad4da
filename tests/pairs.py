"""Tables of options in which every pair of values occurs that can occur together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def covering_table(
    options: Mapping[str, Sequence[Any]],
    is_possible: Callable[[dict[str, Any]], bool] = lambda case: True,
    *,
    n_drawn: int = 4000,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Cases out of random possible ones that cover all their pairs of values; those with most new pairs first."""
    rng = np.random.default_rng(seed)
    drawn = (
        {name: values[rng.integers(len(values))] for name, values in options.items()} for _ in range(n_drawn)
    )
    pool = [case for case in drawn if is_possible(case)]
    pairs = [
        {(a, b, repr(case[a]), repr(case[b])) for a, b in itertools.combinations(options, 2)} for case in pool
    ]
    missing, table = set().union(*pairs), []
    while missing:
        best = max(range(len(pool)), key=lambda k: len(pairs[k] & missing))
        table.append(pool[best])
        missing -= pairs[best]
    return table


def name_of(case: Mapping[str, Any]) -> str:
    """A case as the name of a test: the values that are chosen."""
    return "-".join(f"{name}={value}" for name, value in case.items() if value is not None)
