"""What surrounds a picture, part by part."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from trees import random_tree

from arbora.view.columns import read_column
from arbora.view.layout import Layout, largest_nodes
from arbora.view.legends import color_bar, entries
from arbora.view.picture import Picture, plain
from arbora.view.shades import cluster_colors, column_colors, number_colors, pixels
from arbora.view.static_marks import clipped, draw_labels, draw_strips, draw_support


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def picture_of(tree, kind="dendrogram", **options):
    nodes, opened = largest_nodes(tree, tree.root, 1000)
    ax = plt.figure(layout="constrained").add_subplot()
    ax.set(xlim=(0, 1), ylim=(tree.n_leaves, 0))
    return Picture(ax, kind, Layout(tree), nodes, opened, "size", ["#000000"] * len(nodes), 1.0, **options)


def test_names_are_clipped_and_formulas_stay_text():
    assert clipped("abcdef", 4) == "abc…"
    assert clipped("abc", 4) == "abc"
    assert plain("cost $x$") == r"cost \$x\$"


@pytest.mark.parametrize("kind", ["dendrogram", "circular"])
def test_labels_make_room_for_themselves(kind):
    tree = random_tree(12, np.random.default_rng(0))
    picture = picture_of(tree, kind)
    draw_labels(picture, [f"a long leaf name {k}" for k in range(12)])
    picture.ax.figure.canvas.draw()
    inside = picture.ax.get_window_extent()
    for text in picture.ax.texts:
        box = text.get_window_extent()
        assert box.x1 <= inside.x1 + 2
    assert len(picture.ax.texts) == 12


def test_strips_color_every_leaf():
    tree = random_tree(12, np.random.default_rng(0))
    picture = picture_of(tree)
    picture.strips = [read_column(tree, "kind", list("aabbccddeeff"))]
    draw_strips(picture)
    assert len(picture.ax.collections[0].get_paths()) == 12
    assert len({tuple(color) for color in picture.ax.collections[0].get_facecolor()}) == 6


def test_support_needs_support():
    with pytest.raises(ValueError, match="support=True needs"):
        draw_support(picture_of(random_tree(5, np.random.default_rng(0))))


def test_colors_of_numbers_end_where_the_scale_ends():
    colors = number_colors(np.array([-10.0, 0.0, 1.0, 99.0, np.nan]), (0.0, 1.0))
    assert colors[0] == colors[1]
    assert colors[2] == colors[3]
    assert colors[4] == "#8a94a0"
    assert pixels(["#ff0001"]).tolist() == [[255, 0, 1]]


def test_clusters_take_the_colors_of_their_numbers():
    from arbora.view import palette

    tree = random_tree(20, np.random.default_rng(0))
    colors = cluster_colors(Layout(tree), np.arange(20), 4)
    assert colors == [palette.LIGHT[label] for label in tree.cut(n_clusters=4)]


def test_a_node_without_a_majority_is_gray_but_its_strip_is_not():
    from arbora import Tree

    tree = Tree.from_newick("((a,b),(c,d));")
    column = read_column(tree, "kind", list("xyzz"))
    assert column_colors(column, np.array([6]))[0] != "#000000"
    assert column_colors(read_column(tree, "k", list("wxyz")), np.array([6])) == ["#8a94a0"]
    assert column_colors(read_column(tree, "k", list("wxyz")), np.array([6]), majority=False) != ["#8a94a0"]


def test_long_legends_show_the_most_frequent():
    tree = random_tree(200, np.random.default_rng(0))
    column = read_column(tree, "kind", [f"k{min(k, 60)}" for k in range(200)], as_classes=True)
    labels = [handle.get_label() for handle in entries(column, title=True)]
    assert labels[0] == "kind"
    assert "k60" in labels
    assert labels[-1] == "and 38 more"


def test_a_color_bar_says_where_it_is_clipped():
    tree = random_tree(100, np.random.default_rng(0))
    values = np.arange(100.0)
    values[3] = 1e6
    ax = plt.figure().add_subplot()
    color_bar(ax, read_column(tree, "value", values), (1.02, 0, 0.03, 0.3))
    assert ax.child_axes[0].get_title(loc="left") == "value"
