"""Names of classes: from the caller or from the input, and never two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from arbora._base.rows import Rows


def column_names(estimator: Any, source: Rows) -> Sequence[str] | None:
    """Names the caller gave, else those of the columns of the input; None where there are none."""
    if estimator.class_names is not None:
        if isinstance(estimator.class_names, (str, bytes)):
            raise TypeError(
                f"class_names must be a sequence of names. Got the text {estimator.class_names!r:.60}."
            )
        return list(estimator.class_names)
    if source.column_names is not None:
        return source.column_names
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def unique_names(names: Sequence[str] | None, n_classes: int) -> list[str] | None:
    """One name per class; equal ones get their column number.

    >>> unique_names(["maillot", "bikini", "maillot"], 3)
    ['maillot (0)', 'bikini', 'maillot (2)']
    """
    if names is None:
        return None
    if len(names) != n_classes:
        raise ValueError(f"class_names must name all {n_classes} classes. Got {len(names)} names.")
    found = [str(name) for name in names]
    times = Counter(found)
    return [name if times[name] == 1 else f"{name} ({number})" for number, name in enumerate(found)]
