"""Pictures: right numbers of marks, labels that never overlap, clear errors."""

import itertools

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_iris
from trees import chain, random_tree

from arbora import FPH, Tree
from arbora._base.training import history as training_curve
from arbora.view import clustermap, plot_cost_history, plot_levels
from arbora.view.static_kinds import geodesics

KINDS = ("dendrogram", "circular", "disk", "icicle")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    names = [f"{data.target_names[k]} {row}" for row, k in enumerate(data.target)]
    return Tree.from_linkage(linkage(data.data, "average"), name=names), data.target_names[data.target]


def boxes(ax):
    """Corners of every text that is written, turned as it is drawn."""
    renderer = ax.figure.canvas.get_renderer()
    return [(text, text.get_window_extent(renderer)) for text in ax.texts if text.get_text()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_every_branch(kind):
    tree = random_tree(40, np.random.default_rng(0), max_branching=3)
    ax = tree.plot(kind)
    drawn = sum(len(c.get_paths()) for c in ax.collections if isinstance(c, (LineCollection, PolyCollection)))
    assert drawn == (tree.n_nodes if kind == "icicle" else tree.n_nodes - 1)


@pytest.mark.parametrize("kind", ["dendrogram", "icicle"])
@pytest.mark.parametrize("orientation", ["left", "top"])
def test_labels_of_straight_pictures_do_not_overlap(iris, kind, orientation):
    tree, species = iris
    ax = tree.plot(kind, classes=species, orientation=orientation)
    ax.figure.canvas.draw()
    found = boxes(ax)
    assert len(found) > 20
    for (_, a), (_, b) in itertools.combinations(found, 2):
        assert not (a.x0 + 0.5 < b.x1 and b.x0 + 0.5 < a.x1 and a.y0 + 0.5 < b.y1 and b.y0 + 0.5 < a.y1)


@pytest.mark.parametrize("kind", ["circular", "disk"])
def test_labels_of_round_pictures_keep_a_line_apart(iris, kind):
    tree, species = iris
    ax = tree.plot(kind, colors=species)
    ax.figure.canvas.draw()
    places = np.array([ax.transData.transform(text.xy) for text in ax.texts])
    gap = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1) * 72 / ax.figure.dpi
    assert len(places) > 50
    assert gap.min() >= ax.texts[0].get_fontsize()


def test_labels_stay_inside_the_picture(iris):
    tree, _ = iris
    for kind in KINDS:
        ax = tree.plot(kind)
        ax.figure.canvas.draw()
        width, height = ax.figure.canvas.get_width_height()
        for _, box in boxes(ax):
            assert box.x0 >= -2
            assert box.x1 <= width + 2
            assert box.y0 >= -2
            assert box.y1 <= height + 2


def test_large_trees_are_truncated_to_wedges():
    tree = random_tree(5000, np.random.default_rng(0))
    ax = tree.plot(max_leaves=50)
    lines = sum(len(c.get_paths()) for c in ax.collections if isinstance(c, LineCollection))
    wedges = sum(len(c.get_paths()) for c in ax.collections if isinstance(c, PolyCollection))
    assert lines < 220
    assert wedges > 5


def test_a_deep_chain_is_drawn_without_recursion():
    for kind in KINDS:
        assert chain(3000).plot(kind, max_leaves=100).has_data(), kind


def test_colors_follow_the_majority(iris):
    tree, species = iris
    ax = tree.plot(colors=species)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]


def test_cluster_colors_are_those_of_the_cut(iris):
    tree, _ = iris
    ax = tree.plot("icicle", n_clusters=3, names=False)
    colors = {tuple(color) for color in ax.collections[0].get_facecolor()}
    assert len(colors) == 4  # three clusters and the gray above them


