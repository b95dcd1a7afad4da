"""Bands of topics over time."""

import numpy as np
import pytest

import arbora as ab

DAYS = np.datetime64("2024-01-01") + np.array([0, 1, 40, 41, 41, 130])
FOUND = ab.insight.over_time([0, 1, 1, 2, 2, 0], DAYS, every="month", names=["a", "b", "c$"])


def heights(ax):
    return [[bar.get_height() for bar in group] for group in ax.containers]


def test_bars_are_as_high_as_the_counts_and_stand_above_each_other():
    ax = ab.view.plot_over_time(FOUND, title="News")
    assert heights(ax) == FOUND.counts.T.tolist()
    tops = np.array([[bar.get_y() + bar.get_height() for bar in group] for group in ax.containers])
    assert tops[-1].tolist() == FOUND.counts.sum(axis=1).tolist()
    assert ax.get_ylabel() == "leaves per month" and ax.get_title() == "News"


def test_shares_fill_every_stretch_that_has_members():
    ax = ab.view.plot_over_time(FOUND, shares=True)
    assert np.sum(heights(ax), axis=0) == pytest.approx([1, 1, 0, 0, 1])
    assert ax.get_ylabel() == "share of the month"


def test_small_clusters_share_one_gray_band():
    found = ab.insight.over_time([0, 0, 1, 1, 2, 3], DAYS)
    ax = ab.view.plot_over_time(found, max_clusters=2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 others (2)", "1 (2)", "0 (2)"]


def test_only_counts_over_time_are_drawn():
    with pytest.raises(TypeError, match="over_time"):
        ab.view.plot_over_time([1, 2])
