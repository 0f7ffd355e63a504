"""Surfaces carried along with offsets that turn with the particles; the table of all kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.interfaces import Carrier, Structure
from pliant.mesh.mesh import Surface


@dataclass(frozen=True)
class FramedSurface(EmbeddedSurface):
    """A carried surface where some elements lie in a plane or a line and cannot tell what happens across it:
    points beside them keep an offset in the frame that three elements make.

    framed (q,): those points; frames (q, 3): elements; offsets (q, 3): at rest [m]; rest (q, 3, 3): the
    frames at rest.
    """

    kind: ClassVar[str] = "framed"

    framed: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    frames: IntArray = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    offsets: Array = field(default_factory=lambda: np.zeros((0, 3)))
    rest: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))

    def positions(self, x: Array) -> Array:
        out = super().positions(x)
        own = np.einsum("pij,pi->pj", self.rest, self.offsets)  # in the frame
        turned = np.einsum("pij,pj->pi", frames_of(x, self.frames), own)
        lone = np.flatnonzero(self.frames[:, 2] == self.frames[:, 1])
        if len(lone):
            turned[lone] = _swung(self.rest[lone, :, 0], x, self.frames[lone], self.offsets[lone])
        out[self.framed] += turned
        return out

    def arrays(self) -> dict[str, AnyArray]:
        mine = {"framed": self.framed, "frames": self.frames, "offsets": self.offsets}
        return {**super().arrays(), **mine, "frames-at-rest": self.rest}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        base = EmbeddedSurface.from_arrays(arrays)
        return cls(
            base.surface, base.indices, base.weights, base.extrapolation,
            arrays["framed"], arrays["frames"], arrays["offsets"], arrays["frames-at-rest"],
        )  # fmt: skip


def carried_velocities(carrier: Carrier, x: Array, v: Array) -> Array:
    """Velocities (p, 3) [m/s] of a carried surface whose particles are at ``x`` and move with ``v`` (n, 3).

    Places that are combinations of particles move with the same combinations of velocities. Offsets that turn
    do not: there it is the change of place over a very short way, a 1e-5th of the smallest frame.
    """
    if not isinstance(carrier, FramedSurface) or not len(carrier.framed):
        return carrier.positions(v)
    speed = float(np.abs(v).max(initial=0.0))
    length = np.linalg.norm(x[carrier.frames[:, 1]] - x[carrier.frames[:, 0]], axis=1)
    if not speed or not length.any():
        return carrier.positions(x) * 0.0
    apart = 1e-5 * float(length[length > 0.0].min()) / speed
    return (carrier.positions(x + apart * v) - carrier.positions(x - apart * v)) / (2.0 * apart)


def frames_of(x: Array, triples: IntArray) -> Array:
    """Right-handed frames (q, 3, 3), axes as columns: along a -> b, and towards c across it. Where there is
    no c, one of the world's axes takes its place; where there is no b, the frame stays."""
    a, b, c = (x[triples[:, k]] for k in range(3))
    one, two = b - a, c - a
    length = np.linalg.norm(one, axis=1, keepdims=True)
    one = np.where(length > 0.0, one / np.where(length > 0.0, length, 1.0), [1.0, 0.0, 0.0])
    lone = (triples[:, 2] == triples[:, 1])[:, None]
    helper = np.where(np.abs(one[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    two = np.where(lone, helper, two)
    two = two - np.einsum("ij,ij->i", one, two)[:, None] * one
    two /= np.maximum(np.linalg.norm(two, axis=1, keepdims=True), 1e-300)
    return np.stack([one, two, np.cross(one, two)], axis=2)


def _swung(before: Array, x: Array, triples: IntArray, offsets: Array) -> Array:
    """``offsets`` (q, 3) turned by the smallest rotation from the directions ``before`` (q, 3) to those of
    the lines a -> b now; where there is no b, as they are."""
    one = x[triples[:, 1]] - x[triples[:, 0]]
    length = np.linalg.norm(one, axis=1, keepdims=True)
    now = np.where(length > 0.0, one / np.where(length > 0.0, length, 1.0), before)
    axis, cosine = np.cross(before, now), np.einsum("qi,qi->q", before, now)[:, None]
    once = np.cross(axis, offsets)
    return np.asarray(offsets + once + np.cross(axis, once) / np.maximum(1.0 + cosine, 1e-9))


def as_framed(carrier: EmbeddedSurface) -> FramedSurface:
    """The same with (maybe no) framed points."""
    if isinstance(carrier, FramedSurface):
        return carrier
    return FramedSurface(carrier.surface, carrier.indices, carrier.weights, carrier.extrapolation)


def renumbered(carrier: EmbeddedSurface, name: IntArray) -> EmbeddedSurface:
    """``carrier`` where particle i is called ``name[i]``."""
    indices = name[carrier.indices.astype(np.int64)].astype(np.uint32)
    if not isinstance(carrier, FramedSurface):
        return replace(carrier, indices=indices)
    return replace(carrier, indices=indices, frames=name[carrier.frames])


def joined(one: EmbeddedSurface, two: EmbeddedSurface) -> EmbeddedSurface:
    """Two surfaces carried by the same particles as one; triangles of a surface without UVs have those of the
    texture's origin."""
    a, b = one.surface, two.surface
    first, width = len(a.points), max(one.indices.shape[1], two.indices.shape[1])
    uv, uv_triangles = a.uv, a.uv_triangles
    if uv is not None and uv_triangles is not None:
        uv_triangles = np.concatenate([uv_triangles, np.full_like(b.triangles, len(uv))])
        uv = np.concatenate([uv, np.zeros((1, 2))])
    surface = Surface(
        np.concatenate([a.points, b.points]), np.concatenate([a.triangles, b.triangles + first]),
        uv, uv_triangles, a.groups,
    )  # fmt: skip
    wide = [np.pad(s.indices, ((0, 0), (0, width - s.indices.shape[1])), mode="edge") for s in (one, two)]
    shares = [np.pad(s.weights, ((0, 0), (0, width - s.weights.shape[1]))) for s in (one, two)]
    parts = [as_framed(one), as_framed(two)]
    return FramedSurface(
        surface, np.concatenate(wide), np.concatenate(shares), max(one.extrapolation, two.extrapolation),
        np.concatenate([parts[0].framed, parts[1].framed + first]),
        *(np.concatenate([getattr(p, name) for p in parts]) for name in ("frames", "offsets", "rest")),
    )  # fmt: skip


def moved(carrier: EmbeddedSurface, which: IntArray, instead: EmbeddedSurface) -> FramedSurface:
    """``carrier`` whose points ``which`` (k,) are those of ``instead`` (k points), carried as they are."""
    one, two = as_framed(carrier), as_framed(instead)
    width = max(one.indices.shape[1], two.indices.shape[1])
    wide = [np.pad(s.indices, ((0, 0), (0, width - s.indices.shape[1])), mode="edge") for s in (one, two)]
    shares = [np.pad(s.weights, ((0, 0), (0, width - s.weights.shape[1]))) for s in (one, two)]
    wide[0][which], shares[0][which] = wide[1], shares[1]
    points = one.surface.points.copy()
    points[which] = two.surface.points
    stay = ~np.isin(one.framed, which)
    return FramedSurface(
        replace(one.surface, points=points), wide[0], shares[0], one.extrapolation,
        np.concatenate([one.framed[stay], which[two.framed]]),
        *(np.concatenate([getattr(one, n)[stay], getattr(two, n)]) for n in ("frames", "offsets", "rest")),
    )  # fmt: skip


@dataclass(frozen=True)
class HiddenSurface:
    """The surface of a body that is not there: a triangle without a size, since files want something to hold;
    ``inner`` is what will be, or was, shown."""

    kind: ClassVar[str] = "hidden"

    inner: Any

    @property
    def surface(self) -> Surface:
        return Surface(np.repeat(self.inner.surface.points[:1], 3, axis=0), np.arange(3)[None])

    def positions(self, x: Array) -> Array:
        return np.repeat(x[:1], 3, axis=0)

    def arrays(self) -> dict[str, AnyArray]:
        """Those of the surface that is hidden, and its kind."""
        return {**self.inner.arrays(), "hidden": np.array(list(CARRIERS).index(self.inner.kind))}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        kind = list(CARRIERS.values())[int(arrays["hidden"])]
        return cls(kind.from_arrays({name: a for name, a in arrays.items() if name != "hidden"}))


CARRIERS: dict[str, Any] = {kind.kind: kind for kind in (EmbeddedSurface, FramedSurface, HiddenSurface)}
"""Carriers by the ``kind`` under which a run folder stores them; each has ``from_arrays``."""


def hidden(structure: Structure) -> Structure:
    """The structure of a body that is absent: its surface is not shown."""
    if structure.carrier is None:
        return structure
    return replace(structure, carrier=HiddenSurface(structure.carrier))


def shown(structure: Structure) -> Structure:
    """The structure of a body that is present again after ``hidden``."""
    carrier = structure.carrier
    return replace(structure, carrier=carrier.inner) if isinstance(carrier, HiddenSurface) else structure