def test_strips_and_support_are_drawn(iris):
    tree, species = iris
    support = np.full(tree.n_nodes, np.nan)
    support[tree.n_leaves :] = 0.9
    tree = tree.replace(support=support)
    for kind in KINDS:
        ax = tree.plot(
            kind, names=False, support=True, metadata={"species": species, "row": np.arange(150.0)}
        )
        assert any(text.get_text() == "90" for text in ax.texts)
        assert sum(isinstance(c, PolyCollection) for c in ax.collections) >= 2


def test_support_values_do_not_overlap(iris):
    tree, _ = iris
    support = np.linspace(0, 1, tree.n_nodes)
    ax = tree.replace(support=support).plot(support=True, names=False)
    ax.figure.canvas.draw()
    for (_, a), (_, b) in itertools.combinations(boxes(ax), 2):
        assert not a.overlaps(b)


def test_the_height_axis_is_numbered_in_heights():
    tree = Tree.from_newick("((a:1,b:1):3,c:4);")
    ax = tree.plot()
    ax.figure.canvas.draw()
    ticks = {
        float(label.get_text()): label.get_position()[0] for label in ax.get_xticklabels() if label.get_text()
    }
    assert ticks[0.0] == pytest.approx(1.0)
    assert ticks[4.0] == pytest.approx(0.0)


def test_mathematical_signs_in_names_stay_text():
    tree = Tree.from_newick("(a,b);").replace(name=["$x^2", "cost_$"])
    ax = tree.plot()
    ax.figure.canvas.draw()
    assert len(ax.texts) == 2


