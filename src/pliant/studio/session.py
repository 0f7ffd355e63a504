"""What all pages of a studio share: the document, the engine, the clients."""

import asyncio
import sys
import traceback
from collections.abc import Coroutine
from functools import cache
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant import examples
from pliant.core.errors import InputError, PliantError
from pliant.core.tables import Table
from pliant.studio import messages
from pliant.studio.catalogue import catalogue
from pliant.studio.client import Client, FrameRelay
from pliant.studio.document import Project, keep_inside, scenery
from pliant.studio.engine import Engine, Event
from pliant.studio.exports import TAKE, Exports
from pliant.studio.upload import look_over
from pliant.studio.words import in_words
from pliant.studio.workspace import MESHES, Workspace

MOST_CLIENTS = 16
NOTHING = {"playing": False, "built": False, "replay": False, "frame": 0}  # the status where nothing is built


class Session:
    """Hands messages of pages to the document and the engine, and tells all pages what came of it."""

    def __init__(self, workspace: Workspace) -> None:
        self.project = Project(workspace)
        self.workspace, self.document = workspace, self.project.document
        self.clients: list[Client] = []
        self.status: Table = dict(NOTHING)
        self.live: dict[int, Table] = {}  # what hands have added to the take, by number
        self._open_end = False
        self.about: dict[str, Table] = {}  # of the scene that is built: its targets and its pace
        self.relay = FrameRelay(self.clients)
        self.exports = Exports(self.tell)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stale = self._estimating = False  # about the estimate of the bodies
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(self._hear, self._engine_lost)
        return self._engine

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.exports.close()
        if self._engine is not None:
            self._engine.stop()

    # ------------------------------------------------------------------------------------ one page

    async def serve(self, socket: WebSocket) -> None:
        """Talk with a page until it has gone."""
        if len(self.clients) >= MOST_CLIENTS:
            await socket.close(1013, "too many pages")
            return
        client = Client(socket)
        pump = asyncio.create_task(client.pump())
        self._greet(client)
        if self.project.run and self.relay.base is None:
            self.engine.send("open_run", folder=str(self.workspace.folder / self.project.run))
        self.clients.append(client)
        self.relay.ask(self._engine)
        self._think(self._estimate())
        try:
            while not client.gone:
                text = await socket.receive_text()
                await self._hear_page(client, text)
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            self.clients.remove(client)
            client.close()
            await pump
            if self._engine is not None and self.clients:
                self.relay.look(self.engine)
                self.relay.ask(self._engine)

    def _greet(self, client: Client) -> None:
        """Tell a new page everything that it has to know."""
        client.tell(
            "hello",
            catalogue=catalogue(),
            examples=_examples(),
            files=self.workspace.listing(),
            folder=self.workspace.folder.name,
            autosave=self.workspace.autosaved() is not None,
            run=self.project.run,
            offer=self.project.offer,
        )
        client.tell("document", **self.project.state())
        client.tell("status", **self.status)
        for number in self.live:
            client.tell("live", **self.live_entry(number))
        for name, told in self.about.items():
            client.tell(name, **told)
        self.relay.catch_up(client)

    async def _hear_page(self, client: Client, text: str) -> None:
        """Do what a page says; it hears of what cannot be done."""

        def tell(message: str, hint: str | None = None) -> None:
            client.tell("notice", level="error", message=message, hint=hint)

        try:
            message = messages.read(text)
        except ValueError as error:
            what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            tell(f"The page sent a message that the studio does not understand: {what}")
            return
        try:
            await self.do(client, message)
        except PliantError as error:
            tell(*in_words(error))
            client.tell("document", **self.project.state())
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            tell("The simulation was stopped.")
        except OSError as error:
            tell(f"The disk said: {error.strerror}")
        except Exception as error:  # a mistake of ours must not end the studio
            traceback.print_exc(file=sys.stderr)
            tell(
                f"Internal error: {type(error).__name__}: {str(error)[:200]}", "The terminal has the details."
            )

    async def do(self, client: Client, message: messages.AnyMessage) -> None:
        engine = self.engine
        match message:
            case messages.Ack():
                client.drawn()
                self.relay.ask(self._engine)
            case messages.Steer() | messages.Show() | messages.Speed():
                engine.send(**message.model_dump())
            case messages.ViewMessage():
                client.colour, client.cells = message.colour, message.cells
                self.relay.look(engine)
            case messages.Edit():
                self.document.edit(message.path, message.value)
                if message.path[0] in ("title", "camera"):
                    self.project.keep_built()
                self._changed()
            case messages.Build():
                self._build(message.open_end)
            case messages.Open():
                self._open(message)
            case messages.LookOver():
                report = await look_over(self.workspace.existing(message.name, MESHES))
                client.tell("health", name=message.name, health=report)
            case messages.Save():
                await self._save(message)
            case messages.Export():
                await self._export(message)
            case messages.Grab():
                client.tell("held", **(await engine.ask(**message.model_dump()) or {"id": None}))
            case messages.AddMessage():
                keep_inside(message.table, self.workspace)
                if done := await engine.ask(**message.model_dump()):
                    self._live(done["id"], message.table)
            case messages.Lump():
                keep_inside(message.shape, self.workspace)
                added: dict[int, Table] = await engine.ask(**message.model_dump()) or {}
                for number, table in added.items():
                    self._live(number, table)
            case messages.End():
                if await engine.ask(**message.model_dump()):
                    self._live(message.id, None)
            case messages.Plain():
                await self._plain(client, message.do)

    async def _plain(self, client: Client, do: str) -> None:
        match do:
            case "undo" | "redo":
                getattr(self.document, do)()
                self._changed()
            case "reset":
                self._build(self._open_end)
            case "cancel":
                self.engine.start()
                self._nothing_built()
            case "cancel-export":
                self.exports.cancel()
            case "list":
                client.tell("files", **self.workspace.listing())
            case "series":
                client.tell("series", **(await self.engine.ask("series") or {"columns": [], "rows": []}))
            case _:
                self.engine.send(do)

    # -------------------------------------------------------------------------------- what it comes to

    def _build(self, open_end: bool) -> None:
        self.project.built()
        self._open_end = open_end
        self.relay.look(self.engine, again=True)
        self.engine.send("build", text=self.document.text, folder=str(self.workspace.folder),
                         open_end=open_end)  # fmt: skip
        self.live.clear()
        self.about.clear()
        self.tell("building", version=self.project.built_version)

    def _open(self, message: messages.Open) -> None:
        if message.kind == "run":
            path = self.workspace.place(message.name, (".pliant",))
            self.project.open_run(message.name)
            self.relay.look(self.engine, again=True)
            self.engine.send("open_run", folder=str(path))
            self.tell("document", **self.project.state())
            return
        self.project.open(message.kind, message.name)
        self._changed()
        if self.document.table["bodies"]:
            self._build(self._open_end)
        else:
            self.engine.send("clear")

    async def _save(self, message: messages.Save) -> None:
        if message.take:
            name, folder = self.project.place_of_take(message.name)
            kept = await self.engine.ask("keep", place=str(folder), top=self.document.top)
            if kept:
                self.workspace.write(name, kept["text"])
                self.project.take_saved(name)
                self.tell("saved", name=name, take=True, frames=kept["frames"])
                self._changed(save=False)
        else:
            self.tell("saved", name=self.project.save(message.name), take=False, frames=0)
            self._changed(save=False)
        self.tell("files", **self.workspace.listing())

    async def _export(self, message: messages.Export) -> None:
        if self.exports.busy:
            raise InputError("An export is under way.", hint="Wait for it, or cancel it.")
        stem = self.workspace.stem(message.name or str(self.document.table.get("title", "")))
        place = self.exports.place()
        run = self.workspace.folder / self.project.run
        if not self.project.run:
            run = place / TAKE
            if await self.engine.ask("keep", place=str(run), top=self.document.top) is None:
                return  # the page has been told why
        self._think(self.exports.make(run, message, stem, place))

    def _changed(self, save: bool = True) -> None:
        if save and self.document.table["bodies"]:
            self.workspace.autosave(self.document.saved_text)
        self.tell("document", **self.project.state())
        fresh = self.status["built"] and self.status["frame"] == 0 and not self.status["playing"]
        if fresh and self.project.quick_to_build:
            self._build(self._open_end)
        self._think(self._estimate())

    def _think(self, work: Coroutine[Any, Any, None]) -> None:
        """Let ``work`` go on beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def tell(self, event: str, **values: Any) -> None:
        for client in self.clients:
            client.tell(event, **values)

    def _live(self, number: int, table: Table | None) -> None:
        """An action of the take has come, or gone."""
        self.live.pop(number, None)
        if table is not None:
            self.live[number] = table
        self.tell("live", **self.live_entry(number))

    def live_entry(self, number: int) -> Table:
        """A live action as pages are told of it; without a table where it has gone."""
        table = self.live.get(number)
        shape = None if table is None else scenery(table, self.document.up, self.document.folder)
        return {"id": number, "table": table, "scenery": shape}

    def _status(self, **values: Any) -> None:
        self.status |= values
        if not self.status["built"]:
            self.live.clear()
            if not self.status["replay"]:
                self.relay.forget_pictures()
            if self.project.built_version >= 0:
                self.project.lost()
                self.tell("document", **self.project.state())
        self.tell("status", **self.status)

    # ------------------------------------------------------------------------------------- the engine

    async def _estimate(self) -> None:
        """Tell the pages about how large the bodies will be; once for all changes while it is found out."""
        self._stale = True
        if self._estimating:
            return
        self._estimating = True
        try:
            while self._stale and self.document.table["bodies"]:
                self._stale = False
                text, folder = self.document.text, str(self.workspace.folder)
                found = await self.engine.ask("estimate", text=text, folder=folder)
                self.tell("estimate", bodies=found or [])
        finally:
            self._estimating = False

    def _hear(self, event: Event) -> None:
        if isinstance(event, bytes):
            self.relay.hand_on(event)
            self.relay.ask(self._engine)
            return
        name = event.pop("event")
        if name == "status":
            self._status(**event)
            self.relay.ask(self._engine)
        elif name == "live":
            self._live(event["id"], event["table"])
        else:
            event.pop("to", None)
            if name in ("pace", "targets"):
                self.about[name] = event
            if name == "notice" and event["level"] == "error":
                self.tell("progress", share=1.0, text="")
            self.tell(name, **event)

    def _nothing_built(self) -> None:
        """The engine has restarted."""
        self.project.lost()
        self.relay.forget()
        self._status(**NOTHING)
        self.tell("progress", share=1.0, text="")

    def _engine_lost(self) -> None:
        self._nothing_built()
        self.tell(
            "notice",
            level="error",
            message="The simulation's process ended unexpectedly and was started again.",
            hint="The scene is safe: build it again, with a larger edge length if memory ran out.",
        )


@cache
def _examples() -> list[dict[str, str]]:
    """Names, titles and models of the shipped scenes, the first one to try first."""
    names = sorted(examples.names(), key=lambda name: (name != "hello", name))
    return [{"name": name, "title": examples.title(name), "model": examples.model(name)} for name in names]
