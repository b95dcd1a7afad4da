"""Hierarchical clustering in hyperbolic space: geometry of the Poincaré ball, HypHC and gHHC."""
