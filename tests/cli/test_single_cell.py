"""Entries by which scanpy's plots find a tree over groups of cells."""

import subprocess
import sys

import numpy as np
import pytest
from cli.in_process import arbora
from cli.run_arbora import assert_one_line_error

from arbora.cli._exit import UNUSABLE


@pytest.fixture
def cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    centers = np.array([[9.0, 0, 0], [9.0, 1, 0], [0, 9.0, 0], [0, 9.0, 1]])
    kind = np.repeat(np.arange(4), 10)
    X = centers[kind] + rng.normal(scale=0.1, size=(40, 3))
    names = np.array(["T cell", "NK cell", "B cell", "plasma"])[kind]
    data = anndata.AnnData(
        X=X, obs=pandas.DataFrame({"type": pandas.Categorical(names)}, index=[f"c{k}" for k in range(40)])
    )
    data.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_fit_writes_what_scanpy_reads(cells, tmp_path):
    import anndata

    done = arbora(
        "fit", cells, "--scanpy", "type", "--method", "average", "--out", tmp_path / "out.h5ad", "--seed", 0
    )
    assert done.returncode == 0, done.stderr.decode()
    before, after = anndata.read_h5ad(cells), anndata.read_h5ad(tmp_path / "out.h5ad")
    assert "dendrogram_type" not in before.uns
    entry = after.uns["dendrogram_type"]
    # the keys scanpy.tl.dendrogram stores and scanpy.pl reads
    wanted = {
        "linkage", "groupby", "use_rep", "cor_method", "linkage_method", "categories_ordered",
        "categories_idx_ordered", "dendrogram_info", "correlation_matrix",
    }  # fmt: skip
    assert set(entry) == wanted
    assert list(entry["groupby"]) == ["type"]
    assert entry["linkage"].shape == (3, 4)
    order = [str(one) for one in entry["categories_ordered"]]
    assert sorted(order) == ["B cell", "NK cell", "T cell", "plasma"]
    assert abs(order.index("T cell") - order.index("NK cell")) == 1
    assert {"icoord", "dcoord", "ivl", "leaves"} <= set(entry["dendrogram_info"])
    assert np.array_equal(before.X, after.X)


@pytest.mark.parametrize("method", ("auto", "average"))
def test_scanpy_draws_the_tree_it_finds(cells, tmp_path, method):
    pytest.importorskip("scanpy")
    target = tmp_path / "out.h5ad"
    done = arbora("fit", cells, "--scanpy", "type", "--method", method, "--out", target, "--seed", 0)
    assert done.returncode == 0, done.stderr.decode()
    # in a process of its own: scanpy's dependencies warn while they are imported
    script = f"""
import matplotlib
matplotlib.use("Agg")
import scanpy
cells = scanpy.read_h5ad({str(target)!r})
order = list(cells.uns["dendrogram_type"]["categories_ordered"])
axes = scanpy.pl.dendrogram(cells, "type", show=False)
assert [text.get_text() for text in axes.get_xticklabels()] == order
genes = list(cells.var_names)
plot = scanpy.pl.matrixplot(cells, genes, "type", dendrogram=True, show=False, return_fig=True)
rows = plot.get_axes()["mainplot_ax"].get_yticklabels()
assert sorted(text.get_text() for text in rows) == sorted(order)
assert [text.get_text() for text in rows] in (order, order[::-1])
scanpy.pl.heatmap(cells, genes, "type", dendrogram=True, show=False)
"""
    drawn = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900)
    assert drawn.returncode == 0, drawn.stderr
    assert "not found" not in drawn.stderr  # what scanpy says when it computes a dendrogram itself


def test_an_unknown_group_is_named(cells):
    assert_one_line_error(arbora("fit", cells, "--scanpy", "color"), UNUSABLE, "obs['color']", "type")
