"""Figure 5.1 of Cairns (2012): milliseconds a frame of his three models, with his materials and numbers of
elements; moduli, which have no unit there, are taken in kPa. He used four cores at 2.8 GHz."""

import time
from pathlib import Path

import numpy as np

from pliant import examples
from pliant.core.typing import Array
from pliant.scene.load import parse
from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_cantilever import one_thread

PRINTED = {"cylinder": (141, 115.0), "sphere": (660, 2321.0), "prism": (8, 2.0)}  # elements, ms a frame


def frame_times(name: str, folder: Path) -> tuple[int, int, Array]:
    """Elements, particles and the CPU time of each frame [ms] of the scene of that model."""
    scene = parse(examples.text(f"cairns-{name}"), folder, f"cairns-{name}.toml")
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()  # compiles and factorises
    took = []
    for _ in range(scene.time.frames() - 2):
        start = time.process_time()
        simulation.advance()
        took.append(1e3 * (time.process_time() - start))
    (body,) = simulation.system.world.bodies
    return len(body.structure.cells["tetra"]), len(body.structure.rest), np.array(took)


def model(name: str) -> list[BenchResult]:
    """The mean time of a frame of one model, beside the printed one."""
    with one_thread():
        elements, particles, took = frame_times(name, examples.folder())
    counted, printed = PRINTED[name]
    assert elements == counted
    value = float(took.mean())
    note = f"{elements} elements, {particles} particles; slowest frame {took.max():.2g} ms"
    return [BenchResult(f"cairns/{name}", value, "ms/frame", printed, printed / value, None, note)]


@bench("cairns/cylinder")
def cylinder() -> list[BenchResult]:
    """The cylinder of 141 elements, squashed from above."""
    return model("cylinder")


@bench("cairns/sphere")
def sphere() -> list[BenchResult]:
    """The icosahedron of 660 elements, pressed from above."""
    return model("sphere")


@bench("cairns/prism")
def prism() -> list[BenchResult]:
    """The prism of 8 elements, pulled upwards."""
    return model("prism")
