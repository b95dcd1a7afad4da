"""An interrupted fit resumes to the result of an undisturbed one; folders of other fits are refused."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.errors import FormatError

X, _ = make_blobs(30, centers=4, n_features=5, random_state=0)
QUICK = {"max_epochs": 7, "n_triples": 600, "checkpoint_every": 2}


class Interrupted(Exception):
    """What stands for a lost machine."""


class Watch:
    """A scikit-learn callback that notes the epochs reported, and fails after some."""

    def __init__(self, fail_after=None):
        self.fail_after = fail_after

    def setup(self, estimator, context):
        self.epochs = []

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.task_name == "epoch":
            self.epochs.append(fitted_estimator.n_epochs_)
            if len(self.epochs) == self.fail_after:
                raise Interrupted

    def teardown(self, estimator, context): ...


@pytest.mark.parametrize(
    ("options", "stop", "resumes_at"),
    [
        ({}, 5, 5),
        # side by side: the second epoch of the second start has been saved, its third has not
        ({"n_init": 3}, 8, 3),
        ({"learn_radius": True}, 4, 3),
        ({"max_epochs": 60, "patience": 3}, 5, 5),
        ({"engine": "torch"}, 5, 5),
        # one after the other: the first start is finished
        ({"engine": "torch", "learn_radius": True, "n_init": 2}, 13, 5),
        ({"dimension": 3, "equal_radii": False}, 4, 3),
        ({"refine": True}, 6, 5),
    ],
)
def test_an_interrupted_fit_ends_with_the_same_result(options, stop, resumes_at, tmp_path):
    options = {**QUICK, **options, "random_state": 3}
    whole = ab.HypHC(**options).fit(X)
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=tmp_path, **options).set_callbacks(Watch(stop)).fit(X)
    watch = Watch()
    resumed = ab.HypHC(checkpoint=tmp_path, **options).set_callbacks(watch).fit(X)
    # the interrupted epoch was not saved: training resumes after the last multiple of checkpoint_every
    assert watch.epochs[0] == resumes_at
    assert resumed.tree_ == whole.tree_
    for name in ("embedding_", "init_costs_", "labels_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    for field in ("step", "loss", "cost"):
        np.testing.assert_array_equal(resumed.history_[field], whole.history_[field])
    assert resumed.cost_ == whole.cost_


def test_a_finished_fit_is_read_not_repeated(tmp_path):
    first = ab.HypHC(2, checkpoint=tmp_path, random_state=0, **QUICK).fit(X)
    watch = Watch()
    again = ab.HypHC(3, checkpoint=tmp_path, random_state=0, **QUICK).set_callbacks(watch).fit(X)
    assert watch.epochs == []
    assert again.tree_ == first.tree_
    assert len(np.unique(again.labels_)) == 3


def test_the_command_resumes_an_interrupted_fit(tmp_path):
    options = {"max_epochs": 7, "n_triples": 600, "random_state": 0}
    whole = ab.HypHC(**options).fit(X)
    kept = tmp_path / "kept"
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=kept / "method", **options).set_callbacks(Watch(7)).fit(X)
    np.save(tmp_path / "x.npy", X)
    command = ["fit", tmp_path / "x.npy", "--method", "hyphc", "--seed", 0, "--checkpoint", kept]
    command += ["--set", "max_epochs=7", "--set", "n_triples=600", "--out", tmp_path / "tree.npz"]
    subprocess.run([sys.executable, "-m", "arbora", *map(str, command)], check=True, capture_output=True)
    assert ab.Tree.load(tmp_path / "tree.npz").same_topology(whole.tree_)


def test_a_fit_without_a_seed_resumes_with_the_seed_it_began_with(tmp_path):
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=tmp_path, **QUICK).set_callbacks(Watch(5)).fit(X)
    with np.load(tmp_path / "start0.npz") as file:
        begun = file["history"]
    resumed = ab.HypHC(checkpoint=tmp_path, **QUICK).fit(X)
    np.testing.assert_array_equal(resumed.history_["loss"][: len(begun)], begun[:, 1])
    assert resumed.n_epochs_ == 7


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X + 1, {}),
        (X, {"random_state": 1}),
        (X, {"temperature": 0.2}),
        (X, {"n_init": 2}),
        (X[:20], {}),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused(data, options, tmp_path):
    ab.HypHC(checkpoint=tmp_path, **{**QUICK, "random_state": 0}).fit(X)
    with pytest.raises(ValueError, match="belongs to other work"):
        ab.HypHC(checkpoint=tmp_path, **{**QUICK, "random_state": 0, **options}).fit(data)


def test_options_whose_digits_run_together_are_other_options(tmp_path):
    ab.HypHC(checkpoint=tmp_path, random_state=0, **{**QUICK, "max_epochs": 5, "n_neighbors": 15}).fit(X)
    with pytest.raises(ValueError, match="belongs to other work"):
        ab.HypHC(checkpoint=tmp_path, random_state=0, **{**QUICK, "max_epochs": 51, "n_neighbors": 5}).fit(X)


def test_a_damaged_checkpoint_is_refused_with_what_to_delete(tmp_path):
    model = ab.HypHC(checkpoint=tmp_path, random_state=0, **QUICK)
    model.fit(X)
    path = tmp_path / "start0.npz"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FormatError, match=r"Delete .*start0.npz"):
        model.fit(X)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    path.write_text("something")
    with pytest.raises(ValueError, match="is a file"):
        ab.HypHC(checkpoint=path, **QUICK).fit(X)


def test_the_distance_between_checkpoints_is_checked():
    with pytest.raises(ValueError, match="checkpoint_every"):
        ab.HypHC(checkpoint_every=0).fit(X)
