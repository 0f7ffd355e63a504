"""The World: all bodies' particles in one set of arrays; a body owns a slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.errors import SelectionError
from pliant.core.registry import nearest
from pliant.core.typing import Array, IntArray
from pliant.interfaces import IndexMap, Mechanics, Model, SelectionMap, Structure, TopologyChange, blend
from pliant.state.contact_impulses import ContactImpulses

if TYPE_CHECKING:
    from pliant.core.selection import Select
    from pliant.materials import ResolvedMaterial as Material


@dataclass
class HeldSelection:
    """A selection that was looked up: the rows that it has now, and what looked it up."""

    select: "Select"
    rows: IntArray
    what: str


@dataclass
class BodyState:
    """A body in the World: its rows, structure, material, model parameters and mechanics."""

    name: str
    rows: slice
    structure: Structure
    model: Model
    material: "Material"
    mechanics: Mechanics
    present: bool = True  # False before it is created, and once it is removed
    sticky: Callable[[float], bool] | None = None  # whether what it touches stays on it, at a time [s]

    @property
    def count(self) -> int:
        return int(self.rows.stop - self.rows.start)


class World:
    """Positions x [m], velocities v [m/s], forces f [N], shape (n, 3), and mass [kg], shape (n,).

    ``radius`` (n,) [m]: how far particles that are balls keep off obstacles; 0 for points, -inf for those of
    bodies that resolve their contacts with obstacles themselves.
    ``inverse_mass`` (n, 3) is zero where a degree of freedom is driven. ``topology_version`` rises when
    particles or cells come or go; ``ancestors`` and ``ancestor_weights`` (n, k) say of which rows at version
    0 each particle is a blend.
    """

    def __init__(self, parts: Sequence[BodyState], velocities: Sequence[Array] | None = None) -> None:
        self.bodies = list(parts)
        self.x: Array = np.concatenate([p.structure.rest for p in parts])
        self.v: Array = np.concatenate(velocities) if velocities is not None else np.zeros_like(self.x)
        self.f: Array = np.zeros_like(self.x)
        self.mass: Array = np.concatenate([p.structure.mass for p in parts])
        self.inverse_mass: Array = np.repeat(1.0 / self.mass[:, None], 3, axis=1)
        radii = [_radius(p.mechanics) for p in parts]
        self.radius: Array = np.repeat(radii, [len(p.structure.rest) for p in parts])
        self.ancestors: IntArray = np.arange(len(self.x))[:, None]
        self.ancestor_weights: Array = np.ones((len(self.x), 1))
        self.topology_version = 0
        self.restored_rows: IntArray | None = None  # what selections give while a checkpoint is restored
        self.contact_impulses: ContactImpulses | None = None  # where contact forces are asked for
        self.selections: list[HeldSelection] = []  # that actions and measures looked up

    @property
    def count(self) -> int:
        return len(self.x)

    @property
    def rest(self) -> Array:
        """Rest positions of all particles (n, 3), world coordinates."""
        return np.concatenate([p.structure.rest for p in self.bodies])

    def bodies_named(self, body: Any, what: str) -> list[BodyState]:
        """The part called ``body``, or all of them for None; SelectionError for an unknown name."""
        if body is None:
            return self.bodies
        name = body if isinstance(body, str) else body.name
        found = [part for part in self.bodies if part.name == name]
        if not found:
            names = [part.name for part in self.bodies]
            raise SelectionError(f"{what}: there is no body '{name}'; {nearest(str(name), names)}")
        return found

    def bodies_of(self, rows: IntArray) -> IntArray:
        """The number of the body of each of ``rows`` (k,)."""
        starts = np.array([part.rows.start for part in self.bodies])
        return np.asarray(np.searchsorted(starts, rows, side="right") - 1)

    def rest_bounds(self, body: Any, what: str) -> tuple[Array, Array]:
        """Lowest and highest rest coordinates of a body (all bodies for None)."""
        rest = np.concatenate([p.structure.rest for p in self.bodies_named(body, what)])
        return rest.min(axis=0), rest.max(axis=0)

    def kinetic_energy(self) -> float:
        """``sum m v^2 / 2`` [J]."""
        return 0.5 * float(np.sum(self.mass[:, None] * self.v**2))

    def resize(self, part: BodyState, new: TopologyChange) -> IndexMap:
        """Give ``part`` the structure of ``new``, and the World's arrays the rows that follow from it.

        Momentum is conserved: that of copies trivially; where particles are inserted between others, linear
        momentum by their weights and angular momentum by a slight rigid rotation rate of the whole body.
        """
        old, start, count = part.rows, part.rows.start, len(new.structure.rest)
        change = self._index_map(part, new)
        if new.velocities is not None:
            change = replace(change, resampled=part.name, selections=self._looked_up_again(part, new, change))
        old_mass, old_x, old_v = self.mass, self.x, self.v
        self.x, self.v, self.f = (
            blend(values, change.parents, change.weights) for values in (self.x, self.v, self.f)
        )
        if change.moved is not None:
            self.x += change.moved
        mass = self.mass[change.parents[:, 0]]
        mass[start : start + count] = new.structure.mass
        held = (self.inverse_mass == 0.0)[change.parents].all(axis=1)
        self.mass, self.inverse_mass = mass, np.where(held, 0.0, 1.0 / mass[:, None])
        self.radius = self.radius[change.parents[:, 0]]
        if change.weights.shape[1] > 1:
            missing = angular_momentum(old_mass, old_x, old_v) - angular_momentum(mass, self.x, self.v)
            _turn(self, slice(start, start + count), missing)
        if new.velocities is not None:
            self.v[start : start + count] = new.velocities
            self.radius[start : start + count] = _radius(part.mechanics)
        if new.new is not None:
            self.x[change.fresh], self.v[change.fresh] = new.new.x, new.new.v
        self.ancestors, self.ancestor_weights = _composed(change, self.ancestors, self.ancestor_weights)
        part.structure = new.structure
        part.rows = slice(start, start + count)
        shift = count - (old.stop - old.start)
        for other in self.bodies:
            if other is not part and other.rows.start >= old.stop:
                other.rows = slice(other.rows.start + shift, other.rows.stop + shift)
        for each in self.selections:
            each.rows = change.remap_rows(each.rows)[0]
        self.topology_version += 1
        if self.contact_impulses is not None:
            self.contact_impulses.resize(self.count)
        return change

    def remember(self, select: "Select", rows: IntArray, what: str) -> None:
        """Keep a selection that was looked up, so that it can be looked up again in a body that is sampled
        again."""
        if not any(each.select == select and np.array_equal(each.rows, rows) for each in self.selections):
            self.selections.append(HeldSelection(select, rows, what))

    def _looked_up_again(
        self, part: BodyState, new: TopologyChange, change: IndexMap
    ) -> tuple[SelectionMap, ...]:
        """Selections with rows of ``part``, looked up among the particles of ``new``; SelectionError where
        one is empty there."""
        from scipy.spatial import cKDTree

        first, rest = part.rows.start, part.structure.rest
        shift = len(new.structure.rest) - part.count
        now = blend(self.x, change.parents, change.weights)
        if change.moved is not None:
            now = now + change.moved
        found = []
        for held in self.selections:
            own = np.flatnonzero((held.rows >= first) & (held.rows < part.rows.stop))
            if not len(own):
                continue
            s = new.structure
            local = held.select.rows_again(s.rest, s.spacing, s.groups, part.name, held.what)
            near = cKDTree(rest[held.rows[own] - first]).query(new.structure.rest[local])[1]
            ahead, behind = held.rows < first, held.rows >= part.rows.stop
            rows = np.concatenate([held.rows[ahead], local + first, held.rows[behind] + shift])
            source = np.concatenate(
                [np.flatnonzero(ahead), own[np.asarray(near)], np.flatnonzero(behind)]
            ).astype(np.int64)
            moved = now[rows] - self.x[held.rows[source]]
            found.append(SelectionMap(held.rows, rows, source, moved))
        return tuple(found)

    def _index_map(self, part: BodyState, new: TopologyChange) -> IndexMap:
        """The map of all rows of the World when ``part`` changes to ``new``."""
        table = new.parents.reshape(len(new.parents), -1)
        k = table.shape[1]
        ahead, behind = np.arange(part.rows.start), np.arange(part.rows.stop, self.count)
        alone = np.zeros((len(ahead) + len(behind), k))
        alone[:, 0] = 1.0
        inner = np.ones((len(table), 1)) if new.weights is None else new.weights
        moved = new.moved
        if moved is not None:
            moved = np.concatenate([np.zeros((len(ahead), 3)), moved, np.zeros((len(behind), 3))])
        return IndexMap(
            np.concatenate([_wide(ahead, k), part.rows.start + table, _wide(behind, k)]),
            np.concatenate([alone[: len(ahead)], inner, alone[len(ahead) :]]),
            moved,
            np.empty(0, np.int64) if new.new is None else part.rows.start + new.new.rows,
        )


def _radius(mechanics: Mechanics) -> float:
    surface = mechanics.contact_surface()
    return -np.inf if surface.resolves_obstacles else surface.radius or 0.0


def angular_momentum(mass: Array, x: Array, v: Array) -> Array:
    """``sum m x cross v`` about the origin [kg m2/s]."""
    return np.asarray(np.cross(x, mass[:, None] * v).sum(axis=0))


def _turn(world: World, rows: slice, missing: Array) -> None:
    """Add a rigid spin to ``rows`` that has the angular momentum ``missing`` and no linear one."""
    mass = world.mass[rows]
    r = world.x[rows] - np.average(world.x[rows], axis=0, weights=mass)
    squares = (mass[:, None] * r).T @ r
    spin = np.linalg.lstsq(np.trace(squares) * np.eye(3) - squares, missing, rcond=1e-9)[0]
    world.v[rows] += np.cross(spin, r)


def _wide(rows: IntArray, k: int) -> IntArray:
    return np.repeat(rows[:, None], k, axis=1)


def _composed(change: IndexMap, ancestors: IntArray, shares: Array) -> tuple[IntArray, Array]:
    """Ancestors and weights after ``change``: equal ancestors merged, the largest weight first."""
    n = len(change.parents)
    of = ancestors[change.parents].reshape(n, -1)
    weight = (change.weights[:, :, None] * shares[change.parents]).reshape(n, -1)
    if of.shape[1] == 1:
        return of, weight
    order = np.argsort(of, axis=1, kind="stable")
    of, weight = np.take_along_axis(of, order, axis=1), np.take_along_axis(weight, order, axis=1)
    run = np.concatenate([np.zeros((n, 1), int), np.cumsum(of[:, 1:] != of[:, :-1], axis=1)], axis=1)
    each = np.repeat(np.arange(n)[:, None], of.shape[1], axis=1)
    total, name = np.zeros(of.shape), np.zeros(of.shape, np.int64)
    np.add.at(total, (each, run), weight)
    name[each, run] = of
    order = np.argsort(-total, axis=1, kind="stable")
    name, total = np.take_along_axis(name, order, axis=1), np.take_along_axis(total, order, axis=1)
    width = max(1, int((total > 0.0).sum(axis=1).max()))
    name, total = name[:, :width], total[:, :width]
    return np.where(total > 0.0, name, name[:, :1]), total
