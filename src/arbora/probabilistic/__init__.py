"""FPH: probabilistic hierarchies on graphs (Zügner et al., ICLR 2022)."""

from arbora.probabilistic.deepwalk import deepwalk
from arbora.probabilistic.fph import FPH
from arbora.probabilistic.hsbm import HSBM, hierarchical_block_model, large_hsbm, small_hsbm

__all__ = ["FPH", "HSBM", "deepwalk", "hierarchical_block_model", "large_hsbm", "small_hsbm"]
