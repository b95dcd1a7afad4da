"""How good a tree is: by a similarity alone (Dasgupta's cost and its relatives, TSD) and against known classes."""

from arbora.metrics.agreement import clustering_accuracy, flat_scores, leaf_purity
from arbora.metrics.bounds import dasgupta_bounds, wang_base_cost, wang_cost
from arbora.metrics.cophenetic import cophenetic_correlation
from arbora.metrics.dasgupta import cohen_addad_value, dasgupta_cost, moseley_wang_revenue
from arbora.metrics.levels import level_scores
from arbora.metrics.purity import dendrogram_purity, least_hierarchical_distance
from arbora.metrics.sampling_divergence import tree_sampling_divergence
from arbora.metrics.summary import score

__all__ = [
    "clustering_accuracy",
    "cohen_addad_value",
    "cophenetic_correlation",
    "dasgupta_bounds",
    "dasgupta_cost",
    "dendrogram_purity",
    "flat_scores",
    "leaf_purity",
    "least_hierarchical_distance",
    "level_scores",
    "moseley_wang_revenue",
    "score",
    "tree_sampling_divergence",
    "wang_base_cost",
    "wang_cost",
]
