"""Impulses of contacts on particles and between bodies, for runs that record or measure contact forces."""

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray


class ContactWatch:
    """What some bodies take from others: impulses [N s] since the last row, and which particles press.

    own (b,): the bodies that take them; others (b,): the bodies that give them; obstacles: the names of the
    obstacles that do. ``impulse`` (9,): the normal part, the part across the normal, and the moment about the
    origin; ``force`` (9,): the same of penalty contact as of its last evaluation, which acts for the step.
    """

    def __init__(self, own: BoolArray, others: BoolArray, obstacles: frozenset[str], each_step: bool) -> None:
        self.own, self.others, self.obstacles, self.each_step = own, others, obstacles, each_step
        self.impulse, self.force = np.zeros(9), np.zeros(9)
        self.elapsed = 0.0
        self.points = 0  # of rigid bodies on obstacles that bore impulses in this step
        self.count = 0  # points and particles that did in the last one
        self.touching: BoolArray = np.zeros(0, bool)  # particles that pressed in the last step
        self._between: BoolArray = np.zeros(0, bool)  # and at the last evaluation of penalty contact
        self._now: BoolArray = np.zeros(0, bool)

    def resize(self, count: int) -> None:
        """Begin again with ``count`` particles."""
        self.touching, self._between, self._now = (np.zeros(count, bool) for _ in range(3))

    def end_step(self, dt: float) -> None:
        """Count a step of ``dt`` [s]."""
        self.impulse += dt * self.force
        self.elapsed += dt
        self.touching = self._now | self._between
        self.count, self.points = int(self.touching.sum()) + self.points, 0
        self._now = np.zeros_like(self._now)

    def reset(self) -> None:
        """A row of series begins."""
        self.impulse, self.elapsed = np.zeros(9), 0.0

    def mean(self) -> Array:
        """Mean normal force, force across it, and moment about the origin (9,) since the last row."""
        return self.impulse / self.elapsed if self.elapsed else np.zeros(9)

    def takes(self, own: IntArray, other: IntArray | str) -> BoolArray:
        """Which contacts (k,) are watched: ``own`` (k,) bodies with ``other`` bodies (k,) or an obstacle."""
        mine = self.own[own]
        if isinstance(other, str):
            return mine if other in self.obstacles else np.zeros(len(own), bool)
        return np.asarray(mine & self.others[other])

    def press(self, rows: IntArray, between: bool) -> None:
        """Note that particles ``rows`` bear a force now."""
        (self._between if between else self._now)[rows] = True

    def begin_evaluation(self) -> None:
        """Penalty contact is evaluated again."""
        self.force, self._between = np.zeros(9), np.zeros_like(self._between)

    def state(self) -> dict[str, AnyArray]:
        return {
            "sums": np.concatenate([self.impulse, self.force, [self.elapsed, self.count]]),
            "touching": np.stack([self.touching, self._between]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        sums = state["sums"]
        self.impulse, self.force, self.elapsed = sums[:9].copy(), sums[9:18].copy(), float(sums[18])
        self.count, self.points = int(sums[19]), 0
        self.touching, self._between = (each.copy() for each in state["touching"])
        self._now = np.zeros_like(self.touching)


class ContactImpulses:
    """Impulses (n, 3) [N s] that obstacles and other bodies gave to particles since the last frame.

    ``mean_force`` is their sum over the time since then, as in the series of obstacles: the mean forces on
    all particles add up to minus those series. ``forces``: those of penalty contact [N] as of its last
    evaluation, which act for the whole step. recorded: whether frames record them; watches: sums between
    bodies that measures ask for.
    """

    def __init__(self, count: int, recorded: bool = True) -> None:
        self.recorded = recorded
        self.watches: list[ContactWatch] = []
        self.resize(count)

    def resize(self, count: int) -> None:
        """Begin again with ``count`` particles: the mesh has changed."""
        self.impulse: Array = np.zeros((count, 3))
        self.forces: Array = np.zeros((count, 3))
        self.elapsed = 0.0
        for watch in self.watches:
            watch.resize(count)

    def watch(self, watch: ContactWatch) -> None:
        """Sum up what ``watch`` asks for from now on."""
        watch.resize(len(self.impulse))
        self.watches.append(watch)

    def add_obstacle(
        self, name: str, rows: IntArray, bodies: IntArray, points: Array, impulses: Array, normals: Array
    ) -> None:
        """Add ``impulses`` (k, 3) of the obstacle ``name`` on ``rows`` (k,), which may repeat, of ``bodies``
        (k,), at ``points`` (k, 3), where it has the ``normals`` (k, 3)."""
        along = np.einsum("ki,ki->k", impulses, normals)[:, None] * normals
        np.add.at(self.impulse, rows, impulses)
        pressing = np.abs(along).max(axis=1) > 0.0
        for watch in self.watches:
            mine = watch.takes(bodies, name)
            watch.impulse += _sums(points[mine], along[mine], (impulses - along)[mine])
            watch.press(rows[mine & pressing], False)

    def add_on_body(self, name: str, body: int, sums: Array, points: int) -> None:
        """Add impulses of the obstacle ``name`` on a body as a whole, at some of its ``points``: sums (9,) of
        their normal parts, the parts across, and their moments about the origin."""
        for watch in self.watches:
            if watch.takes(np.array([body]), name)[0]:
                watch.impulse += sums
                watch.points = points

    def add_between(
        self,
        own: IntArray,
        other: IntArray | str,
        points: Array,
        normal: Array,
        across: Array,
        rows: Sequence[IntArray] | None,
        force: bool,
    ) -> None:
        """Add contacts (k,): ``normal`` parts (k, 3) and parts ``across`` (k, 3) at ``points`` (k, 3) on
        bodies ``own`` (k,) from ``other`` ones or an obstacle; forces of an evaluation, or impulses. rows:
        the particles of each contact."""
        for watch in self.watches:
            mine = watch.takes(own, other)
            if not mine.any():
                continue
            found = _sums(points[mine], normal[mine], across[mine])
            if force:
                watch.force += found
            else:
                watch.impulse += found
            pressing = mine & (np.abs(normal).max(axis=1) > 0.0)
            if rows is not None and pressing.any():
                watch.press(np.concatenate([rows[k] for k in np.flatnonzero(pressing).tolist()]), force)

    def begin_evaluation(self) -> None:
        """Penalty contact is evaluated again."""
        self.forces[:] = 0.0
        for watch in self.watches:
            watch.begin_evaluation()

    def end_step(self, dt: float) -> None:
        """Count a step of ``dt`` [s]."""
        self.impulse += dt * self.forces
        self.elapsed += dt
        for watch in self.watches:
            watch.end_step(dt)

    def reset(self) -> None:
        """A frame begins."""
        self.impulse[:], self.elapsed = 0.0, 0.0
        for watch in self.watches:
            if not watch.each_step:
                watch.reset()

    def reset_steps(self) -> None:
        """A planned step begins."""
        for watch in self.watches:
            if watch.each_step:
                watch.reset()

    def mean_force(self) -> Array:
        """Mean contact force (n, 3) [N] since the last frame; zero at the start."""
        return self.impulse / self.elapsed if self.elapsed else np.zeros_like(self.impulse)

    def state(self) -> dict[str, AnyArray]:
        own = {"impulse": self.impulse, "forces": self.forces, "elapsed": np.array(self.elapsed)}
        for k, watch in enumerate(self.watches):
            own |= {f"watch-{k}/{name}": array for name, array in watch.state().items()}
        return {f"contact-impulses/{name}": array for name, array in own.items()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        def kept(name: str) -> Array:
            return np.array(state[f"contact-impulses/{name}"])

        self.impulse, self.forces = kept("impulse"), kept("forces")
        self.elapsed = float(state["contact-impulses/elapsed"])
        for k, watch in enumerate(self.watches):
            watch.restore({name: kept(f"watch-{k}/{name}") for name in ("sums", "touching")})


def _sums(points: Array, normal: Array, across: Array) -> Array:
    """Sums (9,): the normal parts, those across, and the moments about the origin."""
    moment = np.cross(points, normal + across).sum(axis=0)
    return np.concatenate([normal.sum(axis=0), across.sum(axis=0), moment])
