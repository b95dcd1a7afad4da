"""A clustering that gets more points: its similarity grows, then its tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.progress import ProgressCallback, silent
from arbora.metrics import dasgupta_cost
from arbora.search.cluster import Built, Options, Timed
from arbora.search.components import join_components
from arbora.search.inputs import Input, vectors_input
from arbora.search.insert import insert
from arbora.search.report import ClusterReport, cost_per_weight
from arbora.similarity import Similarity
from arbora.similarity.growth import grown, joined_names


def grow(
    built: Built,
    rows: Any,
    names: list[str] | None,
    options: Options,
    progress: ProgressCallback = silent,
) -> Built:
    """The clustering with new points inserted at their best places and the tree improved around them."""
    seconds: dict[str, float] = {}
    with Timed(seconds, "similarity", progress):
        compared = grown(
            built.similarity,
            rows,
            names=names,
            n_neighbors=options.n_neighbors,
            n_jobs=options.n_jobs,
            random_state=options.random_state,
        )
    with Timed(seconds, "insert", progress) as stage:
        tree = insert(
            built.tree,
            compared,
            max_seconds=options.max_seconds,
            progress=lambda name, done, total: stage.update(done),
        )
    with Timed(seconds, "components", progress):
        tree, n_components = join_components(tree, compared)
    n_new = compared.n_points - built.tree.n_leaves
    words = f"{n_new:,} points added to {built.tree.n_leaves:,}"
    cost = cost_per_weight(dasgupta_cost(tree, compared), compared)
    report = ClusterReport(
        words,
        repr(compared),
        cost,
        cost,
        seconds,
        n_components=n_components,
        choices=built.report.choices,
        _compared=compared,
    )
    return Built(tree, compared, report, built.metric, built.scaling)


def all_vectors(similarity: Similarity, rows: Any, names: list[str] | None) -> Input:
    """Old and new vectors together, for a fit on all of them: few points, whose vectors are dense."""
    old = np.asarray(similarity.vectors())
    new = rows.toarray() if sp.issparse(rows) else rows
    known = joined_names(similarity.names, names, len(old), len(new))
    return vectors_input(np.vstack([old, new]), known)
