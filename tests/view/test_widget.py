"""The notebook widget: the same page, with the selection shared with Python."""

import zlib

import numpy as np
import pytest
from trees import random_tree
from view.large_trees import line_tree

from arbora.similarity import knn
from arbora.view._pack import unpack
from arbora.view.content import Content

anywidget = pytest.importorskip("anywidget")
from arbora.view import widget  # noqa: E402


def test_a_small_tree_travels_whole():
    shown = widget(
        random_tree(30, np.random.default_rng(0)), classes=np.arange(30) % 3, view="disk", height=400
    )
    assert len(shown._data) > 100
    assert shown.view == "disk"
    assert "export default" in shown._esm if isinstance(shown._esm, str) else True


def test_a_large_tree_is_asked_for():
    shown = widget(line_tree(60_000))
    assert shown._data == b""
    sent = []
    shown.send = lambda message, buffers=None: sent.append((message, buffers))
    shown._handle_custom_msg({"number": 7, "question": "overview", "details": {}}, [])
    message, buffers = sent[0]
    assert message == {"reply": 7}
    assert unpack(buffers[0])[0]["nLeaves"] == 60_000
    shown._handle_custom_msg({"number": 8, "question": "secrets", "details": {}}, [])
    assert "error" in sent[1][0]


def test_leaves_show_which_are_most_similar():
    tree, X = random_tree(30, np.random.default_rng(0)), np.random.default_rng(1).normal(size=(30, 3))
    similar = unpack(zlib.decompress(widget(tree, features=X)._data))[1]["similar"]
    assert np.array_equal(similar, Content(tree, similarity=knn(X)).similar_table().ravel())
    given = unpack(zlib.decompress(widget(tree, features=X, similarity=knn(X, 3))._data))[1]["similar"]
    assert np.array_equal(given, Content(tree, similarity=knn(X, 3)).similar_table().ravel())
    assert not np.array_equal(given, similar)


def test_selected_must_be_a_node():
    import traitlets

    shown = widget(random_tree(5, np.random.default_rng(0)))
    shown.selected = 8
    with pytest.raises(traitlets.TraitError, match="selected must be a node"):
        shown.selected = 9


def test_an_unknown_view_is_named():
    with pytest.raises(ValueError, match="view must be one of"):
        widget(random_tree(5, np.random.default_rng(0)), view="cube")
