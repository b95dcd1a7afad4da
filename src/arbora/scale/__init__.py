"""Clustering on many machines: Dask arrays and graphs in shards."""

from arbora.scale.build import build_on_dask
from arbora.scale.cells import contracted_graph
from arbora.scale.graphs import build_graph_on_dask, is_small, refine_on_dask
from arbora.scale.plan import LIMITS, Limits
from arbora.similarity.summed import DistributedGraph

__all__ = [
    "LIMITS",
    "DistributedGraph",
    "Limits",
    "build_graph_on_dask",
    "build_on_dask",
    "contracted_graph",
    "is_small",
    "refine_on_dask",
]
