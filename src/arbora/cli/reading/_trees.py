"""Trees made elsewhere: linkage matrices and Newick."""

from __future__ import annotations

import numpy as np

from arbora.cli._exit import Unreadable
from arbora.cli.reading import _arrays, _tables
from arbora.cli.reading._data import Data, ReadOptions
from arbora.errors import TreeError
from arbora.tree import Tree


def read_linkage(raw: bytes, name: str, options: ReadOptions) -> Data:
    """SciPy's (n - 1) x 4 matrix, as .npy, .npz, text or parquet."""
    if raw.startswith(b"\x93NUMPY"):
        matrix = _arrays.read_npy(raw, name, options).values
    elif raw.startswith(b"PK\x03\x04"):
        matrix = _arrays.read_npz(raw, name, options).values
    elif raw.startswith(b"PAR1"):
        matrix = _tables.read_parquet(raw, name, options).values
    else:
        matrix = _tables.read_csv(raw, name, options).values
    try:
        return Data("tree", Tree.from_linkage(np.asarray(matrix, dtype=np.float64)), name, "linkage")
    except (TreeError, ValueError, TypeError, IndexError) as error:
        raise Unreadable(f"{name} is not a linkage matrix: {error}") from error


def read_newick(raw: bytes, name: str, options: ReadOptions) -> Data:
    """Newick text."""
    return Data("tree", Tree.from_newick(_tables._decoded(raw, name)), name, "newick")
