"""Parameters checked with one wording: what is required, and what was passed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

# arrays and compiled loops count in 64 bits
_LARGEST = 2**63 - 1


def check_whole(value: Any, name: str, *, least: int | None = 1, most: int | None = None) -> int:
    """A whole number within bounds: TypeError for another kind of value, ValueError outside.

    Examples
    --------
    >>> from arbora._base.params import check_whole
    >>> check_whole(3, "n_clusters")
    3
    >>> check_whole(0, "n_clusters")
    Traceback (most recent call last):
    ...
    ValueError: n_clusters must be at least 1. Got 0.
    """
    if not isinstance(value, Integral) or is_bool(value):
        raise TypeError(f"{name} must be a whole number. Got {value!r}.")
    number = int(value)
    if least is not None and most is not None and not least <= number <= most:
        raise ValueError(f"{name} must lie in [{least}, {most}]. Got {value!r}.")
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}. Got {value!r}.")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}. Got {value!r}.")
    if abs(number) > _LARGEST:
        raise ValueError(f"{name} must fit into 64 bits. Got {value!r}.")
    return number


def check_real(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """A finite real number within bounds, `above` and `below` excluded, `least` and `most` included."""
    if not isinstance(value, Real) or is_bool(value):
        raise TypeError(f"{name} must be a number. Got {value!r}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite. Got {value!r}.")
    bounds = (
        (above, above is None or number > above, "greater than"),
        (least, least is None or number >= least, "at least"),
        (below, below is None or number < below, "less than"),
        (most, most is None or number <= most, "at most"),
    )
    if not all(holds for _, holds, _ in bounds):
        wanted = " and ".join(f"{words} {bound:g}" for bound, _, words in bounds if bound is not None)
        raise ValueError(f"{name} must be {wanted}. Got {value!r}.")
    return number


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> Any:
    """One of the choices."""
    choices = tuple(choices)
    # a list or an array compares element by element, and is never one of the choices
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}. Got {value!r}.")
    return value


def check_switch(value: Any, name: str) -> bool:
    """True or False, NumPy's included."""
    if not is_bool(value):
        raise TypeError(f"{name} must be True or False. Got {value!r}.")
    return bool(value)


def check_span(value: Any, name: str) -> tuple[float, float]:
    """Start and end of a parameter given as a positive number or a pair of them."""
    pair = (value, value) if isinstance(value, Real) else value
    try:
        start, end = pair
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or a pair (start, end). Got {value!r}.") from None
    return check_real(start, name, above=0), check_real(end, name, above=0)


def check_seconds(value: Any, name: str = "max_seconds") -> float | None:
    """A time budget: a number of seconds that is not negative; None and infinity mean no limit."""
    if value is None or (isinstance(value, Real) and value == math.inf):
        return None
    return check_real(value, name, least=0)


def check_n_clusters(n_clusters: Any, n_points: int) -> int:
    """A number of clusters that `n_points` can be divided into (one point is one cluster, whatever was asked for)."""
    wanted = check_whole(n_clusters, "n_clusters")
    if wanted > n_points > 1:
        raise ValueError(f"n_clusters must lie in [1, n_points={n_points}]. Got {n_clusters!r}.")
    return min(wanted, n_points)


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to arbora; arrays compare element by element, so only strings are compared."""
    return isinstance(value, str) and value == "auto"


def check_refine(value: Any) -> dict[str, Any] | None:
    """What `refine` of an estimator asks for: options of `arbora.refine` (True: its defaults), None for False.

    Examples
    --------
    >>> from arbora._base.params import check_refine
    >>> check_refine(True), check_refine({"max_seconds": 10}), check_refine(False)
    ({}, {'max_seconds': 10}, None)
    """
    if isinstance(value, Mapping):
        return {str(name): option for name, option in value.items()}
    if not is_bool(value):
        raise TypeError(
            f"refine must be True, False or a dictionary of options for arbora.refine. Got {value!r}."
        )
    return {} if value else None


def is_bool(value: Any) -> bool:
    """Whether a value is a truth value, Python's or NumPy's, without importing NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
