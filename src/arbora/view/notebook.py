"""The explorer in a notebook cell (Jupyter, VS Code, Colab), through anywidget."""

from __future__ import annotations

import zlib
from typing import Any

from arbora.errors import MissingExtraError
from arbora.tree import Tree
from arbora.view.bundle import asset, script
from arbora.view.content import Content
from arbora.view.page import MOST_LEAVES_IN_PAGE, checked_view, whole_pack
from arbora.view.session import Session


def widget(tree: Tree, *, view: str = "circular", height: int = 620, **content: Any) -> Any:
    """The explorer as a notebook widget.

    Its trait ``selected`` is the selected node (-1: none), in both directions.

    Parameters
    ----------
    tree : Tree
    view : {"circular", "dendrogram", "icicle", "treemap", "disk"}
    height : int
        Pixels.
    **content
        As in `arbora.view.explore`.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.view import widget
    >>> shown = widget(Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4))
    >>> shown.selected = 5
    """
    return widget_of(Content(tree, **content), view=view, height=height)


def widget_of(content: Content, *, view: str = "circular", height: int = 620) -> Any:
    """The widget for content that is already checked."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingExtraError(
            "The notebook widget needs anywidget. Install it with: pip install 'arbora[view]'"
        ) from error

    class TreeWidget(anywidget.AnyWidget):
        _esm = script("widget") + "\nexport default { render: renderWidget };\n"
        _style = traitlets.Unicode(asset("style.css")).tag(sync=True)
        _data = traitlets.Bytes(b"").tag(sync=True)
        view = traitlets.Unicode("circular").tag(sync=True)
        height = traitlets.Int(620).tag(sync=True)
        selected = traitlets.Int(-1).tag(sync=True)

        @traitlets.validate("selected")
        def _check_selected(self, proposal: Any) -> int:
            if not -1 <= proposal["value"] < content.tree.n_nodes:
                raise traitlets.TraitError(
                    f"selected must be a node of the tree, or -1. Got {proposal['value']}."
                )
            return int(proposal["value"])

    data = zlib.compress(whole_pack(content), 6) if content.tree.n_leaves <= MOST_LEAVES_IN_PAGE else b""
    shown = TreeWidget(view=checked_view(view), height=int(height), _data=data)
    session = Session(content)

    def reply(_: Any, message: Any, __: Any) -> None:
        number = message.get("number") if isinstance(message, dict) else None
        try:
            packed = session.answer(message["question"], message["details"])
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            shown.send({"reply": number, "error": f"{type(error).__name__}: {error}"[:300]})
        else:
            shown.send({"reply": number}, buffers=[packed])

    shown.on_msg(reply)
    return shown
