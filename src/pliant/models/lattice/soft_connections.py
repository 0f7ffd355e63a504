"""Connections that a crack goes through: they soften until nothing holds their ends together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.models.lattice import soft_connection_kernels

if TYPE_CHECKING:
    from pliant.models.springs.network import SpringNetwork

_KEPT = ("which", "onset", "end", "opening", "damage")


class SofteningConnections:
    r"""Connections of a network whose stiffness falls with their largest opening (cohesive unloading).

    With the stretch s = l - L, its value :math:`e_0` where softening begins, and m the largest
    :math:`s - e_0` so far, the stiffness of a stretched connection is :math:`(1 - D) k`,

    .. math:: D = 1 - \max(0, 1 - m/e_f)\, e_0 / (e_0 + m),

    so that its force falls linearly from :math:`k e_0` to nothing at :math:`m = e_f`; it unloads to zero, and
    pressed it is as stiff as before. When D grows by dD it takes :math:`\tfrac12 k s^2 dD`. Softening
    connections stay intact, but the network leaves their forces to this class.

    which (q,): their numbers in the network; onset, end (q,) [m]: e0 and e_f; opening [m]: m; damage: D.
    """

    def __init__(self, network: "SpringNetwork") -> None:
        self.which: IntArray = np.empty(0, np.int64)
        self.onset, self.end, self.opening, self.damage = (np.empty(0) for _ in range(4))
        self.attach(network)

    def attach(self, network: "SpringNetwork") -> None:
        """Take rest lengths and stiffnesses from ``network``, and the forces over from it."""
        self.network = network
        self._ends = np.ascontiguousarray(network.edges[self.which])
        self._lengths, self._stiffness = network.lengths_of(self.which), network.own[self.which]
        network.soften(self.which)

    @property
    def _arrays(self) -> tuple[IntArray, Array, Array, Array]:
        return self._ends, self._lengths, self._stiffness, self.damage

    def add(self, which: IntArray, onset: Array, end: Array) -> None:
        """Let connections soften that have not begun to."""
        order = np.argsort(np.append(self.which, which), kind="stable")
        for name, more in (("which", which), ("onset", onset), ("end", end)):
            setattr(self, name, np.append(getattr(self, name), more)[order])
        for name in ("opening", "damage"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(len(which)))[order])
        self.attach(self.network)

    def advance(self, x: Array) -> bool:
        """Bring the damage up to the present stretches; True if it grew."""
        if not len(self.which):
            return False
        grown = soft_connection_kernels.soft_damage(
            self._ends, self._lengths, self.onset, self.end, self.opening, self.damage, x
        )
        return bool(grown)

    def opened(self) -> IntArray:
        """Numbers of the connections that hold nothing any more."""
        return self.which[self.damage >= 1.0]

    def drop(self, which: IntArray) -> None:
        """Forget connections that have broken."""
        gone = np.isin(self.which, which)
        if gone.any():
            self._select(~gone)
            self.attach(self.network)

    def renumber(self, network: "SpringNetwork", name: IntArray) -> None:
        """Follow into a network in which connection c has the number ``name[c]``, or is gone (-1)."""
        self.which = name[self.which]
        self._select(self.which >= 0)
        self._select(np.argsort(self.which, kind="stable"))
        self.attach(network)

    def _select(self, chosen: AnyArray) -> None:
        for name in _KEPT:
            setattr(self, name, getattr(self, name)[chosen])

    # ------------------------------------------------------------------------------------- forces

    def add_forces(self, x: Array, out: Array) -> None:
        if len(self.which):
            soft_connection_kernels.soft_forces(*self._arrays, x, out)

    def add_damping(self, beta: float, x: Array, v: Array, out: Array) -> None:
        if len(self.which):
            soft_connection_kernels.soft_damping(*self._arrays, beta, x, v, out)

    def add_product(self, x: Array, dx: Array, out: Array) -> None:
        if len(self.which):
            soft_connection_kernels.soft_product(*self._arrays, x, dx, out)

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        if len(self.which):
            soft_connection_kernels.soft_forces_between(*self._arrays, before, after, out)

    def energy(self, x: Array) -> float:
        return (
            float(soft_connection_kernels.soft_energies(*self._arrays, x).sum()) if len(self.which) else 0.0
        )

    def present_stiffness(self, x: Array) -> Array:
        """Stiffnesses (q,) [N/m] at ``x``."""
        d = x[self._ends[:, 1]] - x[self._ends[:, 0]]
        stretched = np.linalg.norm(d, axis=1) > self._lengths
        return np.asarray(self._stiffness * np.where(stretched, 1.0 - self.damage, 1.0))

    # ------------------------------------------------------------------------------------ restart

    def state(self) -> dict[str, AnyArray]:
        return {f"soft/{name}": getattr(self, name) for name in _KEPT}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from what ``state`` gave; the network is restored already."""
        for name in _KEPT:
            setattr(self, name, state[f"soft/{name}"].copy())
        self.attach(self.network)
