"""HypHC: gradient-based hierarchical clustering by hyperbolic leaf embeddings (Chami et al., 2020)."""
