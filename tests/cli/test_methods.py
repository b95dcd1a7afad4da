"""Every method of the command line builds a tree."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from arbora.cli._app import METHODS
from arbora.cli._console import Console
from arbora.cli._exit import CommandError
from arbora.cli.checkpoint import Checkpoint
from arbora.cli.methods import build_tree, read_settings
from arbora.cli.reading import Data

X, Y = make_blobs(40, centers=[[9, 0, 0], [0, 9, 0], [0, 0, 9]], n_features=3, random_state=0)


def built(method, data=None, **options):
    data = data or Data("vectors", X, "blobs", "npy")
    given = {"metric": "cosine", "settings": {}, "seed": 0, "threads": 1, "kept": Checkpoint(None, data)}
    return build_tree(data, method, **{**given, "console": Console(quiet=True, as_json=False), **options})


@pytest.mark.parametrize("method", [method for method in METHODS if method != "l2h"])
def test_every_method_finds_three_blobs(method):
    settings = {"max_epochs": 3} if method == "hyphc" else {}
    tree = built(method, settings=settings)
    assert tree.n_leaves == 40
    if method in ("auto", "hyphc", "average", "ward", "complete"):
        labels = tree.cut(n_clusters=3)
        assert len(set(zip(labels.tolist(), Y.tolist(), strict=True))) == 3


def test_l2h_makes_a_tree_over_the_columns():
    data = Data("vectors", X, "logits", "csv", feature_names=["cat", "dog", "car"])
    tree = built("l2h", data)
    assert sorted(tree.name[:3]) == ["car", "cat", "dog"]


def test_graphs_take_the_methods_that_know_them():
    adjacency = sp.csr_matrix(np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12))
    data = Data("graph", adjacency, "g", "mtx")
    assert built("average", data).n_leaves == 12
    assert built("auto", data).n_leaves == 12
    with pytest.raises(CommandError, match="needs vectors"):
        built("bisecting-kmeans", data)


def test_settings_are_read_as_json_where_they_can_be():
    assert read_settings(["a=1", "b=true", "c=text", "d=[1, 2]"]) == {
        "a": 1,
        "b": True,
        "c": "text",
        "d": [1, 2],
    }
    with pytest.raises(CommandError, match="name=value"):
        read_settings(["nonsense"])


def test_a_tree_is_not_fitted_again():
    from arbora import Tree

    with pytest.raises(CommandError, match="arbora refine"):
        built("auto", Data("tree", Tree.from_newick("(a,b);"), "t.nwk", "newick"))
