"""What `make bench-check` says, from ratios made up here."""

import importlib.util
import json
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent / "benchmarks" / "_record.py"


@pytest.fixture
def record():
    spec = importlib.util.spec_from_file_location("_record", HERE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_what_grew_by_more_than_a_fifth_is_slower(record):
    old = {"a": 1.0, "b": 1.0, "c": 2.0}
    lines, slower = record.what_changed(old, {"a": 1.19, "b": 1.21, "c": 0.5})
    assert len(lines) == 3 and [line.split()[0] for line in slower] == ["b"]
    assert "21%" in slower[0] and "-75%" in lines[2]


def test_a_task_that_is_gone_counts_as_slower_and_a_new_one_does_not(record):
    lines, slower = record.what_changed({"gone": 1.0}, {"new": 9.0})
    assert slower == ["gone was not measured"] and "(new)" in lines[0]


def test_what_is_recorded_is_read_back_and_names_versions_and_machine(record, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    assert record.recorded("speed") is None
    path = record.record("speed", {"cluster": {"ratio": 1.5}}, quick=True)
    assert path.name == "speed-quick.json"
    assert record.recorded("speed", quick=True) == {"cluster": {"ratio": 1.5}}
    about = json.loads(path.read_text())
    assert {"python", "numpy", "numba", "arbora"} <= set(about["versions"])
    assert about["machine"]["cores"] >= 1 and about["quick"] is True and "commit" in about


def test_results_of_another_form_are_not_compared_with(record, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    (tmp_path / "speed.json").write_text("[1, 2]")
    assert record.recorded("speed") is None


def test_time_spent_is_measured(record):
    with record.Measured() as spent:
        sum(range(10**5))
    assert set(spent.row()) == {"seconds", "cpu_seconds", "peak_megabytes"} and spent.cpu >= 0


def test_the_committed_ratios_can_be_compared_with(record):
    kept = record.recorded("check", quick=True)
    assert kept and all(row["ratio"] > 0 for row in kept.values())
