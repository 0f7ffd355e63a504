"""Kernels are compiled once, however many processes want them at the same time."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
from numba.core import event
from pliant import compiled

class Count(event.Listener):
    number = 0
    def on_start(self, event):
        self.number += 1
    def on_end(self, event):
        pass

count = Count()
event.register("numba:compile", count)
compiled.threading_layer()
print(count.number)
"""


def test_one_of_two_processes_compiles(tmp_path: Path) -> None:
    environment = os.environ | {"PLIANT_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    children = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    counts = sorted(int(child.communicate(timeout=120)[0]) for child in children)
    assert counts[:2] == [0, 0]
    assert counts[2] >= 1
