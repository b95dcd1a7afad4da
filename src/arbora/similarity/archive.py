"""Similarities as arrays, for files that hold a tree together with what it was built by.

A neighbor graph keeps its vectors in the form in which they are searched and the local scales of its points, so that
new points are compared after loading exactly as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.params import check_choice
from arbora.errors import FormatError
from arbora.similarity._duplicates import Groups
from arbora.similarity._neighbors import Index, NeighborIndex
from arbora.similarity._other_indices import DistanceIndex, SparseIndex
from arbora.similarity._space import DistanceSpace, Space, VectorSpace
from arbora.similarity._weights import Weighting
from arbora.similarity.dense import DenseSimilarity
from arbora.similarity.features import FeatureSimilarity
from arbora.similarity.gaussian import (
    GAUSSIAN_METRICS,
    DistanceSimilarity,
    GaussianMetric,
    GaussianSimilarity,
)
from arbora.similarity.graph import GraphSimilarity
from arbora.similarity.knn import KnnModel, KnnSimilarity
from arbora.similarity.protocol import Similarity
from arbora.similarity.summed import DistributedGraph

Arrays = dict[str, NDArray[Any]]
# Numbers and arrays that each part of a neighbor graph is made of, where it has them.
_INDEX = ("shift", "scale", "exponent", "rows", "order", "offsets", "centers")
_WEIGHTING = ("kind", "radius", "nearest", "scale", "heat")
_SPACE = ("metric", "n_points", "n_features", "stays_sparse", "places")


def similarity_to_arrays(similarity: Similarity) -> Arrays:
    """Everything in a similarity, as arrays that `similarity_from_arrays` takes.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.similarity.archive import similarity_from_arrays, similarity_to_arrays
    >>> arrays = similarity_to_arrays(ab.similarity.graph(([0, 1], [1, 2])))
    >>> similarity_from_arrays(arrays)
    GraphSimilarity(n_points=3, n_edges=2)
    """
    for kind, (cls, write, _) in _KINDS.items():
        if type(similarity) is cls:
            return {"kind": np.array(kind), **write(similarity)}
    raise TypeError(
        f"A {type(similarity).__name__} cannot be saved: only the similarities of arbora.similarity can. "
        "Save tree_ alone with tree_.save(path)."
    )


def similarity_from_arrays(arrays: Mapping[str, NDArray[Any]], names: list[str] | None = None) -> Similarity:
    """The similarity that `similarity_to_arrays` was given; `FormatError` if the arrays do not describe one."""
    try:
        _, _, read = _KINDS[str(arrays["kind"])]
        similarity = read(arrays)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as problem:
        raise FormatError(f"The similarity is damaged: {problem}") from problem
    similarity.names = names
    return similarity


# ---- the plain kinds -----------------------------------------------------------------------------------------


def _write_dense(similarity: DenseSimilarity) -> Arrays:
    return {"matrix": similarity.matrix}


def _read_dense(arrays: Mapping[str, NDArray[Any]]) -> DenseSimilarity:
    matrix = arrays["matrix"]
    _require(matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1], "its matrix is not square")
    return DenseSimilarity(matrix)


def _write_distances(similarity: DistanceSimilarity) -> Arrays:
    return {"matrix": similarity.matrix, "scale": np.array(similarity.scale)}


def _read_distances(arrays: Mapping[str, NDArray[Any]]) -> DistanceSimilarity:
    return DistanceSimilarity(_read_dense(arrays).matrix, float(arrays["scale"]))


def _write_features(similarity: FeatureSimilarity) -> Arrays:
    return {
        "features": similarity.features,
        "affine": np.array(similarity.affine),
        "is_non_negative": np.array(similarity.is_non_negative),
    }


def _read_features(arrays: Mapping[str, NDArray[Any]]) -> FeatureSimilarity:
    _require(arrays["features"].ndim == 2, "its features are not a matrix")
    return FeatureSimilarity(
        arrays["features"],
        is_non_negative=bool(arrays["is_non_negative"]),
        affine=bool(arrays["affine"]),
    )


def _write_gaussian(similarity: GaussianSimilarity) -> Arrays:
    return {"X": similarity.X, "scale": np.array(similarity.scale), "metric": np.array(similarity.metric)}


def _read_gaussian(arrays: Mapping[str, NDArray[Any]]) -> GaussianSimilarity:
    _require(arrays["X"].ndim == 2, "its vectors are not a matrix")
    metric: GaussianMetric = check_choice(str(arrays["metric"]), "metric", GAUSSIAN_METRICS)
    return GaussianSimilarity(arrays["X"], float(arrays["scale"]), metric)


def _write_graph(similarity: GraphSimilarity) -> Arrays:
    return {**_write_csr("csr", similarity.csr), "self_loops": similarity.self_loops}


def _read_graph(arrays: Mapping[str, NDArray[Any]]) -> GraphSimilarity:
    csr = _read_csr("csr", arrays)
    _require(csr.shape[0] == csr.shape[1], "its adjacency is not square")
    _require(arrays["self_loops"].shape == (csr.shape[0],), "its self-loops do not fit")
    return GraphSimilarity(csr, arrays["self_loops"])


def _write_distributed(similarity: DistributedGraph) -> Arrays:
    return similarity.arrays()


def _read_distributed(arrays: Mapping[str, NDArray[Any]]) -> DistributedGraph:
    parent, cross, degrees, sampled, sample = (
        arrays[name] for name in ("parent", "cross", "degrees", "sampled", "sample")
    )
    _require(len(parent) == len(cross) + len(degrees), "its sums do not fit its tree")
    _require(sample.ndim == 2 and len(sample) == len(sampled), "its sample does not fit")
    _require(
        len(sampled) == 0 or 0 <= sampled.min() <= sampled.max() < len(degrees), "its sample lies outside"
    )
    metric = check_choice(str(arrays["metric"]), "metric", ("cosine", "euclidean"))
    n_edges, n_neighbors = int(arrays["n_edges"]), int(arrays["n_neighbors"])
    return DistributedGraph(
        parent,
        cross,
        degrees,
        n_edges=n_edges,
        n_neighbors=n_neighbors,
        metric=metric,
        sampled=sampled,
        sample=sample,
    )


# ---- neighbor graphs -----------------------------------------------------------------------------------------


def _write_knn(similarity: KnnSimilarity) -> Arrays:
    model = similarity.model
    arrays = _write_csr("csr", similarity.csr)
    arrays["n_neighbors"], arrays["metric"] = np.array(similarity.n_neighbors), np.array(similarity.metric)
    arrays["groups.first"], arrays["groups.group"] = model.groups
    arrays |= _values("space", model.space, _SPACE)
    reduction = getattr(model.space, "reduction", None)
    if reduction is not None:
        arrays["space.reduction"] = reduction.components_
    arrays |= _values("weighting", model.weighting, _WEIGHTING)
    if isinstance(model.index, SparseIndex):
        arrays |= _write_csr("index.sparse", model.index.model._fit_X)
        arrays["index.unit"] = np.array(model.index.unit)
    elif isinstance(model.index, NeighborIndex):
        arrays |= _values("index", model.index, _INDEX)
    return arrays


def _read_knn(arrays: Mapping[str, NDArray[Any]]) -> KnnSimilarity:
    metric = str(arrays["metric"])
    csr = _read_csr("csr", arrays)
    _require(csr.shape[0] == csr.shape[1], "its adjacency is not square")
    groups = Groups(arrays["groups.first"], arrays["groups.group"])
    _require(len(groups.group) == csr.shape[0], "its groups do not fit")
    space: Space = _restored(DistanceSpace if metric == "precomputed" else VectorSpace, "space", arrays)
    space.names = None
    if isinstance(space, VectorSpace):
        space.rows = None
        space.reduction = _read_reduction(arrays) if "space.reduction" in arrays else None
    elif isinstance(space, DistanceSpace) and "space.places" not in arrays:
        space.places = None
    index = _read_index(metric, arrays)
    model = KnnModel(space, groups, index, _restored(Weighting, "weighting", arrays), metric)
    return KnnSimilarity(csr, int(arrays["n_neighbors"]), model)


def _read_index(metric: str, arrays: Mapping[str, NDArray[Any]]) -> Index:
    if metric == "precomputed":
        return DistanceIndex(None)
    if "index.sparse.shape" in arrays:
        return SparseIndex(_read_csr("index.sparse", arrays), float(arrays["index.unit"]))
    return _read_neighbor_index(arrays)


def _read_neighbor_index(arrays: Mapping[str, NDArray[Any]]) -> NeighborIndex:
    index: NeighborIndex = _restored(NeighborIndex, "index", arrays)
    n_points = len(index.rows)
    is_order = np.array_equal(np.sort(index.order), np.arange(n_points))
    _require(is_order and index.offsets[-1] == n_points, "its rows do not fit their order")
    index.is_exact = "index.centers" not in arrays
    index.centers = arrays.get("index.centers")
    index.dtype = index.rows.dtype
    index.squares = np.einsum("ij,ij->i", index.rows, index.rows)
    return index


def _read_reduction(arrays: Mapping[str, NDArray[Any]]) -> Any:
    from sklearn.decomposition import TruncatedSVD

    components = arrays["space.reduction"]
    reduction = TruncatedSVD(len(components))
    reduction.components_, reduction.n_features_in_ = components, components.shape[1]
    return reduction


# ---- parts ---------------------------------------------------------------------------------------------------


def _values(prefix: str, part: Any, names: tuple[str, ...]) -> Arrays:
    known = vars(part)
    return {f"{prefix}.{name}": np.asarray(known[name]) for name in names if known.get(name) is not None}


def _restored(cls: type[Any], prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """An object with the attributes that were written under a prefix; numbers and text as Python's own."""
    part = object.__new__(cls)
    for name, value in arrays.items():
        if name.startswith(f"{prefix}.") and name.count(".") == 1:
            setattr(part, name.partition(".")[2], value.item() if value.ndim == 0 else value)
    return part


