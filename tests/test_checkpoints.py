"""One contract for every checkpoint: the same call resumes to the same tree, any other is refused.

`NOT_YET` lists methods that do not keep the contract yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.errors import FormatError

X = make_blobs(80, n_features=5, centers=4, cluster_std=2.0, random_state=0)[0]
# differs in the very last value: an identity that samples the data would not notice
OTHER = X.copy()
OTHER[-1, -1] += 1.0
GRAPH = ab.similarity.knn(X, 5, metric="euclidean")
OTHER_GRAPH = ab.similarity.knn(OTHER, 5, metric="euclidean")
START = ab.linkage(GRAPH, "single")


class Stopped(Exception):
    """Stands for a machine that goes down."""


class StopAfter:
    """Ends the program after some reports: a `progress` for functions, a callback of scikit-learn for estimators."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self, stage: str, done: float, total: float | None) -> None:
        if stage == "refine":
            self._count()

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, **details: Any) -> None:
        self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped


@dataclass
class Method:
    """How to run a method on `data` (0: its own, 1: other data), with options, and until when."""

    run: Callable[..., ab.Tree]
    other_options: dict[str, Any]
    stops: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)


def run_cluster(data: int, stop: StopAfter | None = None, **options: Any) -> ab.Tree:
    return ab.cluster((X, OTHER)[data], metric="euclidean", n_neighbors=5, progress=stop, **options)


def run_refine(data: int, stop: StopAfter | None = None, **options: Any) -> ab.Tree:
    return ab.refine(START, (GRAPH, OTHER_GRAPH)[data], progress=stop, **options)


def run_estimator(kind: Callable[..., Any]) -> Callable[..., ab.Tree]:
    def run(data: int, stop: StopAfter | None = None, **options: Any) -> ab.Tree:
        model = kind(**options)
        if stop is not None:
            model.set_callbacks(stop)
        tree: ab.Tree = model.fit((X, OTHER)[data]).tree_
        return tree

    return run


METHODS = {
    "cluster": Method(run_cluster, {"n_perturbations": 2}, (3, 9), {"n_perturbations": 3}),
    "refine": Method(run_refine, {"objective": "tsd"}, (3, 9), {"n_perturbations": 3}),
    "HypHC": Method(
        run_estimator(ab.HypHC),
        {"temperature": 0.2},
        (2, 7),
        {"max_epochs": 10, "n_triples": 500, "checkpoint_every": 2},
    ),
    "GHHC": Method(
        run_estimator(ab.GHHC),
        {"margin": 0.5},
        (5, 15),
        {"max_steps": 20, "n_internal": 15, "checkpoint_every": 4},
    ),
    "FPH": Method(
        run_estimator(ab.FPH),
        {"objective": "tsd"},
        (3, 7),
        {"max_epochs": 10, "n_internal": 16, "checkpoint_every": 2},
    ),
}
NOT_YET: set[str] = set()
method = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skip("has a checkpoint of its own")) if name in NOT_YET else name
        for name in METHODS
    ],
)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def run(name, folder=None, data=0, random_state=0, **changes):
    known = METHODS[name]
    options = {**known.options, **changes, "random_state": random_state}
    return known.run(data, checkpoint=folder, **options)


@method
def test_a_checkpoint_changes_nothing(name, tmp_path):
    assert run(name, tmp_path / "new" / "folder") == run(name)


@method
def test_a_stopped_run_resumes_to_the_same_tree(name, tmp_path):
    whole = run(name)
    for count in METHODS[name].stops:
        folder = tmp_path / str(count)
        with pytest.raises(Stopped):
            run(name, folder, stop=StopAfter(count))
        assert run(name, folder) == whole


@method
def test_a_finished_run_is_read_again(name, tmp_path):
    assert run(name, tmp_path) == run(name, tmp_path)


@method
def test_other_data_are_refused_also_where_only_the_last_value_differs(name, tmp_path):
    run(name, tmp_path)
    with pytest.raises(ValueError, match="belongs to other work: its data or options differ"):
        run(name, tmp_path, data=1)


@method
def test_other_options_are_refused(name, tmp_path):
    run(name, tmp_path)
    with pytest.raises(ValueError, match="belongs to other work: its data or options differ"):
        run(name, tmp_path, **METHODS[name].other_options)


@method
def test_another_seed_is_refused(name, tmp_path):
    run(name, tmp_path)
    with pytest.raises(ValueError, match="belongs to other work: its random_state differs"):
        run(name, tmp_path, random_state=1)


@method
def test_an_unseeded_run_resumes_with_the_seed_it_began_with(name, tmp_path):
    with pytest.raises(Stopped):
        run(name, tmp_path, random_state=None, stop=StopAfter(METHODS[name].stops[-1]))
    assert run(name, tmp_path, random_state=None) == run(name, tmp_path, random_state=None)


@method
def test_a_folder_of_another_method_is_refused(name, tmp_path):
    other = "refine" if METHODS[name].run is not run_refine and name != "cluster" else "HypHC"
    if other in NOT_YET:
        pytest.skip(f"{other} has a checkpoint of its own")
    run(other, tmp_path)
    with pytest.raises(ValueError, match="belongs to other work: it was saved by"):
        run(name, tmp_path)


@method
def test_a_truncated_file_is_named(name, tmp_path):
    with pytest.raises(Stopped):
        run(name, tmp_path, stop=StopAfter(METHODS[name].stops[-1]))
    saved = sorted(tmp_path.glob("*.npz"))
    assert saved
    for path in saved:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FormatError, match=saved[0].name):
        run(name, tmp_path)


@method
def test_a_file_in_place_of_the_folder_is_refused(name, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        run(name, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@method
def test_nothing_but_whole_files_is_left_by_a_stop(name, tmp_path):
    with pytest.raises(Stopped):
        run(name, tmp_path, stop=StopAfter(METHODS[name].stops[0]))
    assert not list(tmp_path.glob("*.part")) and (tmp_path / "identity.json").exists()


def test_the_estimator_of_the_main_job_resumes_what_cluster_began(tmp_path):
    with pytest.raises(Stopped):
        run("cluster", tmp_path, stop=StopAfter(9))
    steps = set(tmp_path.iterdir())
    model = ab.TreeClustering(
        metric="euclidean", n_neighbors=5, n_perturbations=3, random_state=0, checkpoint=tmp_path
    ).fit(X)
    assert model.tree_ == run("cluster") and steps < set(tmp_path.iterdir())


def test_the_command_line_resumes_to_the_same_tree_and_refuses_other_data(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from arbora.cli._app import app

    def fit(data, out, *options):
        np.save(tmp_path / f"{out}.npy", data)
        command = ["fit", f"{out}.npy", "--seed", "0", "--out", f"{out}.npz", "--quiet", *options]
        return CliRunner().invoke(app, command)

    monkeypatch.chdir(tmp_path)
    assert fit(X, "whole").exit_code == 0
    for _ in range(2):
        assert fit(X, "kept", "--checkpoint", "folder").exit_code == 0
        assert ab.Tree.load("kept.npz") == ab.Tree.load("whole.npz")
    refused = fit(OTHER, "other", "--checkpoint", "folder")
    assert refused.exit_code != 0 and not (tmp_path / "other.npz").exists()
