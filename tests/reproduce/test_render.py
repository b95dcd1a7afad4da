"""Figures and tables as text: digits as the papers print them, markup that survives any name."""

import csv
from dataclasses import replace

import pytest

from arbora.reproduce import render
from arbora.reproduce.marks import Figure, rows_of
from arbora.reproduce.papers import Printed
from arbora.reproduce.records import Record
from arbora.reproduce.table import Data, Method, Metric, Table

COST = Metric("cost", "cost", "lower", significant=4)
SHARE = Metric("share", "share, %", "higher", decimals=1)
ZOO = Data("zoo")
NMI = Metric("nmi", "NMI", "neither")


def figure(metric, *values, printed=None, deviation=0.0, note=""):
    known = None if printed is None else Printed(printed, deviation, note)
    return Figure(metric, values, known)


def table(*methods, data=(ZOO,), metrics=(COST,), **facts):
    return Table("none", "1", "A title", data, metrics, methods, lambda *_: None, lambda *_: {}, **facts)


def record(method="a", dataset="zoo", seed=0, *, cost=1.0, **facts):
    return Record("none", "1", dataset, method, seed, False, {}, {"cost": cost}, **facts)


def method(name="a", **facts):
    return Method(name, lambda problem, seed: None, **facts)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        (COST, 280_152.3, "2.8015e5"),
        (COST, 99_999.99, "1.0000e5"),
        (COST, 0.00123456, "1.2346e-3"),
        (COST, -1234.0, "-1.2340e3"),
        (COST, 0.0, "0.0000e0"),
        (SHARE, 84.849, "84.8"),
        (SHARE, 1234.56, "1,234.6"),
        # five digits before the point need none behind it
        (SHARE, 12_345.6, "12,346"),
        (SHARE, -12_345.6, "-12,346"),
        (NMI, 0.5, "0.500"),
    ],
)
def test_numbers_have_the_digits_of_the_paper(metric, value, text):
    assert render.number(metric, value) == text


def test_a_deviation_is_written_with_the_power_of_its_mean():
    assert render.figure_here(figure(COST, 280_100.0, 280_300.0)) == "2.8020e5 ± 0.0010e5"
    assert render.figure_here(figure(COST, 2_000.0)) == "2.0000e3"
    assert render.figure_here(figure(SHARE, 80.0, 82.0)) == "81.0 ± 1.0"
    # decimals of the mean, so that both have as many
    assert render.figure_here(figure(SHARE, 20_000.0, 20_001.0)) == "20,000 ± 0"
    assert render.figure_here(figure(SHARE)) == ""


def test_a_printed_figure_has_the_papers_own_digits():
    assert render.figure_printed(figure(COST, printed=280_200.0)) == "2.802e5"
    assert render.figure_printed(figure(COST, 1.0)) == ""
    assert render.figure_printed(figure(SHARE, printed=84.8, deviation=1.25)) == "84.8 ± 1.2"
    assert render.figure_printed(figure(SHARE, printed=1.0, note="printed as < 1")) == "< 1.0"


def test_the_header_says_which_way_is_better():
    found = render.header(table(method(), metrics=(COST, SHARE, NMI)))
    assert found == [
        "data", "method", "kind", "cost ↓, paper", "here", "share, % ↑, paper", "here", "NMI, paper", "here",
        "CPU s", "MB", "mark",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0"), (9.96, "10.0"), (99.9, "99.9"), (1234.5, "1,234")]
)
def test_seconds_below_a_hundred_have_a_decimal(seconds, text):
    (row,) = rows_of(table(method()), [record(cpu_seconds=seconds, peak_megabytes=1536.4)])
    assert render.cells(row)[-3:-1] == [text, "1,536"]


def test_seconds_are_the_mean_of_the_seeds_and_memory_the_peak():
    found = [
        record(seed=0, cpu_seconds=2.0, peak_megabytes=80.0),
        record(seed=1, cpu_seconds=4.0, peak_megabytes=120.0),
    ]
    (row,) = rows_of(table(method()), found)
    assert render.cells(row)[-3:-1] == ["3.0", "120"]


