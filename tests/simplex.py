"""Projection onto the simplex, as FPH's kernels do it."""

import numpy as np

from arbora.probabilistic import _kernels as kernels


def project_rows(matrix, first=None):
    """Rows projected onto the simplex by the kernel, from column ``first[row]`` on."""
    out = np.array(matrix, dtype=np.float64)
    kernels.project_rows(out, np.zeros(len(out), dtype=np.int64) if first is None else first)
    return out


def project_parents(B):
    """B projected: row k a distribution over the internal nodes after k, the root's row 0."""
    return project_rows(B, np.arange(1, len(B) + 1))
