"""Hierarchical clustering you can optimize, measure and explore.

Public names load on first use, so that ``import arbora`` takes milliseconds and never imports PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use
from arbora._version import __version__

_PACKAGES = (
    "baselines",
    "errors",
    "hyperbolic",
    "insight",
    "linkages",
    "logits",
    "metrics",
    "nn",
    "probabilistic",
    "reading",
    "search",
    "similarity",
    "tasks",
    "view",
)
_HOME_OF_NAME = {
    "compile_kernels": "arbora.ahead",
    "explain": "arbora.insight",
    "match": "arbora.insight",
    "bisecting_kmeans": "arbora.linkages",
    "hierarchical_kmeans": "arbora.linkages",
    "linkage": "arbora.linkages",
    "FPH": "arbora.probabilistic",
    "GHHC": "arbora.hyperbolic",
    "HypHC": "arbora.hyperbolic",
    "L2H": "arbora.logits",
    "TEMI": "arbora.logits",
    "TURTLE": "arbora.logits",
    "Tree": "arbora.tree",
    "Dataset": "arbora.reading",
    "read": "arbora.reading",
    "ClusterReport": "arbora.search",
    "OnlineTree": "arbora.search",
    "TreeClustering": "arbora.search",
    "cluster": "arbora.search",
    "predict": "arbora.search",
    "refine": "arbora.search",
}

__all__ = ["__version__", *_PACKAGES, *_HOME_OF_NAME]

# What an editor and a type checker see; at run time the same names load on first use.
if TYPE_CHECKING:
    from arbora import baselines as baselines
    from arbora import errors as errors
    from arbora import hyperbolic as hyperbolic
    from arbora import insight as insight
    from arbora import linkages as linkages
    from arbora import logits as logits
    from arbora import metrics as metrics
    from arbora import nn as nn
    from arbora import probabilistic as probabilistic
    from arbora import reading as reading
    from arbora import search as search
    from arbora import similarity as similarity
    from arbora import tasks as tasks
    from arbora import view as view
    from arbora.ahead import compile_kernels as compile_kernels
    from arbora.hyperbolic import GHHC as GHHC
    from arbora.hyperbolic import HypHC as HypHC
    from arbora.insight import explain as explain
    from arbora.insight import match as match
    from arbora.linkages import bisecting_kmeans as bisecting_kmeans
    from arbora.linkages import hierarchical_kmeans as hierarchical_kmeans
    from arbora.linkages import linkage as linkage
    from arbora.logits import L2H as L2H
    from arbora.logits import TEMI as TEMI
    from arbora.logits import TURTLE as TURTLE
    from arbora.probabilistic import FPH as FPH
    from arbora.reading import Dataset as Dataset
    from arbora.reading import read as read
    from arbora.search import ClusterReport as ClusterReport
    from arbora.search import OnlineTree as OnlineTree
    from arbora.search import TreeClustering as TreeClustering
    from arbora.search import cluster as cluster
    from arbora.search import predict as predict
    from arbora.search import refine as refine
    from arbora.tree import Tree as Tree
else:
    __getattr__, __dir__ = load_on_use(
        __name__, {**{name: f"arbora.{name}" for name in _PACKAGES}, **_HOME_OF_NAME}
    )