def test_rows_that_were_not_run_have_empty_cells_and_may_be_left_out():
    shown = table(method("a"), method("b"))
    rows = rows_of(shown, [record("a")])
    assert render.cells(rows[1]) == ["zoo", "b", "baseline", "", "", "", "", rows[1].mark]
    titles, lines = render.text_table(shown, rows)
    assert [line[1] for line in lines] == ["a"] and {len(line) for line in lines} == {len(titles)}


def test_a_table_says_its_note_its_notes_and_how_to_repeat_it():
    shown = table(
        method("a", note="Careful."), method("b", note="Careful."), method("c"), note="Of everything."
    )
    found = [record("a", seed=seed, commit="abc+", threads=2) for seed in (0, 1)]
    text = render.rst_table(shown, found)
    assert text.startswith("Of everything.\n\n.. csv-table::\n   :header-rows: 1\n\n")
    assert "* a, b: Careful." in text
    end = text.splitlines()[-1]
    assert end == (
        "Repeat with ``arbora reproduce none 1`` (up to 2 seeds, 2 threads, commit abc). Not run yet, or not on every "
        "set: b, c; the same command runs them."
    )


def test_conditions_name_all_commits_and_threads():
    found = [record("a", commit="b2", threads=1), record("b", commit="a1", threads=4)]
    text = render.rst_table(table(method("a"), method("b")), found)
    assert text.endswith("(one seed, 1 or 4 threads, commits a1, b2).")
    text = render.rst_table(table(method("a")), [record("a")])
    assert text.endswith("(one seed, 1 thread).")
    assert (
        render.rst_table(table(method("a")), [])
        .splitlines()[-1]
        .startswith("Repeat with ``arbora reproduce none 1``.")
    )


def test_deviations_of_a_system_come_from_its_results_where_the_table_says_nothing():
    found = [
        record("a", facts={"deviations": "Ours is smaller."}),
        record("b", facts={"deviations": "Hidden."}),
    ]
    text = render.rst_table(table(method("a"), method("b", note="Said.")), found)
    assert "* a: Ours is smaller." in text and "* b: Said." in text and "Hidden" not in text


def test_a_set_that_nobody_can_run_has_one_line():
    data = (Data("zoo"), Data("moon", absent="too far"))
    text = render.rst_table(table(method("a"), method("b"), data=data), [record("a")])
    lines = [line for line in text.splitlines() if '"moon"' in line]
    assert lines == ['   "moon","every method","","","","","not runnable here (too far)"']


@pytest.mark.parametrize("name", ['say "x"', "a*b", "`code`", "a|b", "back\\slash", "a, b"])
def test_any_name_survives_the_markup(name):
    line = render.rst_rows([["data"], [name]]).splitlines()[-1]
    (entry,) = next(csv.reader([line.strip()]))
    # escaped letters, as docutils reads them back
    assert entry.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\") == name


