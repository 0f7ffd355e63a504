"""What makes a step safe: where a solve starts, what a step may gain, kinetic damping."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential, Iterate
from pliant.integrators.implicit.rigid_motion import ConnectedParts

if TYPE_CHECKING:
    from pliant.simulation.system import System

PROMISING = 10.0  # times the tolerance: a guess with a smaller residual is taken as it is
SUSPICIOUS = 30.0  # times the residual of staying: then energies decide about the guess
LEAST_FACTOR = 0.8  # on the kinetic energy of deformation, where the energy of a step is restored
GAIN = 0.005  # share of the moving energy that a step may gain before it is taken otherwise


def first_guess(
    potential: IncrementalPotential, parts: ConnectedParts | None, energies: bool, good: float
) -> Iterate:
    """Where to start: where the motion leads (``ConnectedParts.ahead``) with the present shape or with what
    that becomes, or, if that is a far worse place, where the step began. good: a residual at which nothing
    else is tried."""
    world = potential.system.world
    free = world.inverse_mass > 0.0
    stay = np.where(free, world.x, potential.x)
    if potential.contact is not None:
        potential.contact.place(potential, stay)
    if potential.static:
        return potential.iterate(stay)
    x, v, _ = potential.stage.origin
    led: Iterate | None = None
    for deform in (True, False):
        if parts is None:
            led_to = x + potential.lead * v
        else:
            between = potential.between is not None
            led_to = parts.ahead(x, v, potential.lead, potential.x_tilde, between, deform)
        ahead = np.where(free, led_to, potential.x)
        if potential.contact is not None:
            potential.contact.place(potential, ahead)
        found = potential.iterate(ahead)
        led = found if led is None or found.norm < led.norm else led
        if parts is None or not parts.free.any() or led.norm <= good:
            break
    assert led is not None
    masses = (world.mass, world.inverse_mass, potential.inertia, potential.scale)
    staying, _ = kernels.residual(stay, potential.x_tilde, world.f, *masses, np.empty_like(stay))
    if led.norm <= SUSPICIOUS * np.sqrt(staying):
        return led
    if np.isfinite(led.norm) and energies and potential.between is None:
        outer = potential.outer_forces(stay)
        gain = potential.energy(led.x) - potential.energy(stay) - float(np.sum(outer * (led.x - stay)))
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


class StepEnergy:
    """Kinetic and elastic energy over a step [J], and the ``work`` of all other forces.

    That of prescribed degrees of freedom is work: their kinetic energy is left out, and the forces that move
    them work against those of the bodies.
    """

    def __init__(self, system: "System") -> None:
        world = system.world
        self._system = system
        self._mass = np.where(world.inverse_mass > 0.0, world.mass[:, None], 0.0)
        self.before = self.kinetic(world.v) + system.internal_energy(world.x)
        self.work = self.elastic = 0.0

    def kinetic(self, v: Array) -> float:
        """Kinetic energy [J] of the free degrees of freedom at velocities ``v``."""
        return 0.5 * float(np.sum(self._mass * v**2))

    def end(self, x: Array, outer: Array) -> None:
        """Take the end ``x`` of the step; outer (n, 3): the mean over the step of the forces [N] on it that
        are not the bodies' own, and minus those of the bodies where motion is prescribed."""
        self.work = float(np.sum(outer * (x - self._system.world.x)))
        self.elastic = self._system.internal_energy(x)

    def gain(self, v: Array) -> float:
        """Energy [J] from nothing, if the step ends with velocities ``v``."""
        return self.kinetic(v) + self.elastic - self.before - self.work

    def is_gain(self, v: Array) -> bool:
        """Whether a step that ends with ``v`` gains more than GAIN of what moves; true of what is no
        number."""
        return not self.gain(v) <= GAIN * (self.before + abs(self.work))

    def restored(self, v: Array, deformation: Array) -> Array:
        """Velocities ``v`` without the gain, by a change of the ``deformation`` velocities alone (n, 3),
        which have no momenta: of a tenth at most."""
        change, moving = self.gain(v), self.kinetic(deformation)
        if not moving > 0.0:
            return v
        factor = np.sqrt(min(max(1.0 - change / moving, LEAST_FACTOR), 1.0 / LEAST_FACTOR))
        return np.asarray(v + np.where(self._mass > 0.0, (factor - 1.0) * deformation, 0.0))

    def most_of(self, spin: Array, v: Array) -> float:
        """The largest share in [0, 1] of the change ``spin`` of velocities with which nothing is gained."""
        room = -self.gain(v)
        a = float(np.sum(self._mass * spin * spin))
        b = float(np.sum(self._mass * spin * v))
        if a == 0.0 or 0.5 * a + b <= room:
            return 1.0
        if room < 0.0:
            return 0.0 if b >= 0.0 else min(1.0, -b / a)
        return float(min(1.0, max(0.0, (-b + np.sqrt(b * b + 2.0 * a * room)) / a)))


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
