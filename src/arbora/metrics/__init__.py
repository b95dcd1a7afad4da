"""How good a tree is: by a similarity alone (Dasgupta's cost and its kin, TSD) and against known classes."""

from arbora.metrics.dasgupta import cohen_addad_value, dasgupta_cost, moseley_wang_revenue
from arbora.metrics.purity import dendrogram_purity, leaf_purity, least_hierarchical_distance
from arbora.metrics.sampling_divergence import tree_sampling_divergence

__all__ = [
    "cohen_addad_value",
    "dasgupta_cost",
    "dendrogram_purity",
    "leaf_purity",
    "least_hierarchical_distance",
    "moseley_wang_revenue",
    "tree_sampling_divergence",
]
