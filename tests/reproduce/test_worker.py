"""What the worker does with a cell, without a process: values, facts, failures, seconds without compiling."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from arbora.reproduce import tables, worker
from arbora.reproduce.runner import END, OUTCOME, Cell, Choice, Worker, _groups, _wanted, plan
from arbora.reproduce.systems import baseline
from arbora.reproduce.table import Data, Found, Method, Metric, Table


def make(run=lambda problem, seed: seed, *, score=lambda problem, result: {"x": result}, **facts):
    method = Method("m", run, **facts)
    return Table(
        "p", "t", "", (Data("d"),), (Metric("x", "x", "lower"),), (method,), lambda *what: what, score
    )


@pytest.fixture
def known(monkeypatch):
    """A function that makes a table known to the worker."""

    def register(table):
        monkeypatch.setattr(tables, "find", lambda key: {"p/t": table}[key])
        return table

    return register


def test_a_cell_is_loaded_run_and_scored_with_its_seed_and_speed(known):
    seen = []
    known(make(lambda problem, seed, **options: seen.append((problem, seed, options)) or 4,
               parameters={"a": 1, "b": 2}, quick={"b": 3}))  # fmt: skip
    found = worker.run_cell("p/t", "d", "m", 7, True)
    assert seen[0] == (("d", 7, True), 7, {"a": 1, "b": 3})
    assert found["values"] == {"x": 4.0} and found["facts"] == {}
    worker.run_cell("p/t", "d", "m", 7, False)
    assert seen[-1] == (("d", 7, False), 7, {"a": 1, "b": 2})


def test_a_short_run_is_timed_again_when_its_kernels_are_there(known, monkeypatch):
    calls = []
    known(make(lambda problem, seed: calls.append(seed) or 0.0))
    worker.run_cell("p/t", "d", "m", 1, True)
    assert calls == [1, 1]
    calls.clear()
    monkeypatch.setattr(worker, "_SHORT_SECONDS", -1.0)
    worker.run_cell("p/t", "d", "m", 1, True)
    assert calls == [1]


def test_facts_and_deviations_are_kept_with_the_values(known):
    table = make(
        score=lambda problem, result: Found({"x": 1}, {"outline": ["a"]}), deviations=lambda: "Smaller."
    )
    known(table)
    found = worker.run_cell("p/t", "d", "m", 0, True)
    assert found["facts"] == {"outline": ["a"], "deviations": "Smaller."}
    assert isinstance(found["values"]["x"], float)


def test_figures_that_are_no_numbers_are_left_out_and_a_cell_without_any_fails(known):
    known(make(score=lambda problem, result: {"x": 1.0, "y": float("nan")}))
    assert worker.run_cell("p/t", "d", "m", 0, True)["values"] == {"x": 1.0}
    known(make(score=lambda problem, result: {"x": float("nan")}))
    with pytest.raises(ValueError, match="none of x is a number"):
        worker.run_cell("p/t", "d", "m", 0, True)


def test_every_seed_prints_its_outcome_and_a_failure_does_not_stop_the_next(known, capsys):
    def run(problem, seed):
        if seed == 1:
            raise MemoryError("no\n  room")
        return seed

    known(make(run))
    request = ["p/t", "d", "m", "quick", 0, 1, 2]
    worker._run(request)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith(OUTCOME) for line in lines)
    outcomes = [json.loads(line[len(OUTCOME) :]) for line in lines]
    assert [outcome.get("values", {}).get("x") for outcome in outcomes] == [0, None, 2]
    assert outcomes[1]["failure"] == "MemoryError: no room"
    assert all(outcome["request"] == request and outcome["peak_megabytes"] > 1 for outcome in outcomes)


def test_seconds_of_compiling_count_once_however_deep(monkeypatch):
    now = iter([10.0, 14.0, 20.0, 21.0])
    monkeypatch.setattr(time, "process_time", lambda: next(now))
    clock = worker.CompileClock()
    clock.on_start(None)
    clock.on_start(None)
    clock.on_end(None)
    clock.on_end(None)
    assert clock.seconds == 4.0
    clock.on_start(None)
    clock.on_end(None)
    assert clock.seconds == 5.0


# ---- what is run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((), {"FPH", "FPH-U", "Ward"}),
        (("fph",), {"FPH"}),
        (("FPH-",), {"FPH-U"}),
        (("ph",), {"FPH", "FPH-U"}),
        (("ward", "fph-u"), {"Ward", "FPH-U"}),
        (("nothing",), set()),
    ],
)
def test_names_are_chosen_whole_or_by_a_part(parts, wanted):
    assert _wanted(parts, ["FPH", "FPH-U", "Ward"]) == wanted


def test_a_plan_refuses_with_the_first_reason_and_runs_the_rest_cheapest_first(monkeypatch, tmp_path):
    monkeypatch.setenv("ARBORA_DATA", str(tmp_path))
    run = lambda problem, seed: 0  # noqa: E731
    table = Table(
        "p", "t", "",
        (Data("far", absent="too far"), Data("filed", ("x.npz",)), Data("slow", seconds=9), Data("fast", seconds=1)),
        (), (
            Method("random", run),
            Method("fixed", run, is_random=False, slower=2.0, skips={"fast": "known to fail"}),
            Method("extra", run, missing=lambda: "pip install x"),
        ), lambda *_: None, lambda *_: {}, n_seeds=3,
    )  # fmt: skip
    cells, refused = plan([table], Choice())
    assert [(cell.data.name, cell.method.name, cell.seed) for cell in cells] == [
        ("fast", "random", 0), ("fast", "random", 1), ("fast", "random", 2),
        ("slow", "random", 0), ("slow", "random", 1), ("slow", "random", 2), ("slow", "fixed", 0),
    ]  # fmt: skip
    assert refused["p/t, far, extra"] == "too far"
    assert refused["p/t, filed, random"].startswith("needs x.npz")
    assert refused["p/t, filed, extra"] == refused["p/t, fast, extra"] == "pip install x"
    assert refused["p/t, fast, fixed"] == "known to fail"
    assert [len(group) for group in _groups(cells)] == [3, 3, 1]
    quick, _ = plan([table], Choice(quick=True, datasets=("fast",)))
    assert [cell.seed for cell in quick] == [0, 1] and quick[0].seconds == pytest.approx(0.3)
    chosen, _ = plan([table], Choice(n_seeds=5, datasets=("fast",), methods=("random",)))
    assert len(chosen) == 5


def test_where_data_are_drawn_every_method_runs_with_every_seed():
    table = replace(make(is_random=False), n_seeds=4)
    (method,) = table.methods
    assert list(table.seeds(method, False)) == [0]
    drawn = replace(table, draws=True)
    assert list(drawn.seeds(method, False)) == [0, 1, 2, 3]
    assert list(drawn.seeds(method, True)) == [0, 1]
    assert list(drawn.seeds(method, True, 3)) == [0, 1, 2]


class Said:
    """A process that says given lines."""

    def __init__(self, *lines):
        self.stdout = iter(lines)
        self.stdin = self
        self.asked = ""

    def write(self, text):
        self.asked += text

    def flush(self):
        pass


def cells(n_seeds):
    table = make()
    return [Cell(table, table.data[0], table.methods[0], seed, True) for seed in range(n_seeds)]


def answered(monkeypatch, process, n_seeds):
    with Worker() as boss:
        monkeypatch.setattr(boss, "_started", lambda: process)
        return list(boss.run(cells(n_seeds)))


def test_a_record_per_seed_comes_from_the_lines_of_the_worker(monkeypatch):
    outcome = {"values": {"x": 2.0}, "facts": {}, "cpu_seconds": 1.0, "peak_megabytes": 5.0}
    process = Said("noise\n", *[OUTCOME + json.dumps(outcome) + "\n"] * 2, END + "0\n")
    first, second = answered(monkeypatch, process, 2)
    assert json.loads(process.asked) == ["p/t", "d", "m", "quick", 0, 1]
    assert (first.seed, second.seed) == (0, 1) and first.values == {"x": 2.0} and first.is_done


def test_a_worker_that_dies_fails_all_seeds_that_are_left(monkeypatch):
    outcome = {"values": {"x": 2.0}, "facts": {}, "cpu_seconds": 1.0, "peak_megabytes": 5.0}
    found = answered(monkeypatch, Said(OUTCOME + json.dumps(outcome) + "\n", END + "-9\n"), 3)
    assert [record.is_done for record in found] == [True, False, False]
    assert found[2].failure == "its process ended with code -9."
    found = answered(monkeypatch, Said(), 1)
    assert found[0].failure == "its process ended with code unknown."


def test_an_answer_to_another_request_is_noticed(monkeypatch):
    wrong = OUTCOME + json.dumps({"failure": "x", "request": ["other"]}) + "\n"
    with pytest.raises(RuntimeError, match=r"answered \['other'\]"):
        answered(monkeypatch, Said(wrong), 1)


# ---- rows of the registry ------------------------------------------------------------------------------------


def test_a_system_of_the_registry_gets_its_part_of_the_problem(monkeypatch):
    from arbora import baselines

    seen = []
    monkeypatch.setattr(baselines, "fit", lambda *what, **options: seen.append((what, options)) or "tree")
    method = baseline(
        "ward", "Ward", printed="Ward's", of=lambda problem: problem["X"],
        parameters={"threshold": 0.3}, options=lambda problem: {"k": problem["k"]}, slower=3,
    )  # fmt: skip
    assert (method.name, method.printed, method.slower, method.missing()) == ("Ward", "Ward's", 3, "")
    found = method.run({"X": [1], "k": 5}, 9, **method.parameters_for(False))
    assert found == "tree"
    assert seen == [(("ward", [1]), {"random_state": 9, "threshold": 0.3, "k": 5})]


def test_a_system_that_is_not_in_the_registry_says_so():
    method = baseline("alchemy", "Alchemy")
    assert method.missing() == "alchemy is not in arbora.baselines"
    assert method.deviations() == ""


def test_deviations_are_those_of_the_registry():
    from arbora import baselines

    names = [name for name in baselines.names() if baselines.describe(name).deviations]
    assert names
    assert baseline(names[0], "x").deviations() == baselines.describe(names[0]).deviations


def test_a_run_ends_once_the_command_that_asked_for_it_is_gone():
    nobody = -1
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child,
        pytest.raises(SystemExit, match="has ended"),
    ):
        worker._exit_code(child.pid, nobody)
    assert child.returncode == -signal.SIGKILL


def test_a_worker_whose_command_ended_while_it_started_runs_nothing(monkeypatch, capsys):
    monkeypatch.setattr(worker, "_NEEDED", ())
    monkeypatch.setattr(sys, "stdin", io.StringIO('["p/t", "d", "m", "quick", 0]\n'))
    nobody = -1
    with pytest.raises(SystemExit, match="has ended"):
        worker.main(nobody)
    assert capsys.readouterr().out == ""


def test_the_exit_code_of_a_run_is_passed_on():
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]) as child:
        assert worker._exit_code(child.pid, os.getppid()) == 3
