"""The few names of pliant's inside that the record needs; renames are followed here and nowhere else."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import pliant.kernels.jit  # noqa: F401  (the place of compiled kernels is fixed from here on)
from pliant.run.live_session import LiveSession
from pliant.scene.load import parse
from pliant.scene.to_toml import scene_text, to_table_of


def fill_meshes_in(folder: Path) -> None:
    """Keep filled meshes in ``folder`` from now on: an empty one makes every mesh be filled again."""
    os.environ["PLIANT_CACHE_DIR"] = str(folder)


def topology(frame: Any, body: str) -> dict[str, np.ndarray[Any, Any]]:
    """What a body is made of at a frame of a run, by names that belong to the record."""
    structure = frame.record(body).structure
    found = {"rest": structure.rest, "mass": structure.mass}
    if structure.regions is not None:
        found["regions"] = structure.regions
    found |= {f"cells.{name}": cells for name, cells in structure.cells.items()}
    return found | {f"groups.{name}": ids for name, ids in structure.groups.items()}


class Session:
    """A simulation that is worked on by hand between frames."""

    def __init__(self, text: str, folder: Path) -> None:
        self._scene = parse(text, folder)
        self._simulation = self._scene.simulation()
        self._simulation.start()
        self._live = LiveSession(self._scene, self._simulation)
        self.add, self.steer, self.end = self._live.add, self._live.steer, self._live.end

    def particles(self, body: str) -> int:
        """The number of particles that a body has now."""
        return len(self._simulation.system.world.bodies_named(body, "")[0].structure.rest)

    def positions(self) -> np.ndarray[Any, Any]:
        """Positions of all particles now (n, 3)."""
        return self._simulation.system.world.x.copy()

    def advance(self) -> None:
        """Compute a frame with what hands have done before it."""
        self._live.before_frame()
        self._simulation.advance()
        self._live.settled()

    def text(self) -> str:
        """The take as a scene file, which computes the same bytes."""
        time = replace(self._scene.time, step=self._simulation.plan.seconds)
        table = to_table_of(replace(self._scene, time=time, step=None))
        table["actions"] = self._live.tables()
        return scene_text(table)
