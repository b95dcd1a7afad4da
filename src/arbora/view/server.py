"""The local server of the explorer: loopback only, one random token, its own page and nothing else."""

from __future__ import annotations

import atexit
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from arbora._base.optional import require
from arbora._base.params import check_switch, check_whole
from arbora._base.types import PathLike
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.view.content import MOST_COMPARED, Columns, Content, in_leaf_order
from arbora.view.editing import editable
from arbora.view.inputs import similarity_or_neighbors
from arbora.view.page import View, checked_view
from arbora.view.session import Session, editing_session
from arbora.view.web import HOST, build_app, impatient_protocol

if TYPE_CHECKING:
    from anywidget import AnyWidget


class Viewer:
    """A running explorer.

    Attributes
    ----------
    url : str
        Address of the page, token included.
    tree : Tree
        The tree as the page shows it now; another one after edits.
    """

    def __init__(self, session: Session, view: View = "circular", port: int = 0) -> None:
        uvicorn = require("uvicorn", "The explorer")
        port = check_whole(port, "port", least=0, most=65535)
        self.token = secrets.token_urlsafe(24)
        self._session = session
        self._socket = _bound_socket(port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}/?token={self.token}"
        self._fetched = threading.Event()
        app = build_app(session, self.token, self.port, view, self._fetched.set)
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, lifespan="off", server_header=False, ws="none",
            http=impatient_protocol(),
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="arbora-explorer", daemon=True)
        self._thread.start()

    @property
    def tree(self) -> Tree:
        return self._session.content.tree

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Stop serving; the page stays open but loads no more."""
        self._server.should_exit = True
        self._thread.join(timeout=5)
        self._socket.close()

    def wait_for_page(self, seconds: float = 20.0) -> None:
        """Until the page has been fetched: a script that ends at once would leave the browser with nothing."""
        if self._thread.is_alive() and self._fetched.wait(seconds):
            # let the response go out
            time.sleep(0.2)

    def wait(self) -> None:
        """Serve until interrupted."""
        try:
            while self._thread.is_alive():
                self._thread.join(timeout=0.5)
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Viewer({self.url})"


def _bound_socket(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise OSError(
            error.errno, f"Port {port} on {HOST} cannot be used ({error.strerror}). Leave out port."
        ) from error
    # from now on a request waits rather than fails, no matter how long the page takes
    bound.listen(128)
    return bound


def explore(
    tree: Tree,
    *,
    view: View = "circular",
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
    edit: bool | PathLike = False,
    similarity: Similarity | None = None,
    port: int = 0,
    open_browser: bool = True,
    block: bool = False,
) -> Viewer | AnyWidget:
    """Open the explorer: in the browser, or as a widget inside a notebook.

    Parameters
    ----------
    tree : Tree
        Any size; the page of a large tree loads what is shown.
    view : {"circular", "dendrogram", "icicle", "treemap", "disk"}
        The view shown first.
    names : sequence of str, optional
        Names of the leaves; by default the tree's own.
    classes : array-like of shape (n_leaves,), mapping or data frame, optional
        Known classes: colors, purity and the scores of a cut. A mapping ``{"digit": y}`` gives them titles.
    metadata : mapping or data frame, optional
        More columns, by title. Numbers, dates and durations get a scale; text, booleans and codes (integers that
        are all of 0..m-1 or 1..m, at most 40) are categories; text that is nearly always different is shown as text.
    colors : str or array-like of shape (n_leaves,), optional
        What to color by at first: the title of a column, ``"cut"``, or values. By default the first column.
    category_colors : mapping, optional
        Colors of categories, ``{title: {category: "#rrggbb"}}``; others take the palette's.
    texts : sequence of str, optional
        One text per leaf; a leaf shows its text, a node its top words.
    images : array-like of shape (n_leaves, h, w) or (n_leaves, h, w, 3), optional
        Thumbnails of the leaves, at most 256 pixels wide and high.
    features : array-like of shape (n_leaves, d), optional
        The data behind the tree: picks exemplars (nearest the mean) and places the scatter.
    feature_names : sequence of str, optional
        Names of the columns of `features`: a node says what sets it apart (see `arbora.explain`). By default those of
        a data frame.
    points : array-like of shape (n_leaves, 2), optional
        The linked scatter; by default the first two principal axes of `features`.
    compare : Tree, optional
        A second tree over the same leaves, for the tanglegram.
    report : mapping, optional
        A report to show beside the tree, as `arbora.logits.ClassReport.to_dict` gives it.
    title : str, optional
    edit : bool or path-like
        Let the page rename, merge, move, split and remove nodes, with undo and redo; ``viewer.tree`` is the tree as it
        is now. With a path (``.npz`` or ``.nwk``) the page can also save the tree there; otherwise nothing is written.
    similarity : Similarity, optional
        What the tree was built on: a leaf shows which leaves it is most similar to, and with `edit` the page shows
        what each edit costs. By default the neighbor graph of `features`, of up to 10,000 without `edit`.
    port : int
        Port on 127.0.0.1; 0 picks a free one.
    open_browser : bool
        Open the page. In a notebook a widget is returned instead of a server, regardless of this.
    block : bool
        Serve until interrupted (the command line does this). A script needs it for trees above 50,000 leaves,
        whose page keeps asking; a smaller tree's page is complete once it is open.

    Returns
    -------
    viewer : Viewer or anywidget.AnyWidget
        ``viewer.url`` is the address, ``viewer.stop()`` ends it.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> with tree.explore(open_browser=False, classes=["a", "a", "b", "b"]) as viewer:
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """
    view = checked_view(view)
    check_switch(open_browser, "open_browser")
    check_switch(block, "block")
    about: dict[str, Any] = {
        "names": names, "classes": classes, "metadata": metadata, "colors": colors,
        "category_colors": category_colors, "texts": texts, "images": images,
        "features": features, "feature_names": feature_names, "points": points, "compare": compare,
        "report": report, "title": title,
    }  # fmt: skip
    session = _session(tree, in_leaf_order(tree, about), edit, similarity)
    if _in_notebook():
        from arbora.view.notebook import widget_of

        return widget_of(session, view=view)
    viewer = Viewer(session, view, port)
    if open_browser and webbrowser.open(viewer.url):
        atexit.register(viewer.wait_for_page)
    if block:
        viewer.wait()
    return viewer


def _session(
    tree: Tree, about: dict[str, Any], edit: bool | PathLike, similarity: Similarity | None
) -> Session:
    """Answers for the page, with an editor where edits are allowed."""
    if edit is False:
        known = similarity_or_neighbors(similarity, about["features"], MOST_COMPARED)
        return Session(Content(tree, **about, similarity=known))
    return editing_session(editable(tree, about, similarity), None if edit is True else edit)


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
