"""``pliant studio``: the application in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.output import say

EXAMPLES = {
    "studio": ("pliant studio", "pliant studio beam.toml", "pliant studio beam.pliant --no-open --port 8000"),
}


def studio(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENE|RUN|MESH]", help="File to open.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    workspace: Annotated[
        Path | None,
        typer.Option(help="The folder it reads and writes; default: the file's, or this one."),
    ] = None,
) -> None:
    """Open the studio in the browser: build, run and view scenes. It listens on this machine only."""
    from pliant.core.environment import need

    need("The studio", "starlette", "uvicorn", "websockets", extra="studio")
    import sys

    from pliant.studio.browser import open_page
    from pliant.studio.serve import Studio

    served = Studio(path, workspace, port)
    say(f"pliant studio at {served.address}")
    say(f"workspace: {served.session.workspace.folder}   (Ctrl-C ends it)")
    sys.stdout.flush()
    if not no_open:
        open_page(served.address)
    served.run()