def test_pictures_are_saved_in_every_format(iris, tmp_path):
    tree, species = iris
    ax = tree.plot("circular", colors=species)
    for suffix in ("png", "pdf", "svg"):
        ax.figure.savefig(tmp_path / f"t.{suffix}")
        assert (tmp_path / f"t.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "cube"}, "kind must be"),
        ({"orientation": "up"}, "orientation must be"),
        ({"max_leaves": 1}, "max_leaves must be"),
        ({"names": ["a"]}, "names must hold"),
        ({"colors": [1, 2]}, "one value per leaf"),
        ({"colors": [1, 2, 3], "n_clusters": 2}, "not both"),
        ({"support": True}, "support values"),
        ({"scale": "width"}, "scale must be"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        Tree.from_newick("((a,b),c);").plot(**options)
    with pytest.raises(TypeError, match="max_leaves must be a whole number"):
        Tree.from_newick("((a,b),c);").plot(max_leaves=None)


@pytest.mark.parametrize("kind", KINDS)
def test_legends_and_color_bars_cover_no_name(iris, kind):
    tree, species = iris
    long = [f"{name} with a rather long name" for name in tree.name[:150]]
    ax = tree.plot(kind, names=long, classes={"species": species}, metadata={"row": np.arange(150.0)})
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    outside = [ax.get_legend().get_window_extent(renderer)]
    outside += [child.get_tightbbox(renderer) for child in ax.child_axes]
    assert len(outside) == 2
    for _, box in boxes(ax):
        assert not any(box.overlaps(other) for other in outside)


def test_numbers_and_dates_have_a_color_bar(iris):
    tree, _ = iris
    dates = np.datetime64("2020-01-01") + np.arange(150)
    ax = tree.plot(names=False, colors=np.arange(150.0), metadata={"day": dates})
    ax.figure.canvas.draw()
    assert [bar.get_title(loc="left") for bar in ax.child_axes] == ["colors", "day"]
    assert any(label.get_text().startswith("2020-") for label in ax.child_axes[1].get_yticklabels())


def test_no_color_means_two_things(iris):
    tree, species = iris
    other = np.array(["left", "right"])[np.arange(150) % 2]
    ax = tree.plot(names=False, classes={"species": species}, metadata={"side": other, "again": species})
    marks = {handle.get_label(): handle.get_color() for handle in ax.get_legend().legend_handles}
    assert len({marks[name] for name in ("setosa", "versicolor", "virginica", "left", "right")}) == 5


def test_clusters_have_a_legend_and_classes_become_a_strip(iris):
    tree, species = iris
    ax = tree.plot(names=False, n_clusters=3, classes={"species": species})
    sizes = np.bincount(tree.cut(n_clusters=3))
    found = [text.get_text() for text in ax.get_legend().get_texts()]
    assert found[:3] == [f"cluster {k} ({size})" for k, size in enumerate(sizes)]
    assert "setosa" in found


def test_the_axis_says_what_lengths_mean(iris):
    tree, _ = iris
    assert tree.plot(names=False, scale="height").get_xlabel() == "height"
    assert tree.plot(names=False, scale="size").get_xlabel() == "leaves below (log)"
    assert tree.plot(names=False, scale="depth", orientation="top").get_ylabel() == "depth"


def test_a_hundred_names_are_all_written():
    tree = random_tree(100, np.random.default_rng(0))
    tree = tree.replace(name=[f"class number {k}" for k in range(100)])
    for kind in ("dendrogram", "circular"):
        ax = tree.plot(kind)
        assert sum(text.get_text().startswith("class") for text in ax.texts) == 100


def test_long_names_leave_the_circle_half_of_the_picture():
    tree = random_tree(80, np.random.default_rng(0))
    tree = tree.replace(name=[f"a topic with a long name, number {k}" for k in range(80)])
    ax = tree.plot("circular")
    assert 2 / np.diff(ax.get_xlim())[0] > 0.4


def test_names_of_internal_nodes_are_written():
    tree = random_tree(40, np.random.default_rng(0)).taxonomy([3, 9])
    names = [f"leaf {k}" for k in range(40)] + [f"topic {k}" for k in range(40, tree.n_nodes)]
    for kind in KINDS:
        ax = tree.replace(name=names).plot(kind)
        assert any(text.get_text().startswith("topic") for text in ax.texts), kind


def test_the_heat_map_explains_its_strips_and_clips_its_scale(iris):
    data = load_iris().data.copy()
    data[0, 0] = 1e6
    tree, species = iris
    columns = Tree.from_linkage(linkage(data.T, "average"))
    figure = clustermap(data, tree, columns, row_colors=species, robust=True)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()][1:] == sorted(set(species))
    assert figure.axes[0].images[0].get_clim()[1] < 10
    assert clustermap(data, vmin=-1, vmax=2).axes[0].images[0].get_clim() == (-1, 2)
    scored = clustermap(data, z_score="columns").axes[0].images[0].get_array()
    assert np.allclose(scored.mean(axis=0), 0)
    with pytest.raises(ValueError, match="vmin must not exceed"):
        clustermap(data, vmin=3, vmax=2)
    with pytest.raises(ValueError, match="Pass row_tree"):
        clustermap(data, row_colors=species)


def test_a_heat_map_writes_every_one_of_a_hundred_names():
    X = np.random.default_rng(0).normal(size=(100, 6))
    names = [f"row {k}" for k in range(100)]
    for options in ({}, {"row_colors": np.arange(100) % 5}):
        figure = clustermap(X, Tree.from_linkage(linkage(X)), row_names=names, **options)
        assert len(figure.axes[0].get_yticklabels()) == 100


def test_clusters_and_classes_share_no_color(iris):
    tree, species = iris
    ax = tree.plot(names=False, n_clusters=3, classes={"species": species})
    colors = [handle.get_color() for handle in ax.get_legend().legend_handles if handle.get_marker() == "s"]
    assert len(set(colors)) == len(colors) == 6


def test_one_leaf_and_two_leaves_are_drawn():
    for text in ("a;", "(a,b);"):
        for kind in KINDS:
            ax = Tree.from_newick(text).plot(kind)
            assert ax.has_data() or ax.texts, (text, kind)


def test_geodesics_run_from_start_to_end_along_circles_that_meet_the_rim_at_right_angles():
    p, q = np.array([0.5 + 0.2j]), np.array([-0.3 + 0.6j])
    path = geodesics(p, q, 9)[0]
    assert path[0] == pytest.approx(p[0])
    assert path[-1] == pytest.approx(q[0])
    a, b = 2 * np.array([path[0], path[-1]]), 1 + np.abs([path[0], path[-1]]) ** 2
    center = np.linalg.solve(np.stack([a.real, a.imag], axis=1), b)
    radius = np.sqrt((center**2).sum() - 1)
    assert np.allclose(np.abs(path - complex(*center)), radius)


def test_the_heat_map_orders_rows_and_columns_by_their_trees(iris):
    data = load_iris().data
    tree, species = iris
    columns = Tree.from_linkage(linkage(data.T, "average"))
    figure = clustermap(data, tree, columns, row_colors=species, col_names=load_iris().feature_names)
    image = figure.axes[0].images[0].get_array()
    assert np.array_equal(image, data[np.ix_(tree.leaf_order, columns.leaf_order)])
    assert len(figure.axes) == 5
    with pytest.raises(ValueError, match="row_tree must have"):
        clustermap(data[:10], tree)


def test_curves_of_costs_and_levels(iris):
    tree, species = iris

    class Fitted:
        history_ = training_curve([(1, 0.5, 3.0), (2, 0.4, 2.0), (3, 0.3, np.nan), (4, 0.2, 1.0)])

    ax = plot_cost_history(Fitted())
    assert ax.lines[1].get_xydata().tolist() == [[4, 1]]
    with pytest.raises(ValueError, match="non-empty"):
        plot_cost_history([])
    graph_model = FPH(n_internal=2, max_epochs=3, random_state=0).fit(([0, 1, 2], [1, 2, 3]))
    assert plot_cost_history(graph_model).lines[0].get_xdata().tolist() == [0, 1, 2, 3]
    from sklearn.metrics import adjusted_rand_score

    lines = {line.get_label(): line for line in plot_levels(tree, species, max_clusters=10).lines}
    at_three = dict(lines["ARI"].get_xydata())[3]
    assert at_three == pytest.approx(adjusted_rand_score(species, tree.cut(n_clusters=3)))
    heights = plot_levels(tree, max_clusters=5).lines[0].get_xydata()
    merges = np.sort(tree.height)[::-1]
    assert heights[0].tolist() == pytest.approx([2, merges[0] - merges[1]])


@pytest.mark.parametrize("orientation", ["left", "top"])
@pytest.mark.parametrize("n_scales", [1, 5])
def test_color_bars_cover_neither_the_legend_nor_each_other(iris, orientation, n_scales):
    tree, classes = iris
    rng = np.random.default_rng(0)
    strips = {f"gene {k}": rng.random(tree.n_leaves) for k in range(n_scales)}
    groups = rng.integers(0, 12, tree.n_leaves).astype(str)
    ax = tree.plot(
        classes={"species": classes, "group": groups}, metadata=strips, n_clusters=5, orientation=orientation
    )
    ax.figure.draw_without_rendering()
    bars = [inset for inset in ax.child_axes if inset.get_title(loc="left")]
    boxes = [ax.get_legend().get_window_extent(), *(bar.get_tightbbox() for bar in bars)]
    assert len(bars) == n_scales
    for k, box in enumerate(boxes):
        for other in boxes[k + 1 :]:
            assert not box.overlaps(other)


def test_the_legend_of_a_heat_map_lies_inside_the_figure(iris):
    tree, _ = iris
    kinds = np.array(["CD8+/CD45RA+ Naive Cytotoxic", "Dendritic"])[np.arange(tree.n_leaves) % 2]
    figure = clustermap(np.random.default_rng(0).random((tree.n_leaves, 6)), tree, row_colors=kinds)
    figure.draw_without_rendering()
    legend = next(ax.get_legend() for ax in figure.axes if ax.get_legend() is not None)
    box = legend.get_window_extent()
    assert box.x1 <= figure.bbox.x1 and box.x0 >= figure.axes[0].get_window_extent().x1
