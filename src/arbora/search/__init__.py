"""Discrete optimisation of trees: refine, cluster, predict, OnlineTree."""

from arbora.search.refine import refine

__all__ = ["refine"]
