"""Leaves find their rows by name, whatever the order in which a file has them."""

import json

import numpy as np
import pytest
from cli.in_process import arbora, run
from sklearn.datasets import load_iris

from arbora.cli._exit import UNUSABLE, CommandError
from arbora.cli._matching import matched
from arbora.reading import Dataset
from arbora.tree import Tree

IRIS = load_iris()


def write_iris(path, order=range(150), *, names=True):
    rows = [
        (f"flower {k}," if names else "")
        + ",".join(map(str, IRIS.data[k]))
        + f",{IRIS.target_names[IRIS.target[k]]}"
        for k in order
    ]
    path.write_text(("id," if names else "") + "a,b,c,d,species\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Iris with names, in order and shuffled, and a tree as npz and as Newick, whose leaves are in drawing order."""
    folder = tmp_path_factory.mktemp("iris")
    write_iris(folder / "iris.csv")
    write_iris(folder / "shuffled.csv", np.random.default_rng(0).permutation(150))
    run(
        "fit", folder / "iris.csv", "--label-column", "species", "-m", "ward", "--out", folder / "t.npz", "-q"
    )
    run("convert", folder / "t.npz", folder / "t.nwk", "-q")
    return folder


def scores(*arguments):
    return json.loads(run("score", *arguments, "--json").out)["scores"]


@pytest.mark.parametrize("tree", ["t.npz", "t.nwk"])
@pytest.mark.parametrize("data", ["iris.csv", "shuffled.csv"])
def test_scores_do_not_depend_on_the_order_of_leaves_or_rows(files, tree, data):
    expected = scores(files / "t.npz", "--data", files / "iris.csv", "--label-column", "species")
    found = scores(files / tree, "--data", files / data, "--label-column", "species")
    assert found == pytest.approx(expected)


def test_refine_improves_the_true_cost_of_a_newick_tree_and_keeps_its_names(files, tmp_path):
    done = run(
        "refine", files / "t.nwk", "--data", files / "shuffled.csv", "--drop", "species",
        "--out", tmp_path / "r.nwk", "--json",
    )  # fmt: skip
    objective = json.loads(done.out)["objective"]
    assert objective["after"] <= objective["before"]
    again = scores(tmp_path / "r.nwk", "--data", files / "iris.csv", "--drop", "species")
    assert again["dasgupta_normalized"] == pytest.approx(objective["after"])


def test_tsd_is_reported_where_tsd_is_refined(files):
    done = run(
        "refine",
        files / "t.nwk",
        "--data",
        files / "iris.csv",
        "--drop",
        "species",
        "--objective",
        "tsd",
        "--json",
    )
    objective = json.loads(done.out)["objective"]
    assert objective["name"] == "tsd" and objective["better"] == "higher"
    assert objective["after"] >= objective["before"]


def test_trees_without_names_are_matched_by_row_numbers(files, tmp_path):
    write_iris(tmp_path / "iris.csv", names=False)
    run("fit", tmp_path / "iris.csv", "-m", "average", "--out", tmp_path / "t.npz", "-q")
    run("convert", tmp_path / "t.npz", tmp_path / "t.nwk", "-q")
    assert scores(tmp_path / "t.npz", "--compare", tmp_path / "t.nwk")["robinson_foulds"] == 0
    both = [scores(tmp_path / name, "--data", tmp_path / "iris.csv") for name in ("t.npz", "t.nwk")]
    assert both[0] == pytest.approx(both[1])


def test_other_names_are_refused(files, tmp_path):
    text = (files / "iris.csv").read_text().replace("flower 7,", "flower 999,")
    (tmp_path / "other.csv").write_text(text)
    for command in ("score", "show"):
        extra = ("--html", tmp_path / "p.html") if command == "show" else ()
        done = run(command, files / "t.nwk", "--data", tmp_path / "other.csv", *extra, code=UNUSABLE)
        assert "'flower 7'" in done.err
    run("plot", files / "t.nwk", "--data", tmp_path / "other.csv", "--out", tmp_path / "p.png", code=UNUSABLE)


def test_trees_over_other_leaves_are_not_compared(tmp_path):
    (tmp_path / "t1.nwk").write_text("((a:1,b:1):1,(c:1,d:1):1);")
    (tmp_path / "t2.nwk").write_text("((a:1,c:1):1,(e:1,d:1):1);")
    done = run("score", tmp_path / "t1.nwk", "--compare", tmp_path / "t2.nwk", code=UNUSABLE)
    assert "'e'" in done.err


def dataset(names):
    return Dataset(np.zeros((3, 1)), "vectors", "x.csv", "csv", names=names)


def test_what_cannot_be_matched_says_why():
    tree = Tree.from_newick("((c,a),b);")
    assert [matched(tree, dataset(["a", "b", "c"])).label(leaf) for leaf in range(3)] == ["a", "b", "c"]
    with pytest.raises(CommandError, match="--name-column"):
        matched(tree, dataset(None))
    with pytest.raises(CommandError, match=r"Names repeat in x\.csv: 'a'"):
        matched(tree, Dataset(np.zeros((3, 1)), "vectors", "x.csv", "csv", names=["a", "a", "c"]))
    with pytest.raises(CommandError, match="2 points, the tree 3 leaves"):
        matched(tree, Dataset(np.zeros((2, 1)), "vectors", "x.csv", "csv"))


def test_numbers_as_names_are_row_numbers_unless_the_data_has_those_names():
    tree = Tree.from_newick("((2,0),1);")
    assert [matched(tree, dataset(["a", "b", "c"])).label(leaf) for leaf in range(3)] == ["a", "b", "c"]
    assert matched(tree, dataset(["1", "2", "0"])).label(0) == "1"
    assert matched(tree, dataset(None)).lca(2, 0) != matched(tree, dataset(None)).root


def test_rows_called_by_numbers_in_another_order_are_found_by_them():
    tree = matched(Tree.from_newick("((0,1),2);"), dataset(["2", "0", "1"]))
    assert tree.leaf_names == ["2", "0", "1"] and tree.lca(1, 2) != tree.root


def test_trees_over_other_leaves_are_refused_with_the_files_that_hold_them(tmp_path):
    (tmp_path / "one.nwk").write_text("((a:1,b:1):1,(c:1,d:1):1);")
    (tmp_path / "two.nwk").write_text("((a:1,c:1):1,(e:1,d:1):1);")
    for command in (["score", "--compare"], ["show", "--html", tmp_path / "x.html", "--compare"]):
        done = arbora(command[0], tmp_path / "one.nwk", *command[1:], tmp_path / "two.nwk")
        text = done.stderr.decode()
        assert done.returncode == 4 and "one.nwk: 'b'" in text and "two.nwk: 'e'" in text
