"""The graphs of the FPH paper, read with its conventions, and a synthetic one of its largest size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import arbora as ab

FOLDER = (
    Path(os.environ.get("ARBORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "graphs"
)
SMALL = ("cora_ml", "citeseer", "polblogs", "openflight")
RESULTS = Path(__file__).parent / "results"


def arrays(name):
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def load_graph(name):
    """The graph as a similarity. Its adjacency has 2 on the diagonal for a self-loop: one edge of weight 1."""
    data = arrays(name)
    rows, cols = data["rows"], data["cols"]
    weights = data["weights"].astype(np.float64) if "weights" in data else np.ones(len(rows))
    if "selfloops" in data:
        rows, cols = (np.concatenate([ends, data["selfloops"]]) for ends in (rows, cols))
        weights = np.concatenate([weights, data["selfloop_weights"] / 2])
    return ab.similarity.graph((rows, cols, weights), n_points=int(data["n"]))


def load_labels(name):
    return arrays(name)["labels"]


def load_attributes(name="cora_ml_attrs"):
    """Bag of words of the documents."""
    data = arrays(name)
    return sp.csr_array((data["data"], data["indices"], data["indptr"]), shape=tuple(data["shape"]))


def planted_graph(n_nodes, n_edges, seed=0, n_blocks=4096):
    """A sparse graph with two levels of communities and a heavy-tailed degree, built in a few passes.

    Half of the edges join nodes of one block, a third nodes of neighbouring blocks, the rest any two.
    """
    rng = np.random.default_rng(seed)
    start = np.linspace(0, n_nodes, n_blocks + 1).astype(np.int64)
    codes = []
    for share, width in ((0.5, 1), (0.33, 64), (0.17, n_blocks)):
        count = int(n_edges * share)
        group = rng.integers(0, n_blocks // width, count) * width
        low, high = start[group], start[np.minimum(group + width, n_blocks)]
        ends = [low + ((high - low) * rng.random(count) ** 2).astype(np.int64) for _ in range(2)]
        keep = ends[0] != ends[1]
        codes.append(np.minimum(*ends)[keep] * n_nodes + np.maximum(*ends)[keep])
    codes = np.unique(np.concatenate(codes))
    return (codes // n_nodes).astype(np.int32), (codes % n_nodes).astype(np.int32)
