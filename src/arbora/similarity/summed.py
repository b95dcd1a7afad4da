"""What is known of a graph that no single machine holds: sums that heights, cuts and costs of one tree need."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.optional import require
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.errors import TooLargeError
from arbora.similarity.knn import KnnSimilarity, knn
from arbora.similarity.protocol import Similarity
from arbora.similarity.sharded import ShardedGraph
from arbora.similarity.shards import Edges
from arbora.tree import Tree


class Parts(NamedTuple):
    """Parts of a graph on a cluster.

    Attributes
    ----------
    held : list of delayed parts
    edges_of : callable
        The edges of a part, from the part and its number: each edge of the graph with one part.
    """

    held: list[Any]
    edges_of: Callable[[Any, int], Edges]


class DistributedGraph(Similarity):
    """A graph of nearest neighbors that was built on a cluster, by its sums over one tree.

    It answers what heights, cuts and costs of that tree ask. As long as the cluster holds its parts it answers all else
    too, by sums over them, so that trees can be refined; files and other processes get the sums alone. New points are
    compared with a sample of the rows.

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
        parts: Parts | None = None,
    ) -> None:
        self._parent, self._cross, self._degrees = parent, cross, degrees
        self.n_edges, self.n_neighbors, self.metric = n_edges, n_neighbors, metric
        self.sampled, self._sample = sampled, sample
        self._parts = parts
        self.names: list[str] | None = None

    def in_shards(self) -> ShardedGraph | None:
        """The graph by the parts that the cluster holds; None where they are gone."""
        return self._shards

    @cached_property
    def _shards(self) -> ShardedGraph | None:
        if self._parts is None:
            return None
        delayed = require("dask", "A Dask array").delayed
        edges = [
            delayed(self._parts.edges_of)(*pair)
            for pair in zip(self._parts.held, range(len(self._parts.held)))
        ]
        return ShardedGraph(edges, self.n_points)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what the cluster holds."""
        return {**{name: value for name, value in vars(self).items() if name != "_shards"}, "_parts": None}

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
        """Similarity that meets at each internal node of a tree."""
        if not np.array_equal(tree.parent, self._parent):
            self._parent, self._cross = tree.parent, self._held("The sums of another tree").cross(tree)
        return self._cross

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs; 0 where there is no edge."""
        return self._held("Single similarities").pairs(i, j)

    def _held(self, what: str) -> ShardedGraph:
        """The graph in shards, or an error that says what is impossible without it."""
        shards = self.in_shards()
        if shards is None:
            raise TooLargeError(_words(what))
        return shards

    def arrays(self) -> dict[str, Any]:
        """All that is here, for a file."""
        values = self.n_edges, self.n_neighbors, self.metric
        return {
            "parent": self._parent,
            "cross": self._cross,
            "degrees": self._degrees,
            "sampled": self.sampled,
            "sample": self._sample,
            **{name: np.array(value) for name, value in zip(("n_edges", "n_neighbors", "metric"), values)},
        }

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
        f"{what} is not available for a graph that was built on a Dask cluster and saved or sent without it: its edges "
        "were never on one machine. Fit again, or where the rows fit into memory pass them as an array."
    )
