"""Discrete optimization of trees: cluster, TreeClustering, refine, predict, place, insert, OnlineTree."""

from arbora.search.cluster import cluster
from arbora.search.insert import insert
from arbora.search.online import OnlineTree
from arbora.search.predict import Placement, place, predict
from arbora.search.refine import refine
from arbora.search.report import ClusterReport
from arbora.search.tree_clustering import TreeClustering

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
