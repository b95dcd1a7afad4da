"""The local server of the explorer: loopback only, one random token, its own page and nothing else."""

from __future__ import annotations

import atexit
import json
import logging
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from typing import Any

from arbora.errors import MissingExtraError
from arbora.tree import Tree
from arbora.view.content import Content
from arbora.view.page import MOST_LEAVES_IN_PAGE, checked_view, policy, served_page, whole_page
from arbora.view.session import Session

_HOST = "127.0.0.1"
_MAX_BODY = 4 * 1024 * 1024
_SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Viewer:
    """A running explorer.

    Attributes
    ----------
    url : str
        Address of the page, token included.
    """

    def __init__(self, content: Content, view: str = "circular", port: int = 0) -> None:
        try:
            import uvicorn
        except ImportError as error:
            raise MissingExtraError(
                "The explorer needs starlette and uvicorn. Install them with: pip install 'arbora[view]'"
            ) from error
        self.token = secrets.token_urlsafe(24)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((_HOST, port))
        except OSError as error:
            self._socket.close()
            raise OSError(
                error.errno, f"Port {port} on {_HOST} cannot be used ({error.strerror}). Leave out port."
            ) from error
        self._socket.listen(128)  # from now on a request waits rather than fails, however long the page takes
        self.port = self._socket.getsockname()[1]
        self.url = f"http://{_HOST}:{self.port}/?token={self.token}"
        self._fetched = threading.Event()
        app = build_app(content, self.token, self.port, view, self._fetched.set)
        config = uvicorn.Config(
            app, log_level="error", access_log=False, lifespan="off", server_header=False, ws="none"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="arbora-explorer", daemon=True)
        self._thread.start()

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
            time.sleep(0.2)  # let the answer leave

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


def build_app(
    content: Content, token: str, port: int, view: str = "circular", on_page: Callable[[], None] | None = None
) -> Any:
    """The ASGI application: `/` is the page, `/api/<question>` the answers; every other path is unknown."""
    try:
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError as error:
        raise MissingExtraError(
            "The explorer needs starlette and uvicorn. Install them with: pip install 'arbora[view]'"
        ) from error

    session = Session(content)
    whole = content.tree.n_leaves <= MOST_LEAVES_IN_PAGE
    document = (whole_page(content, view) if whole else served_page(content, view)).encode("utf-8")
    hosts = {f"{_HOST}:{port}", f"localhost:{port}"}
    page_policy = policy("'self'") + "; frame-ancestors 'none'"

    def refused(status: int, why: str) -> Response:
        return Response(why + "\n", status, headers=_SAFE_HEADERS, media_type="text/plain")

    def is_ours(request: Request) -> bool:
        # A foreign name resolved to this machine shows in Host, a foreign page in Origin.
        origin = request.headers.get("origin")
        return request.headers.get("host") in hosts and (
            origin is None or origin.removeprefix("http://") in hosts
        )

    def knows(given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), token.encode())

    async def page(request: Request) -> Response:
        if not is_ours(request) or not knows(request.query_params.get("token")):
            return refused(403, "This address needs the token it was opened with.")
        if on_page is not None:
            on_page()
        headers = {**_SAFE_HEADERS, "content-security-policy": page_policy}
        return Response(document, headers=headers, media_type="text/html")

    async def answer(request: Request) -> Response:
        if not is_ours(request) or not knows(request.headers.get("x-arbora-token")):
            return refused(403, "Not allowed.")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return refused(415, "Questions are application/json.")
        body = await _body_within(request, _MAX_BODY)
        if body is None:
            return refused(413, f"At most {_MAX_BODY} bytes.")
        try:
            details = json.loads(body)
            if not isinstance(details, dict):
                raise ValueError("Details must be a JSON object.")
            packed = session.answer(request.path_params["question"], details)
        except KeyError:
            return refused(404, "No such question.")
        except (ValueError, TypeError, RecursionError) as error:
            return refused(400, str(error)[:300])
        except Exception:
            logging.getLogger("arbora.view").exception("The explorer could not answer.")
            return refused(500, "The question could not be answered.")
        return Response(packed, headers=_SAFE_HEADERS, media_type="application/octet-stream")

    return Starlette(
        routes=[Route("/", page, methods=["GET"]), Route("/api/{question}", answer, methods=["POST"])]
    )


async def _body_within(request: Any, limit: int) -> bytes | None:
    """The body, or None as soon as it grows beyond the limit."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > limit:
        return None
    parts, total = [], 0
    async for part in request.stream():
        total += len(part)
        if total > limit:
            return None
        parts.append(part)
    return b"".join(parts)


def explore(
    tree: Tree,
    *,
    view: str = "circular",
    port: int = 0,
    open_browser: bool = True,
    block: bool = False,
    **content: Any,
) -> Any:
    """Open the explorer: in the browser, or as a widget inside a notebook.

    Parameters
    ----------
    tree : Tree
        Any size; the page of a large tree loads what is looked at.
    view : {"circular", "dendrogram", "icicle", "treemap", "disk"}
        The view shown first.
    port : int
        Port on 127.0.0.1; 0 picks a free one.
    open_browser : bool
        Open the page. In a notebook a widget is returned instead of a server, whatever this says.
    block : bool
        Serve until interrupted (the command line does this). A script needs it for trees above 50,000 leaves,
        whose page goes on asking; a smaller tree's page is complete once it is open.
    labels, metadata, names, images, texts, points, features, compare, color, title
        What is known about the leaves: classes; more columns (mapping or data frame); names; thumbnails;
        texts; positions for the scatter; the data behind the tree (exemplars, scatter); a second tree; the
        column to color by; a title.

    Returns
    -------
    viewer : Viewer or anywidget.AnyWidget
        ``viewer.url`` is the address, ``viewer.stop()`` ends it.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> with tree.explore(open_browser=False, labels=["a", "a", "b", "b"]) as viewer:
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """
    shown = Content(tree, **content)
    checked_view(view)
    if _in_notebook():
        from arbora.view.notebook import widget_of

        return widget_of(shown, view=view)
    viewer = Viewer(shown, view, port)
    if open_browser and webbrowser.open(viewer.url):
        atexit.register(viewer.wait_for_page)
    if block:
        viewer.wait()
    return viewer


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
