"""What is said to one page: the greeting, and what went wrong with a message of its."""

import asyncio
import json
import sys
import traceback
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from pliant import examples
from pliant.core.errors import PliantError
from pliant.studio import messages
from pliant.studio.catalogue import catalogue
from pliant.studio.client import Client

if TYPE_CHECKING:
    from pliant.studio.session import Session


def greet(session: "Session", client: Client) -> None:
    """Everything that a new page has to know."""
    workspace, project = session.workspace, session.project
    client.tell(
        "hello",
        catalogue=catalogue(),
        examples=_examples(),
        files=workspace.listing(),
        folder=workspace.folder.name,
        autosave=workspace.autosaved() is not None,
        run=project.run,
        offer=project.offer,
    )
    client.tell("document", **project.state())
    client.tell("status", **session.status)
    for number in session.live:
        client.tell("live", **session.live_entry(number))
    session.relay.catch_up(client)


async def told_of_errors(session: "Session", client: Client, text: str) -> None:
    """Let the session do what a page says; the page hears of what it cannot do."""

    def tell(message: str, hint: str | None = None) -> None:
        client.tell("notice", level="error", message=message, hint=hint)

    try:
        message = messages.READ.validate_python(json.loads(text))
    except (ValidationError, ValueError, RecursionError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "not JSON"
        tell(f"The page said something odd: {what}")
        return
    try:
        await session.do(client, message)
    except PliantError as error:
        tell(error.message, error.hint)
        client.tell("document", **session.project.state())
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        tell("The simulation was stopped.")
    except OSError as error:
        tell(f"The disk said: {error.strerror}")
    except Exception as error:  # a mistake of ours must not end the studio
        traceback.print_exc(file=sys.stderr)
        tell(f"Internal error: {type(error).__name__}: {str(error)[:200]}", "The terminal has the details.")


@cache
def _examples() -> list[dict[str, str]]:
    """Names, titles and models of the shipped scenes, the first one to try first."""
    names = sorted(examples.names(), key=lambda name: (name != "hello", name))
    return [{"name": name, "title": examples.title(name), "model": examples.model(name)} for name in names]
