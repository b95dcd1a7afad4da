"""The commands as a user runs them: processes, files, exit codes."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from cli.in_process import arbora
from cli.run_arbora import arbora as arbora_process
from cli.run_arbora import assert_one_line_error
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_digits, load_iris

from arbora.cli._exit import MISSING, UNREADABLE, UNUSABLE, UNWRITABLE, USAGE
from arbora.tree import Tree


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Iris as npy and as csv with its species, and a tree of it."""
    folder = tmp_path_factory.mktemp("iris")
    iris = load_iris()
    np.save(folder / "iris.npy", iris.data)
    rows = [
        f"{','.join(map(str, row))},{iris.target_names[k]}"
        for row, k in zip(iris.data, iris.target, strict=True)
    ]
    (folder / "iris.csv").write_text("a,b,c,d,species\n" + "\n".join(rows) + "\n")
    Tree.from_linkage(linkage(iris.data, "average")).save(folder / "tree.npz")
    return folder


def test_fit_writes_tree_page_report_and_picture(files, tmp_path):
    done = arbora_process(
        "fit", files / "iris.csv", "--method", "ward", "--label-column", "species",
        "--out", tmp_path / "t.npz", "--html", tmp_path / "t.html", "--report", tmp_path / "r.json",
        "--picture", tmp_path / "t.svg", "--seed", 1, "--threads", 1, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    facts = json.loads(done.stdout)
    assert facts == {**json.loads((tmp_path / "r.json").read_text()), "written": facts["written"]}
    assert facts["data"]["features"] == 4
    assert facts["data"]["classes"] == 3
    assert 0.8 < facts["scores"]["dendrogram_purity"] < 1
    assert Tree.load(tmp_path / "t.npz").n_leaves == 150
    page = (tmp_path / "t.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "versicolor" not in page  # data is packed, never markup
    assert (tmp_path / "t.svg").read_text().lstrip().startswith("<?xml")


def test_fit_reads_standard_input_and_writes_newick_to_standard_output(files):
    done = arbora_process(
        "fit", "-", "--method", "single", "--out", "-", "--quiet", stdin=(files / "iris.npy").read_bytes()
    )
    assert done.returncode == 0, done.stderr.decode()
    assert Tree.from_newick(done.stdout.decode().strip()).n_leaves == 150
    assert done.stderr == b""


def test_json_and_a_tree_on_standard_output_are_not_mixed(files):
    both = arbora("fit", files / "iris.npy", "--method", "ward", "--out", "-", "--json")
    assert_one_line_error(both, USAGE, "standard output")
    spoken = arbora("fit", files / "iris.npy", "--method", "ward", "--out", "-")
    assert Tree.from_newick(spoken.stdout.decode().strip()).n_leaves == 150
    assert b"150 leaves" in spoken.stderr


def test_fit_of_a_graph(tmp_path):
    (tmp_path / "g.edges").write_text("a b 3\nb c 2\na c 2\nd e 3\ne f 2\nd f 2\nc d 0.1\n")
    done = arbora("fit", tmp_path / "g.edges", "--method", "average", "--out", tmp_path / "t.nwk", "--quiet")
    assert done.returncode == 0, done.stderr.decode()
    tree = Tree.from_newick((tmp_path / "t.nwk").read_text().strip())
    groups = tree.cut(n_clusters=2)
    by_name = {tree.label(leaf): groups[leaf] for leaf in range(6)}
    assert by_name["a"] == by_name["b"] == by_name["c"] != by_name["d"]


def test_fit_and_refine_pick_up_from_a_checkpoint(files, tmp_path):
    command = (
        "fit",
        files / "iris.npy",
        "--method",
        "single",
        "--refine",
        "--out",
        tmp_path / "t.npz",
        "--seed",
        0,
    )
    kept = ("--checkpoint", tmp_path / "kept")
    first = arbora(*command, *kept)
    assert first.returncode == 0, first.stderr.decode()
    assert (tmp_path / "kept" / "refine" / "step0000.npz").exists()
    tree = Tree.load(tmp_path / "t.npz")
    os.unlink(tmp_path / "t.npz")
    again = arbora(*command, *kept)
    assert again.returncode == 0
    assert b"resuming" in again.stderr
    assert Tree.load(tmp_path / "t.npz") == tree
    other = arbora("fit", files / "iris.npy", "--method", "ward", "--refine", *kept)
    assert_one_line_error(other, UNUSABLE, "belongs to other work")


KILLED_AT_STEP_3 = """
import os, runpy, signal, sys
from arbora._base.checkpoint import Checkpoint

keep = Checkpoint.keep

def keep_and_die(self, arrays, name="state"):
    keep(self, arrays, name)
    if name == "step0003":
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.keep = keep_and_die
sys.argv[0] = "arbora"
runpy.run_module("arbora", run_name="__main__")
"""


def test_an_automatic_fit_killed_on_its_way_ends_with_the_same_tree(tmp_path):
    np.save(tmp_path / "x.npy", load_digits().data[:800])
    command = ("fit", tmp_path / "x.npy", "--seed", 0, "--set", "n_perturbations=12", "--out")
    assert arbora_process(*command, tmp_path / "whole.npz").returncode == 0
    kept = tmp_path / "kept"
    killed = subprocess.run(
        [
            sys.executable,
            "-c",
            KILLED_AT_STEP_3,
            *map(str, command),
            tmp_path / "t.npz",
            "--checkpoint",
            kept,
        ],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL and (kept / "search" / "step0003.npz").exists()
    assert not (kept / "fit.npz").exists() and not (tmp_path / "t.npz").exists()
    again = arbora_process(*command, tmp_path / "t.npz", "--checkpoint", kept)
    assert again.returncode == 0, again.stderr.decode()
    assert Tree.load(tmp_path / "t.npz") == Tree.load(tmp_path / "whole.npz")
    third = arbora_process(*command, tmp_path / "t.npz", "--checkpoint", kept)
    assert b"resuming" in third.stderr
    assert Tree.load(tmp_path / "t.npz") == Tree.load(tmp_path / "whole.npz")
    (kept / "identity.json").write_text("{")
    assert_one_line_error(arbora_process(*command, "-", "--checkpoint", kept, "-q"), UNREADABLE, "damaged")


def test_each_stage_is_reported_to_whoever_watches(files):
    shown = arbora_process("fit", files / "iris.npy", "--seed", 0, env={"ARBORA_PROGRESS": "1"})
    text = shown.stderr.decode()
    for stage in ("read", "similarity", "average linkage", "refine"):
        assert re.search(rf"{stage}: done in \d", text)
    assert "refine" not in arbora_process("fit", files / "iris.npy").stderr.decode()


def test_score_compares_with_labels_and_another_tree(files, tmp_path):
    np.save(tmp_path / "y.npy", load_iris().target)
    done = arbora(
        "score", files / "tree.npz", "--labels", tmp_path / "y.npy", "--compare", files / "tree.npz", "--json"
    )
    assert done.returncode == 0, done.stderr.decode()
    scores = json.loads(done.stdout)["scores"]
    assert scores["robinson_foulds"] == 0
    assert scores["crossings"] == 0
    assert 0.8 < scores["dendrogram_purity"] <= 1


def test_cut_prints_clusters_and_refuses_two_criteria(files, tmp_path):
    done = arbora("cut", files / "tree.npz", "-k", 3)
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "leaf,name,cluster"
    assert len(lines) == 151
    assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {"0", "1", "2"}
    both = arbora("cut", files / "tree.npz", "-k", 3, "--height", 1.0)
    assert_one_line_error(both, USAGE, "exactly one")


def test_convert_goes_through_every_format_and_back(files, tmp_path):
    start = files / "tree.npz"
    chain = ["a.nwk", "d.csv", "e.npz"]
    for name in chain:
        done = arbora("convert", start, tmp_path / name, "--quiet")
        assert done.returncode == 0, done.stderr.decode()
        start = tmp_path / name
    end = Tree.load(tmp_path / "e.npz")
    assert sorted(end.sizes) == sorted(Tree.load(files / "tree.npz").sizes)


def test_plot_and_info(files, tmp_path):
    done = arbora("plot", files / "tree.npz", "--out", tmp_path / "t.png", "--view", "circular", "-k", 3)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(arbora("info", files / "tree.npz", "--json").stdout)
    assert facts["leaves"] == 150
    assert facts["kind"] == "tree"


def test_every_format_is_read_by_the_command(tmp_path):
    pandas = pytest.importorskip("pandas")
    networkx = pytest.importorskip("networkx")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 4.0]})
    frame.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    networkx.write_graphml(networkx.path_graph(3), tmp_path / "g.graphml")
    (tmp_path / "g.mtx").write_text(
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.0\n3 2 2.0\n"
    )
    (tmp_path / "t.nwk").write_text("((a,b),c);\n")
    kinds = {
        "x.tsv": "vectors",
        "x.parquet": "vectors",
        "g.graphml": "graph",
        "g.mtx": "graph",
        "t.nwk": "tree",
    }
    for name, kind in kinds.items():
        facts = json.loads(arbora("info", tmp_path / name, "--json").stdout)
        assert (facts["kind"], facts["points"]) == (kind, 3)


