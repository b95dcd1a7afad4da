"""Records: everything that decided a result, in files that are whole and easy to compare."""

import json
import subprocess
from dataclasses import replace

import pytest

from arbora.reproduce import records
from arbora.reproduce.records import Record

RECORD = Record(
    "fph", "1", "Cora ML", "FPH + tree search", 3, False, {"max_epochs": 5, "betas": (0.9, 0.99)}, {"cost": 1.5},
    {"outline": ["ü", "b"]}, 2.5, 100.0, arbora="0.1", versions={"numpy": "2"}, commit="abc", machine="x", threads=2,
)  # fmt: skip


def test_a_record_comes_back_as_it_was(tmp_path):
    path = records.save(tmp_path, RECORD)
    found = records.load(path)
    # JSON knows no tuples
    assert found == replace(RECORD, parameters={"max_epochs": 5, "betas": [0.9, 0.99]})


def test_a_file_has_one_line_per_entry_and_keeps_letters(tmp_path):
    text = records.save(tmp_path, RECORD).read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(
        records.load(tmp_path / "fph/1/cora-ml--fph-tree-search--3.json").__dict__
    )
    assert '"outline": ["ü", "b"]' in text and text.endswith("}\n")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "cora-ml--fph-tree-search--3.json"),
        ({"quick": True}, "cora-ml--fph-tree-search--3-quick.json"),
        ({"method": "K = 85", "seed": 0}, "cora-ml--k-85--0.json"),
        ({"dataset": "1,000 rows"}, "1-000-rows--fph-tree-search--3.json"),
        ({"dataset": "--Ärger--"}, "rger--fph-tree-search--3.json"),
    ],
)
def test_paths_are_plain_names_below_paper_and_table(changes, name, tmp_path):
    path = records.path_of(tmp_path, replace(RECORD, **changes))
    assert path == tmp_path / "fph" / "1" / name


def test_quick_and_full_runs_are_kept_apart(tmp_path):
    for quick in (False, True):
        for seed in (1, 0):
            records.save(tmp_path, replace(RECORD, quick=quick, seed=seed))
    assert [record.seed for record in records.load_all(tmp_path)] == [0, 1]
    assert all(record.quick for record in records.load_all(tmp_path, quick=True))
    assert records.load_all(tmp_path / "nothing") == []


def test_files_that_are_no_results_are_left_alone(tmp_path):
    records.save(tmp_path, RECORD)
    (tmp_path / "fph" / "1" / "notes.json").write_text("{")
    (tmp_path / "README.md").write_text("x")
    assert len(records.load_all(tmp_path)) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"paper": "fph"}', '{"unknown": 1}'])
def test_a_damaged_file_is_named_with_what_to_do(text, tmp_path):
    path = records.save(tmp_path, RECORD)
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"{path.name} is not a result of arbora reproduce.*Remove it"):
        records.load_all(tmp_path)


@pytest.mark.parametrize(
    ("changes", "parameters", "version", "answers"),
    [
        ({}, {"max_epochs": 5, "betas": (0.9, 0.99)}, "0.1", True),
        ({}, {"betas": [0.9, 0.99], "max_epochs": 5}, "0.1", True),
        ({}, {"max_epochs": 6, "betas": (0.9, 0.99)}, "0.1", False),
        ({}, {"max_epochs": 5}, "0.1", False),
        ({}, {"max_epochs": 5, "betas": (0.9, 0.99)}, "0.2", False),
        ({"failure": "MemoryError"}, {"max_epochs": 5, "betas": (0.9, 0.99)}, "0.1", False),
    ],
)
def test_a_record_answers_for_its_own_version_and_parameters(changes, parameters, version, answers, tmp_path):
    found = records.load(records.save(tmp_path, replace(RECORD, **changes)))
    assert found.answers(parameters, version) is answers


def test_surroundings_name_python_packages_and_machine():
    around = records.surroundings()
    assert set(around) == {"versions", "commit", "machine"}
    import numpy

    assert around["versions"]["numpy"] == numpy.__version__
    assert json.dumps(around)


def test_outside_of_a_clone_there_is_no_commit(monkeypatch):
    def fails(*arguments, **options):
        raise OSError("no git")

    monkeypatch.setattr(subprocess, "run", fails)
    assert records._commit() == ""


@pytest.mark.parametrize(("changed", "commit"), [("", "0123456789"), (" M x.py\n", "0123456789+")])
def test_a_changed_clone_is_marked(changed, commit, monkeypatch):
    said = iter(["0123456789\n", changed])
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=next(said))
    )
    assert records._commit() == commit
