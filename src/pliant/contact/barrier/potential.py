"""The contact potential: barrier and lagged friction of the stencils of a tube."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pliant.contact.barrier import stencil_kernels as kernels
from pliant.contact.barrier.candidates import CandidateTube, ContactGeometry, Stencils
from pliant.contact.barrier.ccd_kernels import largest_move
from pliant.core.typing import AnyArray, Array, IntArray

BITS = 20  # of the body's number in a key
MEASURE_AGAIN = 0.2  # of the candidates: as many that may be near but are not make new distances worth it


@dataclass
class ActiveStencils:
    """Stencils in contact at some place: d (s,), w (s, 4), n (s, 3), energy, push [N] and curvature [N/m]
    along n (s,), grad (s, 4, 3) of the energy."""

    stencils: Stencils
    d: Array
    w: Array
    n: Array
    values: Array
    grad: Array

    @property
    def energy(self) -> float:
        return float(np.sum(self.values[:, 0]))

    @property
    def push(self) -> Array:
        return self.values[:, 1]

    @property
    def least(self) -> float:
        """The smallest distance over the distance at which contact begins; 1 where nothing touches."""
        return float((self.d / self.stencils.reach).min(initial=1.0))


@dataclass
class FrictionLag:
    """Friction as of some place: vertices (s, 4), w, n, the largest force ``load`` [N], stiffness of the
    springs [N/m], their stretch at the beginning of the step (s, 3) [m], and the keys of their history."""

    vertices: IntArray = field(default_factory=lambda: np.empty((0, 4), np.int64))
    w: Array = field(default_factory=lambda: np.empty((0, 4)))
    n: Array = field(default_factory=lambda: np.empty((0, 3)))
    load: Array = field(default_factory=lambda: np.empty(0))
    spring: Array = field(default_factory=lambda: np.empty(0))
    kept: Array = field(default_factory=lambda: np.empty((0, 3)))
    keys: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    stretch: Array = field(default_factory=lambda: np.empty((0, 3)))  # of the last evaluation
    force: Array = field(default_factory=lambda: np.empty((0, 3)))  # on the first side, of the last one [N]

    def evaluate(self, moved: Array) -> float:
        """Stretch and force after vertices have ``moved`` (v, 3) [m] since the step began; the energy [J]."""
        self.stretch, self.force = np.empty_like(self.kept), np.empty_like(self.kept)
        return float(
            kernels.friction(
                self.vertices,
                self.w,
                self.n,
                self.load,
                self.spring,
                self.kept,
                moved,
                self.stretch,
                self.force,
            )
        )

    def stored(self, stretch: Array) -> float:
        """Energy [J] of the springs at a ``stretch`` (s, 3), cut to what sticks."""
        across = stretch - np.einsum("si,si->s", stretch, self.n)[:, None] * self.n
        most = self.load / np.maximum(self.spring, 1e-300)
        size = np.minimum(np.linalg.norm(across, axis=1), most)
        return float(np.sum(0.5 * self.spring * size**2))

    def secant(self) -> Array:
        """Stiffness [N/m] across n of each spring at the last evaluation."""
        size = np.linalg.norm(self.stretch, axis=1)
        limit = np.maximum(size, self.load / np.maximum(self.spring, 1e-300))
        return np.where(self.load > 0.0, self.load / np.maximum(limit, 1e-300), 0.0)


class StretchHistory:
    """Stretches (k, 3) [m] of friction that stuck at the end of the last step, by key, sorted."""

    def __init__(self) -> None:
        self.keys: IntArray = np.empty(0, np.int64)
        self.stretch: Array = np.empty((0, 3))
        self.energy = 0.0  # that the springs hold [J]

    def of(self, keys: IntArray) -> Array:
        """The stretches of keys (s, 2); zero of those that are not there."""
        out = np.zeros((len(keys), 3))
        if len(self.keys) and len(keys):
            wanted = _packed(keys)
            place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            there = self.keys[place] == wanted
            out[there] = self.stretch[place[there]]
        return out

    def keep(self, lag: FrictionLag) -> None:
        """Keep the stretches of ``lag``, cut to what sticks: of several with one key that of the largest
        load; and the energy of all of them."""
        rubs = lag.load > 0.0
        keys, load, spring, stretch = (
            _packed(lag.keys[rubs]),
            lag.load[rubs],
            lag.spring[rubs],
            lag.stretch[rubs],
        )
        size = np.linalg.norm(stretch, axis=1)
        most = load / np.maximum(spring, 1e-300)
        cut = stretch * np.where(size > most, most / np.maximum(size, 1e-300), 1.0)[:, None]
        order = np.lexsort((-load, keys))
        first = np.ones(len(order), bool)
        first[1:] = keys[order][1:] != keys[order][:-1]
        self.keys, self.stretch = keys[order][first], cut[order][first]
        self.energy = float(np.sum(0.5 * spring * np.minimum(size, most) ** 2))

    def forget_from(self, first: int) -> None:
        """Forget what touched bodies and obstacles from number ``first`` on."""
        keep = (self.keys & ((1 << BITS) - 1)) < first
        self.keys, self.stretch = self.keys[keep], self.stretch[keep]

    def state(self) -> dict[str, AnyArray]:
        return {"keys": self.keys, "stretch": self.stretch, "springs": np.array(self.energy)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.keys, self.stretch = state["keys"].copy(), state["stretch"].copy()
        self.energy = float(state["springs"])


class BarrierPotential:
    """Evaluates contact at places of all vertices (v, 3); looks for candidates where it has to."""

    def __init__(self, geometry: ContactGeometry) -> None:
        self.geometry = geometry
        self.tube, self.history = CandidateTube(), StretchHistory()

    def prepare_way(self, x: Array, way: Array) -> Stencils:
        """The candidates for the way from ``x`` along ``way`` (v, 3) [m]."""
        tube = self.tube
        if tube.covers(self.geometry, x) and tube.covers(self.geometry, x + way):
            assert tube.stencils is not None
            return tube.stencils
        return tube.find(self.geometry, x, way)

    def clamp(self, x: Array, way: Array) -> tuple[float, int]:
        """The share of ``way`` from ``x`` on which all distances keep a fifth, and the candidate that allows
        no more, or -1."""
        s = self.prepare_way(x, way)
        since, known = self.tube.measured()
        return largest_move(x, way, s.kinds, s.vertices, s.normals, s.offsets, since, known)

    def active(self, x: Array) -> ActiveStencils:
        """What is in contact at ``x``, a place in the tube."""
        s = self.tube.stencils
        if s is None or not self.tube.covers(self.geometry, x):
            s = self.tube.find(self.geometry, x, np.zeros_like(x))
        since, known = self.tube.measured()
        chosen, looked = kernels.within(
            x, s.kinds, s.vertices, s.normals, s.offsets, s.reach, since, known
        )  # fmt: skip
        if looked > MEASURE_AGAIN * len(s.kinds) + len(chosen):
            self.tube.measure(x)
        near = s.some(chosen)
        n = len(near.kinds)
        out = np.empty(n), np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 4, 3))
        kernels.evaluate(
            x, near.kinds, near.vertices, near.normals, near.offsets, near.reach, near.stiffness,
            near.threshold, out,
        )  # fmt: skip
        return ActiveStencils(near, *out)

    def lag(self, active: ActiveStencils) -> FrictionLag:
        """Friction with the loads and directions of ``active``: ``L = mu N``, springs of the pair's stiffness
        that stretch by no more than 0.01 edges before they slip."""
        s = active.stencils
        rubs = np.flatnonzero((s.friction > 0.0) & (active.push > 0.0))
        load = s.friction[rubs] * active.push[rubs]
        spring = np.maximum(s.stiffness[rubs], load / s.stretch[rubs])
        return FrictionLag(
            s.vertices[rubs], active.w[rubs], active.n[rubs], load, spring, self.history.of(s.keys[rubs]),
            s.keys[rubs],
        )  # fmt: skip


def _packed(keys: IntArray) -> IntArray:
    return np.asarray((keys[:, 0] << BITS) | keys[:, 1], np.int64)
