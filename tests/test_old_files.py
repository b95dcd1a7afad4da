"""Files that the first version of their format wrote stay readable; they must never be written again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import arbora as ab

FILES = Path(__file__).parent / "files_of_version_1"
POINTS = [[0.5, 0.5], [9.5, 9.5]]


@pytest.mark.parametrize("file", ["tree.npz", "tree.json"])
def test_trees_of_the_first_format_are_read_whole(file):
    tree = ab.Tree.load(FILES / file)
    assert tree.to_newick() == "((ant:1.0,bee:1.0)insects:2.0,(cat:2.0,dog:2.0)pets:1.0)animals;"
    assert tree.height.tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert np.isnan(tree.support[:4]).all() and tree.support[4:].tolist() == [0.9, 0.5, 1.0]


def test_models_of_the_first_format_predict():
    model = ab.TreeClustering.load(FILES / "tree_clustering.npz")
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.predict(POINTS).tolist() == [0, 1]
    assert model.partial_fit(POINTS).tree_.n_leaves == 8


def test_streams_of_the_first_format_go_on():
    stream = ab.OnlineTree.load(FILES / "online_tree.npz")
    assert stream.tree_.n_leaves == 6
    assert stream.partial_fit(POINTS).tree_.n_leaves == 8


def test_classifiers_trees_of_the_first_format_predict():
    model = ab.L2H.load(FILES / "l2h.npz")
    assert model.tree_.to_newick(lengths=False) == "((0,1),(2,3));"
    assert model.predict([[9.0, 1, 0, 0], [0, 0, 1, 9.0]], n_clusters=2).tolist() == [0, 1]
