"""Operations on embedded surfaces, surfaces of absent bodies, and the table of all kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from pliant.core.typing import AnyArray, Array, IndexArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, FrameOffsets
from pliant.interfaces import Carrier, Structure
from pliant.mesh.mesh import Surface


def carried_velocities(carrier: Carrier, x: Array, v: Array) -> Array:
    """Velocities (p, 3) [m/s] of a carried surface whose particles are at ``x`` and move with ``v`` (n, 3).

    Places that are combinations of particles move with the same combinations of velocities. Offsets that turn
    do not: there it is the change of place over a very short way, a 1e-5th of the smallest frame.
    """
    offsets = carrier.offsets if isinstance(carrier, EmbeddedSurface) else None
    if offsets is None or not len(offsets.points):
        return carrier.positions(v)
    speed, smallest = float(np.abs(v).max(initial=0.0)), offsets.smallest_frame(x)
    if not speed or not smallest:
        return carrier.positions(x) * 0.0
    apart = 1e-5 * smallest / speed
    return (carrier.positions(x + apart * v) - carrier.positions(x - apart * v)) / (2.0 * apart)


def renumbered(carrier: EmbeddedSurface, name: IntArray) -> EmbeddedSurface:
    """``carrier`` where particle i is called ``name[i]``."""
    indices = name[carrier.indices.astype(np.int64)].astype(np.uint32)
    own = carrier.offsets
    return replace(carrier, indices=indices, offsets=own and replace(own, frames=name[own.frames]))


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
    wide, shares = _padded(one, two, width)
    after = two.offsets or FrameOffsets.none()
    offsets = (one.offsets or FrameOffsets.none()).joined(replace(after, points=after.points + first))
    most = max(one.extrapolation, two.extrapolation)
    return EmbeddedSurface(surface, np.concatenate(wide), np.concatenate(shares), most, offsets)


def moved(one: EmbeddedSurface, which: IntArray, two: EmbeddedSurface) -> EmbeddedSurface:
    """``one`` whose points ``which`` (k,) are those of ``two`` (k points), embedded as they are."""
    wide, shares = _padded(one, two, max(one.indices.shape[1], two.indices.shape[1]))
    wide[0][which], shares[0][which] = wide[1], shares[1]
    points = one.surface.points.copy()
    points[which] = two.surface.points
    kept, new = one.offsets or FrameOffsets.none(), two.offsets or FrameOffsets.none()
    kept = kept.chosen(~np.isin(kept.points, which))
    offsets = kept.joined(replace(new, points=which[new.points]))
    surface = replace(one.surface, points=points)
    return EmbeddedSurface(surface, wide[0], shares[0], one.extrapolation, offsets)


def _padded(one: EmbeddedSurface, two: EmbeddedSurface, width: int) -> tuple[list[IndexArray], list[Array]]:
    """Indices and weights of two surfaces with ``width`` columns each."""
    more = [((0, 0), (0, width - s.indices.shape[1])) for s in (one, two)]
    wide = [np.pad(s.indices, m, mode="edge") for s, m in zip((one, two), more, strict=True)]
    return wide, [np.pad(s.weights, m) for s, m in zip((one, two), more, strict=True)]


@dataclass(frozen=True)
class HiddenSurface:
    """The surface of a body that is not there: a triangle without a size, since files want something to hold;
    ``inner`` is what will be, or was, shown."""

    kind: ClassVar[str] = "hidden"

    inner: Carrier

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


CARRIERS: dict[str, type[EmbeddedSurface] | type[HiddenSurface]] = {
    "embedded": EmbeddedSurface,
    "framed": EmbeddedSurface,
    "hidden": HiddenSurface,
}
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
