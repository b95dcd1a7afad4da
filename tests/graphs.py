"""Random graphs for tests."""

import numpy as np
import scipy.sparse as sp

import arbora as ab


def random_graph(n, rng, *, density=0.4, loops=False):
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density))
    if not loops:
        np.fill_diagonal(W, 0)
    return ab.similarity.graph(sp.csr_array(W + np.triu(W, 1).T))
