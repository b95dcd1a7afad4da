"""Discrete optimization of trees: cluster, TreeClustering, refine, predict, place, insert, OnlineTree."""

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use
from arbora.search.cluster import cluster
from arbora.search.insert import insert
from arbora.search.predict import Placement, place, predict
from arbora.search.refine import refine
from arbora.search.report import ClusterReport

if TYPE_CHECKING:
    from arbora.search.online import OnlineTree
    from arbora.search.tree_clustering import TreeClustering
else:
    # estimators load scikit-learn, and with it 120 MB that the worker processes of a cluster have no use for
    __getattr__, __dir__ = load_on_use(
        __name__,
        {"OnlineTree": "arbora.search.online", "TreeClustering": "arbora.search.tree_clustering"},
    )

__all__ = [
    "ClusterReport",
    "OnlineTree",
    "Placement",
    "TreeClustering",
    "cluster",
    "insert",
    "place",
    "predict",
    "refine",
]
