"""Commands that take data: every pair of their options does what Python does, or is refused in one line."""

import json

import numpy as np
import pytest
from cli.in_process import arbora, run
from pairs import covering_table, name_of

import arbora as ab
from arbora.cli._exit import UNREADABLE, UNUSABLE, USAGE

N = 40
RNG = np.random.default_rng(0)
KIND = np.repeat(["red", "green"], [25, 15])
X = RNG.normal(size=(N, 3)) * [1, 5, 0.2] + 6 * (KIND == "red")[:, None]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rows = [f"n{k},{','.join(f'{v:.6f}' for v in row)},{KIND[k]}" for k, row in enumerate(X)]
    (folder / "data.csv").write_text("who,a,b,c,kind\n" + "\n".join(rows) + "\n")
    (folder / "new.csv").write_text("who,a,b,c,kind\n" + "\n".join(f"x{row}" for row in rows[::5]) + "\n")
    rounded = np.array([[float(f"{v:.6f}") for v in row] for row in X])
    tree = ab.linkage(rounded, "single").replace(name=[f"n{k}" for k in range(N)])
    tree.save(folder / "tree.npz")
    run("fit", folder / "data.csv", "--model", folder / "model", "--label-column", "kind", "-q")
    return folder


SHARED = {
    "--metric": (None, "cosine", "euclidean", "auto"),
    "--scale": (None, "auto", "standard", "rank", "none"),
    "--label-column": (None, "kind"),
    "--name-column": (None, "who"),
    "--features": (None, "a,b", "a,b,c"),
    "--threads": (None, "1"),
}
COMMANDS = {
    "score": {},
    "refine": {
        "--objective": (None, "dasgupta", "tsd"),
        "--max-sweeps": (None, "1"),
        "--seed": (None, "5", "random"),
    },
    "predict": {"-k": (None, "3"), "--seed": (None, "5")},
}
TABLE = [
    {"command": command, **case}
    for command, own in COMMANDS.items()
    for case in covering_table({**SHARED, **own}, n_drawn=600)
]


def arguments(case, files):
    command = case["command"]
    start = {
        "score": ["score", files / "tree.npz", "--data", files / "data.csv"],
        "refine": ["refine", files / "tree.npz", "--data", files / "data.csv"],
        "predict": ["predict", files / "tree.npz", files / "new.csv", "--data", files / "data.csv"],
    }[command]
    for option, value in case.items():
        if option != "command" and value is not None:
            start += [option, value]
    return [*start, "--json"]


@pytest.mark.parametrize("number", range(len(TABLE)), ids=[name_of(case) for case in TABLE])
def test_every_pair_of_options_gives_a_result_or_one_line(number, files):
    case = TABLE[number]
    done = arbora(*arguments(case, files))
    found = json.loads(done.stdout)
    if done.returncode != 0:
        assert case["command"] == "predict" and case["-k"] is None and done.returncode == USAGE
        assert found["error"] == "--clusters is needed with a tree." and found["code"] == USAGE
        return
    if case["command"] == "score":
        assert found["tree"]["leaves"] == N and found["scores"]["dasgupta_cost"] > 0
        assert ("dendrogram_purity" in found["scores"]) == (case["--label-column"] is not None)
    elif case["command"] == "refine":
        before, after = found["objective"]["before"], found["objective"]["after"]
        is_tsd = case["--objective"] == "tsd"
        assert (after >= before - 1e-9) if is_tsd else (after <= before * (1 + 1e-9))
        assert found["objective"]["better"] == ("higher" if is_tsd else "lower")
    else:
        assert len(found["labels"]) == 8 and set(found["labels"]) <= {-1, 0, 1, 2}
        assert all(0 <= value <= 1 for value in found["confidence"] + found["outlier_score"])
        assert found["names"] == [f"xn{k}" for k in range(0, N, 5)]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_scores_are_those_of_python_on_the_same_graph(metric, files):
    found = json.loads(
        run(
            "score",
            files / "tree.npz",
            "-d",
            files / "data.csv",
            "--metric",
            metric,
            "--scale",
            "none",
            "--json",
        ).out
    )
    data = ab.read(files / "data.csv", label_column="kind")
    model = ab.TreeClustering(metric=metric, scale="none", random_state=0).fit(data.values)
    tree = ab.Tree.load(files / "tree.npz").replace(name=None)
    wanted = ab.metrics.dasgupta_cost(tree, model.similarity_)
    assert found["scores"]["dasgupta_cost"] == pytest.approx(wanted) and found["metric"] == metric


def test_all_pairs_of_cosines_are_scored_where_asked_for(files):
    tree, data = files / "tree.npz", files / "data.csv"
    found = json.loads(run("score", tree, "-d", data, "--all-pairs", "--json").out)["scores"]
    values = ab.read(data, label_column="kind").values
    wanted = ab.metrics.dasgupta_cost(ab.Tree.load(tree).replace(name=None), ab.similarity.cosine(values))
    assert found["dasgupta_cost"] == pytest.approx(wanted)
    refused = run("score", tree, "-d", data, "--all-pairs", "--metric", "euclidean", code=USAGE)
    assert "--all-pairs compares vectors by the cosine" in refused.err


