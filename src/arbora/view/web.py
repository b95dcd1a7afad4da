"""The explorer's web application: its own page, its answers, and who may ask."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arbora._base.optional import require
from arbora.view.page import MOST_LEAVES_IN_PAGE, View, policy, served_page, whole_page
from arbora.view.session import Session

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
_MAX_BODY = 4 * 1024 * 1024
# Seconds after which a connection that has not sent a whole request is closed.
PATIENCE = 20.0
_PURPOSE = "The explorer"
_SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Gate:
    """Who may ask: requests with the token, to this address, from this page."""

    def __init__(self, token: str, port: int) -> None:
        self.token = token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    def is_ours(self, request: Request) -> bool:
        """Whether a request is meant for this server: a foreign name resolved to this machine shows in Host, a
        foreign page in Origin.
        """
        origin = request.headers.get("origin")
        return request.headers.get("host") in self.hosts and (
            origin is None or origin.removeprefix("http://") in self.hosts
        )

    def knows(self, given: str | None) -> bool:
        """Whether the token is right."""
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


def build_app(
    session: Session,
    token: str,
    port: int,
    view: View = "circular",
    on_page: Callable[[], None] | None = None,
) -> Starlette:
    """The ASGI application: `/` is the page, `/api/<question>` the answers; every other path is unknown."""
    applications = require("starlette.applications", _PURPOSE)
    routing = require("starlette.routing", _PURPOSE)
    responses = require("starlette.responses", _PURPOSE)

    gate, content = Gate(token, port), session.content
    # a page that edits always asks again: what it holds would be out of date
    whole = content.tree.n_leaves <= MOST_LEAVES_IN_PAGE and not session.can_edit
    document = (whole_page(content, view) if whole else served_page(content, view)).encode("utf-8")
    page_headers = {
        **_SAFE_HEADERS,
        "content-security-policy": policy("'self'") + "; frame-ancestors 'none'",
    }

    async def page(request: Request) -> Response:
        if not gate.is_ours(request) or not gate.knows(request.query_params.get("token")):
            return _refused(403, "This address needs the token it was opened with.")
        if on_page is not None:
            on_page()
        response: Response = responses.Response(document, headers=page_headers, media_type="text/html")
        return response

    async def answer(request: Request) -> Response:
        refusal = _why_not(request, gate, session)
        if refusal is not None:
            return refusal
        try:
            body = await asyncio.wait_for(_body_within(request, _MAX_BODY), PATIENCE)
        except TimeoutError:
            return _refused(408, f"The question did not arrive within {PATIENCE:g} seconds.")
        if body is None:
            return _refused(413, f"At most {_MAX_BODY} bytes.")
        return _answered(session, request.path_params["question"], body)

    routes = [
        routing.Route("/", page, methods=["GET"]),
        routing.Route("/api/{question}", answer, methods=["POST"]),
    ]
    app: Starlette = applications.Starlette(routes=routes)
    return app


def _why_not(request: Request, gate: Gate, session: Session) -> Response | None:
    if not gate.is_ours(request) or not gate.knows(request.headers.get("x-arbora-token")):
        return _refused(403, "Not allowed.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _refused(415, "Questions are application/json.")
    if request.path_params["question"] not in session.questions:
        return _refused(404, "No such question.")
    return None


def _answered(session: Session, question: str, body: bytes) -> Response:
    from starlette.responses import Response

    try:
        details = json.loads(body)
        if not isinstance(details, dict):
            raise ValueError("Details must be a JSON object.")
        packed = session.answer(question, details)
    except (ValueError, TypeError, RecursionError) as error:
        return _refused(400, str(error)[:300])
    except Exception:
        logging.getLogger("arbora.view").exception("The explorer could not answer.")
        return _refused(500, "The question could not be answered.")
    return Response(packed, headers=_SAFE_HEADERS, media_type="application/octet-stream")


def _refused(status: int, why: str) -> Response:
    from starlette.responses import Response

    return Response(why + "\n", status, headers=_SAFE_HEADERS, media_type="text/plain")


async def _body_within(request: Request, limit: int) -> bytes | None:
    """The body, or None as soon as it grows beyond the limit."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > limit:
        return None
    parts, total = [], 0
    async for part in request.stream():
        total += len(part)
        if total > limit:
            return None
        parts.append(part)
    return b"".join(parts)


def impatient_protocol() -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol, closing connections that never send a request: each would hold a descriptor."""
    h11_impl = require("uvicorn.protocols.http.h11_impl", _PURPOSE)

    class Impatient(h11_impl.H11Protocol):  # type: ignore[misc,name-defined]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._waiting = self.loop.call_later(PATIENCE, self._close_if_silent)

        def connection_lost(self, exc: Exception | None) -> None:
            self._waiting.cancel()
            super().connection_lost(exc)

        def _close_if_silent(self) -> None:
            if self.cycle is None:
                self.transport.close()

    return Impatient
