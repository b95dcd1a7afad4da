"""Hierarchical clustering in hyperbolic space: geometry of the Poincaré ball, HypHC and gHHC.

`poincare`, `lca` and `optim` hold the geometry; `hyphc` and `ghhc` the two methods. Names load on first
use, so that nothing here imports PyTorch before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "GHHC": "arbora.hyperbolic.ghhc",
    "HypHC": "arbora.hyperbolic.hyphc.estimator",
    "circle_angles": "arbora.hyperbolic.sarkar",
    "decode": "arbora.hyperbolic.hyphc.decode",
    "measure_spread": "arbora.hyperbolic.spread",
    "sarkar_embedding": "arbora.hyperbolic.sarkar",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.hyperbolic.ghhc import GHHC as GHHC
    from arbora.hyperbolic.hyphc.decode import decode as decode
    from arbora.hyperbolic.hyphc.estimator import HypHC as HypHC
    from arbora.hyperbolic.sarkar import circle_angles as circle_angles
    from arbora.hyperbolic.sarkar import sarkar_embedding as sarkar_embedding
    from arbora.hyperbolic.spread import measure_spread as measure_spread
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
