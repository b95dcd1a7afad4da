"""What "alike" means: dense matrix, inner-product features, sparse graph, nearest neighbours, Gaussian kernel."""

from arbora.similarity._protocol import Similarity
from arbora.similarity.dense import DenseSimilarity, dense
from arbora.similarity.features import FeatureSimilarity, cosine
from arbora.similarity.graph import GraphSimilarity, graph

__all__ = [
    "DenseSimilarity",
    "FeatureSimilarity",
    "GraphSimilarity",
    "Similarity",
    "cosine",
    "dense",
    "graph",
]
