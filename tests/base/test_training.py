"""One training curve; scikit-learn's callbacks hear every step and stage."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin

from arbora._base.training import HISTORY, FitProgress, FitStages, deciding_params, history, with_callbacks


class Listener:
    """A callback that writes down what it hears, and asks to stop at a step."""

    def __init__(self, stop_at=None):
        self.heard, self._stop_at, self._n_ended = [], stop_at, 0

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, **details):
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **details):
        self.heard.append(("end", context.task_name))
        self._n_ended += 1
        return self._n_ended == self._stop_at


class Steps(CallbackSupportMixin, BaseEstimator):
    def __init__(self, n_clusters=2, *, learning_rate=0.1, max_epochs=3, random_state=None, verbose=False):
        self.n_clusters, self.learning_rate, self.max_epochs = n_clusters, learning_rate, max_epochs
        self.random_state, self.verbose = random_state, verbose

    @with_callbacks
    def fit(self, X=None, y=None):
        self.n_done_ = 0
        with FitProgress(self, self.max_epochs, verbose=self.verbose) as progress:
            for epoch in range(1, self.max_epochs + 1):
                self.n_done_ = epoch
                if progress.step(epoch, note=f"loss {1 / epoch:.2f}"):
                    break
        return self


class Stages(CallbackSupportMixin, BaseEstimator):
    def __init__(self, fails=False, verbose=False):
        self.fails, self.verbose = fails, verbose

    @with_callbacks
    def fit(self, X=None, y=None):
        with FitStages(self, verbose=self.verbose) as report:
            for stage in ("load", "search"):
                report(stage, 0, 2)
                report(stage, 1, 2)
                if self.fails:
                    raise ZeroDivisionError
                report(stage, 2, 2)
        return self


def names_of(heard, what):
    return [name for event in heard if event[0] == what for name in [event[1]]]


def test_a_curve_has_a_row_per_step_and_three_fields():
    curve = history([(1, 0.5, float("nan")), [2, 0.25, 3.0]])
    assert curve.dtype == HISTORY and curve["step"].tolist() == [1, 2]
    assert np.isnan(curve["cost"][0]) and curve["cost"][1] == 3.0
    assert history([]).shape == (0,) and history([]).dtype == HISTORY
    assert history((k, 1.0, 1.0) for k in range(3)).shape == (3,)


def test_what_only_changes_how_a_fit_runs_does_not_decide_what_it_finds():
    one = Steps(5, learning_rate=0.3, random_state=1, verbose=True)
    assert deciding_params(one) == {"learning_rate": 0.3, "max_epochs": 3}
    assert deciding_params(one, "max_epochs") == {"learning_rate": 0.3}


def test_every_step_is_a_task_for_the_callbacks():
    listener = Listener()
    Steps().set_callbacks(listener).fit()
    ended = names_of(listener.heard, "end")
    assert ended.count("epoch") == 3 and len(ended) == 4
    assert names_of(listener.heard, "begin")[0] == ended[-1], "the fit begins first and ends last"


def test_a_callback_can_ask_to_stop():
    model = Steps(max_epochs=10).set_callbacks(Listener(stop_at=2)).fit()
    assert model.n_done_ == 2


def test_without_callbacks_all_steps_are_made_and_nothing_is_shown(capsys):
    assert Steps().fit().n_done_ == 3
    assert capsys.readouterr().err == ""


def test_a_bar_names_the_estimator_and_its_steps(capsys):
    Steps(verbose=True).fit()
    assert "Steps epochs: done in" in capsys.readouterr().err


def test_every_stage_is_a_task_for_the_callbacks():
    listener = Listener()
    Stages().set_callbacks(listener).fit()
    assert names_of(listener.heard, "begin")[1:] == ["load", "search"]
    assert names_of(listener.heard, "end")[:2] == ["load", "search"]


def test_a_fit_that_fails_does_not_end_its_tasks():
    listener = Listener()
    with pytest.raises(ZeroDivisionError):
        Stages(fails=True).set_callbacks(listener).fit()
    assert names_of(listener.heard, "end") == []


def test_stages_are_shown_on_a_bar(capsys):
    Stages(verbose=True).fit()
    shown = capsys.readouterr().err
    assert shown.index("load: done") < shown.index("search: done")
