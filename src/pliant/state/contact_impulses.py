"""Impulses of contacts on single particles, for runs that record contact forces."""

from collections.abc import Mapping

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray


class ContactImpulses:
    """Impulses (n, 3) [N s] that obstacles and other bodies gave to particles since the last frame.

    ``mean_force`` is their sum over the time since then, as in the series of obstacles: the mean forces on
    all particles add up to minus those series. ``forces``: those of penalty contact [N] as of its last
    evaluation, which act for the whole step.
    """

    def __init__(self, count: int) -> None:
        self.resize(count)

    def resize(self, count: int) -> None:
        """Begin again with ``count`` particles: the mesh has changed."""
        self.impulse: Array = np.zeros((count, 3))
        self.forces: Array = np.zeros((count, 3))
        self.elapsed = 0.0

    def add(self, rows: IntArray, impulses: Array) -> None:
        """Add ``impulses`` (k, 3) on ``rows`` (k,), which may repeat."""
        np.add.at(self.impulse, rows, impulses)

    def end_step(self, dt: float) -> None:
        """Count a step of ``dt`` [s]."""
        self.impulse += dt * self.forces
        self.elapsed += dt

    def reset(self) -> None:
        """A frame begins."""
        self.impulse[:], self.elapsed = 0.0, 0.0

    def mean_force(self) -> Array:
        """Mean contact force (n, 3) [N] since the last frame; zero at the start."""
        return self.impulse / self.elapsed if self.elapsed else np.zeros_like(self.impulse)

    def state(self) -> dict[str, AnyArray]:
        own = {"impulse": self.impulse, "forces": self.forces, "elapsed": np.array(self.elapsed)}
        return {f"contact-impulses/{name}": array for name, array in own.items()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.impulse = np.array(state["contact-impulses/impulse"])
        self.forces = np.array(state["contact-impulses/forces"])
        self.elapsed = float(state["contact-impulses/elapsed"])
