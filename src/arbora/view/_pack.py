"""The binary form in which arrays travel to the page: a JSON header, then the arrays, eight-byte aligned."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

_JS_TYPES = {"|u1": "u8", "<u2": "u16", "<i4": "i32", "<f4": "f32", "<f8": "f64"}


def pack(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> bytes:
    """Bytes that ``unpack`` in assets/pack.js reads: u32 header length, UTF-8 JSON header, aligned arrays."""
    listed, blocks, offset = [], [], 0
    for name, array in (arrays or {}).items():
        array = np.ascontiguousarray(array)
        block = array.tobytes()
        listed.append([name, _JS_TYPES[array.dtype.newbyteorder("<").str], array.size, offset])
        padding = -len(block) % 8
        blocks.append(block + b"\0" * padding)
        offset += len(block) + padding
    header = json.dumps({"facts": facts, "arrays": listed}, ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "replace"
    )
    header += b" " * (-(len(header) + 4) % 8)
    return struct.pack("<I", len(header)) + header + b"".join(blocks)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What ``pack`` was given; for tests and for anyone who reads a page back.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.view._pack import pack, unpack
    >>> facts, arrays = unpack(pack({"n": 2}, {"x": np.array([1.5, 2.5])}))
    >>> facts["n"], arrays["x"]
    (2, array([1.5, 2.5]))
    """
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    dtypes = {short: dtype for dtype, short in _JS_TYPES.items()}
    arrays = {
        name: np.frombuffer(data, dtypes[kind], count, 4 + length + offset)
        for name, kind, count, offset in header["arrays"]
    }
    return header["facts"], arrays
