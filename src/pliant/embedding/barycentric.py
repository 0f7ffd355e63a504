"""Embedded surfaces: a triangle mesh that follows the particles, with its UVs and groups.

Each surface point is a fixed combination of a few particles whose weights sum to one, so that every affine
motion of the particles (rigid ones among them) moves the surface exactly along; some have an offset besides,
which turns with a frame of three particles.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IndexArray, IntArray
from pliant.mesh.mesh import Surface, boundary_triangles, tet_volumes


@dataclass(frozen=True)
class FrameOffsets:
    """Points of an embedded surface beside particles that lie in a plane or a line, and so cannot tell what
    happens across it: they keep an offset in the frame that three particles make.

    points (q,): those of the surface; frames (q, 3): particles; offsets (q, 3): at rest [m];
    rest (q, 3, 3): the frames at rest.
    """

    points: IntArray
    frames: IntArray
    offsets: Array
    rest: Array

    @classmethod
    def none(cls) -> Self:
        """No offsets."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 3, 3)))

    def add_to(self, out: Array, x: Array) -> None:
        """Add the offsets to the positions ``out`` (p, 3) [m] of a surface whose particles are at ``x``."""
        own = np.einsum("pij,pi->pj", self.rest, self.offsets)  # in the frame
        turned = np.einsum("pij,pj->pi", frames_of(x, self.frames), own)
        lone = np.flatnonzero(self.frames[:, 2] == self.frames[:, 1])
        if len(lone):
            turned[lone] = _swung(self.rest[lone, :, 0], x, self.frames[lone], self.offsets[lone])
        out[self.points] += turned

    def smallest_frame(self, x: Array) -> float:
        """The shortest side a -> b of all frames [m]; 0 where there is none."""
        length = np.linalg.norm(x[self.frames[:, 1]] - x[self.frames[:, 0]], axis=1)
        return float(length[length > 0.0].min()) if length.any() else 0.0

    def chosen(self, rows: AnyArray) -> Self:
        """Some of them."""
        return type(self)(self.points[rows], self.frames[rows], self.offsets[rows], self.rest[rows])

    def joined(self, other: Self) -> Self:
        """Both, one after the other."""
        return type(self)(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.frames, other.frames]),
            np.concatenate([self.offsets, other.offsets]),
            np.concatenate([self.rest, other.rest]),
        )

    def arrays(self) -> dict[str, AnyArray]:
        own = {"framed": self.points, "frames": self.frames, "offsets": self.offsets}
        return own | {"frames-at-rest": self.rest}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        return cls(arrays["framed"], arrays["frames"], arrays["offsets"], arrays["frames-at-rest"])


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


_BLOCK = 2048  # points handled at a time: keeps the working set in cache
_INSIDE = 1e-9  # a point counts as held by a tet down to this negative weight
_GROUP = "group."


