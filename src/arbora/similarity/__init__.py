"""What "alike" means: dense matrix, inner-product features, sparse graph, nearest neighbors, Gaussian kernel."""

from arbora.similarity._protocol import Similarity
from arbora.similarity.dense import DenseSimilarity, dense
from arbora.similarity.features import FeatureSimilarity, cosine
from arbora.similarity.gaussian import GaussianSimilarity, gaussian
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.similarity.knn import KnnSimilarity, knn

__all__ = [
    "DenseSimilarity",
    "FeatureSimilarity",
    "GaussianSimilarity",
    "GraphSimilarity",
    "KnnSimilarity",
    "Similarity",
    "cosine",
    "dense",
    "gaussian",
    "graph",
    "knn",
]
