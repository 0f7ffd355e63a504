"""How large bodies will be before they are built, and how long a scene will take once it is."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.core.errors import PliantError
from pliant.core.tables import Table
from pliant.mesh.edge_length import default_edge, enclosed, particles
from pliant.mesh.shapes.boxes import Box
from pliant.mesh.triangles import double_areas
from pliant.scene.body import Body
from pliant.scene.load import parse
from pliant.scene.run_time import estimated_time
from pliant.scene.scene import Scene
from pliant.studio.take import Take

KEPT = 20  # bodies whose size is remembered


class Estimates:
    """Remembers volume and surface of bodies, which take longest to find out."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[float, float, float, float | None]] = {}

    def of(self, text: str, folder: Path) -> list[Table]:
        """For each body its name, edge [m] and particles."""
        scene = parse(text, folder, "scene")
        found = []
        for body in scene.bodies:
            try:
                found.append({"name": body.name, **self._one(scene, body)})
            except PliantError:
                continue  # building will say what is wrong
        return found

    def _one(self, scene: Scene, body: Body) -> dict[str, float]:
        volume, area, diagonal, given = self._size(scene, body)
        edge = body.edge or given or default_edge(volume, area, diagonal)
        return {"edge": edge, "particles": float(_exact(body) or particles(volume, area, edge))}

    def _size(self, scene: Scene, body: Body) -> tuple[float, float, float, float | None]:
        """Volume, area, diagonal, and the edge of a volume mesh that was given."""
        key = f"{body.shape!r} {body.mesh} {body.scale} {scene.folder}"
        if key not in self._sizes:
            geometry = replace(scene.located(body), edge=None).geometry(up=scene.up)
            surface = geometry.surface()
            low, high = surface.points.min(axis=0), surface.points.max(axis=0)
            area = float(double_areas(surface.points, surface.triangles).sum() / 2)
            size = enclosed(surface.points, surface.triangles), area, float(np.linalg.norm(high - low))
            while len(self._sizes) >= KEPT:
                del self._sizes[next(iter(self._sizes))]
            self._sizes[key] = (*size, geometry.spacing())
        return self._sizes[key]


def _exact(body: Body) -> int | None:
    """Particles of a box that says its divisions."""
    if isinstance(body.shape, Box) and body.shape.divisions is not None and body.edge is None:
        return math.prod(n + 1 for n in body.shape.divisions)
    return None


class _FirstStep(Exception):
    """A step has been taken."""


_warm: set[str] = set()  # kinds of scenes whose code this process has loaded


def _warm_up(take: Take) -> None:
    """Take a step of a scene like this one, so that loading its code is not taken for computing."""
    scene = take.scene
    members = [*(body.model.kind for body in scene.bodies), *(action.kind for action in scene.actions)]
    kind = f"{sorted(set(members))} {take.simulation.integrator.kind}"
    if kind in _warm:
        return

    def stop() -> None:
        raise _FirstStep

    simulation = scene.simulation(take.structures)
    simulation.start()
    with suppress(_FirstStep, PliantError):
        simulation.advance(stop)
    _warm.add(kind)


def pace(take: Take, between: Callable[[], object]) -> Table:
    """What ``pliant check`` says of the scene of ``take``: computing time over simulated time, the simulated
    time [s] that was measured, what may make the rest slower; and whether its steps shrink with the edge.

    A second simulation of the same particles is timed; ``between`` is called between its steps.
    """
    _warm_up(take)
    simulation = take.scene.simulation(take.structures)
    simulation.start()
    found = estimated_time(take.scene, simulation, between)
    return {
        "ratio": found.wall / take.scene.time.duration,
        "covered": found.covered,
        "uncounted": list(found.uncounted),
        "explicit": math.isfinite(simulation.integrator.stability),
    }
