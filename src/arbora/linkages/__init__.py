"""Baseline trees: linkages of vectors, similarities and graphs; divisive and level-wise clusterings."""

from arbora.linkages.graph import graph_linkage

__all__ = ["graph_linkage"]