def test_show_writes_a_page(files, tmp_path):
    done = arbora(
        "show",
        files / "tree.npz",
        "--data",
        files / "iris.csv",
        "--label-column",
        "species",
        "--html",
        tmp_path / "p.html",
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "Content-Security-Policy" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("fit", "nowhere.npy"), UNREADABLE, ["no file nowhere.npy"]),
        (("fit", "."), UNREADABLE, ["folder"]),
        (("fit", "{iris}", "--method", "magic"), USAGE, ["--method", "magic"]),
        (("fit", "{iris}", "--method", "ward", "--set", "no_such=1"), USAGE, ["no_such"]),
        (("fit", "{iris}", "--out", "no/such/folder/t.npz"), UNWRITABLE, ["no/such/folder"]),
        (("cut", "{iris}", "-k", "3"), UNREADABLE, ["linkage"]),
        (("cut", "{tree}", "-k", "5000"), UNUSABLE, ["5000"]),
    ],
)
def test_mistakes_end_with_one_line_and_their_exit_code(files, arguments, code, words):
    filled = [one.format(iris=files / "iris.npy", tree=files / "tree.npz") for one in arguments]
    assert_one_line_error(arbora(*filled), code, *words)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.csv", b"", UNREADABLE),
        ("truncated.npz", b"PK\x03\x04\x14\x00\x00", UNREADABLE),
        ("nan.csv", b"a,b\n1,nan\n2,3\n", UNUSABLE),
        ("garbage.bin", bytes(range(256)) * 64, UNREADABLE),
        ("wrong.csv", b"x:1\ny:2\nz:3\n", UNREADABLE),
    ],
)
def test_broken_files_end_with_one_line(tmp_path, name, content, code):
    (tmp_path / name).write_bytes(content)
    done = arbora("fit", tmp_path / name, "--method", "ward", "--out", tmp_path / "t.npz")
    assert_one_line_error(done, code, name)
    assert not (tmp_path / "t.npz").exists()


