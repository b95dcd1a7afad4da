"""What is known of a graph that no single machine holds: sums that heights, cuts and costs of one tree need."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import AnyFloats, Floats, Ints
from arbora.errors import TooLargeError
from arbora.similarity import KnnSimilarity, Similarity, knn
from arbora.tree import Tree


class DistributedGraph(Similarity):
    """A graph of nearest neighbors that was built on a cluster, by its sums over one tree.

    It answers what heights, cuts and costs of that tree ask. New points are compared with a sample of the rows.

    Attributes
    ----------
    n_edges, n_neighbors : int
    metric : str
    sampled : ndarray of int64
        The rows that new points are compared with.

    Examples
    --------
    >>> import numpy as np, dask.array as da, arbora as ab
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(60, 3)), chunks=(20, 3))
    >>> ab.TreeClustering(3, random_state=0).fit(X).similarity_.n_points
    60
    """

    def __init__(
        self,
        parent: Ints,
        cross: Floats,
        degrees: Floats,
        *,
        n_edges: int,
        n_neighbors: int,
        metric: str,
        sampled: Ints,
        sample: AnyFloats,
    ) -> None:
        self._parent, self._cross, self._degrees = parent, cross, degrees
        self.n_edges, self.n_neighbors, self.metric = n_edges, n_neighbors, metric
        self.sampled, self._sample = sampled, sample
        self.names: list[str] | None = None

    @property
    def n_points(self) -> int:
        """Rows of the data."""
        return len(self._degrees)

    @property
    def degrees(self) -> Floats:
        """Sum of the similarities of each point."""
        return self._degrees

    @property
    def total(self) -> float:
        """Sum of all similarities, each pair once."""
        return float(self._degrees.sum()) / 2

    @property
    def is_non_negative(self) -> bool:
        """True: weights of neighbors."""
        return True

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node of the tree that was built with this graph."""
        if not np.array_equal(tree.parent, self._parent):
            raise TooLargeError(_words("The sums of another tree"))
        return self._cross

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Refused: nobody holds the edges any longer."""
        raise TooLargeError(_words("Single similarities"))

    def for_new_points(self, tree: Tree) -> tuple[Tree, Similarity, Ints | None]:
        """The tree over the sampled rows, their own graph, and which rows they are."""
        return tree.restrict(self.sampled), self._sample_graph, self.sampled

    @cached_property
    def _sample_graph(self) -> KnnSimilarity:
        metric: Any = self.metric
        return knn(self._sample, self.n_neighbors, metric, random_state=0)

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        return {"parent": self._parent, "cross": self._cross, "degrees": self._degrees}

    def __repr__(self) -> str:
        return f"DistributedGraph(n_points={self.n_points}, n_edges={self.n_edges}, n_neighbors={self.n_neighbors})"


def _words(what: str) -> str:
    return (
        f"{what} cannot be had of a graph that was built on a Dask cluster: its edges were never on one machine. "
        "Where the rows fit into memory, pass them as an array."
    )
