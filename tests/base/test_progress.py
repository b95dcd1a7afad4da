"""Stages, bars and deadlines: what long work reports, and what a terminal shows of it."""

import io
import itertools

import pytest

from arbora._base import progress as module
from arbora._base.progress import Bar, Deadline, Stage, both, check_progress, silent


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move by hand."""
    hands = {"now": 1000.0}
    monkeypatch.setattr(module.time, "monotonic", lambda: hands["now"])
    monkeypatch.setattr(module.time, "perf_counter", lambda: hands["now"])
    return hands


def test_nothing_is_reported_to_nobody_and_a_callable_is_used_as_it_is():
    assert check_progress(None) is silent and silent("a", 0, 1) is None
    assert check_progress(print) is print


@pytest.mark.parametrize("bad", [True, "bar", 3])
def test_what_cannot_be_called_is_refused_by_its_kind(bad):
    with pytest.raises(
        TypeError, match=rf"progress must be callable with \(stage, done, total\). Got {type(bad).__name__}"
    ):
        check_progress(bad)


def heard_of(updates, total):
    heard = []
    with Stage(lambda *report: heard.append(report), "work", total) as stage:
        for update in updates:
            stage.update(update)
    return [done for _, done, _ in heard]


@pytest.mark.parametrize(
    ("updates", "total", "heard"),
    [
        ([], 3, [0, 3]),
        ([1, 2], 3, [0, 1, 2, 3]),
        ([2, 1, 2], 3, [0, 2, 3]),
        ([0, 3, 4], 3, [0, 3]),
        ([5, 9], None, [0, 5, 9, 9]),
        ([], None, [0, 0]),
    ],
)
def test_a_stage_goes_from_nothing_to_all_and_never_falls_back(updates, total, heard):
    assert heard_of(updates, total) == heard


def test_a_stage_that_fails_does_not_say_that_it_ended(clock):
    heard = []
    with pytest.raises(ZeroDivisionError), Stage(lambda *report: heard.append(report), "work", 2) as stage:
        stage.update(1)
        clock["now"] += 5
        1 / 0  # noqa: B018
    assert [done for _, done, _ in heard] == [0, 1]
    assert stage.seconds == 5


def test_a_stage_knows_how_long_it_took(clock):
    with Stage(silent, "work") as stage:
        clock["now"] += 2.5
    assert stage.seconds == 2.5 and stage.name == "work"


def test_several_hear_the_same_and_silence_costs_nothing():
    one, other = [], []
    report = both(lambda *r: one.append(r), silent, lambda *r: other.append(r))
    report("a", 1, 2)
    assert one == other == [("a", 1, 2)]
    assert both(silent, print) is print and both(silent) is silent and both() is silent


def test_a_file_is_written_one_line_per_finished_stage(clock):
    stream = io.StringIO()
    bar = Bar(stream)
    bar("load", 0, 2)
    bar("load", 1, 2)
    clock["now"] += 3
    bar("load", 2, 2)
    bar("search", 0, 1)
    clock["now"] += 75
    bar("search", 1, 1)
    assert stream.getvalue() == "load: done in 3.0 s\nsearch: done in 1 min 15 s\n"


def test_a_terminal_shows_the_share_done_and_the_time_left(clock):
    stream = Terminal()
    bar = Bar(stream, interval=0.2)
    bar("search", 0, 100)
    clock["now"] += 10
    bar("search", 1, 100)
    clock["now"] += 10
    bar("search", 20, 100)
    lines = stream.getvalue().split("\r\x1b[K")[1:]
    assert lines == ["search: 0%", "search: 1%", "search: 20%, 1 min 20 s left"]


def test_a_terminal_is_not_written_to_more_often_than_the_interval(clock):
    stream = Terminal()
    bar = Bar(stream, interval=1.0)
    for done in range(50):
        clock["now"] += 0.1
        bar("search", done, 50)
    assert stream.getvalue().count("\r") in (5, 6)
    bar("search", 50, 50)
    assert stream.getvalue().endswith("done in 4.9 s\n"), "the end is always shown"


def test_work_of_unknown_length_is_counted(clock):
    stream = Terminal()
    bar = Bar(stream, interval=0)
    bar("reading", 0, None)
    clock["now"] += 2
    bar("reading", 12345, None)
    assert stream.getvalue().endswith("reading: 12,345 in 2.0 s")


def test_a_note_is_shown_until_the_stage_ends(clock):
    stream = Terminal()
    bar = Bar(stream, interval=0)
    bar("fit", 0, 2)
    bar.note = "loss 0.5"
    clock["now"] += 1
    bar("fit", 1, 2)
    bar("fit", 2, 2)
    bar("cut", 1, 1)
    shown = stream.getvalue().split("\r\x1b[K")[1:]
    assert shown[1].endswith("left, loss 0.5") and shown[2] == "fit: done in 1.0 s, loss 0.5\n"
    assert "loss" not in shown[3]


def test_the_same_stage_again_begins_at_nothing(clock):
    stream = io.StringIO()
    bar = Bar(stream)
    for seconds in (7, 2):
        bar("search", 0, 1)
        clock["now"] += seconds
        bar("search", 1, 1)
    assert stream.getvalue() == "search: done in 7.0 s\nsearch: done in 2.0 s\n"


def test_a_bar_without_a_stream_writes_to_standard_error(capsys):
    bar = Bar()
    bar("load", 0, 1)
    bar("load", 1, 1)
    heard = capsys.readouterr()
    assert heard.out == "" and heard.err.startswith("load: done in")


def test_a_stage_of_nothing_is_finished_at_once():
    stream = io.StringIO()
    Bar(stream)("load", 0, 0)
    assert stream.getvalue().startswith("load: done")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (3599.6, "1 h 00 min"),
     (7325, "2 h 02 min")],
)  # fmt: skip
def test_durations_are_shown_in_their_natural_unit(seconds, shown, clock):
    stream = io.StringIO()
    bar = Bar(stream)
    bar("x", 0, 1)
    clock["now"] += seconds
    bar("x", 1, 1)
    assert stream.getvalue() == f"x: done in {shown}\n"


def test_a_deadline_is_over_when_its_time_is_spent(clock):
    deadline = Deadline(10)
    assert not deadline.is_over and deadline.share == 0
    clock["now"] += 4
    assert deadline.share == pytest.approx(0.4) and not deadline.is_over
    clock["now"] += 6
    assert deadline.is_over


def test_without_a_budget_there_is_no_end_and_without_time_there_is_no_beginning(clock):
    never, at_once = Deadline(None), Deadline(0)
    clock["now"] += 10**9
    assert not never.is_over and never.share == 0
    assert at_once.is_over


def test_a_wrong_budget_is_refused():
    with pytest.raises(ValueError, match="max_seconds must be at least 0"):
        Deadline(-1)


def test_reports_of_nested_work_stay_in_order():
    heard = []
    with Stage(lambda *r: heard.append(r[:2]), "outer", 2) as outer:
        for part in (1, 2):
            with Stage(lambda *r: heard.append(r[:2]), f"inner {part}", 1):
                pass
            outer.update(part)
    names = [name for name, _ in itertools.groupby(name for name, _ in heard)]
    assert names == ["outer", "inner 1", "outer", "inner 2", "outer"]
