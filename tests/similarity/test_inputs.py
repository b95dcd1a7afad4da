"""What counts as a similarity, and distances as SciPy condenses them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from similarities import TableSimilarity
from trees import chain

from arbora.similarity import as_similarity
from arbora.similarity.inputs import condensed_distances, covering_similarity, is_condensed


def test_similarities_adjacencies_and_networks_are_similarities():
    own = TableSimilarity(np.ones((2, 2)))
    assert as_similarity(own) is own
    assert as_similarity(sp.coo_array(np.ones((3, 3)))).n_points == 3
    assert as_similarity(nx.path_graph(4)).n_points == 4


def test_a_bare_array_is_not_a_similarity():
    with pytest.raises(TypeError, match=r"W must be a similarity.*Got ndarray.*dense.*knn"):
        as_similarity(np.ones((2, 2)), "W")


def test_a_similarity_must_have_one_point_per_leaf():
    assert covering_similarity(TableSimilarity(np.ones((3, 3))), chain(3)).n_points == 3
    with pytest.raises(ValueError, match="2 points and 3 leaves"):
        covering_similarity(TableSimilarity(np.ones((2, 2))), chain(3))


def test_distances_are_condensed_as_scipy_does_into_a_copy():
    D = squareform(pdist(np.random.default_rng(0).normal(size=(6, 2))))
    for data in (D, squareform(D), pd.DataFrame(D)):
        found, names = condensed_distances(data)
        np.testing.assert_array_equal(found, squareform(D))
        assert names is None and not np.shares_memory(found, np.asarray(data))
    named = pd.DataFrame(D, index=list("abcdef"), columns=list("abcdef"))
    assert condensed_distances(named)[1] == list("abcdef")


def test_masked_and_complex_distances_are_refused():
    for bad, error in ((np.ma.masked_array([1.0], [True]), ValueError), (np.array([1j]), TypeError)):
        with pytest.raises(error, match=r"masked|real numbers"):
            condensed_distances(bad)
    assert is_condensed([1.0, 2]) and is_condensed(np.ones(3)) and is_condensed(pd.Series([1.0]))
    assert not is_condensed([[1.0], [2.0]]) and not is_condensed(pd.Series([[1.0], [2.0]]))
    assert not is_condensed([[1.0], [2.0, 3.0]])


def test_one_point_has_no_distances():
    assert len(condensed_distances([[0.0]])[0]) == len(condensed_distances(np.empty(0))[0]) == 0
