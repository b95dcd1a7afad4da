"""Baseline trees: linkages of vectors, similarities and graphs; divisive and level-wise clusterings."""

from arbora.linkages.agglomerative import linkage
from arbora.linkages.communities import community_linkage
from arbora.linkages.divisive import bisecting_kmeans, hierarchical_kmeans
from arbora.linkages.graph import graph_linkage
from arbora.linkages.levelwise import birch, louvain

__all__ = [
    "birch",
    "bisecting_kmeans",
    "community_linkage",
    "graph_linkage",
    "hierarchical_kmeans",
    "linkage",
    "louvain",
]
