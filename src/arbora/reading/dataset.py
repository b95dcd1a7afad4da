"""What a file held, and how each part of it was interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import AnyFloats
from arbora.reading.genes import Genes
from arbora.reading.options import Kind
from arbora.similarity.scaling import Scaling, fit_scaling

if TYPE_CHECKING:
    from arbora.similarity import Similarity


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors, a graph, distances or similarities, with what is known about the points.

    Printing one shows how each part was interpreted. `arbora.cluster`, `TreeClustering.fit` and `linkage` take it as
    it is and name the leaves by `names`.

    Attributes
    ----------
    values : ndarray or scipy.sparse.csr_array
        One row per point. Square for a graph (adjacency), distances and similarities.
    kind : {"vectors", "graph", "distances", "similarities"}
        What `values` are.
    source : str
        The file.
    format : str
        Its format.
    names : list of str or None
        One per point.
    feature_names : list of str or None
        One per column of the vectors.
    y : ndarray or None
        The known class of each point, None where it is missing.
    label_name : str or None
        The column that `y` came from.
    texts : list of str or None
        One per point, empty where it is missing.
    metadata : dict of ndarray
        The other columns by name: numbers, texts, dates.
    points : ndarray of shape (n_points, 2) or None
        Where to draw each point in a scatter plot, such as the UMAP of cells.
    genes : Genes or None
        Of cells: the expression behind the vectors, to color by.
    category_colors : dict of dict
        Colors that came with the data, such as scanpy's: of each category, by column.
    roles : dict of str
        How each part was interpreted, in words.
    notes, warnings : tuple of str
        What is worth knowing, and what should be checked before trusting a tree.

    Examples
    --------
    >>> import arbora as ab
    >>> import numpy as np
    >>> print(ab.read({"x": [0.0, 1.0, 5.0], "y": [1.0, 0.5, 3.0], "town": ["Ulm", "Bonn", "Jena"]}))
    mapping: 3 vectors of 2 features (columns)
      features  'x', 'y'
      names     'town'
    """

    values: Any
    kind: Kind
    source: str
    format: str
    names: list[str] | None = None
    feature_names: list[str] | None = None
    y: NDArray[Any] | None = None
    label_name: str | None = None
    texts: list[str] | None = None
    metadata: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    points: NDArray[Any] | None = None
    genes: Genes | None = None
    category_colors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n_points(self) -> int:
        """Rows of the vectors, or nodes of the graph."""
        return int(self.values.shape[0])

    def __len__(self) -> int:
        return self.n_points

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        dense = self.values.toarray() if sp.issparse(self.values) else self.values
        return np.array(dense, dtype=dtype, copy=copy)

    def as_input(self) -> AnyFloats | sp.csr_array | Similarity:
        """What functions cluster: the vectors, or the similarity that a graph or a square matrix stands for."""
        from arbora.similarity import dense, graph

        if self.kind == "graph":
            return graph(self.values)
        if self.kind == "similarities":
            return dense(self.values)
        return self.values

    def with_scale(self, scale: str, like: Dataset | None = None) -> Dataset:
        """The same with features scaled alike: "standard", "robust" or "rank" (`arbora.similarity.scaling`).

        New points are brought to the scale of the data they are compared with, `like`.
        """
        if scale in ("none", "auto") or self.kind != "vectors":
            return self
        if sp.issparse(self.values):
            raise ValueError(
                f"scale={scale!r} would fill the sparse matrix of {self.source}. Use scale='none'."
            )
        scaling = fit_scaling(scale, (self if like is None else like).values)
        return self.scaled_by(scaling)

    def scaled_by(self, scaling: Scaling | None) -> Dataset:
        """The same with features brought to the scale of other data."""
        if scaling is None:
            return self
        values = scaling.apply(np.asarray(self.values, dtype=np.float64))
        return replace(self, values=values, roles={**self.roles, "scale": scaling.kind})

    def subset(self, rows: Sequence[int] | NDArray[Any]) -> Dataset:
        """The same for some of the points, in this order; a mask of all points chooses those it holds true for."""
        index = _row_numbers(rows, self.n_points)
        square = self.kind != "vectors"
        return replace(
            self,
            values=self.values[index][:, index] if square else self.values[index],
            names=None if self.names is None else [self.names[k] for k in index],
            y=None if self.y is None else self.y[index],
            texts=None if self.texts is None else [self.texts[k] for k in index],
            metadata={name: column[index] for name, column in self.metadata.items()},
            points=None if self.points is None else self.points[index],
            genes=None if self.genes is None else self.genes.subset(index),
        )

    def facts(self) -> dict[str, Any]:
        """Numbers and roles, for reports."""
        facts: dict[str, Any] = {
            "source": self.source,
            "format": self.format,
            "kind": self.kind,
            "points": self.n_points,
        }
        if self.kind == "vectors":
            facts["features"] = int(self.values.shape[1])
        if self.kind == "graph":
            facts["edges"] = n_edges(self.values)
        if self.y is not None:
            facts["classes"] = len({value for value in self.y.tolist() if value is not None})
        return {**facts, "taken as": dict(self.roles)}

    def __str__(self) -> str:
        width = max((len(role) for role in self.roles), default=0)
        lines = [f"{self.source}: {self._size()} ({self.format})"]
        lines += [f"  {role:<{width}}  {words}" for role, words in self.roles.items()]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _size(self) -> str:
        n = self.n_points
        if self.kind == "vectors":
            return (
                f"{counted(n, 'vector', 'vectors')} of {counted(self.values.shape[1], 'feature', 'features')}"
            )
        if self.kind == "graph":
            return f"a graph of {n:,} nodes and {n_edges(self.values):,} edges"
        return f"{self.kind} of {n:,} points"

    def check_usable(self) -> None:
        """Raise on missing and infinite values, naming the row and column of the first."""
        stored = self.values.data if sp.issparse(self.values) else self.values
        bad = ~np.isfinite(stored)
        if not bad.any():
            return
        where = ""
        if bad.ndim == 2:
            row, column = (int(index) for index in np.argwhere(bad)[0])
            name = f"{self.feature_names[column]!r}" if self.feature_names else f"{column + 1}"
            where = (
                f" The first is in row {row + 1}, column {name} (rows counted from 1, without the header)."
            )
        raise ValueError(
            f"{self.source} has {int(bad.sum()):,} missing or infinite values.{where} Fill or remove them."
        )


def _row_numbers(rows: Any, n_points: int) -> NDArray[np.int64]:
    index = np.asarray(rows)
    if index.dtype == np.bool_ and index.shape == (n_points,):
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise TypeError(
            f"rows must be row numbers, or a mask of {n_points:,} points. Got {index.dtype} of shape {index.shape}."
        )
    return index.astype(np.int64)


def counted(count: int, one: str, several: str) -> str:
    """How many there are of something, in words."""
    return f"{count:,} {one if count == 1 else several}"


def n_edges(adjacency: Any) -> int:
    """Edges of a symmetric adjacency matrix, each counted once, loops included."""
    loops = int(np.count_nonzero(adjacency.diagonal()))
    return (int(adjacency.nnz) - loops) // 2 + loops
