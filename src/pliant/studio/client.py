"""A page that is connected, and the frames on their way from the engine to all pages."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant.core.tables import Table
from pliant.studio.engine import Engine

IN_FLIGHT = 2  # pictures under way that the page has not drawn yet
TEXTS = 2000  # texts that may wait for a page before it counts as gone


class Client:
    """Sends to a page from a task of its own, so that a slow page makes nobody wait."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._texts: asyncio.Queue[str | None] = asyncio.Queue(TEXTS)
        self._wake = asyncio.Event()
        self._picture: bytes | None = None
        self._base: bytes | None = None  # a picture that carries the scene must not be skipped
        self.in_flight = 0
        self.gone = False
        self.colour: str | None = None  # the field that the page is coloured by
        self.cells = False  # whether it draws dual cells

    @property
    def ready(self) -> bool:
        """Whether it could take another picture."""
        return not self.gone and self._picture is None and self.in_flight < IN_FLIGHT

    def tell(self, event: str, **values: Any) -> None:
        """Queue a text message."""
        try:
            self._texts.put_nowait(json.dumps({"event": event, **values}))
        except asyncio.QueueFull:
            self.gone = True
        self._wake.set()

    def show(self, picture: bytes, whole: bool) -> None:
        """Offer a picture; a newer one replaces it, but not the one that carries the scene."""
        if whole:
            self._base, self._picture = picture, None
        else:
            self._picture = picture
        self._wake.set()

    def drawn(self) -> None:
        """The page has drawn a picture."""
        self.in_flight = max(0, self.in_flight - 1)
        self._wake.set()

    def close(self) -> None:
        self.gone = True
        self._wake.set()

    async def pump(self) -> None:
        """Send until the page has gone."""
        with suppress(WebSocketDisconnect, RuntimeError, OSError):
            while not self.gone:
                await self._wake.wait()
                self._wake.clear()
                while not self._texts.empty():
                    await self._socket.send_text(self._texts.get_nowait() or "")
                while self.in_flight < IN_FLIGHT and (self._base or self._picture):
                    if self._base is not None:
                        picture, self._base = self._base, None
                    else:
                        picture, self._picture = self._picture, None  # type: ignore[assignment]
                    self.in_flight += 1
                    await self._socket.send_bytes(picture)
        self.gone = True


class FrameRelay:
    """Asks the engine for one picture at a time, hands it to all pages, keeps what newcomers need."""

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients
        self._asked = False
        self._looked: Table = {}
        self.base: bytes | None = None  # the last picture that carries the scene
        self.latest: bytes | None = None

    def look(self, engine: Engine, again: bool = False) -> None:
        """Tell the engine what the pages look at together."""
        colours = sorted({client.colour for client in self._clients if client.colour})
        wanted = {"colours": colours, "particles": True, "cells": any(c.cells for c in self._clients)}
        if again or wanted != self._looked:
            self._looked = wanted
            engine.send("look", **wanted)

    def ask(self, engine: Engine | None) -> None:
        if not self._asked and engine is not None and any(client.ready for client in self._clients):
            self._asked = True
            engine.send("ask")

    def hand_on(self, picture: bytes) -> None:
        """A picture has come."""
        self._asked = False
        whole = b'"whole":true' in picture[:64]
        self.latest = picture
        if whole:
            self.base = picture
        for client in self._clients:
            client.show(picture, whole)

    def catch_up(self, client: Client) -> None:
        """Show a newcomer what there is."""
        if self.base is not None:
            client.show(self.base, whole=True)
            if self.latest is not None and self.latest is not self.base:
                client.show(self.latest, whole=False)

    def forget(self) -> None:
        """The engine has restarted and has nothing to show."""
        self._asked = False
        self.forget_pictures()

    def forget_pictures(self) -> None:
        """Nothing is built any more."""
        self.base = self.latest = None
