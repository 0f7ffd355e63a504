"""Exports: pictures, movies and files of other programs, made of what is recorded, kept for download."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pliant.core.environment import environment
from pliant.core.errors import InputError, PliantError
from pliant.core.tables import Table
from pliant.studio.messages import Export
from pliant.studio.temporary import temporary_folder

PICTURES = (".png", ".mp4", ".gif")
PER_FRAME = (".obj", ".ply", ".vtu", ".rib", ".stl", ".str")
"""Formats with a file per frame, which go into a ZIP file."""
TAKE = "take.pliant"  # in the folder of an export: the take as it was when it was asked for
KEPT = 4  # finished files that can still be downloaded
LONGEST_LINE = 100_000  # bytes of what the process says at once


class Exports:
    """One export at a time, in a process of its own; ``tell`` hears how far it is."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell
        self._folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._busy = self._cancelled = False
        self.files: dict[str, Path] = {}  # by the word that downloads them

    @property
    def busy(self) -> bool:
        return self._busy

    def place(self) -> Path:
        """A new folder for one export."""
        if self._folder is None:
            self._folder = temporary_folder("export")
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir()
        return folder

    async def make(self, run: Path, asked: Export, stem: str, place: Path) -> None:
        """Write what is asked of the recorded ``run`` to the folder ``place``; the pages hear of it."""
        name = f"{stem}_%04d" if asked.format in PER_FRAME else stem
        order = {"run": str(run), "out": str(place / f"{name}{asked.format}")}
        self._busy, self._cancelled = True, False
        self._tell("export", state="running", share=None, text=f"writing {stem}{asked.format}")
        try:
            kind, options = _options(asked)
            path = await self._run({**order, "kind": kind, "options": options})
            word = secrets.token_urlsafe(16)
            self.files[word] = path
            for old in list(self.files)[:-KEPT]:
                shutil.rmtree(self.files.pop(old).parent, ignore_errors=True)
            self._tell("export", state="done", id=word, name=path.name, bytes=path.stat().st_size)
        except PliantError as error:
            shutil.rmtree(place, ignore_errors=True)
            state = "cancelled" if self._cancelled else "failed"
            self._tell("export", state=state, text=error.message, hint=error.hint)
        finally:
            shutil.rmtree(place / TAKE, ignore_errors=True)
            self._busy, self._process = False, None

    async def _run(self, order: Table) -> Path:
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pliant.studio.export_process",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=environment(), start_new_session=True, limit=LONGEST_LINE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order).encode())
        process.stdin.close()
        done: Table = {}
        try:
            async for line in process.stdout:
                done = json.loads(line)
                if "total" in done:
                    self._tell("export", state="running", share=done["done"] / done["total"], text="")
        finally:
            self._end(process)
            await process.wait()
        if "file" in done and not self._cancelled:
            return Path(done["file"])
        text = "The export was cancelled." if self._cancelled else "The export's process ended unexpectedly."
        raise InputError(done.get("error") or text, hint=done.get("hint"))

    def cancel(self) -> None:
        """End the export that is under way."""
        self._cancelled = True
        if self._process is not None:
            self._end(self._process)

    def _end(self, process: asyncio.subprocess.Process) -> None:
        """End a process and those that draw for it."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def close(self) -> None:
        self.cancel()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _options(asked: Export) -> tuple[str, Table]:
    """What draws or exports it, and with which options."""
    frames: Any = slice(asked.first, None if asked.last is None else asked.last + 1)
    if asked.format not in PICTURES:
        wanted = {"units": asked.units, "up": asked.up}
        given = {key: value for key, value in wanted.items() if value is not None}
        if asked.format == ".csv":
            return "export", {}
        return "export", {"frames": _numbers(frames, asked), "every": asked.every, **given}
    look = asked.look.model_dump(exclude_none=True)
    if low_high := look.pop("range", None):
        look["range"] = f"{low_high[0]!r}:{low_high[1]!r}"
    options: Table = {**look, "size": list(asked.size)}
    if asked.camera is not None:
        options["camera"] = asked.camera.model_dump()
    if asked.format == ".png":
        return "render", {**options, "frame": asked.frame if asked.frame is not None else -1}
    return "render", {**options, "frames": _numbers(frames, asked), "rate": asked.rate, "speed": asked.speed}


def _numbers(frames: slice, asked: Export) -> list[int] | None:
    """Frame numbers as JSON has them; None for all."""
    if frames.start is None and frames.stop is None:
        return None
    if asked.last is None:
        raise InputError("An export from a frame on needs its last frame too.")
    return list(range(frames.start or 0, frames.stop))
