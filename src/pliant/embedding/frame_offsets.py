"""Offsets of surface points that turn with frames of three particles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray


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
