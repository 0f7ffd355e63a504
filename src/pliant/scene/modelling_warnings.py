"""Choices of a scene by which its result is likely to be wrong: mesh, elements, step, supports.

Each warning comes once, with the number that it goes by and one remedy.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from pliant.contact.barrier.barrier_contact import BarrierContact
from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.diagnostics import Diagnostics, see
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.integrators.implicit.rigid_motion import DEGENERATE
from pliant.interfaces import ActionRuntime, DisableVolumetricTerm, Model, PrescribedMotion
from pliant.mesh.mesh import tet_volumes
from pliant.scene.scene import Scene
from pliant.simulation.simulation import Simulation
from pliant.state.world import BodyState, World

LOCKING_RATIO = 0.45  # Poisson's ratio from which tets of constant strain are noticeably too stiff
FEWEST_CELLS = 4  # across a bent section; half a cell less is accepted, because meshes are irregular
SLENDER = 4.0  # length over depth from which bending dominates
OBLONG = 1.5  # ratio of the sides of a section from which its axes are told apart
LOAD_SAMPLES = 9  # times at which loads are looked at
KUHN_DIRECTIONS = 7  # edge directions of a lattice whose cells are all split alike
UNBALANCED = 1e-6  # force along a rigid motion, as a share of all forces
STEPS_OF_CONTACT = 5.0  # in the time of an impact: with fewer its rebound is 5 to 14 % low or worse
COMPARED_BODIES = 12  # more bodies are not looked at in pairs
AXES = np.eye(3)


def report_modelling(scene: Scene, simulation: Simulation, diagnostics: Diagnostics) -> None:
    """Warn of what makes results wrong though the scene is valid."""
    world = simulation.system.world
    loads = Loads(simulation, scene.time.duration)
    for part in world.bodies:
        label = f"body '{part.name}'"
        if not isinstance(part.model, Model):
            continue  # from elsewhere, with no more than a model must have
        for text in (*_locking(part, loads.runtimes), *_preferred_direction(part), *_few_cells(part, loads)):
            diagnostics.warn(text, label)
        if simulation.integrator.order == 0:
            for text in _rigid_modes(part, loads):
                diagnostics.warn(text, label)
    for text in _missed_impacts(simulation, loads, scene.time.duration):
        diagnostics.warn(text)


class Loads:
    """Forces of actions on bodies at rest, sampled over time, and the degrees of freedom that are driven."""

    def __init__(self, simulation: Simulation, duration: float) -> None:
        self.world: World = simulation.system.world
        self.runtimes: list[ActionRuntime] = [runtime for _, runtime in simulation.system.actions]
        times = np.linspace(0.0, duration, LOAD_SAMPLES)
        self.samples: list[Array] = [self._forces(float(time)) for time in times]
        self.held: BoolArray = np.zeros(self.world.x.shape, bool)
        for runtime in self.runtimes:
            if (driven := runtime.offer(PrescribedMotion)) and driven.start == 0.0:
                self.held[np.ix_(driven.rows, np.flatnonzero(driven.axes))] = True

    def _forces(self, time: float) -> Array:
        out, still = np.zeros_like(self.world.x), np.zeros_like(self.world.v)
        for runtime in self.runtimes:
            if runtime.active(time) and "add_forces" in runtime.members and runtime.stored != "contact":
                runtime.add_forces(time, self.world.x, still, out)
        return out

    def on(self, part: BodyState) -> list[Array]:
        """Forces (n, 3) [N] on a body at each of the times."""
        return [forces[part.rows] for forces in self.samples]


# ------------------------------------------------------------------------------------------ the mesh


def _locking(part: BodyState, runtimes: list[ActionRuntime]) -> Iterator[str]:
    """Tets lock by their volumetric stiffness, unless a constraint keeps nodal volumes instead."""
    remedy, ratio = part.model.locking_remedy, part.material.poisson
    requests = [request for runtime in runtimes for request in runtime.requests]
    if any(isinstance(each, DisableVolumetricTerm) and each.body is part for each in requests):
        return
    if remedy is not None and ratio >= LOCKING_RATIO:
        yield (
            f"model '{part.model.kind}' is too stiff at Poisson's ratio {ratio:g}: its tets lock from "
            f"{LOCKING_RATIO:g} on. Use {remedy}. {see('it-is-too-stiff')}"
        )


def _preferred_direction(part: BodyState) -> Iterator[str]:
    """A lattice whose cells are all split alike has seven edge directions, an alternating one thirteen."""
    tets = part.structure.cells.get("tetra")
    if not part.model.constant_strain or tets is None or len(tets) <= 6:
        return
    edges = _edge_vectors(part.structure.rest, tets)
    units = edges / np.linalg.norm(edges, axis=1)[:, None]
    tensor = units.T @ units
    sizes, axes = np.linalg.eigh(tensor)
    largest = np.abs(units).argmax(axis=1)
    signs = np.sign(units[np.arange(len(units)), largest])
    if len(np.unique(np.round(units * signs[:, None], 4) + 0.0, axis=0)) > KUHN_DIRECTIONS:
        return
    along = axes[:, 2] * np.sign(axes[np.abs(axes[:, 2]).argmax(), 2])
    yield (
        f"all cells are split along the same diagonal ({', '.join(f'{c:.2f}' for c in along)}), in which "
        f"{sizes[2] / sizes[0]:.2g} times as many edges point as across it: the body is stiffer that way, "
        f'and symmetric loads move it sideways. Use split = "alternating". {see("it-sags-sideways")}'
    )


def _edge_vectors(rest: Array, tets: IntArray) -> Array:
    return np.concatenate([rest[tets[:, b]] - rest[tets[:, a]] for a, b in combinations(range(4), 2)])


def _few_cells(part: BodyState, loads: Loads) -> Iterator[str]:
    """Slender bodies that are held at some places along their length and loaded across it."""
    tets, rest = part.structure.cells.get("tetra"), part.structure.rest
    if not part.model.constant_strain or tets is None:
        return
    centred = rest - rest.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T[::-1]  # longest first
    along = centred @ axes[0]
    length = float(np.ptp(along))
    held = np.asarray(loads.held[part.rows].any(axis=1))
    bins = np.minimum(((along - along.min()) / length * 10).astype(int), 9)
    if not held.any() or len(np.unique(bins[held])) > 5:
        return
    depths = [float(np.ptp(centred @ way)) for way in _bending_directions(part, axes, held, loads)]
    depth = min(depths, default=np.inf)
    cells = depth / float(np.cbrt(6.0 * np.abs(tet_volumes(rest, tets)).mean()))  # six tets make a cube
    if length >= SLENDER * depth and cells < FEWEST_CELLS - 0.5:
        count = max(1, round(cells))
        yield (
            f"only {count} cell{'s' if count > 1 else ''} across the {depth:.3g} m of its bent section, "
            f"where {FEWEST_CELLS} are needed: it is too stiff in bending. "
            f"Use {part.model.bending_remedy(depth / FEWEST_CELLS)}. {see('it-is-too-stiff')}"
        )


def _bending_directions(part: BodyState, axes: Array, held: BoolArray, loads: Loads) -> list[Array]:
    """Unit vectors across the body in which loads bend it: the axes of an oblong section, otherwise the
    direction of the load; ``axes`` (3, 3) are those of its inertia, the longest first."""
    totals = np.array([forces[~held].sum(axis=0) for forces in loads.on(part)])
    across = totals - np.outer(totals @ axes[0], axes[0])
    sizes = np.linalg.norm(across, axis=1)
    strongest = int(sizes.argmax())
    if sizes[strongest] <= UNBALANCED * max(float(np.abs(f).sum()) for f in loads.on(part)):
        return []
    wide, flat = (float(np.ptp(part.structure.rest @ axis)) for axis in axes[1:])
    if wide > OBLONG * flat:
        return [axis for axis in axes[1:] if np.abs(across @ axis).max() > 0.3 * sizes[strongest]]
    straight = sizes[strongest] > 0.98 * np.linalg.norm(totals[strongest])
    load = (totals if straight else across)[strongest]  # irregular particles tilt the axis a little
    return [load / np.linalg.norm(load)]


# ------------------------------------------------------------------------------------------ supports


def _rigid_modes(part: BodyState, loads: Loads) -> Iterator[str]:
    """Rigid motions that nothing holds, though a load does work on them."""
    rest, held = part.structure.rest, loads.held[part.rows]
    arms = rest - rest.mean(axis=0)
    extent = float(np.abs(arms).max())
    moves = [np.broadcast_to(axis, arms.shape) for axis in AXES]
    modes = np.stack([*moves, *(np.cross(axis, arms) / extent for axis in AXES)])  # (6, n, 3)
    constrained = modes[:, held].T  # (driven degrees of freedom, 6)
    values, vectors = np.linalg.eigh(constrained.T @ constrained)
    free = vectors[:, values <= DEGENERATE * max(float(values[-1]), 1.0)]
    if not free.size:
        return
    unbalanced = 0.0
    for force in loads.on(part):
        total = float(np.linalg.norm(force, axis=1).sum())
        pushed = free.T @ np.einsum("kni,ni->k", modes, force)
        unbalanced = max(unbalanced, float(np.linalg.norm(pushed)) / total if total else 0.0)
    if unbalanced > UNBALANCED:
        count = free.shape[1]
        yield (
            f"{count} of its 6 rigid motions {'is' if count == 1 else 'are'} not held, and loads push it "
            "that way: there is no equilibrium. Use fix on more particles or axes"
        )


# ------------------------------------------------------------------------------------------- impacts


def _missed_impacts(simulation: Simulation, loads: Loads, duration: float) -> Iterator[str]:
    """Bodies that move further than their spacing in the step in which they hit something; with barrier
    contact, which misses nothing, those whose impact is too short for the step."""
    step, world = simulation.plan.seconds, simulation.system.world
    barrier = any(isinstance(runtime, BarrierContact) for _, runtime in simulation.system.actions)
    contact = any(label == "contact" for label, _ in simulation.system.actions)
    for part in world.bodies:
        if part.model.own_step:  # such bodies divide the step
            continue
        worst, what = 0.0, ""
        for label, runtime in simulation.system.actions:
            if isinstance(runtime, ObstacleRuntime):
                speed = _impact_speed(part, runtime, loads, duration)
                worst, what = max((worst, what), (speed, label))
        for other in world.bodies if len(world.bodies) <= COMPARED_BODIES else ():
            if other is not part and contact:
                speed = _closing_speed(part, other, loads, duration)
                worst, what = max((worst, what), (speed, f"body '{other.name}'"))
        spacing = float(part.structure.spacing)
        if barrier:
            lasts = _contact_time(part, worst) if worst > 0.0 else np.inf
            if step > lasts / STEPS_OF_CONTACT:
                yield (
                    f"body '{part.name}' hits {what} at {worst:.3g} m/s for about {lasts:.2g} s: steps of "
                    f"{step:.3g} s lose part of its rebound. If the rebound matters, use step = "
                    f"{_round_down(0.5 * lasts / STEPS_OF_CONTACT):g}"
                )
        elif worst * step > spacing:
            yield (
                f"body '{part.name}' hits {what} at {worst:.3g} m/s and moves {worst * step:.3g} m in a step "
                f"of {step:.3g} s, more than its spacing of {spacing:.3g} m: the impact is missed or its "
                f"rebound lost. Use step = {_round_down(0.5 * spacing / worst):g}. "
                f"{see('it-passes-through')}"
            )


def _contact_time(part: BodyState, speed: float) -> float:
    """How long [s] a ball of the body's mass, volume and stiffness is in contact after hitting a wall at
    ``speed`` [m/s], by Hertz: 2.94 (15/16)^(2/5) (m^2 / (E'^2 R v))^(1/5)."""
    mass, material = float(part.structure.mass.sum()), part.material
    radius = (0.75 * mass / (np.pi * material.density)) ** (1.0 / 3.0)
    modulus = material.young / (1.0 - material.poisson**2)
    return float(2.94 * (0.9375**2 * mass**2 / (modulus**2 * radius * speed)) ** 0.2)


def _impact_speed(part: BodyState, obstacle: ObstacleRuntime, loads: Loads, duration: float) -> float:
    gaps, normals = obstacle.distances(0.0, part.structure.rest)
    nearest = int(gaps.argmin())
    times = np.linspace(0.0, duration, 201)
    places = obstacle.path.at_all(times)
    toward = float((np.diff(places, axis=0) @ normals[nearest]).max() / (times[1] - times[0]))
    speed, growth = _motion(part, loads)
    approach = -float(speed @ normals[nearest]) + max(0.0, toward)
    return _speed_after(max(0.0, float(gaps[nearest])), approach, -float(growth @ normals[nearest]), duration)


def _closing_speed(part: BodyState, other: BodyState, loads: Loads, duration: float) -> float:
    from scipy.spatial import cKDTree

    gaps, rows = map(np.asarray, cKDTree(other.structure.rest).query(part.structure.rest))
    nearest = int(np.argmin(gaps))
    gap = float(gaps[nearest])
    if gap == 0.0:
        return 0.0
    normal = (part.structure.rest[nearest] - other.structure.rest[rows[nearest]]) / gap
    (speed, growth), (against, grows) = _motion(part, loads), _motion(other, loads)
    return _speed_after(gap, -float((speed - against) @ normal), -float((growth - grows) @ normal), duration)


def _motion(part: BodyState, loads: Loads) -> tuple[Array, Array]:
    """Mean velocity [m/s] and acceleration [m/s2] of a body; none where it is held."""
    rows = part.rows
    if loads.held[rows].any():
        return np.zeros(3), np.zeros(3)
    mass = loads.world.mass[rows]
    speed = np.average(loads.world.v[rows], axis=0, weights=mass)
    return np.asarray(speed), np.asarray(loads.samples[0][rows].sum(axis=0) / mass.sum())


def _speed_after(gap: float, speed: float, growth: float, duration: float) -> float:
    """Speed [m/s] when ``gap`` [m] is closed by uniformly accelerated motion; 0 where it is not in time."""
    if speed * duration + 0.5 * growth * duration**2 < gap:
        return 0.0
    return float(np.sqrt(max(0.0, speed**2 + 2.0 * growth * gap)))


def _round_down(value: float) -> float:
    """One significant digit."""
    scale = 10.0 ** np.floor(np.log10(value))
    return float(np.floor(value / scale) * scale)
