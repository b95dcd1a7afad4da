"""Methods that answer row by row, on Dask arrays: block by block, when the answer is computed, and not before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import refuse_mask
from arbora._base.distributed import is_dask, is_dask_frame
from arbora._base.optional import require
from arbora._base.row_parts import check_finite_rows

# Names of the axes of answers, for Dask; those of the columns of X follow.
_ROW, _NEW_COLUMN = 0, -1

_Method = TypeVar("_Method", bound=Callable[..., Any])


def lazily(method: _Method) -> _Method:
    """Let a method ``(self, X, ...)`` that answers each row of X independently take Dask arrays and frames as well.

    The answer is then a Dask array with the chunks of X. What it is (type and number of columns), and whether the other
    arguments are right, is known at once, from the answer to a row of ones.
    """

    @functools.wraps(method)
    def answer(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        # a list is several spaces to some models, chunks of one to others
        are_spaces = isinstance(X, (list, tuple)) and getattr(self, "takes_spaces", False)
        spaces = list(X) if are_spaces else [X]
        if not any(_is_lazy(space) for space in spaces):
            return method(self, X, *arguments, **options)
        arrays = [_checked(space) for space in spaces]
        probe = [np.ones((1, array.shape[1]), array.dtype) for array in arrays]
        example = np.asarray(method(self, probe if are_spaces else probe[0], *arguments, **options))
        call = functools.partial(_call, method.__name__, are_spaces, arguments, options)
        model = require("dask", "A Dask array").delayed(_without_lazy_attributes(self), traverse=False)
        return mapped_rows(arrays, example[:0], _answer_block, call, example[:0], model=model)

    return answer  # type: ignore[return-value]


def mapped_rows(
    arrays: list[Any], like: NDArray[Any], function: Callable[..., Any], *arguments: Any, **options: Any
) -> Any:
    """The Dask array of ``function(*blocks, *arguments, **options)``, which gives one row for each row of the blocks.

    `like` is an answer without rows.
    """
    array = require("dask.array", "A Dask array")
    heights = arrays[0].chunks[0]
    operands: list[Any] = []
    for number, each in enumerate(arrays):
        # every array has columns of its own, in one chunk
        operands += [each if number == 0 else each.rechunk({0: heights}), (_ROW, 1 + number)]
    for argument in arguments:
        operands += [argument, None]
    columns = (_NEW_COLUMN,) if like.ndim == 2 else ()
    return array.blockwise(
        function,
        (_ROW, *columns),
        *operands,
        new_axes={_NEW_COLUMN: like.shape[1]} if columns else None,
        concatenate=True,
        align_arrays=False,
        dtype=like.dtype,
        meta=like,
        **options,
    )


def answered_by(
    function: Callable[[NDArray[Any]], NDArray[Any]], X: Any, dtype: Any, *, n_features: int
) -> Any:
    """The Dask array of what a function gives for each row of X; what the function holds is sent to a worker once."""
    checked = _checked(X)
    if checked.shape[1] != n_features:
        raise ValueError(f"X has {checked.shape[1]} features, but {n_features} were expected, as in fit.")
    shared = require("dask", "A Dask array").delayed(function, traverse=False)
    like = np.empty(0, dtype)
    return mapped_rows([checked], like, _answer_rows, like, answer=shared)


def _answer_rows(block: NDArray[Any], like: NDArray[Any], *, answer: Callable[..., Any]) -> NDArray[Any]:
    if len(block) == 0:
        return like
    # which of the chunks this is, the task does not know
    refuse_mask(block, "A chunk of X")
    check_finite_rows(block, 0, "A chunk of X")
    return np.asarray(answer(block), like.dtype)


def _answer_block(*blocks_and_call: Any, model: Any) -> NDArray[Any]:
    *blocks, call, like = blocks_and_call
    if len(blocks[0]) == 0:
        return np.asarray(like)
    return np.asarray(call(model, blocks), like.dtype)


def _call(
    name: str,
    are_spaces: bool,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    model: Any,
    blocks: list[Any],
) -> Any:
    return getattr(model, name)(blocks if are_spaces else blocks[0], *arguments, **options)


def _is_lazy(data: Any) -> bool:
    return is_dask(data) or is_dask_frame(data)


def _checked(data: Any) -> Any:
    """A Dask array whose blocks hold whole rows; their number may be unknown."""
    if not _is_lazy(data):
        raise TypeError(
            f"Of several spaces, all or none must be Dask arrays. Got a {type(data).__name__} among them. "
            "Use dask.array.from_array(space, chunks=(rows, -1))."
        )
    X = data.to_dask_array() if is_dask_frame(data) else data
    if X.ndim != 2:
        raise ValueError(f"X must have shape (n_points, n_features). Got {X.ndim} dimensions.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers. Got dtype {X.dtype}. Keep only the numeric columns.")
    if X.numblocks[1] != 1:
        raise ValueError(
            f"X has its columns in {X.numblocks[1]} chunks. Every chunk must hold whole rows: "
            "pass X.rechunk({1: -1})."
        )
    return X


def _without_lazy_attributes(model: Any) -> Any:
    """A copy that can be sent to workers, without what belongs to the training data and is lazy itself."""
    slim = copy(model)
    for name, value in list(vars(slim).items()):
        if _is_lazy(value):
            delattr(slim, name)
    return slim
