"""What "alike" means: dense matrix, inner-product features, sparse graph, nearest neighbors, Gaussian kernel."""

from arbora.similarity.dense import DenseSimilarity, dense
from arbora.similarity.features import FeatureSimilarity, cosine
from arbora.similarity.gaussian import GaussianSimilarity, all_pairs, are_few, gaussian
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.similarity.inputs import as_similarity
from arbora.similarity.knn import KnnSimilarity, knn
from arbora.similarity.protocol import Similarity

__all__ = [
    "DenseSimilarity",
    "FeatureSimilarity",
    "GaussianSimilarity",
    "GraphSimilarity",
    "KnnSimilarity",
    "Similarity",
    "all_pairs",
    "are_few",
    "as_similarity",
    "cosine",
    "dense",
    "gaussian",
    "graph",
    "knn",
]
