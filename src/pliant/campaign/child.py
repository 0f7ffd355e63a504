"""One point in a child process: ``pliant run`` or ``pliant resume`` with limits on time and memory.

``run_point`` is what executors call, on this machine or another one that sees the same files.
Its argument and its answer are plain tables.
"""

import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pliant.core.environment import environment
from pliant.core.errors import RunError
from pliant.core.tables import Table
from pliant.core.text import seconds, size
from pliant.run.store.manifest import Progress, is_run
from pliant.run.store.run_folder import held

PAUSE = 0.02  # s between two looks at a child
GRACE = 20.0  # s that a child has to stop by itself
INTERRUPTED, DIVERGED, BAD_INPUT = 130, 3, 2


def task(
    run: str, scene: Path, folder: Path, active: Path, threads: int, retries: int,
    time_limit: float | None, memory_limit: float | None, again: bool = False,
) -> Table:  # fmt: skip
    """What ``run_point`` needs to know: paths, and limits in seconds and bytes; again: a run that failed is
    started over. The point stops when the file ``active`` goes away."""
    return {
        "run": run, "scene": str(scene), "folder": str(folder), "active": str(active), "threads": threads,
        "retries": retries, "time": time_limit, "memory": memory_limit, "again": again,
    }  # fmt: skip


def run_point(given: Table) -> Table:
    """Run a point to its end, or resume it where it was begun; says how it ended.

    state: "done", "diverged", "invalid", "time limit", "memory limit", "failed" or "interrupted".
    """
    folder, start = Path(given["folder"]), time.monotonic()
    attempts, state, reason, memory = 0, "", "", 0.0
    again = bool(given.get("again"))
    while not state:
        if stopped := _wait_for_others(given, folder, start):
            state, reason = stopped
            break
        known = state_of(folder)
        if known == "done":
            state = "done"
            break
        attempts += 1
        fresh = known is None or again or (known in ("diverged", "failed") and attempts == 1)
        verb = ["run", given["scene"], "-o", str(folder), "--force"] if fresh else ["resume", str(folder)]
        code, said, most, why = _child([*verb, "--quiet", "--threads", str(given["threads"])], given, start)
        memory, again = max(memory, most), False
        if why:
            state, reason = why
        elif code == 0:
            state = "done"
        elif code == DIVERGED:
            state, reason = "diverged", said
        elif code == BAD_INPUT and "Cannot write" in said:  # a full disk, say
            state, reason = "failed", said
        elif code == BAD_INPUT and fresh and "another process" not in said:
            state, reason = "invalid", said
        elif attempts > given["retries"]:
            state, reason = "failed", said or _ending(code)
        else:
            again = code == BAD_INPUT  # what is there cannot be resumed
    frames = frames_done(folder)
    return {
        "run": given["run"], "state": state, "reason": reason, "attempts": attempts, "memory": memory,
        "wall": time.monotonic() - start, "last_frame": None if not frames else frames - 1,
    }  # fmt: skip


def estimate(given: Table) -> Table:
    """``pliant check`` of a point in a child process, which compiles its kernels: wall [s], memory and disk
    [bytes]; the state "invalid" with its reason where the scene cannot be built."""
    import json

    words = ["check", given["scene"], "--json", "--threads", str(given["threads"])]
    code, said, _, why = _child(words, given, time.monotonic(), output=True)
    if code != 0 or why:
        return {"state": why[0] if why else "invalid", "reason": why[1] if why else said}
    report = json.loads(said)
    return {"state": "done", **{key: report[key] for key in ("wall", "memory", "disk")}}


def state_of(folder: Path) -> str | None:
    """The state that a run folder says it is in; None where there is no run."""
    if not is_run(folder):
        return None
    try:
        return Progress.read(folder).state
    except RunError:
        return None


def frames_done(folder: Path) -> int:
    """Frames of a run folder that count."""
    try:
        return Progress.read(folder).frames_done
    except RunError:
        return 0


def _wait_for_others(given: Table, folder: Path, start: float) -> tuple[str, str] | None:
    """Wait while another process writes the run: the child of a worker that died, say."""
    while held(folder):
        if stop := _stop(given, start):
            return stop
        time.sleep(10 * PAUSE)
    return None


def _stop(given: Table, start: float) -> tuple[str, str] | None:
    if not os.path.exists(given["active"]):
        place = os.path.dirname(given["active"])
        if not os.path.isdir(place):
            return "failed", f"{platform.node()} does not see {place}: workers and the sweep share its files"
        return "interrupted", "the sweep was stopped"
    limit = given["time"]
    if limit is not None and time.monotonic() - start > limit:
        return "time limit", f"stopped after {seconds(limit)}"
    return None


def _child(
    words: list[str], given: Table, start: float, output: bool = False
) -> tuple[int, str, float, tuple[str, str] | None]:
    """Exit code, last error (or the output) and largest memory [bytes] of a pliant command; and why it was
    stopped, if it was."""
    command = [sys.executable, "-m", "pliant.cli.supervised", str(os.getpid()), *words]
    threads = str(given["threads"])
    limits = {f"{name}_NUM_THREADS": threads for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment() | limits,
            start_new_session=sys.platform != "win32",
        )
        try:
            memory, why = _watch(process, given, start)
        except BaseException:
            _kill(process)
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    said = texts[0] if output and process.returncode == 0 else _error_in(texts[1])
    return process.returncode, said, memory, why


def _watch(
    process: "subprocess.Popen[bytes]", given: Table, start: float
) -> tuple[float, tuple[str, str] | None]:
    """Wait for a child; stop it where it passes a limit."""
    memory, look = 0.0, 0.0
    while process.poll() is None:
        time.sleep(PAUSE)
        now = time.monotonic()
        memory = max(memory, _resident(process.pid))
        limit = given["memory"]
        if limit is not None and memory > limit:
            _kill(process)
            return memory, ("memory limit", f"used {size(memory)}, more than {size(limit)}")
        if now - look > 10 * PAUSE:
            look = now
            if stop := _stop(given, start):
                _end(process)
                return memory, stop
    return memory, None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask a child to stop, which it does between two steps, ready to be resumed."""
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a child and its own children, a mesher say, at once."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _resident(pid: int) -> float:
    """Memory [bytes] that a process and its children hold now; 0 where that cannot be told."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            total = float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
    except (OSError, IndexError, ValueError):
        return 0.0
    return total + sum(_resident(int(child)) for child in children)


def _error_in(text: str) -> str:
    lines = [line.removeprefix("error: ") for line in text.splitlines() if line.startswith("error: ")]
    return lines[-1] if lines else text.strip().splitlines()[-1] if text.strip() else ""


def _ending(code: int) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        also = ": probably out of memory" if name == "SIGKILL" else ""
        return f"ended by {name}{also}"
    return f"ended with exit code {code}"
