"""Clustering on many machines: `arbora.cluster` and `arbora.TreeClustering` on Dask arrays."""

from arbora.scale.build import build_on_dask
from arbora.scale.plan import LIMITS, Limits
from arbora.scale.summed import DistributedGraph

__all__ = ["LIMITS", "DistributedGraph", "Limits", "build_on_dask"]
