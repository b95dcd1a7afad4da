"""What commands write and print, and how they fail."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from cli.in_process import run
from cli.run_arbora import arbora
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from arbora import TreeClustering
from arbora.cli._exit import INTERRUPTED, UNREADABLE, UNUSABLE, UNWRITABLE, USAGE, as_options
from arbora.metrics import dasgupta_cost, dendrogram_purity
from arbora.tree import Tree

IRIS = load_iris()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("iris")
    rows = [f"f{k},{','.join(map(str, row))},{IRIS.target[k]}" for k, row in enumerate(IRIS.data)]
    (folder / "iris.csv").write_text("id,a,b,c,d,species\n" + "\n".join(rows) + "\n")
    run(
        "fit",
        folder / "iris.csv",
        "--label-column",
        "species",
        "-m",
        "average",
        "--out",
        folder / "t.npz",
        "-q",
    )
    return folder


def test_fit_prints_what_helps(files):
    done = run("fit", files / "iris.csv", "--label-column", "species")
    for words in (
        "features  'a', 'b', 'c', 'd'",
        "labels    'species', 3 classes",
        "names     'id'",
        "auto (cosine): 150 leaves",
        "Normalized Dasgupta cost on the graph of nearest neighbors (cosine)",
        "(lower is better)",
        "dendrogram_purity",
        "seconds: read",
    ):
        assert words in done.out
    assert "moseley" not in done.out


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """A table of unlike units, where a comparison of the numbers as they are misleads."""
    path = tmp_path_factory.mktemp("wine") / "wine.csv"
    frame = load_wine(as_frame=True).frame
    frame.assign(target=frame["target"].map(str)).to_csv(path, index=False)
    return path


def test_every_command_compares_vectors_as_cluster_does_in_python(wine, tmp_path):
    X, y = load_wine(return_X_y=True)
    model = TreeClustering(3, random_state=0).fit(X)
    options = ("--label-column", "target", "--json")
    tree = tmp_path / "tree.npz"
    fitted = json.loads(run("fit", wine, "-o", tree, *options).out)
    assert fitted["method"]["compared_by"] == "euclidean, scale standard"
    assert fitted["scores"]["dendrogram_purity"] == pytest.approx(dendrogram_purity(model.tree_, y))
    cost = dasgupta_cost(model.tree_, model.similarity_, normalize=True)
    scored = json.loads(run("score", tree, "--data", wine, *options).out)
    assert scored["scores"]["dasgupta_normalized"] == pytest.approx(cost)
    refined = json.loads(run("refine", tree, "--data", wine, *options).out)
    assert refined["metric"] == scored["metric"] == "euclidean, scale standard"
    # one figure under one name: what `fit` ends with is what `refine` begins with
    assert fitted["cost"]["after"] == pytest.approx(cost)
    assert refined["objective"]["before"] == pytest.approx(cost)
    found = json.loads(run("predict", tree, wine, "--data", wine, "--clusters", 3, *options).out)
    assert np.mean(np.array(found["labels"]) == model.labels_) > 0.95


def test_columns_that_rule_are_named_where_nothing_is_scaled_for_them(wine):
    scaled = run("fit", wine, "--label-column", "target").err
    assert "warning" not in scaled and "column 'proline' holds 99.8% of the variance; scaled" in scaled
    for unscaled in (("--scale", "none"), ("-m", "ward"), ("--metric", "cosine", "--scale", "none")):
        assert "'proline' holds" in run("fit", wine, "--label-column", "target", *unscaled).err
    assert "--scale must be one of" in run("fit", wine, "--scale", "x", code=USAGE).err


def test_a_model_scales_new_points_as_its_own(wine, tmp_path):
    for scale in ("auto", "rank"):
        run("fit", wine, "--label-column", "target", "--scale", scale, "--model", tmp_path / "m.npz")
        found = json.loads(
            run(
                "predict", tmp_path / "m.npz", wine, "--clusters", 3, "--label-column", "target", "--json"
            ).out
        )
        assert adjusted_rand_score(load_wine().target, found["labels"]) > 0.7


def test_the_same_command_gives_the_same_tree_unless_it_says_random(files):
    once, again = (
        json.loads(run("fit", files / "iris.csv", "--drop", "species", "--json").out) for _ in range(2)
    )
    assert once["cost"] == again["cost"]
    assert once["method"]["seed"] == 0
    other = json.loads(
        run("fit", files / "iris.csv", "--drop", "species", "--seed", "random", "-m", "ward", "--json").out
    )
    assert other["method"]["seed"] is None
    assert "--seed" in run("fit", files / "iris.csv", "--seed", "x", code=USAGE).err


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet", "npy"])
def test_several_levels_are_cut_at_once_into_every_format(files, tmp_path, suffix):
    out = tmp_path / f"c.{suffix}"
    run("cut", files / "t.npz", "-k", "3,5,10", "--out", out)
    tree = Tree.load(files / "t.npz")
    expected = {f"cluster_{k}": tree.cut(n_clusters=k).tolist() for k in (3, 5, 10)}
    if suffix == "npy":
        assert np.load(out).T.tolist() == list(expected.values())
        return
    pandas = pytest.importorskip("pandas")
    readers = {"csv": pandas.read_csv, "json": pandas.read_json, "parquet": pandas.read_parquet}
    frame = pandas.read_csv(out, sep="\t") if suffix == "tsv" else readers[suffix](out)
    assert frame["name"].tolist() == [f"f{k}" for k in range(150)]
    assert {name: frame[name].tolist() for name in expected} == expected


def test_labels_that_cannot_be_scored_do_not_cost_a_finished_tree(tmp_path):
    rows = "".join(f"{k % 7},{k * k % 11},{k % 3}.5,only\n" for k in range(30))
    (tmp_path / "x.csv").write_text("a,b,c,kind\n" + rows)
    done = run("fit", tmp_path / "x.csv", "--label-column", "kind", "-m", "ward", "--out", tmp_path / "t.npz")
    assert "1 class" in done.out
    assert Tree.load(tmp_path / "t.npz").n_leaves == 30


def test_a_repeated_option_adds_levels(files):
    assert len(json.loads(run("cut", files / "t.npz", "-k", 3, "-k", 5, "--json").out)["levels"]) == 2


def test_cut_prints_names_also_as_json(files):
    found = json.loads(run("cut", files / "t.npz", "-k", 3, "--json").out)
    assert found["names"][:2] == ["f0", "f1"]
    assert found["labels"] == Tree.load(files / "t.npz").cut(n_clusters=3).tolist()


def test_names_that_a_spreadsheet_would_run_are_quoted(tmp_path):
    (tmp_path / "f.nwk").write_text("('=cmd|x':1,'-3':1);")
    run("cut", tmp_path / "f.nwk", "-k", 2, "--out", tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text() == "leaf,name,cluster\n0,'=cmd|x,0\n1,-3,1\n"


def test_clusters_go_into_the_obs_of_cells(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    names = [f"c{k}" for k in range(30)]
    cells = anndata.AnnData(X=IRIS.data[::5], obs=pandas.DataFrame(index=names))
    cells.write_h5ad(tmp_path / "x.h5ad")
    run("fit", tmp_path / "x.h5ad", "-m", "ward", "--out", tmp_path / "t.npz")
    run("convert", tmp_path / "t.npz", tmp_path / "t.nwk")
    run("cut", tmp_path / "t.nwk", "-k", "2,3", "--into", tmp_path / "x.h5ad", "--out", tmp_path / "y.h5ad")
    obs = anndata.read_h5ad(tmp_path / "y.h5ad").obs
    tree = Tree.load(tmp_path / "t.npz")
    for k in (2, 3):
        groups = list(zip(obs[f"arbora_cluster_{k}"].tolist(), tree.cut(n_clusters=k).tolist()))
        assert len(set(groups)) == k


def test_clusters_of_more_cells_than_a_file_has_are_refused_with_both_counts(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pandas.DataFrame(index=[f"c{k}" for k in range(9)])
    cells = anndata.AnnData(np.random.default_rng(0).normal(size=(9, 3)), obs=obs)
    cells.write_h5ad(tmp_path / "x.h5ad")
    cells[:7].copy().write_h5ad(tmp_path / "some.h5ad")
    run("fit", tmp_path / "x.h5ad", "-m", "ward", "--out", tmp_path / "t.npz")
    into = ("--into", tmp_path / "some.h5ad", "--out", tmp_path / "y.h5ad")
    done = run("cut", tmp_path / "t.npz", "-k", "2", *into, code=UNUSABLE)
    assert "0 of 7 cells are not in the tree, and 2 of 9 leaves are not among the cells" in done.err


def test_a_fit_of_cells_goes_into_a_copy_of_them(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 5)) + 6 * (np.arange(40) % 4)[:, None]
    obs = pandas.DataFrame(index=[f"c{k}" for k in range(40)])
    anndata.AnnData(values, obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    run("fit", tmp_path / "cells.h5ad", "--out", tmp_path / "new.h5ad", "--metric", "euclidean")
    run("fit", tmp_path / "cells.h5ad", "--out", tmp_path / "t.npz", "--metric", "euclidean")
    cells, tree = anndata.read_h5ad(tmp_path / "new.h5ad"), Tree.load(tmp_path / "t.npz")
    found = cells.uns["arbora_tree"]
    assert Tree(found["parent"], int(found["n_leaves"])).same_topology(tree.replace(name=None))
    for level in found["levels"]:
        assert (
            cells.obs[f"arbora_cluster_{level}"].astype(int).tolist()
            == tree.cut(n_clusters=int(level)).tolist()
        )
    table = tmp_path / "x.csv"
    table.write_text("a,b\n1,2\n3,5\n")
    assert "h5ad" in run("fit", table, "--out", tmp_path / "x.h5ad", code=USAGE).err


def test_the_page_of_a_tree_too_large_for_one_file_shows_its_upper_part(files, tmp_path, monkeypatch):
    from arbora.cli import pages
    from arbora.view import page

    monkeypatch.setattr(page, "MOST_LEAVES_IN_PAGE", 100)
    monkeypatch.setattr(pages, "GROUPS_IN_PAGE", 10)
    done = run("show", files / "t.npz", "--html", tmp_path / "p.html")
    assert "shows the upper 10 groups of 150 leaves" in done.err
    assert (tmp_path / "p.html").stat().st_size > 10_000


def test_taxonomy_has_the_numbers_of_groups_asked_for(files, tmp_path):
    done = json.loads(
        run("taxonomy", files / "t.npz", "-k", "3,7", "--out", tmp_path / "x.npz", "--json").out
    )
    assert [level["groups"] for level in done["levels"]] == [3, 7]
    assert len(Tree.load(tmp_path / "x.npz").children(Tree.load(tmp_path / "x.npz").root)) == 3


def test_predict_puts_known_points_into_their_own_cluster(files, tmp_path):
    found = json.loads(
        run(
            "predict", files / "t.npz", files / "iris.csv", "--data", files / "iris.csv", "-k", 3, "--label-column",
            "species", "--metric", "euclidean", "--json",
        ).out
    )  # fmt: skip
    expected = Tree.load(files / "t.npz").cut(n_clusters=3)
    assert np.mean(np.array(found["labels"]) == expected) > 0.9
    for score in ("confidence", "outlier_score"):
        assert all(0 <= value <= 1 for value in found[score])
    assert np.mean(found["confidence"]) > 0.8
    assert found["names"][0] == "f0"


def test_predict_refuses_other_columns(files, tmp_path):
    (tmp_path / "new.csv").write_text("id,a,b\nn1,1,2.5\nn2,3,4\n")
    done = run(
        "predict", files / "t.npz", tmp_path / "new.csv", "--data", files / "iris.csv", "-k", 3, code=UNUSABLE
    )
    assert "--features" in done.err


def test_new_points_take_the_scale_of_the_data_they_are_compared_with(files, tmp_path):
    lines = (files / "iris.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([lines[0], *lines[1:4]]) + "\n")
    common = (
        "--data",
        files / "iris.csv",
        "-k",
        3,
        "--drop",
        "species",
        "--scale",
        "standard",
        "--metric",
        "euclidean",
    )
    run(
        "fit",
        files / "iris.csv",
        "--drop",
        "species",
        "--scale",
        "standard",
        "-m",
        "ward",
        "--out",
        tmp_path / "t.npz",
        "-q",
    )
    few = json.loads(run("predict", tmp_path / "t.npz", tmp_path / "new.csv", *common, "--json").out)[
        "labels"
    ]
    all_of_them = json.loads(run("predict", tmp_path / "t.npz", files / "iris.csv", *common, "--json").out)[
        "labels"
    ]
    assert few == all_of_them[:3]


def test_a_saved_model_predicts_without_its_data(files, tmp_path):
    run(
        "fit",
        files / "iris.csv",
        "--drop",
        "species",
        "--model",
        tmp_path / "m.npz",
        "--out",
        tmp_path / "t.npz",
        "-q",
    )
    done = run(
        "predict",
        tmp_path / "m.npz",
        files / "iris.csv",
        "--drop",
        "species",
        "-k",
        3,
        "--out",
        tmp_path / "c.csv",
    )
    assert "wrote" in done.out
    clusters = [int(line.split(",")[2]) for line in (tmp_path / "c.csv").read_text().splitlines()[1:]]
    assert np.mean(np.array(clusters) == Tree.load(tmp_path / "t.npz").cut(n_clusters=3)) > 0.9
    assert (
        "--data"
        in run("predict", tmp_path / "m.npz", files / "iris.csv", "--scale", "robust", code=USAGE).err
    )


@pytest.mark.parametrize("name", ["t.json", "t.nex", "t.xml", "t.nwk", "t.graphml", "t.npz"])
def test_a_converted_tree_is_read_back(files, tmp_path, name):
    run("convert", files / "t.npz", tmp_path / name)
    run("convert", tmp_path / name, tmp_path / "back.npz")
    assert Tree.load(tmp_path / "back.npz").same_topology(Tree.load(files / "t.npz"))
    assert json.loads(run("info", tmp_path / name, "--json").out)["kind"] == "tree"


def test_trees_are_printed_as_text_and_for_d3(tmp_path):
    (tmp_path / "t.nwk").write_text("((a,b)pair,c)all;")
    assert run("convert", tmp_path / "t.nwk", "-", "--to", "text").out.splitlines()[0].startswith("all")
    nested = json.loads(run("convert", tmp_path / "t.nwk", "-", "--to", "d3").out)
    assert [child["name"] for child in nested["children"]] == ["pair", "c"]
    assert json.loads(run("info", "-", "--json", stdin=json.dumps(nested)).out)["points"] == 3


def test_a_file_of_several_trees_is_refused(tmp_path):
    Tree.save_all([Tree.from_newick("((a,b),c);"), Tree.from_newick("(a,(b,c));")], tmp_path / "t.nex")
    assert "2 trees" in run("cut", tmp_path / "t.nex", "-k", 2, code=UNREADABLE).err


def test_small_branches_join_the_nearest_cluster_where_a_least_size_is_asked_for(tmp_path):
    (tmp_path / "t.nwk").write_text("(((((a,b),(c,d)),e),f),g);")
    sizes = json.loads(run("cut", tmp_path / "t.nwk", "-k", 2, "--min-size", 2, "--json").out)["sizes"]
    assert sorted(sizes) == [2, 5]
    assert run("cut", tmp_path / "t.nwk", "-k", 2, "--min-size", "auto", "--json").out
    assert "--min-size must be" in run("cut", tmp_path / "t.nwk", "-k", 2, "--min-size", "x", code=USAGE).err
    assert "needs a tree with heights" in run("cut", tmp_path / "t.nwk", "-k", "auto", code=UNUSABLE).err
    levels = json.loads(run("taxonomy", tmp_path / "t.nwk", "-k", "2,3", "--min-size", 1, "--json").out)[
        "levels"
    ]
    assert [len(level["sizes"]) for level in levels] == [2, 3]
    assert all(sum(level["sizes"]) == 7 for level in levels)


def test_report_reads_logits_with_the_names_of_classes(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 200)
    near = np.array([[4, 2, 0, 0], [2, 4, 0, 1], [0, 0, 4, 2], [0, 1, 2, 4]])
    names = ["cat", "dog", "car", "bus"]
    np.savez(tmp_path / "logits.npz", logits=near[y] + rng.normal(size=(200, 4)), y=y, class_names=names)
    (tmp_path / "kinds.csv").write_text("cat,pet\ndog,pet\ncar,vehicle\nbus,vehicle\n")
    done = run(
        "report", tmp_path / "logits.npz", "--taxonomy", tmp_path / "kinds.csv", "--html", tmp_path / "r.html"
    )
    assert "cat" in done.out and "vehicle" in done.out
    assert (tmp_path / "r.html").stat().st_size > 10_000


def test_errors_are_json_where_json_was_asked_for(files):
    done = run("fit", "nowhere.csv", "--json", code=UNREADABLE)
    assert json.loads(done.out) == {
        "error": "There is no file nowhere.csv.",
        "code": UNREADABLE,
        "meaning": "input missing, forbidden, damaged or of another kind",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("fit", "{iris}", "-m", "wards"), USAGE, "--method"),
        (("fit", "{iris}", "--metric", "manhattan"), USAGE, "--metric"),
        (("fit", "{iris}", "-m", "ward", "--metric", "cosine"), USAGE, "euclidean"),
        (("fit", "{iris}", "--set", "x"), USAGE, "name=value"),
        (("fit", "{iris}", "--out", "t.xyz"), USAGE, ".npz"),
        (("fit", "{iris}", "--out", "."), UNWRITABLE, "folder"),
        (("fit", "{iris}", "--picture", "t.bmp"), USAGE, ".png"),
        (("fit", "{iris}", "-m", "l2h"), USAGE, "--logits"),
        (("fit", "{iris}", "--scale", "minmax"), USAGE, "--scale"),
        (("fit", "{iris}", "--format", "doc"), USAGE, "--format"),
        (("fit", "{iris}", "--label-column", "color"), UNUSABLE, "--label-column"),
        (("fit", "{iris}", "--features", "z*"), UNUSABLE, "--features"),
        (("fit", "{iris}", "--checkpoint", "{iris}"), UNUSABLE, "folder"),
        (("cut", "{tree}"), USAGE, "exactly one"),
        (("cut", "{tree}", "-k", "three"), USAGE, "--clusters"),
        (("refine", "{tree}", "--data", "{iris}", "--objective", "x"), USAGE, "--objective"),
        (("score", "{tree}"), USAGE, "--data"),
        (("convert", "{tree}", "t.xyz"), USAGE, "--to"),
        (("plot", "{tree}", "--out", "t.png", "--size", "large"), USAGE, "--size"),
        (("predict", "{tree}", "{iris}"), UNREADABLE, "--model"),
    ],
)
def test_each_mistake_has_its_documented_exit_code(files, arguments, code, words):
    filled = [one.format(iris=files / "iris.csv", tree=files / "t.npz") for one in arguments]
    done = run(*filled, code=code)
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not os.path.exists("t.xyz")


def test_arguments_of_python_are_named_as_options():
    assert (
        as_options("no column 'x' (label_column=). It has 'y'.")
        == "no column 'x' (--label-column). It has 'y'."
    )
    assert as_options("Use kind='distances' or header=True or header=False.") == (
        "Use --kind 'distances' or --header or --no-header."
    )


def test_a_fit_that_fails_leaves_no_output(files, tmp_path):
    text = (files / "iris.csv").read_text().replace("f7,5.0", "f7,")
    (tmp_path / "x.csv").write_text(text)
    done = run("fit", tmp_path / "x.csv", "--drop", "species", "--out", tmp_path / "t.npz", code=UNUSABLE)
    assert "row 8, column 'a'" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv"]


def test_info_names_missing_values_and_what_was_taken_for_what(tmp_path):
    (tmp_path / "x.csv").write_text("id,a,b\nn1,1,2.5\nn2,,4\nn3,5,6\n")
    done = run("info", tmp_path / "x.csv")
    assert "names     'id'" in done.out
    assert "column 'a', the first in row 2" in done.err


def test_edges_are_counted_once_and_headers_are_no_edges(tmp_path):
    (tmp_path / "g.edges").write_text("source target\na b\nb c\n")
    facts = json.loads(run("info", tmp_path / "g.edges", "--json").out)
    assert (facts["points"], facts["edges"]) == (3, 2)


def test_a_linkage_matrix_says_what_it_cannot_hold(tmp_path):
    (tmp_path / "t.nwk").write_text("((a:1,b:1,c:1):1,d:2);")
    done = run("convert", tmp_path / "t.nwk", tmp_path / "t.csv")
    assert "binary" in done.err and "no names" in done.err


def test_an_itol_folder_needs_no_format(files, tmp_path):
    (tmp_path / "itol").mkdir()
    run("convert", files / "t.npz", tmp_path / "itol")
    assert (tmp_path / "itol" / "tree.nwk").exists()


def test_clusters_and_classes_are_drawn_together(files, tmp_path):
    run(
        "plot", files / "t.npz", "--data", files / "iris.csv", "--label-column", "species", "-k", 3, "--strips", "a",
        "--features", "b,c,d", "--title", "Iris", "--size", "5x4", "--out", tmp_path / "t.svg",
    )  # fmt: skip
    assert "Iris" in (tmp_path / "t.svg").read_text()


def test_distances_are_fitted_and_scored_as_distances(tmp_path):
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    np.save(tmp_path / "d.npy", pdist(IRIS.data[::5]))
    run("fit", tmp_path / "d.npy", "--kind", "distances", "-m", "average", "--out", tmp_path / "t.npz")
    heights = Tree.load(tmp_path / "t.npz").height
    assert np.allclose(np.sort(heights[30:]), linkage(IRIS.data[::5], "average")[:, 2])
    scores = json.loads(
        run("score", tmp_path / "t.npz", "--data", tmp_path / "d.npy", "--kind", "distances", "--json").out
    )
    assert 0.5 < scores["scores"]["cophenetic_correlation"] <= 1
    run("fit", tmp_path / "d.npy", "--kind", "distances", "--out", tmp_path / "a.npz")
    auto = json.loads(
        run("score", tmp_path / "a.npz", "--data", tmp_path / "d.npy", "--kind", "distances", "--json").out
    )
    assert auto["scores"]["dasgupta_cost"] <= scores["scores"]["dasgupta_cost"]
    assert (
        "distances" in run("fit", tmp_path / "d.npy", "--kind", "distances", "-m", "hyphc", code=UNUSABLE).err
    )


def test_names_of_files_that_are_not_utf8_do_not_break_the_end_of_a_fit(files, tmp_path):
    source = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    with open(source, "wb") as file:
        file.write((files / "iris.csv").read_bytes())
    done = arbora(
        "fit",
        os.fsdecode(source),
        "-m",
        "ward",
        "--drop",
        "species",
        "--out",
        os.fsdecode(source) + ".npz",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


def test_ctrl_c_ends_with_130_and_writes_nothing(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(20_000, 8)))
    heeds_interrupts = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    command = ["fit", tmp_path / "x.npy", "--out", tmp_path / "t.npz", "--checkpoint", tmp_path / "kept"]
    with subprocess.Popen(
        [sys.executable, "-m", "arbora", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heeds_interrupts,
        env={**os.environ, "ARBORA_PROGRESS": "1"},
    ) as running:
        seen = b""
        while b"average linkage" not in seen:
            line = running.stderr.readline()
            assert line, seen
            seen += line
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=300) == INTERRUPTED
        assert b"Interrupted" in running.stderr.read()
    assert not (tmp_path / "t.npz").exists()
    assert not (tmp_path / "kept" / "fit.npz").exists()


def test_a_column_that_would_decide_everything_is_named_even_where_scaling_answers_it(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"e{k}": rng.normal(size=60) for k in range(12)} | {"year": rng.integers(1900, 2000, 60)}
    rows = zip(*columns.values(), strict=True)
    table = tmp_path / "t.csv"
    table.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    said = run("fit", table, "--out", tmp_path / "t.npz").err
    assert "column 'year' holds" in said and "--drop" in said
    assert "'year' holds" not in run("fit", table, "--features", "e*", "--out", tmp_path / "t.npz").err
