"""FPH: probabilistic hierarchies on graphs (Zügner et al., ICLR 2022)."""
