"""Progress: what is shown while work is under way."""

import re
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
import typer

import arbora as ab
from arbora.cli import main
from arbora.cli._console import Console, plain
from arbora.cli._exit import CommandError, interrupts, one_line_errors
from arbora.cli.methods import _expected_seconds


@pytest.fixture
def console(monkeypatch):
    monkeypatch.setenv("ARBORA_PROGRESS", "1")
    return Console()


def test_a_stage_of_known_length_moves_with_the_clock_and_slows_down_when_it_is_late(console, monkeypatch):
    shown = []
    monkeypatch.setattr(console, "_bar", lambda *report: shown.append(report))
    with console.stage("linkage", expected=0.5):
        end = time.monotonic() + 120
        while not any(done > 0.9 for _, done, _ in shown) and time.monotonic() < end:
            time.sleep(0.05)
    shares = [done for _, done, _ in shown]
    assert shares == sorted(shares)
    assert shares[0] == 0 and shares[-1] == 1
    assert 0.9 < shares[-2] < 1
    assert console.seconds["linkage"] >= 0.5


def test_a_reported_stage_is_timed_and_shown(console, capsys):
    console.progress("refine", 0.0, 1.0)
    console.progress("refine", 1.0, 1.0)
    assert re.fullmatch(r"refine: done in .* s\n", capsys.readouterr().err)
    assert "refine" in console.seconds


def test_nothing_is_shown_without_a_terminal(monkeypatch, capsys):
    monkeypatch.delenv("ARBORA_PROGRESS", raising=False)
    console = Console()
    with console.stage("linkage", expected=1.0):
        console.progress("refine", 0.5, 1.0)
    assert not console.shows_bars
    assert capsys.readouterr().err == ""


def test_words_give_way_to_a_result_on_standard_output(capsys):
    console = Console()
    console.give_way_to("-")
    console.say("hello")
    assert capsys.readouterr() == ("", "hello\n")
    with pytest.raises(CommandError, match="--json and --out -"):
        Console(as_json=True).give_way_to("-")


def test_terminal_codes_and_broken_letters_are_replaced(capsys):
    Console().say("\x1b[31mred \udce9")
    assert capsys.readouterr().out == "\ufffd[31mred \ufffd\n"


def test_json_has_neither_nan_nor_numpy():
    assert plain({"a": np.float64("nan"), "b": np.arange(2), "c": (np.int64(3), "x")}) == {
        "a": None,
        "b": [0, 1],
        "c": [3, "x"],
    }


def test_the_time_of_a_long_linkage_is_estimated_by_a_sample(monkeypatch):
    # CPU seconds: a busy machine changes the clock
    monkeypatch.setattr("arbora.cli.methods.time", SimpleNamespace(perf_counter=time.process_time))
    X = np.random.default_rng(0).normal(size=(16_000, 3))
    options = {"method": "single"}
    expected = _expected_seconds(ab.linkage, X, options)
    began = time.process_time()
    ab.linkage(X, **options)
    assert 0.05 < expected / (time.process_time() - began) < 20
    assert _expected_seconds(ab.linkage, X[:1000], options) is None
    assert _expected_seconds(ab.bisecting_kmeans, X, {}) is None


def test_an_error_that_a_library_made_of_ctrl_c_is_an_interruption(capsys, monkeypatch):
    def lost():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("cannot release un-acquired lock") from None

    monkeypatch.setattr(interrupts, "was_pressed", True)
    with pytest.raises(typer.Exit) as ended, one_line_errors(debug=False):
        lost()
    assert ended.value.exit_code == 130 and "Interrupted" in capsys.readouterr().err
    monkeypatch.setattr(interrupts, "was_pressed", False)
    with pytest.raises(typer.Exit) as ended, one_line_errors(debug=False):
        lost()
    assert ended.value.exit_code == 1 and "un-acquired lock" in capsys.readouterr().err


@pytest.mark.parametrize(("pressed", "code"), [(True, 130), (False, 1)])
def test_ctrl_c_while_options_are_read_is_an_interruption_too(pressed, code, monkeypatch):
    def ends_with_1(prog_name):
        interrupts.was_pressed = pressed
        raise SystemExit(1)

    monkeypatch.setattr("arbora.cli._app.app", ends_with_1)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
    finally:
        signal.signal(signal.SIGINT, before)
        interrupts.was_pressed = False
