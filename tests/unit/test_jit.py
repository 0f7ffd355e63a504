"""Kernels are compiled once, however many processes want them at the same time and whoever calls them."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
from numba.core import event
from pliant.kernels import jit

class Count(event.Listener):
    number = 0
    def on_start(self, event):
        self.number += 1
    def on_end(self, event):
        pass

count = Count()
event.register("numba:compile", count)
jit.threading_layer()
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


def test_a_number_that_the_caller_writes_makes_no_version_of_its_own() -> None:
    from numba import types

    from pliant.kernels.element_blocks import reduce_rows

    index, rows, table = types.int64, types.int64[::1], types.float64[:, ::1]
    for begin in (types.literal(0), index):  # as a serial twin calls it, and a parallel one
        reduce_rows.compile((begin, index, rows, rows, rows, table, table))
    assert not any(isinstance(each, types.Literal) for found in reduce_rows.signatures for each in found)
    assert (index, index, rows, rows, rows, table, table) in reduce_rows.signatures


def test_both_versions_of_a_twin_give_the_same_bytes_and_have_names_of_their_own() -> None:
    import numpy as np

    from pliant.kernels import jit
    from pliant.kernels.element_blocks import _reduce

    serial, parallel = _reduce
    assert parallel.py_func.__qualname__ == f"{serial.py_func.__qualname__}_parallel"
    low, high, offset = np.array([0, 40]), np.array([100, 300]), np.array([0, 100, 360])
    buffer = np.random.default_rng(0).random((360, 3))
    found = []
    for kernel in (serial, parallel):
        out = np.full((300, 3), 0.1)
        kernel(low, high, offset, buffer.copy(), out)
        found.append(out.tobytes())
    assert found[0] == found[1]
    for rows in (0, 1, 63, 640, 10_000):
        spans = [jit.partition(p, rows) for p in range(jit.partition_count(rows))]
        assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
        assert spans[-1][1] == rows
