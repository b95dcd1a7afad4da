"""The graphs of the FPH paper, read with its conventions, and a synthetic one of its largest size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import arbora as ab
from arbora.similarity.graph import GraphSimilarity

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
    """A sparse graph with two levels of communities and uneven degrees, built in a few passes.

    Half of the edges join nodes of one block, a third nodes of 64 neighboring blocks, the rest any two.
    """
    rng = np.random.default_rng(seed)
    start = np.linspace(0, n_nodes, n_blocks + 1).astype(np.int64)
    codes = []
    for share, width in ((0.5, 1), (0.33, min(64, n_blocks)), (0.17, n_blocks)):
        count = int(1.02 * n_edges * share)
        group = rng.integers(0, n_blocks // width, count) * width
        low, high = start[group], start[group + width]
        ends = [low + ((high - low) * rng.random(count) ** 1.3).astype(np.int64) for _ in range(2)]
        keep = ends[0] != ends[1]
        codes.append(np.minimum(*ends)[keep] * n_nodes + np.maximum(*ends)[keep])
    codes = np.unique(np.concatenate(codes))
    codes = np.sort(rng.permutation(codes)[:n_edges])
    low, high = (codes // n_nodes).astype(np.int32), (codes % n_nodes).astype(np.int32)
    weight = np.ones(len(low), dtype=np.float32)
    upper = sp.csr_array((weight, (low, high)), shape=(n_nodes, n_nodes))
    return GraphSimilarity(sp.csr_array(upper + upper.T))
