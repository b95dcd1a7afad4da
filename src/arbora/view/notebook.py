"""The explorer in a notebook cell (Jupyter, VS Code, Colab), through anywidget."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from arbora._base.optional import require
from arbora._base.params import check_whole
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.view.bundle import asset, script
from arbora.view.content import MOST_COMPARED, Columns, Content, in_leaf_order
from arbora.view.inputs import similarity_or_neighbors
from arbora.view.page import MOST_LEAVES_IN_PAGE, View, checked_view, whole_pack
from arbora.view.session import Session

if TYPE_CHECKING:
    from anywidget import AnyWidget


def widget(
    tree: Tree,
    *,
    view: View = "circular",
    height: int = 620,
    names: Iterable[Any] | None = None,
    classes: Columns | None = None,
    metadata: Columns | None = None,
    colors: str | ArrayLike | None = None,
    category_colors: Mapping[str, Mapping[str, str]] | None = None,
    texts: Iterable[Any] | None = None,
    images: ArrayLike | None = None,
    features: ArrayLike | None = None,
    feature_names: Iterable[Any] | None = None,
    points: ArrayLike | None = None,
    compare: Tree | None = None,
    report: Mapping[str, Any] | None = None,
    title: str | None = None,
    similarity: Similarity | None = None,
) -> AnyWidget:
    """The explorer as a notebook widget.

    Its trait ``selected`` is the selected node (-1: none), in both directions.

    Parameters
    ----------
    tree : Tree
    view : {"circular", "dendrogram", "icicle", "treemap", "disk"}
    height : int
        Pixels.
    names, classes, metadata, colors, category_colors, texts, images
        What is known about the leaves; see `explore`.
    features, feature_names, points, compare, report, title, similarity
        More of it; see `explore`.

    Returns
    -------
    widget : anywidget.AnyWidget

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view import widget
    >>> shown = widget(Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4))
    >>> shown.selected = 5
    """
    about: dict[str, Any] = {
        "names": names, "classes": classes, "metadata": metadata, "colors": colors,
        "category_colors": category_colors, "texts": texts, "images": images,
        "features": features, "feature_names": feature_names, "points": points, "compare": compare,
        "report": report, "title": title,
    }  # fmt: skip
    about = in_leaf_order(tree, about)
    known = similarity_or_neighbors(similarity, about["features"], MOST_COMPARED)
    return widget_of(Session(Content(tree, **about, similarity=known)), view=view, height=height)


def widget_of(session: Session, *, view: View = "circular", height: int = 620) -> AnyWidget:
    """The widget for content that is already checked."""
    content = session.content
    anywidget = require("anywidget", "The notebook widget")
    traitlets = require("traitlets", "The notebook widget")

    class TreeWidget(anywidget.AnyWidget):  # type: ignore[misc,name-defined]
        _esm = script("widget") + "\nexport default { render: renderWidget };\n"
        _style = traitlets.Unicode(asset("style.css")).tag(sync=True)
        _data = traitlets.Bytes(b"").tag(sync=True)
        view = traitlets.Unicode("circular").tag(sync=True)
        height = traitlets.Int(620).tag(sync=True)
        selected = traitlets.Int(-1).tag(sync=True)

        @traitlets.validate("selected")  # type: ignore[untyped-decorator,misc]
        def _check_selected(self, proposal: Any) -> int:
            if not -1 <= proposal["value"] < session.content.tree.n_nodes:
                raise traitlets.TraitError(
                    f"selected must be a node of the tree, or -1. Got {proposal['value']}."
                )
            return int(proposal["value"])

    whole = content.tree.n_leaves <= MOST_LEAVES_IN_PAGE and not session.can_edit
    data = zlib.compress(whole_pack(content), 6) if whole else b""
    pixels = check_whole(height, "height", least=100)
    shown: AnyWidget = TreeWidget(view=checked_view(view), height=pixels, _data=data)

    def reply(_: Any, message: Any, __: Any) -> None:
        number = message.get("number") if isinstance(message, dict) else None
        try:
            packed = session.answer(message["question"], message["details"])
        except Exception as error:
            shown.send({"reply": number, "error": f"{type(error).__name__}: {error}"[:300]})
        else:
            shown.send({"reply": number}, buffers=[packed])

    shown.on_msg(reply)
    return shown
