"""Multiresolution bodies stepped by hand, with levels that are chosen by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
from bodies import MATERIAL

import pliant as pl
from pliant.interfaces import StepContext
from pliant.mesh.shapes import box

FRAME = 1.0 / 60.0


def prepared(
    shape: Any, levels: int = 3, *, edge: float | None = None, material: Any = None, **model: Any
) -> Any:
    """The mechanics of a body."""
    body = pl.Body(
        shape, edge=edge, model={"type": "multires", "levels": levels, **model}, material=material or MATERIAL
    )
    return body.model.prepare(body.structure(), body.resolved_material)


class Frozen:
    """A body whose levels stay: split where ``fine(points)`` says, driven at ``held`` rows."""

    def __init__(self, mechanics: Any, fine: Callable[[Any], Any], held: Any = None, v: Any = None) -> None:
        self.mechanics, self.body = mechanics, mechanics.body
        self.rest, self.mass = mechanics.structure.rest, mechanics.structure.mass
        self.x = self.rest.copy()
        self.v = np.zeros_like(self.x) if v is None else v.copy()
        self.w = np.repeat(1.0 / self.mass[:, None], 3, axis=1)
        if held is not None:
            self.w[held] = 0.0
        self.external, self.time = np.zeros_like(self.x), 0.0
        self.body.begin(self.x, self.v, self.w == 0.0, self.external, FRAME)
        self.split(fine)
        self.body.write(self.w == 0.0, self.x, self.v, mechanics._written)
        mechanics._since_refinement = -np.inf

    def split(self, fine: Callable[[Any], Any]) -> None:
        h = self.body.hierarchy
        flags = np.array(fine(h.points), bool)
        flags[h.particles] = False
        self.body.set_split(self.body.refinement.grade(flags))

    def advance(self, frames: int) -> None:
        for _ in range(frames):
            ctx = StepContext(self.time, FRAME, self.x, self.v, self.external, self.w)
            self.mechanics.advance(ctx)
            self.mechanics.finish_step(ctx)
            self.time += FRAME

    def field(self, x: Callable[[Any], Any]) -> None:
        """Put the simulated nodes where x(points) says."""
        h, motion, own = self.body.hierarchy, self.body.motion, self.body.arrangement.active
        held = self.body.arrangement.held
        motion.x[own] = np.where(held, h.points[own], x(h.points[own]))
        self.body.write(self.w == 0.0, self.x, self.v, self.mechanics._written)
        self.body.evaluate()
        self.body.settle()

    def energy(self) -> float:
        """Kinetic and elastic energy, without leapfrog's own."""
        return float(self.body.kinetic() + self.body.elastic)


def cube(levels: int = 3, edge: float = 0.12, **options: Any) -> Any:
    """An irregular unit cube."""
    return prepared(box(1.0, 1.0, 1.0), levels, edge=edge, **options)


def bar(levels: int = 3, **options: Any) -> Any:
    """A structured bar 1 x 0.5 x 0.5."""
    return prepared(box(1.0, 0.5, 0.5, divisions=(12, 6, 6)), levels, **options)
