import re

import pytest

from arbora import Tree


def animals():
    return Tree.from_newick("((owl:1,'sea\teagle':1)birds:1,cod:2)animals;")


def rows(path):
    text = path.read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\nDATA\n")[1].splitlines()]


def settings(path):
    head = path.read_text(encoding="utf-8").split("\nDATA\n")[0].splitlines()
    return dict(line.split("\t", 1) for line in head if "\t" in line)


def test_tree_labels_and_strips_refer_to_the_same_ids(tmp_path):
    tree_file, label_file, strip = animals().to_itol(
        tmp_path / "new", metadata={"class": ["bird", "bird", "fish"]}
    )
    assert tree_file.read_text() == "((0:1.0,1:1.0)I3:1.0,2:2.0)I4;\n"
    assert rows(label_file) == [
        ["0", "owl"],
        ["1", "sea eagle"],
        ["2", "cod"],
        ["I3", "birds"],
        ["I4", "animals"],
    ]
    assert [(row[0], row[2]) for row in rows(strip)] == [("0", "bird"), ("1", "bird"), ("2", "fish")]
    ids = set(re.findall(r"I?\d+(?=:)|I\d+", tree_file.read_text()))
    assert {row[0] for row in rows(label_file)} <= ids


def test_each_category_has_one_color_which_the_legend_shows(tmp_path):
    tree = Tree.from_merges([range(40)])
    strip = tree.to_itol(tmp_path, metadata={"k": [k % 20 for k in range(40)]})[-1]
    colors = {}
    for _, color, category in rows(strip):
        assert re.fullmatch("#[0-9a-f]{6}", color)
        assert colors.setdefault(category, color) == color
    assert len(set(colors.values())) == 20
    head = settings(strip)
    assert head["LEGEND_LABELS"].split("\t") == list(colors)
    assert head["LEGEND_COLORS"].split("\t") == list(colors.values())
    assert strip.read_text().startswith("DATASET_COLORSTRIP\nSEPARATOR TAB\n")


def test_a_tree_without_names_has_no_label_file(tmp_path):
    assert [p.name for p in Tree([2, 2, -1], 2).to_itol(tmp_path)] == ["tree.nwk"]


@pytest.mark.parametrize(
    ("metadata", "error", "message"),
    [
        ({"x": [1, 2]}, ValueError, "n_leaves=3"),
        ([1, 2, 3], TypeError, "map titles"),
        ({"a b": [1, 2, 3], "a_b": [1, 2, 3]}, ValueError, "differ"),
        ({"?": [1, 2, 3]}, ValueError, "differ"),
    ],
)
def test_labels_that_do_not_fit_are_refused_before_anything_is_written(tmp_path, metadata, error, message):
    with pytest.raises(error, match=message):
        animals().to_itol(tmp_path / "folder", metadata=metadata)
    assert not (tmp_path / "folder").exists()
