"""The method behind L2H: merges, the tree made of them, and both again for resampled points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from arbora._base.progress import ProgressCallback, silent
from arbora._base.types import Floats
from arbora.logits import _affinity
from arbora.logits._bootstrap import resample_trees
from arbora.logits._merge import merge_classes
from arbora.logits._protocol import (
    Aggregation,
    Assignment,
    ClassTotals,
    LogitRows,
    MergeQueries,
    Merges,
    PointRows,
)
from arbora.tree import Tree


@dataclass(frozen=True)
class Method:
    """How a tree is made of logits.

    Attributes
    ----------
    aggregation, merging :
        As in `L2H`.
    refine : dict or None
        Options for `arbora.refine`; None for the tree of Algorithm 1.
    """

    aggregation: Aggregation = "sum_of_means"
    merging: str = "lowest"
    refine: Mapping[str, Any] | None = None

    def merges(
        self,
        assignment: ClassTotals,
        rows: MergeQueries,
        weights: Floats | None = None,
        progress: ProgressCallback = silent,
    ) -> Merges:
        """The steps of Algorithm 1."""
        return merge_classes(
            assignment,
            rows,
            aggregation=self.aggregation,
            merging=self.merging,
            weights=weights,
            progress=progress,
        )

    def tree(
        self, assignment: ClassTotals, rows: LogitRows, merges: Merges, weights: Floats | None = None
    ) -> Tree:
        """Tree of the merges, refined where asked for, with heights."""
        n = assignment.n_classes
        tree = Tree.from_merges(merges.pairs, n) if n > 1 else Tree([-1], 1)
        if self.refine is not None and n > 2:
            affinity = _affinity.class_affinity(rows.class_sums(assignment, weights), assignment.counts)
            tree = _affinity.refine_tree(tree, affinity, self.refine)
            height = _affinity.heights_from_scores(tree, _affinity.class_scores(assignment, weights))
        else:
            height = np.zeros(2 * n - 1)
            height[n:] = np.log1p(np.maximum.accumulate(merges.score)) if n > 1 else []
        return tree.replace(height=height)

    def replicates(
        self,
        assignment: Assignment,
        rows: LogitRows,
        n_bootstraps: int,
        rng: np.random.Generator,
        *,
        max_memory: int,
        progress: ProgressCallback = silent,
    ) -> list[Tree]:
        """Trees of the same method for points resampled within their class."""

        def build(memory: MergeQueries, weights: Floats) -> Tree:
            return self.tree(assignment, rows, self.merges(assignment, memory, weights), weights)

        # logits that do not answer point by point, as on Dask, are refused with bootstraps before they are read
        answering = cast("PointRows", rows)
        return resample_trees(
            assignment, answering, build, n_bootstraps, rng, max_memory=max_memory, progress=progress
        )
