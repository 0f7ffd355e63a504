"""The force between bodies in contact, or of an obstacle on a body."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import model_validator

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.errors import IncompatibleError, SelectionError
from pliant.core.parameters import parameters
from pliant.core.registry import nearest
from pliant.core.selection import OneBody, Select
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import IndexMap, MeasureSampler, SelfStepping
from pliant.measures.base import MeasureParameters
from pliant.state.contact_impulses import ContactImpulses, ContactWatch
from pliant.state.world import BodyState, World

if TYPE_CHECKING:
    from pliant.simulation.system import System

VECTORS = ("", "normal.", "tangential.", "torque.")


@parameters
class ContactForce(MeasureParameters):
    """Contact force [N] on the first of two bodies or obstacles ``between`` from the second, or on selected
    particles from everything that touches them: the mean since the last row.

    ``x``, ``y``, ``z``; of ``between`` also ``normal.x`` and so on, the sum of the parts along the normals of
    contacts, and ``tangential.x``, the sum of the parts across. ``torque.x``: the moment [N m] about the
    centre of mass of the first body (an obstacle's position; the selection's centre). ``contacts``: how many
    particles bear a force at the end of the row; ``area`` [m2]: their share of the surface, as seen along
    the normal force (of a selection: the whole force).
    """

    kind: ClassVar[str] = "contact-force"

    between: tuple[OneBody, OneBody] | None = None
    select: Select | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "ContactForce":
        if (self.between is None) == (self.select is None):
            raise ValueError("give between = [NAME, NAME], or select")
        if self.select is not None and self.every == "step":
            raise ValueError('every = "step" needs between = [NAME, NAME]')
        return self

    def series_units(self) -> dict[str, str]:
        return {self.label: "N", f"{self.label}.torque": "N m", f"{self.label}.area": "m²"}

    def prepare(self, system: "System") -> MeasureSampler:
        world = system.world
        if world.contact_impulses is None:
            world.contact_impulses = ContactImpulses(world.count, recorded=False)
        if self.select is not None:
            rows = self.select.rows(world, f"measure '{self.label}'")
            return ParticleContactSampler(world, world.contact_impulses, rows, self.label)
        return PairContactSampler(system, world.contact_impulses, self)


class PairContactSampler(MeasureSampler):
    """Contact force between two bodies, or a body and an obstacle."""

    def __init__(self, system: "System", kept: ContactImpulses, measure: ContactForce) -> None:
        assert measure.between is not None
        self.world, label = system.world, measure.label
        self.series_names = (
            *(f"{label}.{kind}{axis}" for kind in VECTORS for axis in "xyz"),
            f"{label}.contacts",
            f"{label}.area",
        )
        obstacles = {a.name: a for _, a in system.actions if isinstance(a, ObstacleRuntime)}
        bodies = [part.name for part in self.world.bodies]
        first, second = (each if isinstance(each, str) else each.name for each in measure.between)
        for name in (first, second):
            if name not in bodies and name not in obstacles:
                known = [*bodies, *obstacles]
                raise SelectionError(
                    f"measure '{label}': there is no body or obstacle '{name}'; {nearest(name, known)}"
                )
        if first == second:
            raise SelectionError(
                f"measure '{label}': the contact forces of a body on itself add up to nothing.",
                hint="Name two bodies, or a body and an obstacle.",
            )
        if first not in bodies and second not in bodies:
            raise SelectionError(f"measure '{label}': obstacles do not touch each other.")
        self.sign = 1.0 if first in bodies else -1.0
        own, other = (first, second) if first in bodies else (second, first)
        self.obstacle = obstacles.get(first)
        self.part = self.world.bodies[bodies.index(own)]
        self._check(other in obstacles, label)
        self.watch = ContactWatch(
            np.array([name == own for name in bodies]),
            np.array([name == other for name in bodies]),
            frozenset({other} - set(bodies)),
            measure.every == "step",
        )
        kept.watch(self.watch)

    def _check(self, on_obstacle: bool, label: str) -> None:
        mechanics = self.part.mechanics
        steps_itself = mechanics.offer(SelfStepping) is not None
        if on_obstacle and steps_itself and not mechanics.contact_surface().rigid:
            raise IncompatibleError(
                f"measure '{label}': model '{self.part.model.kind}' of body '{self.part.name}' does not tell "
                "its contact forces on obstacles apart.",
                hint="The series of the obstacle has the force of all bodies on it.",
            )

    def remap(self, change: IndexMap, world: World) -> None:
        """The body is found by its number; its particles are counted anew."""

    def sample(self, time: float) -> Sequence[float]:
        normal, across, moment = self.sign * self.watch.mean().reshape(3, 3)
        if self.obstacle is not None:
            centre = np.asarray(self.obstacle.path.at(time))
        else:
            mass, x = self.world.mass[self.part.rows], self.world.x[self.part.rows]
            centre = mass @ x / mass.sum()
        force = normal + across
        torque = moment - np.cross(centre, force)
        pressing = self.watch.touching[self.part.rows]
        area = projected_area(self.part, self.world.x, pressing, self.sign * normal)
        vectors = np.concatenate([force, normal, across, torque]).tolist()
        return [*vectors, float(self.watch.count), area]


class ParticleContactSampler(MeasureSampler):
    """Contact force on selected particles."""

    def __init__(self, world: World, kept: ContactImpulses, rows: IntArray, label: str) -> None:
        self.world, self.kept, self.rows = world, kept, rows
        columns = ("x", "y", "z", "torque.x", "torque.y", "torque.z", "contacts", "area")
        self.series_names = tuple(f"{label}.{column}" for column in columns)

    def remap(self, change: IndexMap, world: World) -> None:
        self.rows, _ = change.remap_rows(self.rows)

    def sample(self, time: float) -> Sequence[float]:
        forces, x = self.kept.mean_force()[self.rows], self.world.x
        torque = np.cross(x[self.rows] - x[self.rows].mean(axis=0), forces).sum(axis=0)
        bears = self.rows[forces.any(axis=1)]
        area = 0.0
        for k, part in enumerate(self.world.bodies):
            pressing = np.zeros(part.count, bool)
            pressing[bears[self.world.bodies_of(bears) == k] - part.rows.start] = True
            area += projected_area(part, x, pressing, forces.sum(axis=0))
        return [*forces.sum(axis=0).tolist(), *torque.tolist(), float(len(bears)), area]


def projected_area(part: BodyState, x: Array, pressing: BoolArray, force: Array) -> float:
    """The area [m2] of the particles ``pressing`` (n,) of a body, as seen along a force (3,) on it, for the
    World's ``x``: thirds of the triangles around them; squares of the spacing where there are none."""
    own, size = part.mechanics.contact_surface(), float(np.linalg.norm(force))
    triangles = part.structure.cells.get("triangle") if own.triangles is None else own.triangles
    if not size or not pressing.any():
        return 0.0
    if triangles is None or not len(triangles):
        return float(pressing.sum() * part.structure.spacing**2)
    a, b, c = (x[part.rows][triangles[:, k]] for k in range(3))
    outward = np.cross(b - a, c - a) @ (-force / size) / 6.0
    shares = np.zeros(len(pressing))
    np.add.at(shares, triangles.ravel(), np.repeat(outward, 3))
    return float(np.maximum(shares[pressing], 0.0).sum())