def test_a_refined_tree_is_written_with_its_names_and_is_the_better_one(files, tmp_path):
    out = tmp_path / "better.nwk"
    said = run("refine", files / "tree.npz", "-d", files / "data.csv", "--out", out).out
    assert "Normalized Dasgupta cost on the graph of nearest neighbors" in said and f"wrote {out}" in said
    better = ab.Tree.from_newick(out)
    assert sorted(better.label(leaf) for leaf in range(N)) == sorted(f"n{k}" for k in range(N))
    plain = run("refine", files / "tree.npz", "-d", files / "data.csv", "--out", "-")
    assert plain.out.startswith("(") and plain.out.endswith(";\n") and "Dasgupta" in plain.err


def test_the_same_seed_refines_alike(files):
    results = [
        json.loads(run("refine", files / "tree.npz", "-d", files / "data.csv", "--seed", seed, "--json").out)[
            "objective"
        ]
        for seed in ("3", "3")
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (("predict", "{f}/model", "{f}/new.csv", "--metric", "cosine"), USAGE, "--metric needs --data"),
        (("predict", "{f}/model", "{f}/new.csv", "--scale", "rank"), USAGE, "--scale needs --data"),
        (
            ("predict", "{f}/tree.npz", "{f}/new.csv"),
            UNREADABLE,
            "is not a model that arbora fit --model wrote",
        ),
        (("predict", "{f}/absent", "{f}/new.csv"), UNREADABLE, "cannot be read"),
        (("predict", "{f}/model", "{f}/tree.npz"), UNREADABLE, "tree"),
        (
            ("refine", "{f}/tree.npz", "-d", "{f}/data.csv", "--objective", "cost"),
            USAGE,
            "--objective must be one of",
        ),
        (
            ("refine", "{f}/tree.npz", "-d", "{f}/data.csv", "--seed", "x"),
            USAGE,
            "--seed must be a whole number",
        ),
        (("score", "{f}/tree.npz", "-d", "{f}/data.csv", "--scale", "log"), USAGE, "--scale must be one of"),
        (("score", "{f}/tree.npz", "-d", "{f}/new.csv"), UNUSABLE, "has 8 points, the tree 40 leaves"),
        (("score", "{f}/tree.npz", "-d", "{f}/data.csv", "--label-column", "no"), UNUSABLE, "no column 'no'"),
        (("score", "{f}/tree.npz", "-d", "{f}/data.csv", "--kind", "tree"), USAGE, "--kind must be one of"),
    ],
)
def test_mistakes_end_with_one_line_and_their_code(call, code, words, files):
    done = run(*(part.format(f=files) for part in call), code=code)
    lines = [line for line in done.err.splitlines() if not line.startswith("arbora: warning")]
    assert words in done.err and len(lines) == 1


def test_a_model_places_known_points_into_their_own_clusters(files):
    found = json.loads(run("predict", files / "model", files / "new.csv", "--json").out)
    model = ab.TreeClustering.load(files / "model")
    assert found["labels"] == model.labels_[::5].tolist()
    three = json.loads(run("predict", files / "model", files / "new.csv", "-k", "3", "--json").out)
    assert len(set(three["labels"])) <= 3


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npy"])
def test_predictions_are_written_as_tables(suffix, files, tmp_path):
    out = tmp_path / f"p{suffix}"
    said = run("predict", files / "model", files / "new.csv", "--out", out).out
    assert f"wrote {out}" in said and out.stat().st_size > 0
    if suffix == ".csv":
        head, *lines = out.read_text().splitlines()
        assert head == "point,name,cluster,confidence,outlier_score" and len(lines) == 8
    printed = run("predict", files / "model", files / "new.csv").out
    assert "point,name,cluster" in printed
    assert run("predict", files / "model", files / "new.csv", "-q").out == ""


@pytest.mark.parametrize("known", ["model", "tree"])
def test_predictions_find_the_features_by_name(known, files, tmp_path):
    """Whatever their order in the new file, and whatever else it holds."""
    rows = [line.split(",") for line in (files / "new.csv").read_text().splitlines()]
    moved = [[who, c, f"{k}.5" if k else "other", kind, a, b] for k, (who, a, b, c, kind) in enumerate(rows)]
    (tmp_path / "moved.csv").write_text("\n".join(map(",".join, moved)) + "\n")
    by = [files / "model"] if known == "model" else [files / "tree.npz", "--data", files / "data.csv"]

    def assigned(path):
        return json.loads(run("predict", by[0], path, *by[1:], "-k", "4", "--json").out)

    expected = assigned(files / "new.csv")
    assert assigned(tmp_path / "moved.csv") == {**expected, "written": []}
    assert len(set(expected["labels"])) > 1


def test_new_points_without_a_feature_of_the_model_are_refused_by_its_name(files, tmp_path):
    text = (files / "new.csv").read_text().replace("who,a,b,c", "who,a,b,weight")
    (tmp_path / "other.csv").write_text(text)
    done = run("predict", files / "model", tmp_path / "other.csv", code=UNUSABLE)
    assert "lacks 'c'" in done.err
