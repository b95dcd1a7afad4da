"""The stages of a fit of GHHC: where data and nodes start, the source of triples, what remains after a failure."""

from __future__ import annotations

import numpy as np

from arbora._base.rows import Rows
from arbora.hyperbolic.ghhc import decode
from arbora.hyperbolic.ghhc.initialize import initial_nodes
from arbora.hyperbolic.ghhc.options import Options
from arbora.hyperbolic.ghhc.placement import BallPlacement, column_means, first_projection
from arbora.hyperbolic.ghhc.sampling import RowTripleSampler, draw_rows, generator
from arbora.hyperbolic.ghhc.train import TrainingState, start
from arbora.tree import Tree

_START_STREAM, _PROJECTION_STREAM = 2, 3
# rows read for the initial hierarchy
ROWS_PER_LEAF = 10
POOL_STEPS = 50


def first_state(rows: Rows, options: Options, seed: int) -> TrainingState:
    """State before the first step: nodes of a hierarchy over a sample of the rows."""
    placement = first_placement(rows, options, seed)
    n_leaves = (options.n_internal + 1) // 2
    rng = generator(seed, _START_STREAM, 0)
    sample = draw_rows(rows.count_rows(), max(options.pool_size, ROWS_PER_LEAF * n_leaves), rng)
    nodes = initial_nodes(
        placement(rows.take(sample)),
        options.n_internal,
        rng,
        leaves=options.init,
        norms=options.init_norms,
        linkage=options.init_linkage,
        n_sweeps=options.init_sweeps,
    )
    return start(options.plan(seed, options.max_steps), nodes, placement)


def first_placement(rows: Rows, options: Options, seed: int) -> BallPlacement:
    """Where data sits before training: by the mean of the columns and the first projection."""
    rng = generator(seed, _PROJECTION_STREAM, 0)
    projection = first_projection(options.projection, rows.shape[1], options.n_components, rng, rows.dtype)
    return BallPlacement(column_means(rows), projection, options.norm_in(rows.dtype))


def sampler(rows: Rows, placement: BallPlacement, options: Options, seed: int) -> RowTripleSampler:
    """Triples of placed rows."""
    return RowTripleSampler(
        placement.reader(rows),
        rows.count_rows(),
        seed,
        options.n_neighbors,
        options.pool_size,
        POOL_STEPS,
    )


def last_tree(state: TrainingState, rows: Rows) -> Tree | None:
    """Tree of the nodes as they are, None if they are no longer finite."""
    if not np.isfinite(state.table.nodes).all():
        return None
    return decode.most_likely_tree(state.table, rows, state.placement)[0].tree
