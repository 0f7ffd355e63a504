"""What all pages of a studio share: the document, the engine, the clients."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant.core.tables import Table
from pliant.studio import messages
from pliant.studio.client import Client, FrameRelay
from pliant.studio.document import keep_inside, scenery
from pliant.studio.engine import Engine, Event
from pliant.studio.page_replies import greet, told_of_errors
from pliant.studio.project import Project
from pliant.studio.upload import look_over
from pliant.studio.workspace import Workspace

MOST_CLIENTS = 16


class Session:
    """Hands messages of pages to the document and the engine, and tells all pages what came of it."""

    def __init__(self, workspace: Workspace) -> None:
        self.project = Project(workspace)
        self.workspace, self.document = workspace, self.project.document
        self.clients: list[Client] = []
        self.status: Table = {"playing": False, "built": False, "replay": False, "frame": 0}
        self.live: dict[int, Table] = {}  # what hands have added to the take, by number
        self._open_end = False
        self.relay = FrameRelay(self.clients)
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
        greet(self, client)
        if self.project.run and self.relay.base is None:
            self.engine.send("open_run", folder=str(self.workspace.folder / self.project.run))
        self.clients.append(client)
        self.relay.ask(self._engine)
        self._think(self._estimate())
        try:
            while not client.gone:
                text = await socket.receive_text()
                await told_of_errors(self, client, text)
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            self.clients.remove(client)
            client.close()
            await pump
            if self._engine is not None and self.clients:
                self.relay.look(self.engine)
                self.relay.ask(self._engine)

    async def do(self, client: Client, message: messages.AnyMessage) -> None:
        engine = self.engine
        match message:
            case messages.Ack():
                client.drawn()
                self.relay.ask(self._engine)
            case messages.Steer():
                engine.send("steer", id=message.id, to=message.to)
            case messages.ViewMessage():
                client.colour, client.cells = message.colour, message.cells
                self.relay.look(engine)
            case messages.Show():
                engine.send("show", frame=message.frame)
            case messages.Speed():
                engine.send("speed", speed=message.speed)
            case messages.Edit():
                self.document.edit(message.path, message.value)
                self._changed()
            case messages.Build():
                self._build(message.open_end)
            case messages.Open():
                self._open(message)
            case messages.LookOver():
                report = await look_over(self.workspace.mesh(message.name))
                client.tell("health", name=message.name, health=report)
            case messages.Save():
                await self._save(message)
            case messages.Grab():
                held = await engine.ask("grab", body=message.body, particle=message.particle,
                                        strength=message.strength)  # fmt: skip
                client.tell("held", **(held or {"id": None}))
            case messages.AddMessage():
                keep_inside(message.table, self.workspace)
                done = await engine.ask("add", table=message.table)
                if done:
                    self._live(done["id"], message.table)
            case messages.Lump():
                keep_inside(message.shape, self.workspace)
                for number, table in (
                    await engine.ask("lump", **message.model_dump(exclude={"do"})) or {}
                ).items():
                    self._live(number, table)
            case messages.End():
                if await engine.ask("end", id=message.id):
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
                self.project.lost()
                self.relay.forget()
                self._status(playing=False, built=False, replay=False, frame=0)
                self.tell("progress", share=1.0, text="")
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
        self.tell("building", version=self.project.built_version)

    def _open(self, message: messages.Open) -> None:
        if message.kind == "run":
            path = self.workspace.place(message.name, (".pliant",))
            self.project.run = message.name
            self.relay.look(self.engine, again=True)
            self.engine.send("open_run", folder=str(path))
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
            kept = await self.engine.ask("keep", place=str(folder))
            if kept:
                self.workspace.write(name, kept["text"])
                self.tell("saved", name=name, take=True, frames=kept["frames"])
        else:
            self.tell("saved", name=self.project.save(message.name), take=False, frames=0)
            self._changed(save=False)
        self.tell("files", **self.workspace.listing())

    def _changed(self, save: bool = True) -> None:
        if save and self.document.table["bodies"]:
            self.workspace.autosave(self.document.text)
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
        shape = None if table is None else scenery(table, self.document.up)
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
            if name == "notice" and event["level"] == "error":
                self.tell("progress", share=1.0, text="")
            self.tell(name, **event)

    def _engine_lost(self) -> None:
        self.project.lost()
        self.relay.forget()
        self._status(playing=False, built=False, replay=False, frame=0)
        self.tell("progress", share=1.0, text="")
        self.tell(
            "notice",
            level="error",
            message="The simulation's process ended unexpectedly and was started again.",
            hint="The scene is safe: build it again, with a larger edge length if memory ran out.",
        )
