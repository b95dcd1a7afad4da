"""PyTorch losses and layers for joint training; each loads on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "GHHCLoss": "arbora.nn.ghhc_loss",
    "HierarchicalCrossEntropy": "arbora.nn.hierarchical_cross_entropy",
    "HypHCLoss": "arbora.nn.hyphc_loss",
    "HyperbolicLogisticRegression": "arbora.nn.hyperbolic_logistic",
    "PoincareEmbedding": "arbora.nn.poincare_embedding",
    "SoftDasgupta": "arbora.nn.soft_dasgupta",
    "SoftTSD": "arbora.nn.soft_tsd",
    "hierarchical_labels": "arbora.nn.hierarchical_soft_labels",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.nn.ghhc_loss import GHHCLoss as GHHCLoss
    from arbora.nn.hierarchical_cross_entropy import HierarchicalCrossEntropy as HierarchicalCrossEntropy
    from arbora.nn.hierarchical_soft_labels import hierarchical_labels as hierarchical_labels
    from arbora.nn.hyperbolic_logistic import HyperbolicLogisticRegression as HyperbolicLogisticRegression
    from arbora.nn.hyphc_loss import HypHCLoss as HypHCLoss
    from arbora.nn.poincare_embedding import PoincareEmbedding as PoincareEmbedding
    from arbora.nn.soft_dasgupta import SoftDasgupta as SoftDasgupta
    from arbora.nn.soft_tsd import SoftTSD as SoftTSD
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
