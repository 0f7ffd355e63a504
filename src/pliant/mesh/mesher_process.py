"""Meshers in a process of their own, so that their crash is an error message here."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pliant.core.environment import environment
from pliant.core.errors import MeshError
from pliant.core.tables import Table
from pliant.core.typing import AnyArray

Progress = Callable[[float | None, str], None]

TICK = 0.5  # seconds between reports


def run_child(
    module: str, name: str, given: Table, timeout: float, progress: Progress | None, hint: str
) -> dict[str, AnyArray]:
    """The arrays that ``python -m module IN OUT`` writes for the arrays ``given``.

    A crash, a non-zero exit, no result or more than ``timeout`` seconds is a MeshError with ``hint``. The
    child is spawned, never forked, and works in a temporary folder.
    """
    if not sys.executable:
        raise MeshError(f"{name} needs a Python executable to start, and there is none here.", hint=hint)
    with tempfile.TemporaryDirectory(prefix="pliant-mesh-", ignore_cleanup_errors=True) as folder:
        source, target, log = (Path(folder) / n for n in ("in.npz", "out.npz", "log.txt"))
        np.savez(source, **given)
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(source), str(target)],
                cwd=folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            try:
                code = _wait(process, name, timeout, progress)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        if code is None:
            raise MeshError(f"{name} was stopped after {timeout:g} s.", hint=hint)
        if code != 0 or not target.exists():
            raise MeshError(f"{name} failed: {_reason(code, log)}.", hint=hint)
        with np.load(target, allow_pickle=False) as data:
            return {key: data[key] for key in data.files}


def _wait(
    process: "subprocess.Popen[bytes]", name: str, timeout: float, progress: Progress | None
) -> int | None:
    """The exit code; None when the time is up. Reports the seconds while it waits."""
    start = time.monotonic()
    while True:
        passed = time.monotonic() - start
        if passed >= timeout:
            return None
        if progress:
            progress(None, f"{name}, {passed:.0f} s")
        try:
            return process.wait(min(TICK, timeout - passed))
        except subprocess.TimeoutExpired:
            continue


def _reason(code: int, log: Path) -> str:
    """Why a child ended: the signal, or the last line it wrote."""
    if code < 0:
        try:
            return f"it crashed ({signal.Signals(-code).name})"
        except ValueError:
            return f"it crashed (signal {-code})"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return (lines[-1] if lines else f"exit code {code}, without a message").rstrip(".")
