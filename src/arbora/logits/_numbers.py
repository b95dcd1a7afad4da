"""Arrays as the kernels read them: numba has no 16-bit floats, so these come as their bits with a code."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import without_gradient
from arbora.logits import _row_kernels as kernels


def kernel_array(array: Any) -> tuple[NDArray[Any], int]:
    """An array the kernels can read, without copying where possible, and how its numbers are stored.

    >>> import numpy as np
    >>> kernel_array(np.ones((2, 3), np.float16))[0].dtype
    dtype('uint16')
    """
    bits = _bits_of_bfloat16(array)
    if bits is not None:
        return np.ascontiguousarray(bits), kernels.BFLOAT
    # of a C-ordered array no copy; one layout, one compilation
    plain = np.ascontiguousarray(without_gradient(array))
    if not plain.dtype.isnative:
        plain = plain.astype(plain.dtype.newbyteorder("="))
    if plain.dtype == np.float16:
        return plain.view(np.uint16), kernels.HALF
    if plain.dtype in (np.float32, np.float64):
        return plain, kernels.PLAIN
    if plain.dtype.kind in "biufO":
        return plain.astype(np.float64), kernels.PLAIN
    raise TypeError(f"Logits must be real numbers. Got dtype {plain.dtype}.")


def is_tensor_or_bfloat16(array: Any) -> bool:
    """Whether scikit-learn's validation would convert the array, although kernels read it as it is."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return True
    return str(getattr(array, "dtype", "")) == "bfloat16"


def _bits_of_bfloat16(array: Any) -> NDArray[np.uint16] | None:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if array.dtype != torch.bfloat16:
            return None
        bits: NDArray[np.uint16] = array.detach().cpu().contiguous().view(torch.int16).numpy().view(np.uint16)
        return bits
    if isinstance(array, np.ndarray) and array.dtype.name == "bfloat16":
        return np.ascontiguousarray(array).view(np.uint16)
    return None
