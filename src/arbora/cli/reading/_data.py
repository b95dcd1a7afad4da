"""What a file held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arbora.cli._exit import Unusable


@dataclass(frozen=True)
class ReadOptions:
    """How to read: what the user said on the command line."""

    format: str = "auto"
    label_column: str | None = None
    name_column: str | None = None
    delimiter: str | None = None
    key: str | None = None
    obsm: str | None = None


@dataclass
class Data:
    """Vectors, a graph or a tree, with what is known about the points.

    Attributes
    ----------
    kind : {"vectors", "graph", "tree"}
    values : ndarray, sparse matrix or Tree
    """

    kind: str
    values: Any
    source: str
    format: str
    labels: np.ndarray | None = None
    label_name: str | None = None
    names: list[str] | None = None
    feature_names: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def n_points(self) -> int:
        """Rows, nodes or leaves."""
        return int(self.values.n_leaves if self.kind == "tree" else self.values.shape[0])

    def facts(self) -> dict[str, Any]:
        """For reports."""
        facts = {"source": self.source, "format": self.format, "kind": self.kind, "points": self.n_points}
        if self.kind == "vectors":
            facts["features"] = int(self.values.shape[1])
        if self.kind == "graph":
            facts["edges"] = int(self.values.nnz)
        if self.labels is not None:
            facts["classes"] = len(set(self.labels.tolist()))
        return facts

    def check_usable(self) -> None:
        """Vectors must be a finite numeric matrix with rows and columns."""
        if self.kind != "vectors":
            return
        values = self.values
        if values.shape[0] == 0 or values.shape[1] == 0:
            raise Unusable(f"{self.source} has no data: shape {values.shape}.")
        stored = values.data if hasattr(values, "tocsr") else values
        bad = ~np.isfinite(stored)
        if bad.any():
            where = (
                "" if hasattr(values, "tocsr") else f" The first is in row {int(np.argmax(bad.any(axis=1)))}."
            )
            raise Unusable(
                f"{self.source} has {int(bad.sum())} missing or infinite values.{where} Fill or remove them."
            )
