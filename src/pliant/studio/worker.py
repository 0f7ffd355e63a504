"""The simulation's own process: builds, runs, shows; the page stays responsive whatever it does.

Commands come through a pipe as dicts with ``do``, events go back as dicts with ``event``, messages for the
page as bytes. A message goes only when the server has asked for one, so that a slow browser slows the
pictures and not the simulation.
"""

import re
import shutil
import sys
import time
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pliant.errors import Diverged, PliantError
from pliant.protocols import FieldData, Structure
from pliant.recording import Run, load
from pliant.scene.load import parse
from pliant.studio.packing import pack
from pliant.studio.shown import ShownBody, dual_arrays, frame_arrays, scene_arrays
from pliant.studio.take import Take

PACED = 40  # frames whose pace is told
BEHIND = 0.25  # seconds after which lost time is not made up for
_PLACE = re.compile(r"body '(?P<body>[^']+)': .*?(?P<what>particle|tet) (?P<number>\d+)")


class Stop(Exception):
    """The server has gone."""


class Worker:
    """Keeps one take, or one run that is looked at, and answers commands between steps."""

    def __init__(self, pipe: Connection, home: Path) -> None:
        self._pipe, self._home = pipe, home
        self._built: dict[str, Structure] = {}
        self._take: Take | None = None
        self._run: Run | None = None
        self._playing, self._speed = False, 1.0
        self._look: dict[str, Any] = {"colour": None, "particles": True, "cells": False}
        self._asked, self._dirty = False, False
        self._scrub: int | None = None  # the recorded frame that is shown instead of the present one
        self._shown_version = -1
        self._due = 0.0
        self._pace: deque[float] = deque(maxlen=PACED)  # when the last frames were done
        self._takes = 0
        self._later: list[dict[str, Any]] = []

    # --------------------------------------------------------------------------------------- the loop

    def run(self) -> None:
        try:
            while True:
                self._receive(self._wait())
                if self._playing and time.perf_counter() >= self._due:
                    self._advance()
                self._publish()
        except (Stop, EOFError, BrokenPipeError, KeyboardInterrupt):
            pass
        finally:
            with suppress(Exception):
                self._forget_take()

    def _wait(self) -> float | None:
        """How long to wait for a command: for ever unless something is going on."""
        if self._later or (self._dirty and self._asked):
            return 0.0
        return max(0.0, self._due - time.perf_counter()) if self._playing else None

    def _receive(self, timeout: float | None) -> None:
        if self._later:
            waiting, self._later = self._later, []
            for command in waiting:
                self._do(command)
        elif self._pipe.poll(timeout):
            self._do(self._pipe.recv())
        while self._pipe.poll(0):
            self._do(self._pipe.recv())

    def _between_steps(self) -> None:
        """What can be answered while a frame is being computed; the rest waits for its end."""
        while self._pipe.poll(0):
            command = self._pipe.recv()
            if command["do"] in ("ask", "steer", "pause", "speed", "quit"):
                self._do(command)
            else:
                self._later.append(command)

    def _do(self, command: dict[str, Any]) -> None:
        values = {key: value for key, value in command.items() if key not in ("do", "reply")}
        with self._telling(command.get("reply")):
            answer = getattr(self, f"do_{command['do']}")(**values)
            if command.get("reply") is not None:
                self._tell("reply", to=command["reply"], value=answer)

    @contextmanager
    def _telling(self, to: Any = None) -> Iterator[None]:
        """Turns what goes wrong into a notice; ``to`` is whoever waits for an answer."""
        try:
            yield
        except PliantError as error:
            self._notice("error", error, to)
        except (Stop, EOFError, BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self._tell(
                "notice",
                level="error",
                message=f"Internal error: {type(error).__name__}: {str(error)[:200]}",
                hint="The terminal has the details. The scene is safe.",
                to=to,
            )

    def _tell(self, event: str, **values: Any) -> None:
        self._pipe.send({"event": event, **values})

    def _notice(self, level: str, error: PliantError, to: Any = None) -> None:
        self._tell("notice", level=level, message=error.message, hint=error.hint, to=to)

    def _status(self) -> None:
        take = self._take
        self._tell(
            "status",
            playing=self._playing,
            speed=self._speed,
            frame=take.frame if take else (len(self._run) - 1 if self._run else 0),
            frames=take.frames if take else (len(self._run) if self._run else 0),
            built=take is not None,
            replay=self._run is not None,
        )

    # ---------------------------------------------------------------------------------------- commands

    def do_quit(self) -> None:
        raise Stop

    def do_build(self, text: str, folder: str, open_end: bool) -> None:
        """Build the scene; bodies that did not change are not sampled again."""
        self._playing = False
        scene = parse(text, Path(folder), "scene")
        keys = [f"{body!r}|{scene.folder}" for body in scene.bodies]
        kept = {key: self._built[key] for key in keys if key in self._built}
        for body, key in zip(scene.bodies, keys, strict=True):
            if key not in kept:
                self._progress(None, f"sampling {body.name}")
                one = type(scene)([body], folder=scene.folder)
                kept[key] = one.structures(self._note, self._progress)[0]
        self._built = kept
        self._progress(None, "preparing")
        self._forget_take()
        self._takes += 1
        place = self._home / f"take-{self._takes}.pliant"
        self._take = Take(scene, [kept[key] for key in keys], place, open_end)
        self._run, self._scrub = None, None
        for note in scene.notes():
            self._note(note)
        self._tell("progress", share=1.0, text="")
        self._present()

    def do_open_run(self, folder: str) -> None:
        """Look at a recorded run."""
        run = load(folder)
        if not len(run):
            raise PliantError(f"{run.path.name} has no frames yet.")
        self._forget_take()
        self._run, self._scrub, self._playing = run, 0, False
        self._present()

    def do_play(self) -> None:
        if self._take is None or self._take.ended:
            return
        self._scrub, self._playing = None, True
        self._due = time.perf_counter()
        self._pace.clear()
        self._status()

    def do_pause(self) -> None:
        self._playing = False
        self._status()

    def do_step(self) -> None:
        if self._take is not None and not self._take.ended:
            self._scrub, self._playing = None, False
            self._advance()
            self._status()

    def do_speed(self, speed: float) -> None:
        self._speed = speed
        self._due = time.perf_counter()
        self._pace.clear()
        self._status()

    def do_show(self, frame: int) -> None:
        """Show a recorded frame; the last one of a take is the present state."""
        if self._take is not None:
            present = frame >= self._take.frame
            self._scrub = None if present else max(0, frame)
        elif self._run is not None:
            self._scrub = max(0, min(frame, len(self._run) - 1))
        self._dirty = True

    def do_look(self, colour: str | None, particles: bool, cells: bool) -> None:
        again = cells and not self._look["cells"]
        self._look = {"colour": colour, "particles": particles, "cells": cells}
        if again:
            self._shown_version = -1
        self._dirty = True

    def do_ask(self) -> None:
        self._asked = True

    def do_again(self) -> None:
        """Somebody has just come and knows nothing."""
        if self._take is not None or self._run is not None:
            self._present()

    def do_grab(self, body: str, particle: int, strength: float) -> dict[str, Any]:
        number, place = self._need().grab(body, particle, strength)
        self._dirty = True
        return {"id": number, "at": place}

    def do_steer(self, id: int, to: tuple[float, float, float]) -> None:
        self._need().live.steer(id, to)

    def do_add(self, table: dict[str, Any]) -> dict[str, Any]:
        number = self._need().live.add(table)
        self._dirty = True
        return {"id": number}

    def do_end(self, id: int) -> dict[str, Any]:
        self._need().live.end(id)
        self._dirty = True
        return {"id": id}

    def do_take(self) -> dict[str, Any]:
        """The scene file that replays the take."""
        take = self._need()
        return {"text": take.text(), "frame": take.frame}

    def do_keep(self, place: str) -> dict[str, Any]:
        take = self._need()
        take.keep(Path(place))
        return {"text": take.text(), "frames": take.frame + 1}

    def do_series(self) -> dict[str, Any]:
        """All rows of the series so far."""
        run = self._run or (self._take.recorded() if self._take else None)
        if run is None or not len(run):
            return {"columns": [], "rows": []}
        names = list(run.manifest["columns"])
        columns = [run.series[name] for name in names]
        every = max(1, len(run) // 2000)
        picked = range(0, len(run), every)
        return {"columns": names, "rows": [[_finite(c[k]) for c in columns] for k in picked]}

    def _need(self) -> Take:
        if self._take is None:
            raise PliantError("Build the scene first.")
        return self._take

    # --------------------------------------------------------------------------------------- advancing

    def _advance(self) -> None:
        take = self._need()
        try:
            changed = take.advance(self._between_steps)
        except Diverged as error:
            self._playing = False
            self._notice("error", error)
            place = _PLACE.search(error.message)
            if place:
                self._tell("mark", body=place["body"], what=place["what"], number=int(place["number"]))
            take.finish("diverged", str(error))
            self._status()
            return
        except PliantError as error:
            self._playing = False
            self._notice("error", error)
            self._status()
            return
        self._dirty = True
        if changed:
            self._shown_version = -1
        frame = 1.0 / take.scene.time.fps
        now = time.perf_counter()
        self._pace.append(now)
        if self._speed > 0:
            self._due = max(self._due + frame / self._speed, now - BEHIND)
        if take.ended:
            self._playing = False
            self._status()

    def _forget_take(self) -> None:
        if self._take is not None:
            self._take.finish()
            shutil.rmtree(self._take._folder, ignore_errors=True)
            self._take = None

    # ----------------------------------------------------------------------------------------- showing

    def _present(self) -> None:
        self._shown_version, self._dirty = -1, True
        self._status()

    def _publish(self) -> None:
        if not (self._asked and self._dirty):
            return
        self._dirty = False
        with self._telling():
            message = self._frame()
            if message is not None:
                self._asked = False
                self._pipe.send_bytes(message)

    def _frame(self) -> bytes | None:
        take = self._take
        recorded = self._run
        if take is not None and self._scrub is not None:
            recorded = take.recorded()
        if recorded is not None and self._scrub is not None:
            return self._recorded_frame(recorded, self._scrub)
        if take is None:
            return None
        world = take.simulation.system.world
        wall = self._pace[-1] - self._pace[0] if len(self._pace) > 4 else 0.0
        done = (len(self._pace) - 1) / take.scene.time.fps
        header = {
            "frame": take.frame,
            "time": take.simulation.time,
            "last": take.frame,
            "rows": [[_finite(v) for v in row] for row in take.rows],
            "factor": done / wall if self._playing and wall > 0 else None,
            "load": take.busy * take.scene.time.fps,
            "volume": sum(_volume(body, world.x) for body in take.bodies()),
            **take.hands(),
        }
        take.rows.clear()
        return self._pack(header, take.bodies(), world.x, world.topology_version, take.field)

    def _recorded_frame(self, run: Run, index: int) -> bytes:
        frame = run.frames[min(index, len(run) - 1)]
        bodies = [
            ShownBody(
                b.name, b.model["type"], slice(*b.rows), b.structure, run.mechanics(frame.version, b.name)
            )
            for b in frame.bodies
        ]
        x = frame.positions

        def field(body: ShownBody, name: str) -> FieldData:
            if name not in frame.field_names(body.name):
                return FieldData(x[body.rows] * 0.0)
            data: FieldData = frame.field(name, body.name)
            return data

        volume = sum(_volume(body, x) for body in bodies)
        header = {"frame": frame.index, "time": frame.time, "last": len(run) - 1, "rows": []}
        header |= {"factor": None, "load": None, "volume": volume, "pulls": [], "barriers": []}
        return self._pack(header, bodies, x, frame.version, field)

    def _pack(
        self, header: dict[str, Any], bodies: list[ShownBody], x: Any, version: int, field: Any
    ) -> bytes:
        fresh = version != self._shown_version
        look = self._look
        arrays, unit = frame_arrays(bodies, x, look["colour"], look["particles"], field)
        if fresh:
            self._shown_version = version
            arrays |= scene_arrays(bodies)
            if look["cells"]:
                arrays |= dual_arrays(bodies)
            header["scene"] = self._describe(bodies)
        header |= {"kind": "frame", "colour": look["colour"], "unit": unit}
        header |= {"playing": self._playing, "bodies": [body.name for body in bodies]}
        return pack(header, arrays)

    def _describe(self, bodies: list[ShownBody]) -> dict[str, Any]:
        found: dict[str, Any] = {"bodies": []}
        for body in bodies:
            rest = body.structure.rest
            found["bodies"].append(
                {
                    "name": body.name,
                    "model": body.model,
                    "particles": len(rest),
                    "cells": max(
                        (len(c) for n, c in body.structure.cells.items() if n != "triangle"), default=0
                    ),
                    "mass": float(body.structure.mass.sum()),
                    "volume": body.volume,
                    "spacing": float(body.structure.spacing),
                    "low": rest.min(axis=0).tolist(),
                    "high": rest.max(axis=0).tolist(),
                    "fields": body.fields,
                    "groups": sorted(body.structure.groups),
                }
            )
        if self._take is not None:
            simulation = self._take.simulation
            plan = simulation.plan
            found |= {"columns": list(simulation.columns), "fps": simulation.fps, "step": plan.seconds}
            found |= {"per_frame": plan.per_frame, "reason": plan.reason, "frames": self._take.frames}
        elif self._run is not None:
            manifest = self._run.manifest
            found |= {"columns": list(manifest["columns"]), "fps": manifest["fps"], "step": manifest["step"]}
            found |= {"per_frame": manifest["steps_per_frame"], "reason": manifest["step_reason"]}
            found["frames"] = len(self._run)
        return found

    def _progress(self, share: float | None, text: str) -> None:
        self._tell("progress", share=share, text=text)

    def _note(self, text: str) -> None:
        self._tell("notice", level="info", message=text, hint=None, to=None)


def _volume(body: ShownBody, x: Any) -> float:
    from pliant.measures.state import part_volume

    return part_volume(body, x[body.rows])  # type: ignore[arg-type]


def _finite(value: float) -> float | None:
    value = float(value)
    return value if value - value == 0.0 else None


def main(pipe: Connection, home: str) -> None:
    """Entry point of the process; takes are recorded in the folder ``home``."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    Worker(pipe, Path(home)).run()