def test_markdown_has_a_rule_below_the_header():
    assert render.markdown_rows([["a", "b"], ["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_pivot_leaves_out_absent_sets_and_marks_what_was_not_run():
    data = (Data("zoo"), Data("moon", absent="too far"), Data("sun"))
    shown = table(method("a"), method("b"), data=data)
    found = [record("a", cost=2.0), record("b", "sun", cost=3.0)]
    assert render.pivot(shown, found, "cost", ["b", "a"]) == [
        ["data", "b", "a"],
        ["zoo", "not run yet", "2.0000e0"],
        ["sun", "3.0000e0", "not run yet"],
    ]


def test_a_pivot_leaves_out_sets_on_which_nothing_was_run():
    shown = table(method("a"), method("b"), data=(Data("zoo"), Data("moon", absent="too far"), Data("sun")))
    found = [record("a", cost=2.0), record("b", "sun", cost=3.0)]
    assert render.pivot(shown, found, "cost", ["a"]) == [["data", "a"], ["zoo", "2.0000e0"]]
    assert render.left_out(shown, found, ["a"]) == ["sun"]
    assert render.left_out(shown, found, ["a", "b"]) == []


def test_a_wide_pivot_can_stand_on_its_side():
    lines = [["data", "a", "b"], ["zoo", "1", "2"], ["sun", "3", "4"], ["moon", "5", "6"]]
    assert render.transposed(lines) == [
        ["method", "zoo", "sun", "moon"],
        ["a", "1", "3", "5"],
        ["b", "2", "4", "6"],
    ]


def test_a_reason_that_several_rows_share_is_said_once_below_the_table():
    shown = table(method("a"), method("b"), method("c"), data=(Data("zoo", incomparable="drawn again"),))
    lines = render.rst_table(shown, [record("a"), record("b"), record("c")]).splitlines()
    assert sum(line.endswith('"not comparable (1)"') for line in lines) == 3
    assert "* (1): drawn again" in lines
    lines = render.rst_table(table(method("a"), data=shown.data), [record("a")]).splitlines()
    assert sum(line.endswith('"not comparable (drawn again)"') for line in lines) == 1


def test_a_set_without_any_figure_has_one_line_and_methods_keep_their_order():
    data = (Data("zoo"), Data("the sun", seconds=100))
    slow = method("b", slower=3)
    text = render.rst_table(table(slow, method("a"), data=data), [record("a"), record("b")])
    price = "2 methods, about 7 CPU minutes for one run of each"
    command = "arbora reproduce none 1 --datasets 'the sun' --seeds 1"
    assert [line for line in text.splitlines() if '"the sun"' in line] == [
        f'   "the sun","every method","","","","","not run yet ({price}: {command})"'
    ]
    assert text.endswith("Not run yet, or not on every set: b, a; the same command runs them.")


def test_a_set_counts_only_the_methods_that_can_run_on_it():
    data = (Data("zoo"), Data("sun", seconds=4))
    never = method("a", skips={"sun": "too hot"})
    text = render.rst_table(table(never, method("b"), data=data), [record("a")])
    assert "not run yet (1 method, about 4 CPU seconds for one run of each: " in text
    nothing = render.rst_table(table(never, replace(never, name="c"), data=data), [record("a")])
    assert '"sun","every method","","","","","not runnable here (too hot)"' in nothing


def test_a_figure_of_which_the_paper_prints_none_has_one_column():
    shown = table(method("a"), metrics=(COST, NMI))
    lines = render.rst_table(shown, [record("a", cost=2.0)]).splitlines()
    assert '   "data","method","kind","cost ↓","NMI","CPU s","MB","mark"' in lines
    known = Method("HypHC", lambda problem, seed: None, printed="HypHC")
    metric = Metric("dasgupta_ordered_pairs", "cost", "lower", significant=4)
    printed = Table("hyphc", "1", "", (ZOO,), (metric,), (known,), lambda *_: None, lambda *_: {})
    assert '"cost ↓, paper","here"' in render.rst_table(printed, [])


def test_figures_that_cannot_be_compared_stand_without_the_papers():
    zoo = Data("zoo")
    known = Method("HypHC", lambda problem, seed: None, printed="HypHC")
    metric = Metric("dasgupta_ordered_pairs", "cost", "lower", significant=4)
    shown = Table("hyphc", "1", "", (zoo,), (metric,), (known,), lambda *_: None, lambda *_: {})
    found = [Record("hyphc", "1", "zoo", "HypHC", 0, False, {}, {metric.key: 280_100.0})]
    assert render.pivot(shown, found, metric.key, ["HypHC"])[1] == ["zoo", "2.8010e5 [2.802e5]"]
    for other in (
        replace(shown, data=(replace(zoo, incomparable="drawn"),)),
        replace(shown, methods=(replace(known, incomparable="another"),)),
    ):
        assert render.pivot(other, found, metric.key, ["HypHC"])[1] == ["zoo", "2.8010e5"]
