"""Hierarchical clustering in hyperbolic space: geometry of the Poincaré ball, HypHC and gHHC.

`poincare`, `lca` and `optim` hold the geometry; `hyphc` and `ghhc` the two methods. Names load on first
use, so that nothing here imports PyTorch before it is needed.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME_OF_NAME = {
    "HypHC": "arbora.hyperbolic.hyphc.estimator",
    "GHHC": "arbora.hyperbolic.ghhc",
    "circle_angles": "arbora.hyperbolic.sarkar",
    "decode": "arbora.hyperbolic.hyphc.decode",
    "sarkar_embedding": "arbora.hyperbolic.sarkar",
    "measure_spread": "arbora.hyperbolic.spread",
}

__all__ = ["GHHC", "HypHC", "circle_angles", "decode", "measure_spread", "sarkar_embedding"]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF_NAME:
        return getattr(importlib.import_module(_HOME_OF_NAME[name]), name)
    raise AttributeError(f"module 'arbora.hyperbolic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
