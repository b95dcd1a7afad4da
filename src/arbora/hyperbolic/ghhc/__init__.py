"""gHHC: gradient-based hierarchical clustering with internal nodes in the Poincaré ball."""
