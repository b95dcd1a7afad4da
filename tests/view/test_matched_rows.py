"""What is known about leaves is matched by the names in its index, as in metrics, or refused."""

import numpy as np
import pandas as pd
import pytest

import arbora as ab
from arbora import view

NAMES = list("abcdef")
TREE = ab.Tree.from_newick("((d:1,f:1):4,((a:1,c:1):1,(b:1,e:1):1):3);")
FRAME = pd.DataFrame(
    {
        "kind": ["low", "mid", "low", "high", "mid", "high"],
        "x": [0.0, 5.0, 0.5, 20.0, 5.5, 21.0],
        "y": [1.0, 1.0, 1.5, 3.0, 0.0, 2.0],
        "text": ["cat purrs", "dog barks", "cat sleeps", "owl hoots", "dog runs", "owl flies"],
    },
    index=NAMES,
)
PERMUTED = FRAME.loc[list("fcaebd")]
IN_ORDER = FRAME.loc[TREE.leaf_names]

PAGES = {
    "names": lambda frame: {"names": frame["text"]},
    "classes": lambda frame: {"classes": frame["kind"]},
    "several classes": lambda frame: {"classes": {"kind": frame["kind"]}},
    "metadata": lambda frame: {"metadata": frame[["kind", "x"]]},
    "colors": lambda frame: {"colors": frame["x"]},
    "texts": lambda frame: {"texts": frame["text"]},
    "features": lambda frame: {"features": frame[["x", "y"]]},
    "points": lambda frame: {"points": frame[["x", "y"]]},
}


def page(folder, about, **options):
    return TREE.to_html(folder / "page.html", **about, **options).read_text(encoding="utf-8")


@pytest.mark.parametrize("edit", [False, True])
@pytest.mark.parametrize("about", PAGES.values(), ids=PAGES)
def test_rows_in_another_order_give_the_same_page(about, edit, tmp_path):
    assert page(tmp_path, about(PERMUTED), edit=edit) == page(tmp_path, about(IN_ORDER), edit=edit)


@pytest.mark.parametrize("about", PAGES.values(), ids=PAGES)
def test_rows_some_of_whose_names_are_those_of_other_leaves_are_refused(about, tmp_path):
    with pytest.raises(ValueError, match="Leaf i must be point i"):
        page(tmp_path, about(PERMUTED.rename(index={"f": "F"})))


@pytest.mark.parametrize("about", PAGES.values(), ids=PAGES)
def test_rows_without_names_are_refused_where_leaves_are_called_by_their_numbers(about, tmp_path):
    numbers = ab.linkage(FRAME[["x"]].to_numpy(), "average")
    read = ab.Tree.from_newick(numbers.to_newick())
    with pytest.raises(ValueError, match="Leaf i must be point i"):
        read.to_html(tmp_path / "page.html", **about(FRAME.reset_index(drop=True)))


def test_pictures_find_rows_by_name(tmp_path):
    from matplotlib.colors import to_hex

    def strip(frame):
        figure = view.clustermap(np.eye(6), TREE, row_colors=frame["kind"]).figure
        shown = [image.get_array() for axes in figure.axes for image in axes.images]
        return [np.asarray(one).tolist() for one in shown]

    def branches(frame):
        axes = TREE.plot(colors=frame["kind"])
        return [to_hex(color) for lines in axes.collections for color in lines.get_colors()]

    assert strip(PERMUTED) == strip(IN_ORDER) != strip(IN_ORDER[::-1].set_axis(IN_ORDER.index))
    assert branches(PERMUTED) == branches(IN_ORDER)


def test_a_heat_map_beside_the_tree_of_other_rows_is_refused():
    view.clustermap(IN_ORDER[["x", "y"]], TREE)
    with pytest.raises(ValueError, match="which is point 5 of data"):
        view.clustermap(PERMUTED[["x", "y"]], TREE)


def test_colored_strips_of_itol_find_rows_by_name(tmp_path):
    for folder, frame in (("one", PERMUTED), ("other", IN_ORDER)):
        TREE.to_itol(tmp_path / folder, metadata={"kind": frame["kind"]})
    one, other = ((tmp_path / folder / "strip_kind.txt").read_text() for folder in ("one", "other"))
    # the legend lists categories as they come
    assert one == other


def test_words_and_names_find_texts_by_name():
    texts = PERMUTED["text"]
    assert TREE.keywords(texts) == TREE.keywords(list(IN_ORDER["text"]))

    def first_text(topic):
        return f"{topic.node}: {topic.texts[0]}"

    assert TREE.named(texts, function=first_text).name.tolist()[6:] == [
        "6: owl hoots", "7: cat purrs", "8: dog barks", "9: cat purrs", "10: owl hoots",
    ]  # fmt: skip


def test_missing_texts_of_any_library_are_no_text():
    texts = FRAME["text"].astype("string").where(FRAME.index != "d")
    found = ab.Tree.from_newick("(((a,c),(b,e)),(d,f));").keywords(texts)
    assert "hoots" not in {keyword.word for node in found.values() for keyword in node}
