"""gHHC: gradient-based hierarchical clustering with internal nodes in the Poincaré ball."""

from arbora.hyperbolic.ghhc.estimator import GHHC

__all__ = ["GHHC"]
