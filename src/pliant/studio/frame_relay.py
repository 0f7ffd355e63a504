"""Pictures on their way from the engine to the pages: asked for when some page could draw one."""

from pliant.core.typing import Table
from pliant.studio.client import Client
from pliant.studio.engine import Engine


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
        """The engine has started anew and has nothing to show."""
        self._asked = False
        self.forget_pictures()

    def forget_pictures(self) -> None:
        """Nothing is built any more."""
        self.base = self.latest = None
