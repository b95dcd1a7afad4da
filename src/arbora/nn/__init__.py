"""PyTorch losses and layers for joint training; each loads on first use."""

from __future__ import annotations

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "GHHCLoss": "arbora.nn.ghhc_loss",
    "HypHCLoss": "arbora.nn.hyphc_loss",
    "HyperbolicLogisticRegression": "arbora.nn.hyperbolic_logistic",
    "PoincareEmbedding": "arbora.nn.poincare_embedding",
    "SoftDasgupta": "arbora.nn.soft_dasgupta",
    "SoftTSD": "arbora.nn.soft_tsd",
}

__all__ = sorted(_HOME_OF_NAME)
__getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
