"""Running: a process per method, records that are whole, and nothing twice."""

import json
from dataclasses import replace

import psutil
import pytest
from cli.in_process import run as arbora

from arbora._version import __version__
from arbora.reproduce import records
from arbora.reproduce.records import Record
from arbora.reproduce.runner import Cell, Worker
from arbora.reproduce.runner import run as run_cells
from arbora.reproduce.tables import all_tables, find


def cell(method="Average linkage", dataset="iris", seed=0):
    table = find("hyphc/1")
    return Cell(table, table.dataset(dataset), table.method(method), seed, True)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder with the results of a quick table, and what the command said."""
    folder = tmp_path_factory.mktemp("results")
    wanted = ("--datasets", "iris", "--methods", "Average", "--methods", "Bisecting")
    said = arbora("reproduce", "hyphc", "1", "--quick", *wanted, "--out", folder, "--json")
    return folder, wanted, json.loads(said.out)


def test_every_cell_leaves_a_record_of_what_decided_it(first):
    folder, _, said = first
    found = records.load_all(folder, quick=True)
    assert [(record.method, record.seed) for record in found] == [
        ("Average linkage", 0), ("Bisecting k-means", 0), ("Bisecting k-means", 1),
    ]  # fmt: skip
    for record in found:
        assert record.values["dasgupta_ordered_pairs"] > 7e5
        assert record.peak_megabytes > 50
        assert record.arbora == __version__
        assert {"python", "numpy"} <= set(record.versions)
        assert record.machine
    row = next(row for row in said["rows"] if row["method"] == "Average linkage")
    assert row["mark"].startswith("not comparable")
    assert row["dasgupta_ordered_pairs"]["paper"] == 793_900


def test_finished_cells_are_not_run_again_unless_asked(first):
    folder, wanted, _ = first
    (path,) = folder.glob("hyphc/1/iris--average-linkage--0-quick.json")
    before = path.stat().st_mtime_ns
    arbora("reproduce", "hyphc", "1", "--quick", *wanted, "--out", folder)
    assert path.stat().st_mtime_ns == before
    arbora("reproduce", "hyphc", "1", "--quick", *wanted[:4], "--out", folder, "--again")
    assert path.stat().st_mtime_ns > before


@pytest.mark.parametrize(
    "change", [{"arbora": "0.0.1"}, {"parameters": {"a": 1}}, {"failure": "MemoryError"}]
)
def test_another_version_other_parameters_and_failures_are_run_again(change):
    done = replace(cell().blank(), arbora=__version__, values={"dasgupta_ordered_pairs": 1.0})
    assert done.answers({}, __version__)
    assert not replace(done, **change).answers({}, __version__)


def of_table(key, method, dataset="digits", seed=0):
    table = find(key)
    return Cell(table, table.dataset(dataset), table.method(method), seed, False)


def test_what_another_table_ran_is_taken_from_there(tmp_path):
    ran, asked = of_table("l2h/9", "Algorithm 1"), of_table("l2h/1", "L2H-TURTLE")
    done = replace(ran.blank(), arbora=__version__, values={"acc": 0.7}, cpu_seconds=9.0)
    records.save(tmp_path, done)
    (found,) = run_cells([asked], tmp_path)
    assert (found.table, found.method, found.values, found.cpu_seconds) == (
        "1",
        "L2H-TURTLE",
        {"acc": 0.7},
        9.0,
    )
    assert records.load(records.path_of(tmp_path, asked.blank())) == found


@pytest.mark.parametrize(
    "other",
    [
        of_table("l2h/1", "L2H-TURTLE + tree search"),
        of_table("l2h/1", "L2H-TURTLE", dataset="20news"),
        of_table("l2h/8", "L2H-TURTLE", dataset="20news, middle level"),
        of_table("fph/2", "gHHC", dataset="citeseer"),
    ],
    ids=lambda cell: f"{cell.table.key}-{cell.data.name}",
)
def test_cells_that_differ_in_what_decides_them_are_not_the_same(other):
    assert of_table("l2h/1", "L2H-TURTLE").work != other.work
    assert of_table("fph/1", "gHHC", dataset="citeseer").work != other.work


def test_a_cell_that_fails_says_why_and_the_next_one_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("ARBORA_DATA", raising=False)
    said, heard = [], []
    found = run_cells(
        [cell(dataset="zoo"), cell("Lower bound")],
        tmp_path,
        progress=lambda *step: heard.append(step),
        say=said.append,
    )
    assert "ARBORA_DATA" in found[0].failure
    assert found[1].values["dasgupta_ordered_pairs"] == pytest.approx(7.6833e5, rel=1e-4)
    assert [record.method for record in said] == ["Average linkage", "Lower bound"]
    assert records.load(records.path_of(tmp_path, found[0])).failure == found[0].failure
    assert heard[0][:2] == ("reproduce", 0.0)
    assert heard[-1][1] == heard[-1][2]


def test_a_process_that_dies_is_a_failure_of_all_seeds_it_left(monkeypatch):
    lines = iter(['arbora-outcome {"values": {}, "request": 0}\n', "arbora-end -9\n"])

    class Process:
        stdin = type("In", (), {"write": lambda *_: None, "flush": lambda *_: None})()
        stdout = lines

    with Worker() as worker:
        monkeypatch.setattr(worker, "_started", Process)
        outcomes = list(worker._outcomes(["hyphc/1", "iris", "HypHC", "full", 0, 1, 2]))
    assert [bool(outcome.get("failure")) for outcome in outcomes] == [False, True, True]
    assert "code -9" in outcomes[1]["failure"]


def test_an_interrupted_run_leaves_no_process_and_keeps_what_is_done(tmp_path):
    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells([cell("Lower bound"), cell("Upper bound")], tmp_path, say=interrupt)
    assert [record.method for record in records.load_all(tmp_path, quick=True)] == ["Lower bound"]
    done = psutil.Process().children(recursive=True)
    assert not [one for one in done if "arbora.reproduce.worker" in one.cmdline()]


def test_a_damaged_record_is_named(tmp_path):
    path = records.save(tmp_path, Record("hyphc", "1", "iris", "HypHC", 0, False, {}))
    path.write_text("{")
    with pytest.raises(ValueError, match=r"iris--hyphc--0\.json"):
        records.load_all(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nature",), "PAPER must be one of hyphc"),
        (("hyphc", "7"), "TABLE of hyphc must be one of 1, 3a"),
        (("hyphc", "1", "--methods", "alchemy"), "--methods must be part of one of"),
        (("hyphc", "1", "--datasets", "mars"), "--datasets must be part of one of"),
    ],
)
def test_wrong_names_are_refused_with_the_right_ones(arguments, words, tmp_path):
    assert words in arbora("reproduce", *arguments, "--out", tmp_path, code=2).err


def test_the_list_names_every_table():
    said = json.loads(arbora("reproduce", "--list", "--json").out)
    assert {"hyphc/3c", "ghhc/words", "fph/10", "l2h/9", "arbora/bundled"} <= set(said["tables"])


@pytest.mark.slow
@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.key)
def test_a_quick_cell_of_every_table_without_files_runs(table, tmp_path):
    free = [data for data in table.data if not data.files and not data.absent]
    if not free:
        pytest.skip("every data set of this table needs ARBORA_DATA")
    first = min(free, key=lambda data: data.seconds)
    methods = [method for method in table.methods if not method.missing() and first.name not in method.skips]
    found = run_cells([Cell(table, first, method, 0, True) for method in methods[:2]], tmp_path)
    assert [record.failure for record in found] == [""] * len(found)
