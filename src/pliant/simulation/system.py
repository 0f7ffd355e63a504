"""The System: a World and everything that acts on it, as integrators see it."""

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.errors import IncompatibleError
from pliant.protocols import (
    Acting,
    Dissipation,
    Drive,
    Energy,
    Event,
    Forces,
    Ledger,
    Memory,
    Potential,
    Power,
    Projection,
    Settling,
)
from pliant.simulation.world import World
from pliant.typing import AnyArray, Array


class System:
    """Sums forces, drives prescribed degrees of freedom, projects constraints, keeps the energy ledger."""

    def __init__(self, world: World, actions: Sequence[tuple[str, Acting]], ledger: bool = False) -> None:
        self.world = world
        self.actions = list(actions)  # (label, runtime)
        self.ledger = Ledger()
        self.keeps_ledger = ledger
        self._pending = sorted(
            (a for _, a in self.actions if isinstance(a, Event)), key=lambda event: event.at
        )
        self._happened = 0
        self._settling = [a for _, a in self.actions if isinstance(a, Settling)]
        self._acting: list[bool] = [False] * len(self.actions)
        self._next_change = -np.inf
        self._refuse_double_drives()
        self._bind()

    # ------------------------------------------------------------------------------ what acts when

    def _refuse_double_drives(self) -> None:
        drives = [(label, a) for label, a in self.actions if isinstance(a, Drive)]
        for k, (label, a) in enumerate(drives):
            for other, b in drives[:k]:
                together = a.start < b.until and b.start < a.until
                if together and (a.axes & b.axes).any() and np.intersect1d(a.rows, b.rows).size:
                    raise IncompatibleError(
                        f"{label} and {other} prescribe the same particles along the same axes at once.",
                        hint="Give them other selections, axes, or times (from, until).",
                    )

    def _bind(self) -> None:
        """Collect bound methods once, so that a step costs few Python operations."""
        world = self.world
        self._mechanics = [(p.mechanics.add_forces, p.rows.start, p.rows.stop) for p in world.parts]
        active = [a for (_, a), on in zip(self.actions, self._acting, strict=True) if on]
        self._forces = [a.add_forces for a in active if isinstance(a, Forces)]
        self._drives = [a for a in active if isinstance(a, Drive)]
        projections = [a for a in active if isinstance(a, Projection)]
        projections.sort(key=lambda a: a.exact)
        self._projections = [a.project for a in projections]
        self._powers = [a for a in active if isinstance(a, Power)]
        self._moving = any(not getattr(drive, "still", False) for drive in self._drives)
        self._dissipating = [
            (p.mechanics.dissipation, p.rows) for p in world.parts if isinstance(p.mechanics, Dissipation)
        ]
        self.velocity_dependent = any(a.velocity_dependent for a in active if isinstance(a, Forces)) or any(
            getattr(p.mechanics, "damping_time", 0.0) for p in world.parts
        )

    def activate(self, time: float) -> None:
        """Bring the set of acting actions up to date for the step that starts at ``time``."""
        if time < self._next_change:
            return
        world = self.world
        for k, (_, action) in enumerate(self.actions):
            on = action.active(time)
            if on and not self._acting[k] and isinstance(action, Drive):
                action.begin(world)
            self._acting[k] = on
        edges = [edge for _, a in self.actions for edge in (a.start, a.until)]
        self._next_change = min((e - 1e-12 for e in edges if e - 1e-12 > time), default=np.inf)
        world.inverse_mass[:] = 1.0 / world.mass[:, None]
        self._bind()
        for drive in self._drives:
            world.inverse_mass[np.ix_(drive.rows, np.flatnonzero(drive.axes))] = 0.0
        self.drive(time, world.x, world.v)

    def rebind(self) -> None:
        """After a change of topology: rows have moved."""
        self._bind()

    def happen(self, time: float) -> bool:
        """Let the events whose time has come happen; True if any did."""
        first = self._happened
        while self._happened < len(self._pending) and self._pending[self._happened].at <= time + 1e-12:
            self._pending[self._happened].happen(self.world)
            self._happened += 1
        return self._happened > first

    # ------------------------------------------------------------------------ what integrators call

    def evaluate(self, time: float, x: Array, v: Array, out: Array) -> None:
        """Total force [N] on every particle, into ``out``."""
        out.fill(0.0)
        for add, start, stop in self._mechanics:
            add(x[start:stop], v[start:stop], out[start:stop])
        for add_external in self._forces:
            add_external(time, x, v, out)

    def drive(self, time: float, x: Array, v: Array) -> None:
        """Write the driven degrees of freedom at ``time`` into ``x`` and ``v``."""
        for drive in self._drives:
            drive.drive(time, x, v)

    def project(self, time: float, dt: float) -> None:
        """Apply contacts and constraints to the World after its drift to ``time``."""
        for project in self._projections:
            project(time, dt, self.world)

    # ---------------------------------------------------------------------------------- accounting

    def reactions(self, time: float) -> Array:
        """Forces that hold or move the driven degrees of freedom, ``m a - f`` [N]; shape (n, 3)."""
        world = self.world
        out = np.zeros_like(world.x)
        for drive in self._drives:
            needed = world.mass[drive.rows, None] * drive.acceleration(time) - world.f[drive.rows]
            out[drive.rows] += np.where(drive.axes, needed, 0.0)
        return out

    def account(self, time: float, dt: float) -> None:
        """Add a step's work and heat to the ledger (trapezoidal rule in time)."""
        if not self.keeps_ledger:
            return
        for action in self._settling:
            action.settle(self.ledger)
        now = self._power(time)
        before = self.ledger.powers or now
        self.ledger.work += 0.5 * dt * (before[0] + now[0])
        self.ledger.dissipated += 0.5 * dt * (before[1] + now[1])
        self.ledger.powers = now

    def _power(self, time: float) -> tuple[float, float]:
        world, work, heat = self.world, 0.0, 0.0
        if self._moving:
            work += float(np.sum(self.reactions(time) * world.v))
        for action in self._powers:
            w, h = action.power(time, world)
            work, heat = work + w, heat + h
        for dissipation, rows in self._dissipating:
            heat += dissipation(world.x[rows], world.v[rows])
        return work, heat

    def elastic_energy(self) -> float:
        """Elastic energy of all bodies that have one [J]."""
        world = self.world
        return sum(
            part.mechanics.energy(world.x[part.rows])
            for part in world.parts
            if isinstance(part.mechanics, Energy)
        )

    def potential_energy(self) -> float:
        """Energy in conservative external forces [J]."""
        return sum(a.potential(self.world.x) for _, a in self.actions if isinstance(a, Potential))

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        """Everything that a restart needs beyond the scene."""
        w = self.world
        ledger = self.ledger
        powers = ledger.powers or (np.nan, np.nan)
        found: dict[str, AnyArray] = {
            "x": w.x,
            "v": w.v,
            "f": w.f,
            "ledger": np.array([ledger.work, ledger.dissipated, *powers]),
            "happened": np.array(self._happened),
            "acting": np.array(self._acting),
            "topology_version": np.array(w.topology_version),
        }
        for key, owner in self._owners():
            for name, array in owner.state().items():
                found[f"{key}/{name}"] = array
        return found

    def restore(self, state: Mapping[str, AnyArray], time: float) -> None:
        """Continue from ``state``."""
        w = self.world
        for key, owner in self._owners():
            prefix = key + "/"
            owner.restore({n[len(prefix) :]: a for n, a in state.items() if n.startswith(prefix)})
        w.x[:], w.v[:], w.f[:] = state["x"], state["v"], state["f"]
        work, heat, p, q = (float(value) for value in state["ledger"])
        self.ledger = Ledger(work, heat, None if np.isnan(p) else (p, q))
        self._happened = int(state["happened"])
        self._acting = [bool(on) for on in state["acting"]]
        x, v = w.x.copy(), w.v.copy()
        self._next_change = -np.inf
        self.activate(time)
        w.x[:], w.v[:] = x, v

    def _owners(self) -> list[tuple[str, Memory]]:
        bodies = [(f"body/{p.name}", p.mechanics) for p in self.world.parts]
        acting = [(f"action/{k}", a) for k, (_, a) in enumerate(self.actions)]
        return [(key, owner) for key, owner in [*bodies, *acting] if isinstance(owner, Memory)]
