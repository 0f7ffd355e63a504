"""The simulation's own process: builds, runs, shows; the page stays responsive whatever it does.

A picture goes only when the server has asked for one, so that a slow browser slows the pictures and not the
simulation. See also ``worker_pipe``, ``take_builder`` and ``frame_messages``.
"""

import re
import time
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pliant.core.errors import Diverged, PliantError
from pliant.core.tables import Table
from pliant.run.store import Run, load
from pliant.studio.estimate import Estimates, pace
from pliant.studio.frame_messages import FrameEncoder, finite
from pliant.studio.take import Take
from pliant.studio.take_builder import TakeBuilder, play_again, with_lump
from pliant.studio.words import in_words
from pliant.studio.worker_pipe import ENDS, Stop, WorkerPipe

ROWS = 2000  # of a series that are sent at most
TOLD = 40  # frames whose pace is told
IDLE = 0.4  # seconds without a command after which a new take is timed
BEHIND = 0.25  # seconds after which lost time is not made up for
_PLACE = re.compile(r"body '(?P<body>[^']+)': .*?(?P<what>particle|tet) (?P<number>\d+)")


class Postponed(Exception):
    """A command has come while a take was being timed."""


class PlaybackClock:
    """``speed`` 1 is real time, 0.1 slow motion, 0 as fast as it goes."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._due = 0.0
        self._done: deque[float] = deque(maxlen=TOLD)  # when the last frames were done

    def start(self) -> None:
        """From now on."""
        self._due = time.perf_counter()
        self._done.clear()

    @property
    def left(self) -> float:
        """Seconds until the next frame is due."""
        return max(0.0, self._due - time.perf_counter())

    def frame_done(self, seconds: float) -> None:
        """A frame of so many simulated seconds is done."""
        now = time.perf_counter()
        self._done.append(now)
        if self.speed > 0:
            self._due = max(self._due + seconds / self.speed, now - BEHIND)

    def factor(self, fps: float) -> float | None:
        """Simulated seconds a second; None before there is enough to tell."""
        if len(self._done) < 5:
            return None
        wall = self._done[-1] - self._done[0]
        return (len(self._done) - 1) / fps / wall if wall > 0 else None


class Worker:
    """Keeps one take, or one run that is looked at, and answers commands between steps."""

    def __init__(self, pipe: Connection, home: Path) -> None:
        self._line = WorkerPipe(pipe, self._carry_out)
        self._builder = TakeBuilder(home, self._line.report, self._line.progress)
        self._pictures, self._pace, self._estimates = FrameEncoder(), PlaybackClock(), Estimates()
        self._take: Take | None = None
        self._run: Run | None = None
        self._playing = self._asked = self._dirty = self._advancing = False
        self._untimed = False  # whether nobody knows yet how long the take will take
        self._scrub: int | None = None  # the recorded frame that is shown instead of the present one

    # --------------------------------------------------------------------------------------- the loop

    def run(self) -> None:
        try:
            while True:
                self._line.receive(self._wait())
                if self._untimed and not self._busy and not self._line.spoken_to:
                    self._time()
                if self._playing and self._pace.left <= 0.0:
                    self._advance()
                self._publish()
        except ENDS:
            pass
        finally:
            with suppress(Exception):
                self._forget_take()

    def _wait(self) -> float | None:
        """How long to wait for a command: for ever unless something is going on."""
        if self._line.waiting or (self._dirty and self._asked):
            return 0.0
        if self._playing:
            return self._pace.left
        return IDLE if self._untimed else None

    @property
    def _busy(self) -> bool:
        """Whether there is something to do at once."""
        return self._playing or self._line.waiting or (self._dirty and self._asked)

    def _time(self) -> None:
        """Find out how long the take will take, unless a command comes meanwhile."""
        take = self._take
        self._untimed = take is not None and take.frame == 0
        if take is None or not self._untimed:
            return

        def between() -> None:
            if self._line.spoken_to:
                raise Postponed

        with suppress(Postponed):
            with suppress(PliantError):  # running will say what is wrong
                self._line.tell("pace", **pace(take, between))
            self._untimed = False

    def _carry_out(self, command: Table) -> Any:
        return getattr(self, f"do_{command.pop('do')}")(**command)

    def _status(self) -> None:
        take, run = self._take, self._run
        self._line.tell(
            "status",
            playing=self._playing,
            speed=self._pace.speed,
            frame=take.frame if take else (len(run) - 1 if run else 0),
            frames=take.frames if take else (len(run) if run else 0),
            built=take is not None,
            replay=run is not None,
        )

    # ---------------------------------------------------------------------------------------- commands

    def do_quit(self) -> None:
        raise Stop

    def do_build(self, text: str, folder: str, open_end: bool) -> None:
        self._playing = False
        try:
            take = self._builder.build(text, folder, open_end)
        except Exception:
            self.do_clear()
            raise
        self._forget_take()
        self._take, self._run, self._scrub = take, None, None
        self._untimed = True
        self._line.tell("targets", targets=take.targets())
        self._line.tell("progress", share=1.0, text="")
        self._present()

    def do_clear(self) -> None:
        """Nothing is there to see."""
        self._forget_take()
        self._run, self._scrub, self._playing = None, None, False
        self._present()

    def do_open_run(self, folder: str) -> None:
        """Look at a recorded run."""
        run = load(folder)
        if not len(run):
            raise PliantError(f"{run.path.name} has no frames yet.")
        self._forget_take()
        self._run, self._scrub, self._playing = run, 0, False
        self._present()

    def do_estimate(self, text: str, folder: str) -> list[Table]:
        """About how large the bodies of a scene will be."""
        return self._estimates.of(text, Path(folder))

    def do_play(self) -> None:
        if self._take is None:
            return
        self._going()
        self._scrub, self._playing = None, True
        self._pace.start()
        self._status()

    def do_pause(self) -> None:
        self._playing = False
        if not self._advancing:  # the frame under way is finished first
            self._status()

    def do_step(self) -> None:
        if self._take is not None:
            self._going()
            self._scrub, self._playing = None, False
            self._advance()
            self._status()

    def do_speed(self, speed: float) -> None:
        self._pace.speed = speed
        self._pace.start()
        self._status()

    def do_show(self, frame: int) -> None:
        """Show a recorded frame; the last one of a take is the present state."""
        if self._take is not None:
            present = frame >= self._take.frame and not self._take.failed
            self._scrub = None if present else max(0, frame)
        elif self._run is not None:
            self._scrub = max(0, min(frame, len(self._run) - 1))
        self._dirty = True

    def do_look(self, colours: list[str], particles: bool, cells: bool) -> None:
        self._pictures.look(colours, particles, cells)
        self._dirty = True

    def do_ask(self) -> None:
        self._asked = True

    def do_grab(self, body: str, particle: int, strength: float) -> Table:
        number, place = self._going().grab(body, particle, strength)
        self._dirty = True
        return {"id": number, "at": place}

    def do_steer(self, id: int, to: tuple[float, float, float]) -> None:
        self._need().live.steer(id, to)

    def do_add(self, table: Table) -> Table:
        number = self._going().live.add(table)
        self._dirty = True
        return {"id": number}

    def do_lump(self, **lump: Any) -> dict[int, Table]:
        """Let material appear: the take is played again with it."""
        take, playing = self._going(), self._playing
        self._playing = False
        text = with_lump(take, **lump | {"position": list(lump["position"])})
        again = self._builder.again(text, take.scene.folder)
        try:
            numbers = play_again(take, again, self._line.between_steps, self._line.progress)
        except BaseException:
            again.discard()
            raise
        finally:
            self._line.tell("progress", share=1.0, text="")
        again.rows.clear()
        self._forget_take()
        self._take, self._scrub, self._playing = again, None, playing
        self._pace.start()
        self._present()
        return {number: again.live.entries[number].table for number in numbers}

    def do_end(self, id: int) -> Table:
        self._need().live.end(id)
        self._dirty = True
        return {"id": id}

    def do_keep(self, place: str, top: Table) -> Table:
        """Save the take; ``top`` is what of the scene may have changed since it was built."""
        take = self._need()
        return {"text": take.keep(Path(place), top), "frames": take.frame + 1}

    def do_series(self) -> Table:
        """The rows of the series so far."""
        run = self._run or (self._take.recorded() if self._take else None)
        if run is None or not len(run):
            return {"columns": [], "rows": []}
        names = list(run.manifest["columns"])
        columns = [run.series[name] for name in names]
        picked = range(0, len(run), max(1, len(run) // ROWS))
        return {"columns": names, "rows": [[finite(c[k]) for c in columns] for k in picked]}

    def _need(self) -> Take:
        if self._take is None:
            raise PliantError("Build the scene first.")
        return self._take

    def _going(self) -> Take:
        """The take, where it has not come to its end."""
        take = self._need()
        if take.failed:
            raise PliantError("The simulation has stopped.", hint="Go back to the start (R).")
        if take.ended:
            raise PliantError(
                "The scene has ended.",
                hint="Return to the start (R), increase the duration, or tick “go on after the end”.",
            )
        return take

    # --------------------------------------------------------------------------- advancing and showing

    def _advance(self) -> None:
        take = self._need()
        with self._line.telling():
            try:
                self._advancing = True
                changed = take.advance(self._line.between_steps)
            except PliantError as error:
                self._playing = False
                if not self._gone_wrong(take, error):
                    raise
                return self._status()
            finally:
                self._advancing = False
            self._dirty = True
            if changed:
                self._pictures.forget()
            self._pace.frame_done(1.0 / take.scene.time.fps)
            self._playing = self._playing and not take.ended
        if not self._playing:
            self._status()

    def _gone_wrong(self, take: Take, error: PliantError) -> bool:
        """Let the page show the last good frame and the element at fault; False where the take can go on."""
        for number in take.left_out:
            self._line.tell("live", id=number, table=None)
        if not take.failed:
            return False
        self._scrub, self._dirty = max(0, take.frame), True
        place = _PLACE.search(error.message) if isinstance(error, Diverged) else None
        told = {"body": place["body"], "what": place["what"], "number": int(place["number"])} if place else {}
        message, hint = in_words(error)
        self._line.tell("failed", message=message, hint=hint, frame=take.frame, **told)
        return True

    def _forget_take(self) -> None:
        if self._take is not None:
            self._take.discard()
            self._take = None

    def _present(self) -> None:
        self._pictures.forget()
        self._dirty = True
        self._status()

    def _publish(self) -> None:
        if not (self._asked and self._dirty):
            return
        self._dirty = False
        with self._line.telling():
            message = self._frame()
            if message is not None:
                self._asked = False
                self._line.show(message)

    def _frame(self) -> bytes | None:
        take, recorded = self._take, self._run
        if take is not None and self._scrub is not None:
            recorded = take.recorded()
        if recorded is not None and self._scrub is not None:
            return self._pictures.recorded(recorded, self._scrub)
        if take is None:
            return None
        factor = self._pace.factor(take.scene.time.fps) if self._playing else None
        return self._pictures.present(take, factor, self._playing)


def main(pipe: Connection, home: str) -> None:
    """Entry point of the process; takes are recorded in the folder ``home``."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    Worker(pipe, Path(home)).run()