def test_terminal_codes_in_a_file_name_or_cell_are_not_obeyed(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\x1b[31mred,b\n1,2\n")
    done = arbora("fit", tmp_path / "x.csv", "--label-column", "missing")
    assert b"\x1b" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_forbidden_files_say_so(tmp_path):
    path = tmp_path / "secret.npy"
    np.save(path, np.ones((3, 2)))
    path.chmod(0)
    assert_one_line_error(arbora("fit", path), UNREADABLE, "permission denied")
    path.chmod(stat.S_IRWXU)


def test_a_full_disk_leaves_the_old_file_whole(files, tmp_path):
    target = tmp_path / "t.nwk"
    assert (
        arbora_process("convert", files / "tree.npz", target).returncode == 0
    )  # compiled code is cached now
    target.write_text("(old,tree);\n")
    # A limit on file sizes is a disk that is full after 2048 bytes, as far as a write can tell.
    script = (
        "import resource, signal, runpy, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048));"
        "sys.argv = ['arbora', *sys.argv[1:]]; runpy.run_module('arbora', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "convert", str(files / "tree.npz"), str(target)],
        capture_output=True,
        timeout=900,
        check=False,
    )
    assert_one_line_error(done, UNWRITABLE, "t.nwk")
    assert target.read_text() == "(old,tree);\n"
    assert [path.name for path in tmp_path.iterdir()] == ["t.nwk"]


def test_debug_adds_the_trace_and_quiet_says_nothing(files, tmp_path):
    done = arbora("fit", "nowhere.npy", "--debug")
    assert b"Traceback" in done.stderr
    assert done.returncode == UNREADABLE
    quiet = arbora("convert", files / "tree.npz", tmp_path / "t.nwk", "--quiet")
    assert (quiet.stdout, quiet.stderr) == (b"", b"")


def test_wrong_options_are_usage_errors():
    assert arbora("fit").returncode == USAGE
    assert arbora("nonsense").returncode == USAGE


def test_a_missing_package_is_named_with_its_pip_line(capsys):
    import typer

    from arbora.cli._exit import one_line_errors

    with pytest.raises(typer.Exit) as caught, one_line_errors(debug=False):
        raise ImportError("No module named 'torch'", name="torch")
    assert caught.value.exit_code == MISSING
    assert "pip install 'arbora[torch]'" in capsys.readouterr().err


def test_shell_completion_offers_commands_and_methods():
    offered = arbora_process(
        env={"_ARBORA_COMPLETE": "complete_bash", "COMP_WORDS": "arbora ", "COMP_CWORD": "1"}
    )
    assert {b"fit", b"show", b"demo"} <= set(offered.stdout.split()), offered
    methods = arbora_process(
        env={"_ARBORA_COMPLETE": "complete_bash", "COMP_WORDS": "arbora fit x --method h", "COMP_CWORD": "4"}
    )
    assert b"hyphc" in methods.stdout


def test_progress_goes_to_standard_error(files, tmp_path):
    done = arbora_process(
        "fit", files / "iris.npy", "--method", "ward", "--json", env={"ARBORA_PROGRESS": "1"}
    )
    assert done.returncode == 0
    assert b"read" in done.stderr
    json.loads(done.stdout)


def test_show_serves_until_interrupted(files):
    import urllib.request

    command = [sys.executable, "-m", "arbora", "show", str(files / "tree.npz"), "--no-browser", "--json"]
    heeds_interrupts = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # jobs in the background ignore them
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heeds_interrupts
    ) as running:
        try:
            url = json.loads(running.stdout.readline())["url"]
            with urllib.request.urlopen(url, timeout=300) as page:
                assert page.read(15) == b"<!doctype html>"
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=300) == 0
            assert running.stderr.read() == b""
        finally:
            running.kill()
