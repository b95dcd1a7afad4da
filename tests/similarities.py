"""Similarities for tests: the least that a user must write, and the same numbers in every form."""

import numpy as np
import scipy.sparse as sp

import arbora as ab


class TableSimilarity(ab.similarity.Similarity):
    """Only what a similarity must have; everything else comes from the base class."""

    def __init__(self, table):
        self.table = np.asarray(table, dtype=float)

    @property
    def n_points(self):
        return len(self.table)

    def pairs(self, i, j):
        return self.table[i, j]


def same_numbers(n, seed=0):
    """One table of similarities as TableSimilarity, and as every kind that can hold it: {name: similarity}."""
    features = ab.similarity.cosine(np.random.default_rng(seed).normal(size=(n, 3)))
    table = features.rows(np.arange(n))
    no_diagonal = table - np.diag(np.diag(table))
    return {
        "own": TableSimilarity(table),
        "dense": ab.similarity.dense(table),
        "features": features,
        "graph": ab.similarity.graph(sp.csr_array(no_diagonal)),
    }
