"""Hierarchical clustering you can optimize, measure and explore.

Public names load on first use, so that ``import arbora`` takes milliseconds and never imports PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use
from arbora._version import __version__

_PACKAGES = (
    "errors",
    "hyperbolic",
    "linkages",
    "logits",
    "metrics",
    "nn",
    "probabilistic",
    "search",
    "similarity",
    "tasks",
    "view",
)
_HOME_OF_NAME = {
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
    "ClusterReport": "arbora.search",
    "OnlineTree": "arbora.search",
    "cluster": "arbora.search",
    "refine": "arbora.search",
}

__all__ = ["__version__", *_PACKAGES, *_HOME_OF_NAME]

if TYPE_CHECKING:
    from arbora.tree import Tree as Tree

__getattr__, __dir__ = load_on_use(
    __name__, {**{name: f"arbora.{name}" for name in _PACKAGES}, **_HOME_OF_NAME}
)
