"""PyTorch losses and layers for joint training; each loads on first use."""

from __future__ import annotations

import importlib
from typing import Any

_HOME_OF_NAME = {
    "GHHCLoss": "arbora.nn.ghhc_loss",
    "HypHCLoss": "arbora.nn.hyphc_loss",
    "HyperbolicLogisticRegression": "arbora.nn.hyperbolic_logistic",
    "PoincareEmbedding": "arbora.nn.poincare_embedding",
    "SoftDasgupta": "arbora.nn.soft_dasgupta",
    "SoftTSD": "arbora.nn.soft_tsd",
}

__all__ = sorted(_HOME_OF_NAME)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF_NAME:
        raise AttributeError(f"module 'arbora.nn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
