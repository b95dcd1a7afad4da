"""What benchmarks share that compare trees with arbora's and with plain ones on the small sets of `defaults.py`."""

from __future__ import annotations

import argparse
import contextlib
import json

import defaults
import numpy as np
from defaults import HALVES, ROOT

import arbora as ab

MOST_ROWS = 1600


def fitted_and_plain(X):
    """A fitted model, and its tree beside the plain ones, by name."""
    model = ab.TreeClustering(random_state=0).fit(X)
    trees = {
        "arbora": model.tree_,
        "Ward": ab.linkage(X, "ward"),
        "average": ab.linkage(X, "average"),
        "bisecting k-means": ab.bisecting_kmeans(X, random_state=0),
    }
    return model, trees


def run(description, name, measure, purity_of, summarize, fewest_rows=0):
    """Measure the sets that the command line asks for, print and summarize what was found, and keep it as JSON.

    `measure` takes rows and classes and gives something for each tree, of which `purity_of` is printed.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--half", nargs="+", choices=HALVES, default=["choose", "further-choose", "wider-choose"]
    )
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    names = ["iris", "zoo", "cancer"] if options.quick else " ".join(HALVES[h] for h in options.half).split()
    found = {}
    for data in names:
        with contextlib.suppress(FileNotFoundError):
            X, y = defaults.load(data)
            if fewest_rows <= len(X) <= MOST_ROWS:
                found[data] = measure(X, np.unique(y, return_inverse=True)[1])
                purities = (f"{way} {purity_of(values):.3f}" for way, values in found[data].items())
                print(data.ljust(20) + "   ".join(purities), flush=True)
    summarize(found)
    (ROOT / "results").mkdir(exist_ok=True)
    (ROOT / "results" / f"{name}.json").write_text(json.dumps(found, indent=1))
