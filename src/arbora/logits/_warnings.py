"""What L2H warns about: groups that were estimated, and probabilities that were given as logits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.rows import Rows
from arbora.logits._protocol import LogitRows


class EstimateWarning(UserWarning):
    """Some groups were judged by the largest probabilities of their points alone.

    Examples
    --------
    Where an estimate is not good enough, it can be made an error.

    >>> import warnings
    >>> from arbora.logits import EstimateWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", EstimateWarning)
    ...     warnings.warn("3 groups were judged by 16 probabilities.", EstimateWarning)
    Traceback (most recent call last):
    arbora.logits._warnings.EstimateWarning: 3 groups were judged by 16 probabilities.
    """


class ProbabilityWarning(UserWarning):
    """The rows given as logits sum to one, so that they are probably probabilities.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, arbora as ab
    >>> probabilities = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ab.logits.ProbabilityWarning)
    ...     ab.L2H(random_state=0).fit(probabilities)
    Traceback (most recent call last):
    arbora.logits._warnings.ProbabilityWarning: The rows of X sum to 1: ...
    """


def warn_if_estimated(rows: LogitRows) -> None:
    """Warn where answers were not exact; called by `L2H.fit` itself, whose caller the warning names."""
    if not rows.exact:
        warnings.warn(
            f"{rows.n_estimated} groups were judged by the {rows.n_kept} largest probabilities of their points. "
            "Pass something that can be read twice (a path, a list, a function that returns the batches), or a "
            "larger max_memory.",
            EstimateWarning,
            stacklevel=4,
        )


def warn_if_probabilities(source: Rows) -> None:
    """Warn where rows are not negative and sum to 1."""
    n_points, n_classes = source.shape
    if n_classes < 3 or (n_points is not None and n_points <= n_classes):
        return
    if look_like_probabilities(source.head()):
        warn_of_probabilities(stacklevel=6)


def look_like_probabilities(first: NDArray[Any]) -> bool:
    """Whether rows are not negative and sum to 1."""
    values = first.astype(np.float64)
    return bool(len(values) and (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-2))


def warn_of_probabilities(stacklevel: int) -> None:
    """Warn that rows are read as logits."""
    warnings.warn(
        "The rows of X sum to 1: they look like probabilities, but are read as logits. Pass from_probabilities=True.",
        ProbabilityWarning,
        stacklevel=stacklevel,
    )
