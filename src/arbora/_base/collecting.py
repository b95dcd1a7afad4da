"""Rows that are read in pieces and needed all at once: one array, filled as they come.

The array is the only copy. Memory is estimated before it is taken, and again whenever a source that does not know its
length turns out to be longer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.memory import refuse_if_too_large
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.row_kinds import Rows
from arbora._base.row_parts import check_finite_rows

# How much room an array of unknown length is given beyond what it needs when it is full.
_GROWTH = 1.25
_ROWS_CHECKED = 1 << 16


class Collected(NamedTuple):
    """All rows as one C-ordered array of finite float32 or float64."""

    values: NDArray[Any]
    column_names: list[str] | None
    # whether the array was made here, so that it may be overwritten
    is_own: bool


def collect(
    rows: Rows,
    *,
    argument: str = "X",
    instead: str = "Pass fewer rows.",
    progress: ProgressCallback = silent,
) -> Collected:
    """All rows in one array; float16 becomes float32. A memory map of such numbers is used where it is.

    Parameters
    ----------
    rows : Rows
    argument : str
        What the caller calls it, for messages.
    instead : str
        What to do if the rows do not fit into memory.
    progress : callable
        Called for the stage "reading", in rows.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora._base.collecting import collect
    >>> from arbora._base.rows import open_rows
    >>> collect(open_rows(iter([np.zeros((2, 3)), np.ones((1, 3))]))).values.shape
    (3, 3)
    """
    if rows.dtype == np.float16:
        rows = rows.as_type(np.float32)
    with Stage(progress, "reading", total=rows.shape[0]) as stage:
        array = rows.in_place
        if array is not None and array.flags.c_contiguous:
            for first in range(0, len(array), _ROWS_CHECKED):
                check_finite_rows(array[first : first + _ROWS_CHECKED], first, argument)
                stage.update(first)
            return Collected(np.asarray(array), rows.column_names, False)
        return Collected(_filled(rows, argument, instead, stage), rows.column_names, True)


def _filled(rows: Rows, argument: str, instead: str, stage: Stage) -> NDArray[Any]:
    n_rows, n_columns = rows.shape
    array = np.empty((0, n_columns), rows.dtype)
    end = 0
    for place, chunk in rows.chunks(finite=True):
        if place.stop > len(array):
            room = int(_GROWTH * place.stop) if n_rows is None else n_rows
            new_bytes = (room - len(array)) * n_columns * rows.dtype.itemsize
            refuse_if_too_large(new_bytes, f"All rows of {argument}, which are needed at once,", instead)
            # grows in place wherever the system can do that; nothing else refers to it yet
            array.resize((room, n_columns), refcheck=False)
        array[place] = chunk
        end = place.stop
        stage.update(end)
    array.resize((end, n_columns), refcheck=False)
    return array
