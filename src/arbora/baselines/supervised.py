"""Systems that learn from some known answers and give the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import Floats, Ints


def label_propagation(data: tuple[Any, ArrayLike]) -> Ints:
    """Labels of all points from those of a few, spread along cosine similarities.

    Parameters
    ----------
    data : tuple (X, y)
        Vectors or a similarity, and a whole number per point: its class, or -1 where it is not known.

    Returns
    -------
    labels : ndarray of int64

    Examples
    --------
    >>> from arbora.baselines.supervised import label_propagation
    >>> label_propagation(([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.1, 1.0]], [0, -1, 1, -1]))
    array([0, 0, 1, 1])
    """
    from arbora.similarity import cosine
    from arbora.similarity.protocol import is_similarity
    from arbora.tasks.classification import propagate_labels

    if not isinstance(data, tuple) or len(data) != 2:
        raise TypeError(f"data must be a tuple (X, y) for label propagation. Got {type(data).__name__}.")
    X, y = data
    similarity: Any = X if is_similarity(X) else cosine(X)
    known = np.asarray(y)
    if known.shape != (similarity.n_points,) or known.dtype.kind not in "iu":
        raise ValueError(
            f"y must hold one whole number per point, -1 where the class is not known: shape "
            f"({similarity.n_points},). Got shape {known.shape} and dtype {known.dtype}."
        )
    if not (known >= 0).any():
        raise ValueError("y must hold the class of at least one point. Got only -1.")
    classes, codes = np.unique(known[known >= 0], return_inverse=True)
    start = np.full(len(known), -1, dtype=np.int64)
    start[known >= 0] = codes
    return np.asarray(classes[propagate_labels(similarity, start, np.flatnonzero(known >= 0))], np.int64)


def single_task(data: tuple[ArrayLike, ArrayLike, ArrayLike]) -> Floats:
    """Ridge regression of each task for itself.

    Parameters
    ----------
    data : tuple (X, y, task)
        Rows, targets (NaN where they are to be predicted) and the task of each row.

    Returns
    -------
    predictions : ndarray of float64, one per row

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.supervised import single_task
    >>> X, task = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    >>> y = np.where(task == 0, X[:, 0], -X[:, 0])
    >>> y[[2, 9]] = np.nan
    >>> single_task((X, y, task))[[2, 9]].round()
    array([ 2., -9.])
    """
    from arbora.tasks.multitask import SingleTaskRegression

    return _predicted(SingleTaskRegression(), data)


def relationship_learning(data: tuple[ArrayLike, ArrayLike, ArrayLike]) -> Floats:
    """Regression of all tasks with a learned covariance between them; takes and gives what `single_task` does.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.supervised import relationship_learning
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(80, 2)), np.repeat(np.arange(4), 20)
    >>> y = np.where(task < 2, X[:, 0], -X[:, 0])
    >>> guess = relationship_learning((X, np.where(np.arange(80) % 5 == 0, np.nan, y), task))
    >>> bool(np.corrcoef(guess[::5], y[::5])[0, 1] > 0.95)
    True
    """
    from arbora.tasks.multitask import RelationshipRegression

    return _predicted(RelationshipRegression(), data)


def _predicted(model: Any, data: tuple[ArrayLike, ArrayLike, ArrayLike]) -> Floats:
    if not isinstance(data, tuple) or len(data) != 3:
        raise TypeError(
            f"data must be a tuple (X, y, task) for multi-task regression. Got {type(data).__name__}."
        )
    X, y, task = (
        np.asarray(data[0], dtype=np.float64),
        np.asarray(data[1], dtype=np.float64),
        np.asarray(data[2]),
    )
    known = ~np.isnan(y)
    return np.asarray(model.fit(X[known], y[known], task[known]).predict(X, task), dtype=np.float64)
