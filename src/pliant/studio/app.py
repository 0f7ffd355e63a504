"""The web side: pages, uploads and the WebSocket, all behind a token and an Origin."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from pliant.core.errors import InputError, PliantError
from pliant.studio.session import Session
from pliant.studio.upload import LARGEST, receive

LOCAL = ("127.0.0.1", "localhost", "[::1]")


class AccessGuard:
    """Knows the token, the port, and which hosts and origins are this studio's own."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.port = port

    def right_host(self, headers: Mapping[str, str]) -> bool:
        """No other name may point here (a page elsewhere could make one do so)."""
        return headers.get("host", "") in {f"{host}:{self.port}" for host in LOCAL}

    def same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether the request comes from a page of this studio."""
        parts = urlsplit(headers.get("origin", ""))
        return parts.scheme == "http" and parts.netloc in {f"{host}:{self.port}" for host in LOCAL}

    def knows(self, request: HTTPConnection) -> bool:
        """Whether the request has the token and asks for this host."""
        given = request.query_params.get("token", "")
        right = secrets.compare_digest(given.encode(), self.token.encode())
        return right and self.right_host(request.headers)


STATIC = Path(__file__).parent / "static"
FILES = {"studio.js": "text/javascript", "studio.css": "text/css", "icon.svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self' ws: wss:; frame-ancestors *; base-uri 'none'; form-action 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def build(session: Session, guard: AccessGuard) -> Starlette:
    """The application."""

    async def index(request: Request) -> Response:
        if not guard.knows(request):
            return _refuse("This address needs its token: use the one that `pliant studio` printed.")
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES or not guard.right_host(request.headers):
            return Response(status_code=404)
        return FileResponse(STATIC / name, media_type=FILES[name], headers=HEADERS)

    async def socket(ws: WebSocket) -> None:
        if not guard.knows(ws) or not guard.same_origin(ws.headers):
            await ws.close(1008, "wrong token or origin")
            return
        await ws.accept()
        await session.serve(ws)

    async def upload(request: Request) -> Response:
        if not guard.knows(request) or not guard.same_origin(request.headers):
            return _refuse("wrong token or origin")
        try:
            if int(request.headers.get("content-length", "0") or 0) > LARGEST:
                raise InputError(f"The file is larger than {LARGEST // 1024**2} MB.")
            name = request.query_params.get("name", "")
            kept, report = await receive(request.stream(), name, session.workspace)
        except (PliantError, ValueError) as error:
            hint = getattr(error, "hint", None)
            return JSONResponse({"message": getattr(error, "message", str(error)), "hint": hint}, 400)
        for client in session.clients:
            client.tell("files", **session.workspace.listing())
        return JSONResponse({"name": kept, "health": report})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        session.close()

    routes = [
        Route("/", index),
        WebSocketRoute("/socket", socket),
        Route("/upload", upload, methods=["POST"]),
        Route("/{name}", asset),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def _refuse(text: str) -> Response:
    return PlainTextResponse(text + "\n", 403, headers=HEADERS)