def _write_csr(prefix: str, csr: Any) -> Arrays:
    return {
        f"{prefix}.data": csr.data,
        f"{prefix}.indices": csr.indices,
        f"{prefix}.indptr": csr.indptr,
        f"{prefix}.shape": np.array(csr.shape),
    }


def _read_csr(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> sp.csr_array:
    parts = (arrays[f"{prefix}.{name}"] for name in ("data", "indices", "indptr"))
    rows, columns = (int(length) for length in arrays[f"{prefix}.shape"])
    csr = sp.csr_array(tuple(parts), shape=(rows, columns))
    csr.check_format(full_check=True)
    _require(bool(np.isfinite(csr.data).all()), "its weights are not finite")
    return csr


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


_KINDS: dict[str, tuple[type[Similarity], Callable[[Any], Arrays], Callable[[Any], Similarity]]] = {
    "distributed": (DistributedGraph, _write_distributed, _read_distributed),
    "dense": (DenseSimilarity, _write_dense, _read_dense),
    "distances": (DistanceSimilarity, _write_distances, _read_distances),
    "features": (FeatureSimilarity, _write_features, _read_features),
    "gaussian": (GaussianSimilarity, _write_gaussian, _read_gaussian),
    "graph": (GraphSimilarity, _write_graph, _read_graph),
    "knn": (KnnSimilarity, _write_knn, _read_knn),
}
