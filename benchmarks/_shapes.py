"""Planar and spatial sets of gagolews/clustering-data-v1 for `defaults.py`: no rule was chosen on them.

They are read from a copy of that repository at ARBORA_DATA/clustering-data-v1. Sets that `_further` lists are left out,
points that the labels call noise too, and of more than 3,000 rows some are drawn.
"""

from __future__ import annotations

import gzip

import numpy as np

FOLDER = "clustering-data-v1"
MOST_ROWS = 3000
GROUPS = {
    "fcps": "atom chainlink hepta lsun target twodiamonds wingnut",
    "graves": "dense line parabolic ring ring_noisy ring_outliers zigzag zigzag_noisy zigzag_outliers",
    "other": "chameleon_t4_8k chameleon_t5_8k chameleon_t7_10k chameleon_t8_8k hdbscan iris5 square",
    "sipu": "a1 a2 birch1 birch2 flame jain pathbased r15 s1 s2 s4 spiral worms_2",
    "uci": "yeast",
    "wut": "circles cross graph isolation labirynth mk1 mk2 mk4 olympic smile stripes trajectories trapped_lovers "
    "windows x1 x3 z1 z3",
}
PATHS = {f"s_{name}": f"{group}/{name}" for group, names in GROUPS.items() for name in names.split()}


def load(name, data):
    """Rows and classes of a set; FileNotFoundError where the copy is not there."""
    rows, classes = (_numbers(data / FOLDER / f"{PATHS[name]}.{part}.gz") for part in ("data", "labels0"))
    is_known = classes > 0
    rows, classes = rows.reshape(len(classes), -1)[is_known], classes[is_known]
    drawn = (
        np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS] if len(rows) > MOST_ROWS else slice(None)
    )
    return rows[drawn], np.unique(classes[drawn], return_inverse=True)[1]


def _numbers(path):
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file)
