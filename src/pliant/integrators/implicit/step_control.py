"""What makes a step safe: where it starts, what it may gain, and exact momentum."""

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential

SUSPICIOUS = 30.0  # times the residual of staying: then energies decide about the guess
GAIN = 0.005  # share of the moving energy that a step may gain before it is taken in halves


def first_guess(stage: IncrementalPotential, energies: bool) -> tuple[Array, float]:
    """Where to start: where inertia leads, or, if that is a far worse place, where the step began."""
    world = stage.system.world
    free = world.inverse_mass > 0.0
    stay = np.where(free, world.x, stage.x)
    if stage.contacts is not None:
        stage.contacts.place(stage, stay)
    if stage.static:
        return stay, stage.evaluate(stay, stage.g)
    ahead = np.where(free, stage.y, stage.x)
    if stage.contacts is not None:
        stage.contacts.place(stage, ahead)
    norm = stage.evaluate(ahead, stage.g)
    args = (stay, stage.y, world.f, world.mass, world.inverse_mass, stage.inertia, stage.scale)
    if norm <= SUSPICIOUS * np.sqrt(kernels.residual(*args, np.empty_like(stay))[0]):
        return ahead, norm
    if np.isfinite(norm) and energies:
        outer = stage.outer_forces(stay)
        gain = stage.potential(ahead) - stage.potential(stay) - float(np.sum(outer * (ahead - stay)))
        if gain <= 0.0:
            return ahead, norm
    return stay, stage.evaluate(stay, stage.g)


def gains_energy(stage: IncrementalPotential, x: Array, v: Array, time: float, energies: bool) -> bool:
    """Whether a step that leaves its stage behind would feed energy in: more than GAIN of what moves.

    The work of the stage's forces is what kinetic energy gets; where that of the forces at both ends
    says otherwise, energies decide. Forces at the end are left in ``stage.end``.
    """
    system, world = stage.system, stage.system.world
    system.drive(time, x, v)
    stage.end = np.empty_like(x)
    system.evaluate(time, x, v, stage.end)
    dx = (x - world.x).reshape(-1)
    given = float(kernels.dot(stage.f.reshape(-1), dx))
    ends = 0.5 * float(kernels.dot((world.f + stage.end).reshape(-1), dx))
    moving = [0.5 * float(np.sum(world.mass[:, None] * u**2)) for u in (world.v, v)]
    if not energies or abs(given - ends) <= GAIN * (abs(given) + sum(moving)):
        return not np.isfinite(given + ends)
    outer, known = np.zeros_like(x), world.inverse_mass == 0.0
    system.external_forces(stage.time, stage.x, stage.v, outer)
    outer[known] -= stage.f[known]
    if stage.contacts is not None:
        outer[stage.contacts.rows] += stage.contacts.force
    work = float(kernels.dot(outer.reshape(-1), dx))
    before = moving[0] + system.internal_energy(world.x)
    after = moving[1] + system.internal_energy(x)
    return not after - before - work <= GAIN * (before + abs(work))


def conserve_momentum(stage: IncrementalPotential, x: Array) -> bool:
    """Shift bodies that nothing holds so that the sum of the residual is zero: their momentum is exact.

    True if there are any.
    """
    world, moved = stage.system.world, False
    for part in world.bodies:
        rows = part.rows
        loose = (world.inverse_mass[rows] > 0.0).all(axis=0)
        if stage.contacts is not None:
            held = stage.contacts.rows
            loose &= not bool(np.any((held >= rows.start) & (held < rows.stop)))
        if loose.any():
            shift = -stage.g[rows].sum(axis=0) / world.mass[rows].sum()
            x[rows] += np.where(loose, shift, 0.0)
            moved = True
    return moved
