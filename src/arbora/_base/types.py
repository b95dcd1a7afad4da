"""Names of the types that signatures share."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
AnyFloats: TypeAlias = NDArray[np.floating[Any]]
PathLike: TypeAlias = str | os.PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Objective: TypeAlias = Literal["dasgupta", "tsd"]
