"""Multiresolution bodies with a frozen choice of levels, stepped by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from bodies import MATERIAL

import pliant as pl
from pliant.interfaces import StepContext
from pliant.mesh.shapes import box
from pliant.models.multires import particle_output
from pliant.structure.samplers.levels import Levels

FRAME = 1.0 / 60.0


def prepared(
    shape: Any,
    levels: int = 2,
    *,
    edge: float | None = None,
    same: bool = False,
    material: Any = None,
    **model: Any,
) -> Any:
    """The mechanics of a body; ``same``: all levels are the finest mesh."""
    table = {"type": "multires", "levels": levels, **model}
    body = pl.Body(shape, edge=edge, model=table, material=material or MATERIAL)
    structure = body.structure()
    if same:
        finest = (structure.rest, structure.cells["tetra"])
        structure = replace(structure, extra=Levels((finest,) * (levels - 1)))
    return body.model.prepare(structure, body.resolved_material)


class Frozen:
    """A body whose levels stay: refined where ``fine(points)`` says, driven at ``held`` rows and axes."""

    def __init__(
        self, mechanics: Any, kind: str, fine: Callable[[Any], Any], held: Any = None, v: Any = None
    ) -> None:
        m = self.mechanics = mechanics
        self.rest, self.mass = m.structure.rest, m.structure.mass
        self.x = self.rest.copy()
        self.v = np.zeros_like(self.x) if v is None else v.copy()
        self.w = np.repeat(1.0 / self.mass[:, None], 3, axis=1)
        if held is not None:
            self.w[held] = 0.0
        m.model = replace(m.model, detail="coarsest")
        m.coupling_kind = kind
        m._initialise(self.v, self.w, damped=False)
        m.prescribed.update(self.w, m.motion)
        split = [fine(level.points) for level in m.hierarchy.levels]
        split[-1] = np.zeros(len(split[-1]), bool)
        m.set_split(m.refinement.grade(split))
        self.external, self.time = np.zeros_like(self.x), 0.0

    def set(self, d: Callable[[Any], Any], v: Callable[[Any], Any]) -> None:
        """Give all levels the fields d(points) and v(points)."""
        m = self.mechanics
        for k, level in enumerate(m.hierarchy.levels):
            m.motion.d[k][:] = np.where(m.prescribed.flags[k], 0.0, d(level.points))
            m.motion.v[k][:] = np.where(m.prescribed.flags[k], 0.0, v(level.points))
        flags = m.coupling.constrained[-1], m.prescribed.flags[-1]
        particle_output.write_particles(m.motion, *flags, self.x, self.v, m._written)

    def advance(self, frames: int, slow: float = 1.0) -> None:
        """Step; ``slow`` scales velocities after each frame (a quick way to rest)."""
        m = self.mechanics
        for _ in range(frames):
            m.advance(StepContext(self.time, FRAME, self.x, self.v, self.external, self.w))
            self.time += FRAME
            if slow != 1.0:
                for k in range(len(m.motion.v)):
                    m.motion.v[k] *= slow

    def reaction(self) -> Any:
        """Total force that holds the driven rows."""
        f = self.external.copy()
        self.mechanics.add_internal_forces(f)
        return -np.where(self.w == 0.0, f, 0.0).sum(axis=0)


def cube(levels: int = 2, edge: float = 0.1, **options: Any) -> Any:
    """An irregular unit cube."""
    return prepared(box(1.0, 1.0, 1.0), levels, edge=edge, **options)


def bar(levels: int = 3, **options: Any) -> Any:
    """A structured bar 1 x 0.5 x 0.5."""
    return prepared(box(1.0, 0.5, 0.5, divisions=(12, 6, 6)), levels, **options)
