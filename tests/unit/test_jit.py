"""Kernels are compiled once, however many processes want them at the same time and whoever calls them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = """
from pliant.kernels import jit
from pliant.kernels.compile_events import when_compiling

compiled = []
with when_compiling(lambda: compiled.append(1)):
    jit.threading_layer()
print(len(compiled))
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


def test_another_copy_of_the_same_sources_compiles_nothing(tmp_path: Path) -> None:
    import pliant

    copy, cache = tmp_path / "copy", {"PLIANT_CACHE_DIR": str(tmp_path / "cache")}
    ignored = shutil.ignore_patterns("__pycache__", "page", "static")
    shutil.copytree(Path(pliant.__file__).parent, copy / "pliant", ignore=ignored)
    counts = []
    for place in ({}, {"PYTHONPATH": str(copy)}):
        command, environment = [sys.executable, "-c", SCRIPT], os.environ | cache | place
        counts.append(int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout))
    assert counts[0] > 0 == counts[1]


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


def test_the_folder_of_a_kernel_depends_on_all_that_it_calls() -> None:
    import importlib
    import pkgutil

    import pliant.models
    from pliant.kernels.kernel_cache import kernel_folder, sources_of

    calls = 0
    for found in pkgutil.walk_packages(pliant.models.__path__, "pliant.models."):
        module = importlib.import_module(found.name)
        for kernel in vars(module).values():
            function = getattr(kernel, "py_func", None)
            if function is None or not function.__module__.startswith("pliant."):
                continue
            sources = sources_of(function.__module__)
            for name in function.__code__.co_names:
                called = getattr(function.__globals__.get(name), "py_func", None)
                if called is not None:
                    calls += 1
                    assert called.__module__ in sources, (function.__module__, name)
    assert calls > 100
    one, other = "pliant.models.springs.kernels", "pliant.models.efg.kernels"
    assert kernel_folder([one]) == kernel_folder([one]) != kernel_folder([other])
    assert kernel_folder([one, other]) not in (kernel_folder([one]), kernel_folder([other]))
    assert "pliant.models.efg.kernels" not in sources_of(one)  # an edit there compiles no spring again
