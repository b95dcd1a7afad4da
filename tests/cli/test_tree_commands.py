"""Commands that take a tree: all pairs of their options work or are refused in a sentence, and do what Python does."""

import itertools
import json

import numpy as np
import pytest
from cli.in_process import arbora, run

import arbora as ab
from arbora.cli._exit import UNREADABLE, UNUSABLE, UNWRITABLE, USAGE
from arbora.cli.taxonomy import level_labels

NAMES = [f"leaf {k}" for k in range(40)]
X = np.random.default_rng(0).normal(size=(40, 3)) + 6 * np.repeat(np.eye(3), [20, 12, 8], axis=0)


@pytest.fixture(scope="module")
def tree():
    return ab.linkage(X, "average").replace(name=NAMES)


@pytest.fixture(scope="module")
def file(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "tree.npz"
    tree.save(path)
    return path


# ---- cut ---------------------------------------------------------------------------------------------------------

CUTS = {
    "-k": ["3", "2,5", "auto"],
    "--height": ["2.5"],
    "--max-size": ["7"],
    "--min-size": ["2", "auto"],
    "--by": ["height", "density", "balance"],
}


def is_possible(options):
    """Exactly one criterion; --min-size may go with -k; --by needs -k."""
    criteria = {"-k", "--height", "--max-size"} & options.keys()
    if "-k" in options:
        # balance is best with as many clusters as there are leaves: it cannot say how many
        finds_none = options["-k"] == "auto" and options.get("--by") == "balance"
        return len(criteria) == 1 and not finds_none
    if options.get("--by", "height") != "height":
        return False
    return len(criteria) + ("--min-size" in options) == 1 and options.get("--min-size") != "auto"


PAIRS_OF_CUTS = [
    {one: a, other: b}
    for (one, some), (other, others) in itertools.combinations(CUTS.items(), 2)
    for a in some
    for b in others
]


@pytest.mark.parametrize("options", PAIRS_OF_CUTS, ids=lambda o: " ".join(f"{k} {v}" for k, v in o.items()))
def test_every_pair_of_options_of_a_cut_works_as_in_python_or_is_refused(options, file, tree):
    done = arbora("cut", file, *itertools.chain(*options.items()), "--json")
    if not is_possible(options):
        # only what the tree itself has to answer is no matter of the options
        asks_tree = options in ({"-k": "auto", "--by": "balance"}, {"--min-size": "auto", "--by": "height"})
        assert done.returncode == (UNUSABLE if asks_tree else USAGE)
        assert json.loads(done.stdout)["error"] and done.stderr.startswith(b"arbora: ")
        return
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    least = options.get("--min-size")
    more = {} if least is None else {"min_size": least if least == "auto" else int(least)}
    if "-k" not in options:
        key = {"--height": "height", "--max-size": "max_size", "--min-size": "min_size"}
        (name,) = set(options) & set(key)
        read = float if name == "--height" else int
        assert found["labels"] == tree.cut(**{key[name]: read(options[name])}).tolist()
        return
    levels = [k if k == "auto" else int(k) for k in options["-k"].split(",")]
    for level in levels:
        wanted = tree.cut(n_clusters=level, by=options.get("--by", "height"), **more).tolist()
        assert found["labels" if len(levels) == 1 else f"cluster_{level}"] == wanted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Use exactly one of --clusters, --height, --max-size, --min-size"),
        (("-k", "0"), "--clusters must be a positive whole number, or several as in 3,5,10. Got '0'"),
        (("-k", "3,,5"), "Got '3,,5'"),
        (("-k", "2.5"), "Got '2.5'"),
        (("-k", "²"), "Got '²'"),
        (("-k", "-3"), "Got '-3'"),
        (("--min-size", "0"), "--min-size must be a positive whole number or auto. Got '0'"),
        (("--min-size", "³"), "Got '³'"),
        (("-k", "3", "--by", "purity"), "--by must be one of height, density, balance. Got 'purity'"),
        (("--height", "1", "--by", "density"), "--by needs --clusters"),
        (("-k", "3", "--into", "x.h5ad"), "--into needs --out"),
        (("-k", "3", "--out", "x.xlsx"), "a table is written as .csv"),
    ],
)
def test_wrong_options_of_a_cut_are_errors_of_usage(arguments, words, file):
    assert words in run("cut", file, *arguments, code=USAGE).err


def test_clusters_are_printed_as_a_table_or_not_at_all(file, tree):
    lines = run("cut", file, "-k", "3").out.splitlines()
    assert lines[0] == "leaf,name,cluster" and len(lines) == 41
    assert [int(line.split(",")[2]) for line in lines[1:]] == tree.cut(n_clusters=3).tolist()
    assert run("cut", file, "-k", "3", "-q").out == ""


