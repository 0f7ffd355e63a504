"""Starting the studio."""

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.core.environment import need
from pliant.core.errors import InputError, MissingExtra
from pliant.studio.app import STATIC, AccessGuard, build
from pliant.studio.messages import LARGEST
from pliant.studio.session import Session
from pliant.studio.workspace import MESHES, Workspace


class Studio:
    """A studio on this machine: its address, its session, its server."""

    def __init__(
        self, path: Path | None = None, workspace: Path | None = None, port: int = 0, token: str | None = None
    ) -> None:
        import uvicorn

        if not (STATIC / "index.html").is_file():
            raise MissingExtra(
                "The studio's page is not built.", hint="Install pliant again: pip install -e '.[studio]'"
            )
        if path is not None:
            _check(path)
            workspace = workspace or path.resolve().parent
            if path.resolve().parent != workspace.resolve():
                raise InputError(f"{path} is not in the workspace {workspace}.")
        self.session = Session(Workspace(workspace or Path.cwd()))
        self.session.project.start(path)
        self._socket = _bind(port)
        self.guard = AccessGuard(self._socket.getsockname()[1], token)
        config = uvicorn.Config(
            build(self.session, self.guard),
            log_level="error",
            ws="websockets-sansio",
            ws_max_size=LARGEST,
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


def serve(
    path: Path | None, port: int, open_page: bool, say: Callable[[str], None], workspace: Path | None = None
) -> None:
    """``pliant studio``."""
    need("The studio", "starlette", "uvicorn", "websockets", extra="studio")
    studio = Studio(path, workspace, port)
    say(f"pliant studio at {studio.address}")
    say(f"workspace: {studio.session.workspace.folder}   (Ctrl-C ends it)")
    if open_page:
        webbrowser.open(studio.address)
    studio.run()


def _bind(port: int) -> Any:
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