@dataclass(frozen=True)
class EmbeddedSurface:
    """A surface whose point i is at ``sum_k weights[i, k] x[indices[i, k]]``, plus an offset for some.

    surface: at rest, in world coordinates [m]; indices (p, k) particles; weights (p, k), rows summing to 1;
    extrapolation: how far the worst point lies outside its tet, as the size of its most negative weight
    (0: all inside; 1: as far out as that tet is high); offsets: of points beside what carries them.
    """

    surface: Surface
    indices: IndexArray
    weights: Array
    extrapolation: float = 0.0
    offsets: FrameOffsets | None = None

    @property
    def kind(self) -> str:
        """The name under which a run folder stores it."""
        return "embedded" if self.offsets is None else "framed"

    def positions(self, x: Array) -> Array:
        """Surface points (p, 3) [m] for particles at ``x`` (n, 3) [m]."""
        out = self._combined(x)
        if self.offsets is not None:
            self.offsets.add_to(out, x)
        return out

    def _combined(self, x: Array) -> Array:
        if self.indices.shape[1] == 1:  # the only weight of a row is one
            return np.asarray(x[self._run].copy() if self._run else np.take(x, self.indices[:, 0], axis=0))
        out = np.take(x, self.indices[:, 0], axis=0) * self.weights[:, :1]
        for k in range(1, self.indices.shape[1]):
            out += np.take(x, self.indices[:, k], axis=0) * self.weights[:, k : k + 1]
        return out

    @cached_property
    def _run(self) -> slice | None:
        """The particles that the points are, where these follow one another: to take them is slower."""
        first = int(self.indices[0, 0]) if len(self.indices) else 0
        row = np.arange(first, first + len(self.indices))
        return slice(first, first + len(row)) if np.array_equal(self.indices[:, 0], row) else None

    def arrays(self) -> dict[str, AnyArray]:
        """The carrier and its surface as named arrays; triangle groups as ``group.NAME``."""
        surface = self.surface
        arrays: dict[str, AnyArray] = {
            "indices": self.indices,
            "weights": self.weights,
            "extrapolation": np.array(self.extrapolation),
            "points": surface.points,
            "triangles": surface.triangles,
        }
        if surface.uv is not None and surface.uv_triangles is not None:
            arrays |= {"uv": surface.uv, "uv_triangles": surface.uv_triangles}
        if self.offsets is not None:
            arrays |= self.offsets.arrays()
        return arrays | {_GROUP + name: ids for name, ids in surface.groups.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """The carrier that gave these ``arrays()``; KeyError where one is missing."""
        groups = {name.removeprefix(_GROUP): ids for name, ids in arrays.items() if name.startswith(_GROUP)}
        surface = Surface(
            arrays["points"], arrays["triangles"], arrays.get("uv"), arrays.get("uv_triangles"), groups
        )
        offsets = FrameOffsets.from_arrays(arrays) if "framed" in arrays else None
        return cls(surface, arrays["indices"], arrays["weights"], float(arrays["extrapolation"]), offsets)


def boundary_carrier(points: Array, tets: IntArray) -> EmbeddedSurface:
    """The tets' own boundary as the shown surface: points (n, 3) [m], tets (m, 4), each well oriented."""
    if not len(tets):
        raise MeshError("There are no tetrahedra to take a boundary of.")
    triangles = boundary_triangles(np.asarray(tets, np.int64))
    vertices, local = np.unique(triangles, return_inverse=True)
    surface = Surface(points[vertices].copy(), local.reshape(-1, 3).astype(np.int64))
    return EmbeddedSurface(surface, vertices[:, None].astype(np.uint32), np.ones((len(vertices), 1)))


def embed(surface: Surface, points: Array, tets: IntArray) -> EmbeddedSurface:
    """Carry ``surface`` (p points) by the tets (m, 4) over ``points`` (n, 3) [m].

    A surface point takes its barycentric weights in the tet that holds it. A point outside all tets is
    extrapolated, unclamped, from one of the tets with the nearest centroids: the one where its smallest
    weight is largest, so that flat tets lose.
    """
    tets = np.asarray(tets, np.int64)
    sizes = np.ptp(points[tets], axis=1).max(axis=1, initial=0.0)
    good = np.flatnonzero(np.abs(tet_volumes(points, tets)) > 1e-9 * sizes**3)
    if not len(good):
        raise MeshError("The surface cannot be embedded: there is no tetrahedron with a volume.")
    corners = points[tets[good]]
    home, weights = _best(surface.points, corners, near=16)
    # A tet that holds a point may have its centroid far away, being long, or large among small ones: look
    # among more tets, those of each size on their own, and take nothing but one that does hold the point.
    outside = np.flatnonzero(weights.min(axis=1) < -_INSIDE)
    octave = np.floor(np.log2(sizes[good])).astype(np.int64)
    for size in np.unique(octave):
        members = np.flatnonzero(octave == size)
        found, w = _best(surface.points[outside], corners[members], near=64)
        holds = w.min(axis=1) >= -_INSIDE
        home[outside[holds]], weights[outside[holds]] = members[found[holds]], w[holds]
        outside = outside[~holds]
    extrapolation = max(0.0, -float(weights.min(initial=0.0)))
    return EmbeddedSurface(surface, tets[good[home]].astype(np.uint32), weights, extrapolation)


def _best(p: Array, corners: Array, near: int) -> tuple[IntArray, Array]:
    """For each point the tet of ``corners`` (m, 4, 3) with the largest smallest weight, among the ``near``
    ones with the nearest centroids; and its weights (p, 4)."""
    from scipy.spatial import cKDTree

    origin = corners[:, 0]
    inverse = np.linalg.inv((corners[:, 1:] - origin[:, None]).transpose(0, 2, 1))
    tree = cKDTree(corners.mean(axis=1))
    nearest = np.arange(1, min(near, len(corners)) + 1)
    home, weights = np.zeros(len(p), np.int64), np.zeros((len(p), 4))
    for start in range(0, len(p), _BLOCK):
        rows = slice(start, start + _BLOCK)
        tried = np.asarray(tree.query(p[rows], k=nearest)[1])
        w = np.einsum("ptij,ptj->pti", inverse[tried], p[rows, None] - origin[tried])
        w = np.concatenate([1.0 - w.sum(axis=2, keepdims=True), w], axis=2)
        best = w.min(axis=2).argmax(axis=1)
        each = np.arange(len(best))
        home[rows], weights[rows] = tried[each, best], w[each, best]
    return home, weights


class LazyCarrier(ABC):
    """A carrier that is built on first use: a body may crack many times between two frames."""

    @abstractmethod
    def make(self) -> EmbeddedSurface:
        """The carrier."""

    @property
    def kind(self) -> str:
        """The name under which a run folder stores it."""
        return self.made.kind

    @cached_property
    def made(self) -> EmbeddedSurface:
        return self.make()

    @property
    def surface(self) -> Surface:
        return self.made.surface

    def positions(self, x: Array) -> Array:
        return self.made.positions(x)

    def arrays(self) -> dict[str, AnyArray]:
        return self.made.arrays()