def test_sizes_are_said_where_clusters_go_to_a_file(file, tree, tmp_path):
    out = tmp_path / "c.csv"
    said = run("cut", file, "-k", "3", "--out", out).out
    sizes = np.bincount(tree.cut(n_clusters=3))
    assert f"3 clusters of {sizes.min()} to {sizes.max()} leaves" in said and f"wrote {out}" in said


# ---- taxonomy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", ["2,5", "3", "1,4", "4,40", "1,3,40", "1", "40"])
@pytest.mark.parametrize("by", ["height", "density", "balance"])
def test_levels_are_reported_with_the_sizes_of_their_own_groups(levels, by, file, tree):
    found = json.loads(run("taxonomy", file, "-k", levels, "--by", by, "--json").out)
    wanted = [int(level) for level in levels.split(",")]
    assert [level["groups"] for level in found["levels"]] == wanted
    for level in found["levels"]:
        assert len(level["sizes"]) == level["groups"] and sum(level["sizes"]) == 40
    inner = [k for k in wanted if 1 < k < 40]
    reduced = tree.taxonomy(wanted, by=by)
    for k, labels in zip(inner, level_labels(reduced), strict=True):
        sizes = next(level["sizes"] for level in found["levels"] if level["groups"] == k)
        assert sizes == np.bincount(labels).tolist()


@pytest.mark.parametrize(
    ("levels", "code", "words"),
    [
        ("5,2", UNUSABLE, "increasing numbers of clusters"),
        ("3,3", UNUSABLE, "increasing numbers of clusters"),
        ("41", UNUSABLE, "n_clusters"),
        ("auto", USAGE, "--clusters must be a positive whole number"),
    ],
)
def test_levels_that_a_tree_cannot_have_are_refused(levels, code, words, file):
    assert words in run("taxonomy", file, "-k", levels, code=code).err


def test_a_taxonomy_is_written_and_read_again(file, tree, tmp_path):
    run("taxonomy", file, "-k", "2,6", "--min-size", "1", "--out", tmp_path / "t.nwk", "-q")
    again = ab.Tree.from_newick((tmp_path / "t.nwk").read_text())
    assert again.n_leaves == 40
    wanted = tree.taxonomy([2, 6], min_size=1)
    assert [len(set(labels)) for labels in level_labels(wanted)] == [2, 6]
    assert run("taxonomy", file, "-k", "2,6", "--out", "-").out.endswith(";\n")


def test_levels_of_a_single_leaf_are_none():
    assert level_labels(ab.Tree([-1], 1)) == []


# ---- convert, info, score ----------------------------------------------------------------------------------------

FORMATS = {"npz": ".npz", "newick": ".nwk", "linkage": ".npy", "graphml": ".graphml", "json": ".json",
           "text": ".txt", "nexus": ".nex", "phyloxml": ".xml"}  # fmt: skip
READABLE = ["npz", "newick", "linkage", "graphml", "nexus", "phyloxml"]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(READABLE, READABLE)))
def test_every_pair_of_formats_keeps_the_tree(first, second, file, tree, tmp_path):
    one, two = tmp_path / f"a{FORMATS[first]}", tmp_path / f"b{FORMATS[second]}"
    run("convert", file, one, "-q")
    run("convert", one, two, "-q")
    back = tmp_path / "c.npz"
    run("convert", two, back, "-q")
    found = ab.Tree.load(back)
    if "linkage" in (first, second):
        assert found.n_leaves == 40 and found.is_binary
        if first == second == "linkage":
            assert found.same_topology(tree.replace(name=None))
        return
    assert found.matched_to(tree).same_topology(tree)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_format_is_taken_from_the_name_or_from_the_option(kind, file, tmp_path):
    run("convert", file, tmp_path / f"a{FORMATS[kind]}", "-q")
    run("convert", file, tmp_path / "b.any", "--to", kind, "-q")
    if kind != "linkage":
        one, other = (tmp_path / f"a{FORMATS[kind]}").read_bytes(), (tmp_path / "b.any").read_bytes()
        assert one == other or kind == "npz"


def test_what_a_linkage_matrix_cannot_hold_is_said(tree, file, tmp_path):
    assert "has no names" in run("convert", file, tmp_path / "t.npy").err
    tree.taxonomy([2, 5]).save(tmp_path / "wide.npz")
    said = run("convert", tmp_path / "wide.npz", tmp_path / "t.csv").err
    assert "were split" in said
    matrix = np.loadtxt(tmp_path / "t.csv", delimiter=",", skiprows=1)
    assert matrix.shape == (39, 4) and matrix[-1, 3] == 40


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("{tree}", "{folder}/t.doc"), USAGE, "a tree is written as .npz"),
        (("{tree}", "{folder}/t.nwk", "--to", "word"), USAGE, "--to must be auto, npz, newick"),
        (("{tree}", "-", "--to", "npz"), USAGE, "Only text goes to standard output, not npz"),
        (("{tree}", "{folder}"), USAGE, "a tree is written as"),
        (("{tree}", "{folder}/no/t.nwk"), UNWRITABLE, "does not exist"),
        (("{folder}/absent.npz", "{folder}/t.nwk"), UNREADABLE, "absent.npz"),
    ],
)
def test_wrong_conversions_are_refused(arguments, code, words, file, tmp_path):
    folder = tmp_path / "a.folder"
    folder.mkdir()
    filled = [part.format(tree=file, folder=folder) for part in arguments]
    assert words in run("convert", *filled, code=code).err
    assert list(folder.iterdir()) == []


