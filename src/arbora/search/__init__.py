"""Discrete optimization of trees: cluster, refine, predict, OnlineTree."""

from arbora.search.cluster import ClusterReport, cluster
from arbora.search.online import OnlineTree
from arbora.search.predict import predict
from arbora.search.refine import refine

__all__ = ["ClusterReport", "OnlineTree", "cluster", "predict", "refine"]
