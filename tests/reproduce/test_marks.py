"""Verdicts: which way is better, what counts as within the deviation, and reasons for no verdict."""

from dataclasses import replace

import pytest

from arbora.reproduce.marks import rows_of
from arbora.reproduce.records import Record
from arbora.reproduce.table import Data, Method, Metric, Table


def table(better="lower", *, printed="HypHC", decimals=0, significant=4, data=None, **method):
    return Table(
        "hyphc",
        "1",
        "costs",
        (data or Data("zoo"),),
        (Metric("dasgupta_ordered_pairs", "cost", better, decimals=decimals, significant=significant),),
        (Method("ours", lambda problem, seed: None, printed=printed, **method),),
        lambda *_: None,
        lambda *_: {},
    )


def records(*values, failure=""):
    if failure:
        return [Record("hyphc", "1", "zoo", "ours", 0, False, {}, failure=failure)]
    return [
        Record(
            "hyphc", "1", "zoo", "ours", seed, False, {}, {"dasgupta_ordered_pairs": value}, cpu_seconds=1.0
        )
        for seed, value in enumerate(values)
    ]


# the paper prints 2.802e5: its rounding is 50
@pytest.mark.parametrize(
    ("values", "better", "mark"),
    [
        ((280_100,), "lower", "better"),
        ((280_160,), "lower", "within the deviation"),
        ((280_300,), "lower", "worse"),
        ((280_300,), "higher", "better"),
        ((280_000, 280_600), "lower", "within the deviation"),
        ((279_000, 279_100), "lower", "better"),
    ],
)
def test_a_figure_is_compared_by_direction_deviation_and_rounding(values, better, mark):
    (row,) = rows_of(table(better), records(*values))
    assert row.mark == mark


def test_the_papers_deviation_counts_where_it_is_larger():
    accuracy = replace(
        table(printed="HypHC two-step"),
        name="3c",
        metrics=(Metric("accuracy_percent", "accuracy", "higher", decimals=1),),
    )
    found = [Record("hyphc", "3c", "zoo", "ours", 0, False, {}, {"accuracy_percent": 88.0})]
    # the paper: 84.8 ± 3.5
    assert rows_of(accuracy, found)[0].mark == "within the deviation"
    better = [replace(found[0], values={"accuracy_percent": 88.5})]
    assert rows_of(accuracy, better)[0].mark == "better"


@pytest.mark.parametrize(
    ("options", "found", "mark"),
    [
        ({"data": Data("zoo", incomparable="half of it")}, records(1.0), "not comparable (half of it)"),
        ({"incomparable": "another machine"}, records(1.0), "not comparable (another machine)"),
        ({"printed": None}, records(1.0), "not comparable (the paper prints no such figure)"),
        ({"data": Data("zoo", absent="no file")}, [], "not runnable here (no file)"),
        ({"skips": {"zoo": "too large"}}, [], "not runnable here (too large)"),
        ({}, records(failure="MemoryError: full"), "not runnable here (MemoryError: full)"),
        ({"data": Data("zoo", seconds=300)}, [], "not run yet (about 5 CPU minutes per run)"),
        (
            {"data": Data("zoo", seconds=300), "slower": 9, "seconds": {"zoo": 20}},
            [],
            "not run yet (about 20 CPU seconds per run)",
        ),
        (
            {"data": Data("zoo", seconds=7200)},
            [],
            "not run yet (about 2.0 CPU hours per run: "
            "arbora reproduce hyphc 1 --datasets zoo --methods ours --seeds 1)",
        ),
    ],
)
def test_without_a_verdict_there_is_a_reason(options, found, mark):
    assert rows_of(table(**options), found)[0].mark == mark


def test_metrics_that_disagree_are_named():
    two = replace(
        table(),
        paper="l2h",
        data=(Data("cifar-100"),),
        metrics=(Metric("nmi", "NMI", "higher"), Metric("lhd", "LHD", "lower")),
        methods=(Method("ours", lambda problem, seed: None, printed="L2H-TEMI"),),
    )
    found = [Record("l2h", "1", "cifar-100", "ours", 0, False, {}, {"nmi": 0.9, "lhd": 0.9})]
    assert rows_of(two, found)[0].mark == "better: NMI; worse: LHD"
