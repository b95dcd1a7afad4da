"""Cells in, colors out: genes and scanpy's own colors in pages, pictures and `arbora.read`."""

import json

import numpy as np
import pytest
from cli.in_process import arbora

import arbora as ab
from arbora.view.content import Content

COLORS = {"B cell": "#112233", "T cell": "#aabbcc"}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 20)
    expression = rng.random((40, 6)).astype(np.float32)
    expression[:, 2] += 5 * kind
    names = np.array(["B cell", "T cell"])[kind]
    obs = pandas.DataFrame(
        {"type": pandas.Categorical(names), "GENE5": rng.random(40)}, index=[f"c{k}" for k in range(40)]
    )
    genes = pandas.DataFrame(index=[f"GENE{k}" for k in range(6)])
    made = anndata.AnnData(X=expression - expression.mean(axis=0), obs=obs, var=genes)
    made.raw = anndata.AnnData(X=expression, obs=obs, var=genes)
    made.obsm["X_pca"] = np.column_stack([kind * 9.0, np.zeros(40)]) + rng.normal(size=(40, 2))
    made.obsm["X_umap"] = rng.normal(size=(40, 2))
    made.uns["type_colors"] = ["#112233", "#AABBCCFF"]
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    made.write_h5ad(path)
    return path


def shown(data, tree, **more):
    return Content(
        tree, metadata=data.metadata, points=data.points, category_colors=data.category_colors, **more
    )


def test_named_genes_become_columns_and_colors_of_scanpy_are_kept(cells):
    data = ab.read(cells, genes="GENE2,GENE5")
    assert np.array_equal(data.metadata["GENE2"], data.genes.columns(["GENE2"])["GENE2"])
    # a column of obs has the name already
    assert set(data.metadata) == {"type", "GENE5", "GENE2", "GENE5 (gene)"}
    assert data.category_colors == {"type": COLORS}
    assert "'GENE2', 'GENE5' of raw.X" in str(data)
    content = shown(data, ab.cluster(data, random_state=0))
    assert content.column("GENE2").kind == "number"
    assert content.column("type").facts()["colors"] == list(COLORS.values())
    assert np.array_equal(content.points, data.points)


def test_genes_that_are_not_there_are_refused_with_a_hint(cells):
    with pytest.raises(ValueError, match=r"no gene 'gene2' \(genes=\). Did you mean 'GENE2'"):
        ab.read(cells, genes="gene2")
    with pytest.raises(ValueError, match="no genes"):
        ab.read({"x": [1.0, 2.0]}, genes="GENE2")


def test_fit_offers_the_telling_genes_and_every_column_of_obs(cells, tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr("arbora.view.to_html", lambda tree, path, **content: written.update(content))
    done = arbora("fit", cells, "--label-column", "type", "--html", tmp_path / "page.html", "--seed", 0)
    assert done.returncode == 0, done.stderr.decode()
    assert b"genes to color by, from the largest splits: GENE2" in done.stdout
    assert {"GENE5", "GENE2"} <= set(written["metadata"]) and list(written["classes"]) == ["type"]
    assert written["category_colors"] == {"type": COLORS} and written["points"].shape == (40, 2)


def test_show_takes_the_genes_that_are_named(cells, tmp_path):
    assert arbora("fit", cells, "--out", tmp_path / "tree.npz", "--quiet").returncode == 0
    page = tmp_path / "page.html"
    done = arbora("show", tmp_path / "tree.npz", "--data", cells, "--genes", "GENE*", "--html", page)
    assert done.returncode == 0, done.stderr.decode()
    assert b"largest splits" not in done.stdout and page.stat().st_size > 10_000
    done = arbora("fit", cells, "--genes", "CD3D", "--html", page, "--json")
    assert done.returncode == 4 and "--genes" in json.loads(done.stdout)["error"]


def test_cells_can_be_clustered_as_they_are(cells):
    import anndata

    adata = anndata.read_h5ad(cells)
    tree = ab.cluster(adata, random_state=0)
    assert tree.leaf_names[:2] == ["c0", "c1"]
    assert ab.TreeClustering(2, random_state=0).fit(adata).labels_.tolist() == [0] * 20 + [1] * 20
    assert ab.linkage(adata, "ward").leaf_names[0] == "c0"
    with pytest.raises(TypeError, match=r"arbora\.read"):
        ab.explain(tree, adata)


def test_pictures_draw_categories_in_their_own_colors(cells):
    matplotlib = pytest.importorskip("matplotlib")
    data = ab.read(cells, label_column="type")
    tree = ab.cluster(data, random_state=0)
    axes = tree.plot(classes={"type": data.y}, category_colors=data.category_colors)
    legend = {
        text.get_text(): line
        for text, line in zip(axes.get_legend().get_texts(), axes.get_legend().get_lines())
    }
    for name, color in COLORS.items():
        assert matplotlib.colors.to_hex(legend[name].get_color()) == color


@pytest.mark.parametrize("colors", [{"type": {"B cell": "red"}}, {"type": {"B cell": "#12345"}}])
def test_colors_that_are_no_hex_are_refused(cells, colors):
    data = ab.read(cells)
    with pytest.raises(ValueError, match="#rrggbb"):
        Content(ab.cluster(data, random_state=0), metadata=data.metadata, category_colors=colors)


def test_strips_of_a_picture_can_be_features_and_genes(cells, tmp_path):
    assert arbora("fit", cells, "--use", "X", "--out", tmp_path / "tree.npz", "--quiet").returncode == 0
    for strips in ("GENE2,GENE5", "type"):
        done = arbora(
            "plot", tmp_path / "tree.npz", "--data", cells, "--strips", strips, "--out", tmp_path / "p.svg"
        )
        assert done.returncode == 0, done.stderr.decode()
        assert all(
            f"<!-- {name} -->".encode() in (tmp_path / "p.svg").read_bytes() for name in strips.split(",")
        )
    done = arbora(
        "plot", tmp_path / "tree.npz", "--data", cells, "--strips", "gene2", "--out", tmp_path / "p.svg"
    )
    assert done.returncode == 2 and b"no column 'gene2' (--strips)" in done.stderr
