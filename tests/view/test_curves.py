"""Curves and heat maps: what is drawn is what was given, in whatever form it came."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

matplotlib.use("Agg")

import arbora as ab
from arbora import view
from arbora._base.training import history
from arbora.view.heatmap import scale_ends, standardized

COSTS = [5.0, 4.0, np.nan, 3.0, 3.5]
TREE = ab.linkage(np.random.default_rng(0).normal(size=(12, 2)), "average")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


class Fitted:
    history_ = history([(10, 1.0, np.nan), (20, 0.5, 7.0), (30, 0.4, 6.0)])


class OnlyLoss:
    history_ = history([(1, 1.0, np.nan), (2, 0.5, np.nan)])


@pytest.mark.parametrize(
    ("given_history", "steps", "values"),
    [
        (COSTS, [1, 2, 3, 4, 5], COSTS),
        (np.array(COSTS), [1, 2, 3, 4, 5], COSTS),
        ({"refine": COSTS}, [1, 2, 3, 4, 5], COSTS),
        ([{"cost": 2.0}, {"cost": 1.0}, {}], [1, 2, 3], [2.0, 1.0, np.nan]),
        (Fitted(), [10, 20, 30], [np.nan, 7.0, 6.0]),
        (Fitted.history_, [10, 20, 30], [np.nan, 7.0, 6.0]),
        (OnlyLoss(), [1, 2], [1.0, 0.5]),
    ],
)
def test_a_history_is_drawn_in_every_form(given_history, steps, values):
    ax = view.plot_cost_history(given_history)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), steps)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values)
    at = int(np.nanargmin(values))
    assert ax.lines[1].get_xdata().tolist() == [steps[at]] and ax.lines[1].get_ydata().tolist() == [
        values[at]
    ]


def test_several_curves_have_a_legend_and_the_best_need_not_be_marked():
    ax = view.plot_cost_history({"a": [2.0, 1.0], "b": [3.0, 2.0]}, best=False, label="loss")
    assert len(ax.lines) == 2 and ax.get_ylabel() == "loss"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    again = view.plot_cost_history([1.0], ax=ax)
    assert again is ax


@pytest.mark.parametrize("bad", [[], {"a": []}, np.ones((2, 2)), {"a": [[1.0]]}, history([])])
def test_curves_without_values_are_refused(bad):
    with pytest.raises(ValueError, match="non-empty one-dimensional curves"):
        view.plot_cost_history(bad)


def test_levels_are_scored_by_classes_heights_or_sizes():
    y = TREE.cut(3)
    ax = view.plot_levels(TREE, y, max_clusters=6)
    for line, key in zip(ax.lines, ("purity", "nmi", "ari"), strict=True):
        assert line.get_xdata().tolist() == [2, 3, 4, 5, 6]
        wanted = [ab.metrics.flat_scores(y, TREE.cut(k))[key] for k in range(2, 7)]
        np.testing.assert_allclose(line.get_ydata(), wanted, atol=1e-9)
    (line,) = view.plot_levels(TREE, max_clusters=4).lines
    heights = np.sort(TREE.height)[::-1]
    np.testing.assert_allclose(line.get_ydata(), [heights[k - 2] - heights[k - 1] for k in (2, 3, 4)])
    bare = TREE.replace(height=None)
    (line,) = view.plot_levels(bare, max_clusters=4).lines
    np.testing.assert_allclose(line.get_ydata(), [np.bincount(bare.cut(k)).max() / 12 for k in (2, 3, 4)])
    with pytest.raises(ValueError, match="max_clusters must be at least 2"):
        view.plot_levels(TREE, max_clusters=1)


# ---- heat maps ---------------------------------------------------------------------------------------------------


@given(st.sampled_from(["rows", "columns"]), st.integers(0, 100))
def test_rows_or_columns_are_brought_to_mean_zero_and_deviation_one(along, seed):
    matrix = np.random.default_rng(seed).normal(3, 5, size=(4, 5))
    matrix[1] = matrix[1, 0]
    found = standardized(matrix if along == "rows" else matrix.T.copy(), along)
    found = found if along == "rows" else found.T
    assert (found[1] == 0).all(), "what does not vary is 0"
    np.testing.assert_allclose(found[[0, 2, 3]].mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(found[[0, 2, 3]].std(axis=1), 1)


def test_missing_values_stay_missing_and_count_for_nothing():
    matrix = np.array([[1.0, np.nan, 3.0]])
    np.testing.assert_allclose(standardized(matrix, "rows"), [[-1, np.nan, 1]])


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({}, (-2.0, 10.0)),
        ({"vmin": 0.0}, (0.0, 10.0)),
        ({"vmin": -1.0, "vmax": 1.0}, (-1.0, 1.0)),
        ({"center": 0.0}, (-10.0, 10.0)),
        ({"center": 1.0, "vmin": 0.0}, (0.0, 10.0)),
        ({"center": 0.0, "vmin": -1.0, "vmax": 3.0}, (-1.0, 3.0)),
    ],
)
def test_the_ends_of_the_scale(options, ends):
    matrix = np.array([[-2.0, 10.0], [np.nan, 1.0]])
    defaults = {"vmin": None, "vmax": None, "center": None, "robust": False}
    assert scale_ends(matrix, **{**defaults, **options}) == ends


def test_outliers_do_not_decide_a_robust_scale_and_nothing_known_has_one_too():
    matrix = np.append(np.arange(1000.0), 1e9)[None]
    low, high = scale_ends(matrix, None, None, None, True)
    assert 0 < low < 50 and 900 < high < 1000
    assert scale_ends(np.full((2, 2), np.nan), None, None, None, False) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"vmin must not exceed vmax. Got 5 and 1"):
        scale_ends(matrix, 5.0, 1.0, None, False)


@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("with_columns", [True, False])
def test_rows_and_columns_stand_in_the_order_of_their_trees(with_rows, with_columns):
    data = np.random.default_rng(1).normal(size=(12, 5))
    columns = ab.linkage(data.T, "average")
    figure = view.clustermap(data, TREE if with_rows else None, columns if with_columns else None)
    shown = figure.axes[0].images[0].get_array()
    rows = TREE.leaf_order if with_rows else np.arange(12)
    cols = columns.leaf_order if with_columns else np.arange(5)
    np.testing.assert_array_equal(shown, data[np.ix_(rows, cols)])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"row_tree": ab.Tree([2, 2, -1], 2)},
            ValueError,
            "row_tree must have 12 leaves, like the data. Got 2",
        ),
        ({"col_tree": TREE}, ValueError, "col_tree must have 3 leaves"),
        ({"row_colors": [1] * 12}, ValueError, "row_colors are drawn beside a tree. Pass row_tree too"),
        ({"z_score": "both"}, ValueError, "z_score must be one of 'rows', 'columns'"),
        ({"robust": 1}, TypeError, "robust must be True or False"),
        ({"row_names": ["a"]}, ValueError, "row_names"),
    ],
)
def test_wrong_options_of_a_heat_map_are_named(options, error, message):
    with pytest.raises(error, match=message):
        view.clustermap(np.ones((12, 3)), **options)
