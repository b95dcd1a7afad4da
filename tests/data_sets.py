"""The published data sets, where they are: the folder ARBORA_DATA, or ../shared/data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(os.environ.get("ARBORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def load(name):
    """Arrays of one data set, e.g. load("vectors/zoo"); skips the test where the data is absent."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"needs {name}.npz: set ARBORA_DATA to the folder of published data sets")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def hyphc_features(name):
    """HypHC's recipe: z-scored columns (constant ones dropped), rows of norm 1."""
    X = load(f"vectors/{name}")["X"].astype(np.float64)
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True)
