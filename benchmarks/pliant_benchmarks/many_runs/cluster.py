"""A Dask cluster of separate processes on the loopback: a scheduler, and workers that can be killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self


class Cluster:
    """Processes of ``dask scheduler`` and ``dask worker``; a worker that is killed is replaced."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self._count = folder, workers
        self.file = folder / "scheduler.json"
        self._scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        words = ["dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self._scheduler = self._start([*words, "--scheduler-file", str(self.file)])
        end = time.monotonic() + 60
        while not self.file.exists():
            assert time.monotonic() < end, "the scheduler did not start"
            time.sleep(0.1)
        for _ in range(self._count):
            self.add()
        return self

    def _start(self, words: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def add(self) -> None:
        """One more worker, without a nanny: killed, it is gone."""
        words = ["dask", "worker", "--scheduler-file", str(self.file), "--no-nanny", "--nthreads", "1"]
        words += ["--no-dashboard", "--memory-limit", "0", "--local-directory", str(self.folder / "scratch")]
        self.workers.append(self._start(words))

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self.file.read_text())["address"])

    @property
    def processes(self) -> "list[subprocess.Popen[bytes]]":
        """The workers and the scheduler."""
        return [*self.workers, *([] if self._scheduler is None else [self._scheduler])]

    def kill(self, number: int) -> bool:
        """Kill a worker (SIGKILL) and start another one in its place; whether it was running a point."""
        victim = self.workers.pop(number)
        busy = bool(_children(victim.pid))
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.add()
        return busy

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _children(pid: int) -> list[str]:
    """Child processes of all threads of a process (Linux)."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for file in files for child in file.read_text().split()]
