"""What makes a step safe: where a solve starts, what a step may gain, exact momentum, kinetic damping."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate

if TYPE_CHECKING:
    from pliant.simulation.system import System

SUSPICIOUS = 30.0  # times the residual of staying: then energies decide about the guess
GAIN = 0.005  # share of the moving energy that a step may gain before it is taken in halves


def first_guess(potential: IncrementalPotential, energies: bool) -> Iterate:
    """Where to start: where inertia leads, or, if that is a far worse place, where the step began."""
    world = potential.system.world
    free = world.inverse_mass > 0.0
    stay = np.where(free, world.x, potential.x)
    if potential.contact is not None:
        potential.contact.place(potential, stay)
    if potential.static:
        return potential.iterate(stay)
    ahead = np.where(free, potential.x_tilde, potential.x)
    if potential.contact is not None:
        potential.contact.place(potential, ahead)
    led = potential.iterate(ahead)
    masses = (world.mass, world.inverse_mass, potential.inertia, potential.scale)
    staying, _ = kernels.residual(stay, potential.x_tilde, world.f, *masses, np.empty_like(stay))
    if led.norm <= SUSPICIOUS * np.sqrt(staying):
        return led
    if np.isfinite(led.norm) and energies:
        outer = potential.outer_forces(stay)
        gain = potential.energy(ahead) - potential.energy(stay) - float(np.sum(outer * (ahead - stay)))
        if gain <= 0.0:
            return led
    return potential.iterate(stay)


def gains_energy(potential: IncrementalPotential, x: Array, v: Array, forces: Array, energies: bool) -> bool:
    """Whether a midpoint step that ends at ``x``, ``v`` with ``forces`` [N] there would feed energy in: more
    than GAIN of what moves.

    The work of the stage's forces is what kinetic energy gets; where that of the forces at both ends
    differs, energies decide.
    """
    system, world = potential.system, potential.system.world
    dx = (x - world.x).reshape(-1)
    given = float(kernels.dot(potential.f.reshape(-1), dx))
    ends = 0.5 * float(kernels.dot((world.f + forces).reshape(-1), dx))
    moving = [0.5 * float(np.sum(world.mass[:, None] * u**2)) for u in (world.v, v)]
    if not energies or abs(given - ends) <= GAIN * (abs(given) + sum(moving)):
        return not np.isfinite(given + ends)
    outer, known = np.zeros_like(x), world.inverse_mass == 0.0
    system.external_forces(potential.time, potential.x, potential.v, outer)
    outer[known] -= potential.f[known]
    if potential.contact is not None:
        outer[potential.contact.rows] += potential.contact.force
    work = float(kernels.dot(outer.reshape(-1), dx))
    before = moving[0] + system.internal_energy(world.x)
    after = moving[1] + system.internal_energy(x)
    return not after - before - work <= GAIN * (before + abs(work))


def conserve_momentum(potential: IncrementalPotential, last: Iterate) -> bool:
    """Shift bodies that nothing holds so that the sum of the residual is zero: their momentum is exact.

    True if there are any.
    """
    world, moved = potential.system.world, False
    for part in world.bodies:
        rows = part.rows
        loose = (world.inverse_mass[rows] > 0.0).all(axis=0)
        if potential.contact is not None:
            held = potential.contact.rows
            loose &= not bool(np.any((held >= rows.start) & (held < rows.stop)))
        if loose.any():
            shift = -last.g[rows].sum(axis=0) / world.mass[rows].sum()
            last.x[rows] += np.where(loose, shift, 0.0)
            moved = True
    return moved


class KineticDamping:
    """Ends all free motion once the kinetic energy has begun to fall: bodies come to rest in few steps."""

    def __init__(self) -> None:
        self.peak = 0.0  # kinetic energy after the last step [J]

    def stop_at_peak(self, system: "System") -> None:
        """Stop the World where its kinetic energy is below that of the last call."""
        world = system.world
        free = world.inverse_mass > 0.0
        kinetic = 0.5 * float(np.sum(world.mass[:, None] * np.where(free, world.v, 0.0) ** 2))
        if kinetic < self.peak:
            world.v[free] = 0.0
            system.totals.damping += kinetic
            kinetic = 0.0
        self.peak = kinetic
