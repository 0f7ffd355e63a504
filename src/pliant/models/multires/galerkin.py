"""Levels coupled by slaved nodes and transposed forces: keeps momentum, and energy without damping."""

import numpy as np

from pliant.models.multires import kernels, tet_loops
from pliant.models.multires.levels import Hierarchy
from pliant.models.multires.motion import Motion, Near, Simulated, flagged, limit, nonzero_rows
from pliant.models.multires.schedule import heat_stride
from pliant.protocols import Pushing
from pliant.typing import Array, BoolArray, IntArray

POOR = 0.1  # share of its level's mass below which a node is pulled along by finer ones where it can be
LEAST = 0.03  # share that every other node has (about that of one tet): extrapolated weights may leave less
_NOBODY = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


class Galerkin(Simulated):
    r"""A tet is refined or not; what is simulated is one field over all levels.

    A fine tet counts by its share inside refined coarse tets (four sample points). A fine node is free if all
    its tets count in full; otherwise it is slaved to its parent tet, :math:`u = \sum w_i u_i`. With G the
    matrix of those weights, forces are :math:`G^T f`, masses the row sums :math:`G^T m` of the finest nodes'.
    So the sum of forces is zero, whatever the levels, and they are the gradient of an energy. A coarse node
    inside the refined part that a few slaves still hang on would have next to no mass: it is ``pulled``,
    takes the value of the finer tet around it and hands on to that what it gets. Every level's forces act at
    its own step, as impulses; positions move, and loads act, at the finest one.
    """

    synchronous = True

    def __init__(self, hierarchy: Hierarchy, motion: Motion, damping: float) -> None:
        self.hierarchy, self.motion, self.damping = hierarchy, motion, damping
        self.heat: Array = np.zeros(0)
        self.mass: list[Array] = [level.mass.copy() for level in hierarchy.levels]
        self.weight: list[Array] = [np.ones(len(level.tets)) for level in hierarchy.levels]
        self._buffers: list[Array] = [np.zeros((0, 3)) for _ in hierarchy.levels]
        self._none: list[Array] = [np.zeros((level.count, 3)) for level in hierarchy.levels]
        self.arrange([flagged(level.count) for level in hierarchy.levels])

    def limits(self) -> list[float]:
        return [limit(level.critical, self.damping) for level in self.hierarchy.levels]

    def arrange(self, split: list[BoolArray]) -> None:
        levels, links = self.hierarchy.levels, self.hierarchy.links
        count = len(levels)
        inside = np.ones(len(levels[0].tets))
        self.active, self.slaves, self.tets, self.nodes = [], [], [], []
        self.free: list[BoolArray] = []
        for k, level in enumerate(levels):
            partial = flagged(level.count)
            partial[level.tets[inside < 1.0].ravel()] = True
            touched = flagged(level.count)
            touched[level.tets[inside > 0.0].ravel()] = True
            refined = split[k][level.tets].all(axis=1) & (inside == 1.0) if k < count - 1 else None
            self.weight[k] = inside if refined is None else inside * ~refined
            self.free.append(~partial & touched)
            self.slaves.append(np.flatnonzero(partial & touched))
            self.tets.append(np.flatnonzero(self.weight[k] > 0.0))
            used = flagged(level.count)
            used[level.tets[self.tets[k]].ravel()] = True
            self.nodes.append(np.flatnonzero(used))
            if len(self.tets[k]) and not len(self._buffers[k]):
                self._buffers[k] = np.zeros((4 * len(level.tets), 3))
            if refined is not None:
                inside = refined[links[k].samples].mean(axis=1)
        for k in range(count - 1, 1, -1):  # what slaves hang on hangs itself, where it is not simulated
            above = np.unique(links[k - 1].corners[self.slaves[k]])
            self.slaves[k - 1] = np.union1d(self.slaves[k - 1], above[~self.free[k - 1][above]])
        self.deepest = max(k for k in range(count) if len(self.tets[k]))
        self._share_masses()
        self.active = [np.flatnonzero(self.free[k] & (self.mass[k] > 0.0)) for k in range(count)]
        self.replaced = [np.flatnonzero(self.free[k] & ~(self.mass[k] > 0.0)) for k in range(count)]
        self.absent = [np.flatnonzero(~self.free[k]) for k in range(count)]

    def _share_masses(self) -> None:
        levels = self.hierarchy.levels
        self._passed = [np.flatnonzero(~free) for free in self.free]  # hand what they have to parent tets
        self.pulled: list[IntArray] = [np.zeros(0, np.int64) for _ in levels]
        self._helped: list[tuple[IntArray, IntArray, Array]] = [_NOBODY for _ in levels]
        mass = levels[-1].mass[:, None]
        first = self._shared(mass)
        self.pulled = [self._poor(k, first[k][:, 0]) for k in range(len(levels))]
        masses = [share[:, 0] for share in self._shared(mass)]
        self._helped = [self._helpers(k, masses[k]) for k in range(len(levels))]
        self.mass = [share[:, 0] for share in self._shared(mass)]

    def _helpers(self, k: int, mass: Array) -> tuple[IntArray, IntArray, Array]:
        """Nodes of level k that have too little mass, the neighbours that give them some, and the share of
        theirs that these give."""
        level = self.hierarchy.levels[k]
        poor = np.flatnonzero((mass != 0.0) & (mass < LEAST * level.mass))
        if not len(poor):
            return _NOBODY
        rich = kernels.richest(poor, level.first, level.columns, mass)
        lacking = LEAST * level.mass[poor] - mass[poor]
        return poor, rich, lacking / mass[rich]

    def _poor(self, k: int, mass: Array) -> IntArray:
        """Nodes of level k to be pulled: no tet of theirs counts, and the finer tet around them is free."""
        if k == len(self.hierarchy.links):
            return np.zeros(0, np.int64)
        link, used = self.hierarchy.links[k], flagged(len(mass))
        used[self.nodes[k]] = True
        inside = (self.free[k + 1][link.down] | (link.down_weights == 0.0)).all(axis=1)
        return np.flatnonzero((mass != 0.0) & (mass < POOR * self.hierarchy.levels[k].mass) & ~used & inside)

    def _shared(self, values: Array) -> list[Array]:
        """:math:`G^T` times values (n, c) of the finest nodes, on free nodes."""
        levels = self.hierarchy.levels
        shares = [np.zeros((level.count, values.shape[1])) for level in levels]
        shares[-1][:] = values
        self._hand_on(len(levels) - 1, self._passed, shares)
        for share, (poor, rich, part) in zip(shares, self._helped, strict=True):
            given = part[:, None] * share[rich]
            share[poor] += given
            np.subtract.at(share, rich, given)
        return [np.where(free[:, None], share, 0.0) for free, share in zip(self.free, shares, strict=True)]

    def _hand_on(self, deepest: int, nodes: list[IntArray], values: list[Array]) -> None:
        """Add values of ``nodes`` to their parent tets', from level ``deepest`` up, then those of pulled
        nodes to their child tets', down again: the transpose of ``_hang_slaves``."""
        links = self.hierarchy.links
        for k in range(deepest, 0, -1):
            link = links[k - 1]
            kernels.hand_up(nodes[k], link.corners, link.weights, values[k], values[k - 1])
        for k in range(deepest):
            if len(pulled := self.pulled[k]):
                kernels.hand_up(pulled, links[k].down, links[k].down_weights, values[k], values[k + 1])
                values[k][pulled] = 0.0

    # ------------------------------------------------------------------------------------- motion

    def share(self, values: Array) -> list[Array]:
        """:math:`G^T f`, the same weights as those of the masses: sums and moments stay."""
        return self._shared(values)

    def weigh(self) -> None:
        self.inverse = []
        for mass, driven in zip(self.mass, self.motion.inverse, strict=True):
            free = mass > 0.0
            own = np.where(free, 1.0 / np.where(free, mass, 1.0), 0.0)
            self.inverse.append(np.where(driven > 0.0, own[:, None], 0.0))

    def advance(self, time: float, dt: float, counts: list[int], near: Near) -> None:
        self._counts, self._near, self._seconds = counts, near, dt
        self._kicks = [0] * len(counts)
        self._pushed: list[list[tuple[Pushing, IntArray]]] = [[] for _ in counts]
        self._near_nodes = [np.unique(np.concatenate([_NOBODY[0], *row])) for row in near.nodes]
        self._pressing: list[list[Array]] = [[] for _ in counts]  # forces on those, by the level that makes them
        self._hang_slaves()
        for s in range(counts[0]):
            self._step(0, time + s * dt / counts[0], dt / counts[0], 0.5 if s == 0 else 1.0)
        self._hang_slaves()
        for k in range(self.deepest + 1):
            self._kick(k, 0.5 * dt / counts[k])
        self._move(0.5 * dt / counts[self.deepest], 0.0)
        self._rest_on_obstacles(time + dt, [dt / count for count in counts])

    def _step(self, k: int, time: float, dt: float, part: float) -> None:
        """One step of level k and those of the finer levels within it; ``part`` of a kick: half at first."""
        counts = self._counts
        self._kick(k, part * dt)
        if k < self.deepest:
            ratio = counts[k + 1] // counts[k]
            for s in range(ratio):
                self._step(k + 1, time + s * dt / ratio, dt / ratio, part if s == 0 else 1.0)
        else:
            self._move(part * dt, dt)
            self._hang_slaves()
        self._contacts(k, time + dt, dt)

    def _contacts(self, k: int, time: float, dt: float) -> None:
        m, level = self.motion, self.hierarchy.levels[k]
        self._pushed[k] = []
        for obstacle, nodes in zip(self._near.obstacles, self._near.nodes[k], strict=True):
            if not len(nodes):
                continue
            before, v, mass = level.points[nodes], m.v[k][nodes], self.mass[k][nodes]
            x, speed = before + m.d[k][nodes], v.copy()
            obstacle.push(time, dt, x, speed, self._force_on(k, nodes), mass, m.inverse[k][nodes])
            m.d[k][nodes] = x - before
            m.v[k][nodes] = speed
            hit = nonzero_rows(speed != v)
            if len(hit):
                self._pushed[k].append((obstacle, nodes[hit]))

    def _force_on(self, k: int, nodes: IntArray) -> Array:
        """What presses nodes near obstacles: the last forces of all levels' tets, and loads."""
        place = np.searchsorted(self._near_nodes[k], nodes)
        total = self.motion.load[k][nodes]
        for forces in self._pressing:
            if k < len(forces):
                total += forces[k][place]
        return total

    def _rest_on_obstacles(self, time: float, dts: list[float]) -> None:
        """What was pushed last stays out: obstacles take what the last half kick would press into them."""
        m = self.motion
        for k, pushed in enumerate(self._pushed):
            for obstacle, nodes in pushed:
                v, mass = m.v[k][nodes], self.mass[k][nodes]
                ahead = self.hierarchy.levels[k].points[nodes] + m.d[k][nodes] + dts[k] * v
                still = np.zeros_like(v)  # velocities are those of the full step, and no place is changed
                obstacle.push(time, dts[k], ahead, v, still, mass, m.inverse[k][nodes])
                m.v[k][nodes] = v

    def _move(self, kick: float, drift: float) -> None:
        """Let loads kick all levels, and all levels drift."""
        m = self.motion
        for j in range(self.deepest + 1):
            none, load, w = self._none[j], m.load[j], self.inverse[j]
            kernels.kick_drift(self.active[j], m.d[j], m.v[j], none, load, w, kick, drift)

    def _hang_slaves(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self._pull(k)
        for k in range(1, self.deepest + 1):
            self.motion.hang(k, self.slaves[k])

    def _pull(self, k: int) -> None:
        if len(self.pulled[k]):
            link, m = self.hierarchy.links[k], self.motion
            for field in (m.d, m.v):
                kernels.hang(self.pulled[k], link.down, link.down_weights, field[k + 1], field[k])

    def _level_forces(self, k: int, dt: float = 0.0) -> None:
        """Forces of level k's tets: on its own nodes, and through slaves on all coarser levels."""
        m = self.motion
        if len(self.heat) and dt and self.damping:
            self._tet_forces(k, 0.0)
            free = m.f[k][self.nodes[k]]
        self._tet_forces(k, self.damping)
        if len(self.heat) and dt and self.damping:
            lost = free - m.f[k][self.nodes[k]]
            self.heat[0] += dt * float(np.sum(m.v[k][self.nodes[k]] * lost))
        for j in range(k):
            m.f[j].fill(0.0)
        self._hand_on(k, self.slaves, m.f)

    def _tet_forces(self, k: int, damping: float) -> None:
        m, level = self.motion, self.hierarchy.levels[k]
        m.f[k].fill(0.0)
        tet_loops.tet_forces(
            self.tets[k], self.nodes[k], level, self.weight[k], m.d[k], m.v[k], damping,
            self._buffers[k], m.f[k],
        )  # fmt: skip

    def _kick(self, k: int, dt: float) -> None:
        m, index, count = self.motion, self._kicks[k], self._counts[k]
        stride = heat_stride(count)
        counted = index % stride == 0 and index < count
        self._level_forces(k, stride * self._seconds / count if counted else 0.0)
        self._kicks[k] += 1
        if self._near.obstacles:
            self._pressing[k] = [m.f[j][self._near_nodes[j]] for j in range(k + 1)]
        for j in range(k + 1):
            none, w = self._none[j], self.inverse[j]
            kernels.kick_drift(self.active[j], m.d[j], m.v[j], m.f[j], none, w, dt, 0.0)

    def fill(self) -> None:
        for k in range(self.deepest - 1, -1, -1):
            self.motion.pull(k, self.replaced[k])
            self._pull(k)
        for k in range(1, len(self.absent)):
            self.motion.hang(k, self.absent[k])

    def reactions(self) -> None:
        m = self.motion
        total: list[Array] = [np.zeros_like(f) for f in m.f]
        for k in range(self.deepest + 1):
            self._level_forces(k)
            for j in range(k + 1):
                total[j] += np.where(self.free[j][:, None], m.f[j], 0.0)
        for f, value in zip(m.f, total, strict=True):
            f[:] = value

    def energy(self) -> tuple[float, float]:
        kinetic = elastic = 0.0
        m = self.motion
        for k, level in enumerate(self.hierarchy.levels):
            nodes = self.active[k]
            kinetic += 0.5 * float(np.sum(self.mass[k][nodes, None] * m.v[k][nodes] ** 2))
            out = np.zeros(len(self.tets[k]))
            tet_loops.tet_energies(
                self.tets[k], level.tets, level.gradients, level.volumes, self.weight[k], level.operator,
                level.lam, level.mu, m.d[k], out,
            )  # fmt: skip
            elastic += float(out.sum())
        return kinetic, elastic

    @property
    def exists(self) -> list[BoolArray]:
        return self.free
