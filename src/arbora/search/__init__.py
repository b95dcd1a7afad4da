"""Discrete optimization of trees: cluster, TreeClustering, refine, predict, OnlineTree."""

from arbora.search.cluster import cluster
from arbora.search.online import OnlineTree
from arbora.search.predict import predict
from arbora.search.refine import refine
from arbora.search.report import ClusterReport
from arbora.search.tree_clustering import TreeClustering

__all__ = ["ClusterReport", "OnlineTree", "TreeClustering", "cluster", "predict", "refine"]
