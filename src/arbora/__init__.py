"""Hierarchical clustering you can optimise, measure and explore.

Public names load on first use, so that ``import arbora`` takes milliseconds and never imports PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name in _HOME_OF_NAME:
        value = getattr(importlib.import_module(_HOME_OF_NAME[name]), name)
    elif name in _PACKAGES:
        value = importlib.import_module(f"arbora.{name}")
    else:
        raise AttributeError(f"module 'arbora' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
