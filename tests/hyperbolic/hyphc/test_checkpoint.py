"""An interrupted fit goes on to the result of an undisturbed one; files of other fits are refused."""

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


def interrupt_at(restart, epoch):
    def callback(state):
        if (state.restart, state.epoch) == (restart, epoch):
            raise Interrupted

    return callback


@pytest.mark.parametrize(
    ("options", "stop"),
    [
        ({}, (0, 4)),
        ({"restarts": 3}, (1, 3)),
        ({"learn_radius": True}, (0, 3)),
        ({"max_epochs": 60, "patience": 3}, (0, 4)),
        ({"engine": "torch"}, (0, 4)),
        ({"engine": "torch", "learn_radius": True, "restarts": 2}, (1, 5)),
        ({"dimension": 3, "normalize": False}, (0, 3)),
        ({"refine": True}, (0, 5)),
    ],
)
def test_an_interrupted_fit_ends_with_the_same_result(options, stop, tmp_path):
    options = {**QUICK, **options, "random_state": 3}
    whole = ab.HypHC(**options).fit(X)
    path = tmp_path / "state.npz"
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=path, callback=interrupt_at(*stop), **options).fit(X)
    epochs = []
    note = lambda state: epochs.append((state.restart, state.epoch))  # noqa: E731
    resumed = ab.HypHC(checkpoint=path, callback=note, **options).fit(X)
    # the interrupted epoch was not kept: training goes on behind the last multiple of checkpoint_every
    assert epochs[0] == (stop[0], stop[1] - stop[1] % 2)
    assert resumed.tree_ == whole.tree_
    for name in ("embedding_", "cost_history_", "loss_history_", "restart_costs_", "labels_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    assert resumed.cost_ == whole.cost_


def test_a_finished_fit_is_read_not_repeated(tmp_path):
    path = tmp_path / "state.npz"
    first = ab.HypHC(2, checkpoint=path, random_state=0, **QUICK).fit(X)
    never = interrupt_at(0, 0)
    again = ab.HypHC(3, checkpoint=path, random_state=0, callback=never, **QUICK).fit(X)
    assert again.tree_ == first.tree_
    assert len(np.unique(again.labels_)) == 3


def test_the_command_goes_on_from_an_interrupted_fit(tmp_path):
    options = {"max_epochs": 7, "n_triples": 600, "random_state": 0}
    whole = ab.HypHC(**options).fit(X)
    kept = tmp_path / "kept"
    kept.mkdir()
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=kept / "method.npz", callback=interrupt_at(0, 6), **options).fit(X)
    np.save(tmp_path / "x.npy", X)
    command = ["fit", tmp_path / "x.npy", "--method", "hyphc", "--seed", 0, "--checkpoint", kept]
    command += ["--set", "max_epochs=7", "--set", "n_triples=600", "--out", tmp_path / "tree.npz"]
    subprocess.run([sys.executable, "-m", "arbora.cli", *map(str, command)], check=True, capture_output=True)
    assert ab.Tree.load(tmp_path / "tree.npz").same_topology(whole.tree_)
    with np.load(kept / "method.npz") as file:
        np.testing.assert_array_equal(file["run0_losses"], whole.loss_history_)


def test_a_fit_without_a_seed_goes_on_with_the_seed_it_began_with(tmp_path):
    path = tmp_path / "state.npz"
    with pytest.raises(Interrupted):
        ab.HypHC(checkpoint=path, callback=interrupt_at(0, 4), **QUICK).fit(X)
    with np.load(path) as file:
        begun = file["run0_losses"]
    resumed = ab.HypHC(checkpoint=path, **QUICK).fit(X)
    np.testing.assert_array_equal(resumed.loss_history_[: len(begun)], begun)
    assert resumed.n_epochs_ == 7


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X + 1, {}),
        (X, {"random_state": 1}),
        (X, {"temperature": 0.2}),
        (X, {"restarts": 2}),
        (X[:20], {}),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused(data, options, tmp_path):
    path = tmp_path / "state.npz"
    ab.HypHC(checkpoint=path, **{**QUICK, "random_state": 0}).fit(X)
    with pytest.raises(ValueError, match="other data or parameters"):
        ab.HypHC(checkpoint=path, **{**QUICK, "random_state": 0, **options}).fit(data)


@pytest.mark.parametrize("content", ["cut", "text", "tree"])
def test_a_file_that_is_no_whole_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "state.npz"
    model = ab.HypHC(checkpoint=path, random_state=0, **QUICK)
    if content == "cut":
        model.fit(X)
        path.write_bytes(path.read_bytes()[:-200])
    elif content == "text":
        path.write_text("not an archive")
    else:
        ab.Tree.from_newick("((a,b),c);").save(path)
    with pytest.raises(FormatError, match="checkpoint of HypHC"):
        model.fit(X)


def test_the_distance_between_checkpoints_is_checked():
    with pytest.raises(ValueError, match="checkpoint_every"):
        ab.HypHC(checkpoint_every=0).fit(X)
