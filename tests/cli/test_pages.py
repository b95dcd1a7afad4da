"""What the explorer page of a command shows of the data."""

import base64
import re
import zlib
from pathlib import Path

import numpy as np
from cli.in_process import arbora

from arbora import linkage
from arbora.cli._console import Console
from arbora.cli.pages import page_content
from arbora.reading import Dataset
from arbora.view._pack import unpack


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


def test_pages_of_graphs_know_what_edits_cost_and_which_nodes_are_similar(tmp_path):
    edges = [("owl", "hen", 3), ("hen", "jay", 1), ("cod", "eel", 2), ("jay", "cod", 1)]
    table = "source,target,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in edges)
    (tmp_path / "g.csv").write_text(table)
    assert arbora("fit", tmp_path / "g.csv", "--format", "edges", "--out", tmp_path / "t.npz").returncode == 0
    for option, array in (("--no-browser", "similar"), ("--edit", "edgeWeight")):
        done = arbora(
            "show", tmp_path / "t.npz", "--data", tmp_path / "g.csv", "--format", "edges", option,
            "--html", tmp_path / "g.html",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        data = re.search(r'id="arbora-data">([^<]*)<', (tmp_path / "g.html").read_text(encoding="utf-8"))[1]
        facts, arrays = unpack(zlib.decompress(base64.b64decode(data)))
        assert array in arrays
        if option == "--edit":
            assert facts["costNote"] is None and sorted(arrays[array]) == [1, 1, 2, 3]
        else:
            names, owl = facts["names"], facts["names"].index("owl")
            assert [names[leaf] for leaf in arrays["similar"][6 * owl : 6 * owl + 6] if leaf >= 0] == ["hen"]
