"""What the explorer page of a command shows of the data."""

from pathlib import Path

import numpy as np
from cli.in_process import arbora

from arbora import linkage
from arbora.cli._console import Console
from arbora.cli.pages import page_content
from arbora.reading import Dataset


def shown(values):
    tree = linkage(np.nan_to_num(values), "average")
    return page_content(tree, Dataset(values, "vectors", "x.csv", "csv"), Console(quiet=True))


def test_the_scatter_of_columns_in_unlike_units_is_that_of_one_scale():
    rows = np.random.default_rng(0).normal(5, 1, size=(60, 4)) * [1, 20_000, 1, 1]
    points = shown(rows)["points"]
    assert points.std(axis=0).min() > 0.3 * points.std(axis=0).max()
    # columns of one unit need no scale, and the page places them itself
    assert shown(rows / [1, 20_000, 1, 1])["points"] is None


def test_rows_with_gaps_are_shown_without_what_needs_all_numbers(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    tree = linkage(rows, "average")
    tree.save(tmp_path / "tree.npz")
    rows[3, 1] = np.nan
    assert "features" not in shown(rows)
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",", header="a,b,c", comments="")
    done = arbora("show", tmp_path / "tree.npz", "--data", tmp_path / "x.csv", "--html", tmp_path / "x.html")
    assert done.returncode == 0, done.stderr.decode()
    assert Path(tmp_path / "x.html").stat().st_size > 10_000
