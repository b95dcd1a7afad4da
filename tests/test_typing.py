"""What a type checker tells a user of arbora: right calls pass, wrong ones are reported on exactly their lines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
SECONDS = 300
# A line that ends in "# wrong" must be reported, and no other.
SCRIPT = """\
import numpy as np

import arbora as ab

X = np.zeros((10, 3))
y = np.zeros(10, dtype=np.int64)

tree: ab.Tree = ab.cluster(X, metric="euclidean", similarity="knn", random_state=0)
model = ab.TreeClustering(n_clusters=3, random_state=0).fit(X)
found: ab.Tree = model.tree_
labels = model.predict(X, n_clusters=4)
count: int = labels.shape[0]
model.refine("dasgupta", n_perturbations=2).predict(X)
better: ab.Tree = ab.refine(tree, model.similarity_, objective="tsd", n_perturbations=3)
linked: ab.Tree = ab.linkage(X, "ward")
purity: float = ab.metrics.dendrogram_purity(tree, y)
cost: float = ab.metrics.dasgupta_cost(tree, model.similarity_, normalize=True)
neighbors = ab.similarity.knn(X, n_neighbors=5)
total: float = neighbors.total
text: str = tree.to_newick()
tree.to_frame("polars")
spent: dict[str, float] = model.report_.seconds
low, high = model.report_.bounds()
width: float = high - low
ab.HypHC(n_clusters=3, max_epochs=5).fit(X)
ab.L2H(n_clusters=3)

ab.clusterr(X)  # wrong
ab.refine(tree, model.similarity_, objctive="tsd")  # wrong
ab.refine(tree, model.similarity_, objective="dasguptaa")  # wrong
ab.cluster(X, metric="manhattan")  # wrong
ab.cluster(X, similarity="rbf")  # wrong
ab.cluster(X, n_neighbors="ten")  # wrong
ab.cluster(X, return_report=True)  # wrong
ab.TreeClustering(n_clusters="three")  # wrong
ab.TreeClustering(3, "cosine")  # wrong
model.predict(X, n_clusters=0.5)  # wrong
tree.cutt(3)  # wrong
tree.to_frame("arrow")  # wrong
number: str = ab.metrics.dendrogram_purity(tree, y)  # wrong
ab.metrics.dendrogram_puritty(tree, y)  # wrong
ab.similarity.knn(X, n_neighbors="many")  # wrong
ab.HypHC(n_clusters=3, max_epoch=5)  # wrong
"""
WRONG = {number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "user_script.py"
    path.write_text(SCRIPT)
    return path


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MYPYPATH": str(SOURCE), "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_mypy_reports_exactly_the_wrong_lines(script):
    pytest.importorskip("mypy", reason="mypy is not installed")
    # the project's own cache, which `make lint` has filled
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    finished = run([sys.executable, "-m", "mypy", *options, "--no-error-summary", str(script)], script.parent)
    reported = re.findall(rf"{re.escape(script.name)}:(\d+): error", finished.stdout)
    assert reported, finished.stdout + finished.stderr
    assert {int(line) for line in reported} == WRONG, finished.stdout


@pytest.mark.parametrize("checker", ["basedpyright", "pyright"])
def test_pyright_reports_exactly_the_wrong_lines(script, checker):
    program = shutil.which(checker, path=str(Path(sys.executable).parent)) or shutil.which(checker)
    if program is None:
        pytest.skip(f"{checker} is not installed")
    settings = {"extraPaths": [str(SOURCE)], "typeCheckingMode": "standard", "include": [script.name]}
    (script.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [program, "--outputjson", "--pythonpath", sys.executable, "--project", str(script.parent)]
    try:
        finished = run(command, script.parent)
        found = json.loads(finished.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        pytest.skip(f"{checker} cannot run here: it may need Node.js from the network")
    errors = [entry for entry in found["generalDiagnostics"] if entry["severity"] == "error"]
    assert {entry["range"]["start"]["line"] + 1 for entry in errors} == WRONG, [
        (entry["range"]["start"]["line"] + 1, entry["message"]) for entry in errors
    ]
