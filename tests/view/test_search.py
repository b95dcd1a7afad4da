"""Search: folded text, kinds in their order, members of what was found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import Tree
from arbora.view.content import Content
from arbora.view.search import LISTED, Finder, folded


@pytest.fixture
def finder():
    tree = Tree.from_newick("((owl,hen)birds,(cod,eel)fish)animals;")
    return Finder(
        Content(
            tree,
            classes={"home": ["tree", "yard", "sea", "river"]},
            metadata={"date": np.datetime64("2020-01-01") + np.arange(4)},
            texts=["hunts at night", "lays eggs", "swims in cold water", "swims far"],
        )
    )


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(text):
    assert folded(folded(text)) == folded(text)


def test_every_kind_is_found(finder):
    assert [hit["kind"] for hit in finder.find("fish")["found"]] == ["node"]
    assert [hit["kind"] for hit in finder.find("river")["found"]] == ["value"]
    assert [hit["kind"] for hit in finder.find("swims")["found"]] == ["word", "text", "text"]
    assert [hit["kind"] for hit in finder.find("owl")["found"]] == ["leaf"]
    assert finder.find("nothing like it") == {"count": 0, "found": []}
    assert finder.find("  ") == {"count": 0, "found": []}


def test_members_are_places_of_the_leaf_order(finder):
    order = finder.content.tree.leaf_order
    code = finder.content.column("home").categories.index("sea")
    assert order[finder.with_value("home", code)].tolist() == [2]
    word = finder.content.words.vocabulary.index("swims")
    assert sorted(order[finder.with_word(word)].tolist()) == [2, 3]
    with pytest.raises(ValueError, match="code"):
        finder.with_value("date", 0)
    with pytest.raises(ValueError, match="vocabulary"):
        finder.with_word(10**6)


def test_lists_are_short_but_counts_are_whole():
    tree = Tree([*[500] * 500, -1], 500)
    found = Finder(Content(tree, names=[f"leaf {k}" for k in range(500)])).find("leaf")
    assert found["count"] == 500
    assert len(found["found"]) == LISTED["leaf"]