def test_info_of_a_tree_and_of_this_installation(file):
    facts = json.loads(run("info", file, "--json").out)
    assert facts["kind"] == "tree" and facts["leaves"] == 40 and facts["binary"] and facts["names"]
    about = json.loads(run("info", "--json").out)
    assert about["arbora"] == ab.__version__ and about["numpy"] == np.__version__
    assert "pictures" in run("info").out


def test_scores_against_labels_and_another_tree_equal_those_of_python(file, tree, tmp_path):
    y = np.repeat([0, 1, 2], [20, 12, 8])
    (tmp_path / "y.txt").write_text("\n".join(map(str, y)) + "\n")
    np.save(tmp_path / "y.npy", y)
    other = ab.linkage(X, "single").replace(name=NAMES)
    other.save(tmp_path / "other.npz")
    for labels in ("y.txt", "y.npy"):
        scores = json.loads(run("score", file, "--labels", tmp_path / labels, "--json").out)["scores"]
        assert scores["dendrogram_purity"] == pytest.approx(ab.metrics.dendrogram_purity(tree, y))
    scores = json.loads(run("score", file, "--compare", tmp_path / "other.npz", "--json").out)["scores"]
    assert scores["robinson_foulds"] == tree.robinson_foulds(other)
    assert scores["triplet_distance"] == pytest.approx(tree.triplet_distance(other, normalize=True))
    said = run("score", file, "--compare", tmp_path / "other.npz").out
    assert "lower" in said and "higher" not in said.split("robinson_foulds_share")[1].splitlines()[0]


@pytest.mark.parametrize(
    ("labels", "code", "words"),
    [
        ("a\nb\n", UNUSABLE, "holds labels of shape (2,); the tree has 40 leaves"),
        ("a\n" * 40, UNUSABLE, "need two of them. Got 1"),
        ("a\n" + "\n" * 39, UNUSABLE, "need two of them. Got 1"),
    ],
)
def test_labels_that_cannot_be_scored_are_refused(labels, code, words, file, tmp_path):
    (tmp_path / "y.txt").write_text(labels)
    assert words in run("score", file, "--labels", tmp_path / "y.txt", code=code).err


def test_nothing_to_score_against_and_no_file_of_labels(file, tmp_path):
    assert "use --data, --labels or --compare" in run("score", file, code=USAGE).err
    assert "cannot be read as labels" in run("score", file, "--labels", tmp_path / "no", code=UNREADABLE).err


# ---- plot and show -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["dendrogram", "circular", "disk", "icicle"])
def test_every_view_is_drawn(view, file, tmp_path):
    out = tmp_path / "p.svg"
    run("plot", file, "--out", out, "--view", view, "-k", "3", "--title", "A <title>", "--size", "4x3")
    assert out.read_bytes()[:200].lstrip().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--view", "treemap"), "--view must be one of dendrogram, circular, disk, icicle"),
        (("--lengths", "long"), "--lengths must be one of auto, height, depth, size"),
        (("--orientation", "down"), "--orientation must be one of left, top"),
        (("--size", "4"), "--size must be width x height in inches, as in 8x6. Got '4'"),
        (("--size", "0x3"), "Got '0x3'"),
        (("--size", "300x3"), "Got '300x3'"),
        (("--strips", "age"), "--strips needs --data"),
    ],
)
def test_wrong_options_of_a_picture_are_errors_of_usage(arguments, words, file, tmp_path):
    assert words in run("plot", file, "--out", tmp_path / "p.svg", *arguments, code=USAGE).err
    assert not (tmp_path / "p.svg").exists()


def test_other_kinds_of_pictures_are_refused(file, tmp_path):
    assert "written as .png, .pdf, .svg" in run("plot", file, "--out", tmp_path / "p.gif", code=USAGE).err


def test_edits_of_a_tree_from_standard_input_have_nowhere_to_go(file, tree):
    text = tree.to_newick()
    assert "standard input has none" in run("show", "-", "--edit", code=USAGE, stdin=text).err
    assert "--view must be one of" in run("show", file, "--view", "cube", code=USAGE).err
