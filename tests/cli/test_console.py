"""Bars: what they show while work goes on."""

import time

import numpy as np
import pytest

import arbora as ab
from arbora.cli._console import Console
from arbora.cli.methods import _expected_seconds


@pytest.fixture
def console(monkeypatch, capfd):
    monkeypatch.setenv("ARBORA_PROGRESS", "1")
    console = Console(quiet=False, as_json=False)
    with console.progress():
        yield console


def test_a_stage_of_known_length_moves_with_the_clock_and_stops_short_when_it_is_late(console):
    with console.stage("linkage", expected=1.0):
        task = console._bars.tasks[-1]
        time.sleep(0.5)
        assert 0.1 < task.completed < 1.0 == task.total
        time.sleep(1.0)
        assert 85 < task.percentage < 95
    assert task.finished
    assert console.seconds["linkage"] >= 1.5


def test_a_reported_stage_pulses_until_its_first_share(console):
    report = console.reporter()
    report("refine", 0.0)
    assert console._bars.tasks[-1].total is None
    report("refine", 0.25)
    assert console._bars.tasks[-1].percentage == 25
    report("refine", 1.0)
    assert console._bars.tasks[-1].finished
    assert len(console._bars.tasks) == 1
    assert "refine" in console.seconds


def test_nothing_is_drawn_without_a_terminal(monkeypatch, capfd):
    monkeypatch.delenv("ARBORA_PROGRESS", raising=False)
    console = Console(quiet=False, as_json=False)
    with console.progress(), console.stage("linkage", expected=1.0):
        console.reporter()("refine", 0.5)
    assert not console.shows_bars
    assert capfd.readouterr().err == ""


def test_the_time_of_a_long_linkage_is_estimated_by_a_sample():
    X = np.random.default_rng(0).normal(size=(16_000, 3))
    options = {"method": "single"}
    expected = _expected_seconds(ab.linkage, X, options)
    began = time.perf_counter()
    ab.linkage(X, **options)
    assert 0.05 < expected / (time.perf_counter() - began) < 20  # a busy machine may slow down either
    assert _expected_seconds(ab.linkage, X[:1000], options) is None
    assert _expected_seconds(ab.bisecting_kmeans, X, {}) is None
