"""Dual faces laid out for compiled kernels: blocks of 16 faces of one kind, in partitions.

A face's kind is the length of its fan and whether it is tilted (its rest normal is not along its edge), in
which case the image of the normal depends on the ring of particles around the edge too. A partition is a
run of edges in the mesh's order, sorted by kind within; it owns a buffer for forces on particles and one for
forces on dual vertices. All of it depends on the mesh alone.
"""

from dataclasses import dataclass

import numpy as np

from pliant.models.blocks import MOST_PARTITIONS, WIDTH
from pliant.typing import AnyArray, Array, IndexArray, IntArray

HEAD = 3  # rest rows before the weights of m: stretch, shear, floor


@dataclass(frozen=True)
class Faces:
    """What the kernels read.

    Per block: length of the fan, size of the ring (0: not tilted), where its rows begin in ``index`` and in
    ``rest``. index rows of 16: i, j, the fan, the ring. rest rows of 16: stretch, shear, floor, weight of
    (x_j - x_i) in m, and of each ring particle (minus the midpoint). starts (partitions + 1,): blocks.
    For particles (x) and dual vertices (y): low, high, offset of each partition's buffer.
    order (slots,): the edge in each slot, -1 for padding.
    """

    length: IntArray
    ring: IntArray
    index_at: IntArray
    rest_at: IntArray
    index: IndexArray
    rest: Array
    starts: IntArray
    x_ranges: IntArray  # (3, partitions): low, high, offset
    y_ranges: IntArray
    x_buffer: Array
    y_buffer: Array
    order: IntArray
    scratch: int


@dataclass(frozen=True)
class FaceData:
    """Faces as plain arrays, fans and rings as flat lists.

    edges (e, 2); fan_start (e + 1,), fan: slots of dual vertices; ring_start, ring, ring_weight: particles
    around tilted edges; along (e,): weight of x_j - x_i; stretch, shear, floor (e,).
    """

    edges: IntArray
    fan_start: IntArray
    fan: IntArray
    ring_start: IntArray
    ring: IntArray
    ring_weight: Array
    along: Array
    stretch: Array
    shear: Array
    floor: Array


def lay_out(data: FaceData) -> Faces:
    """Sort faces into blocks; see ``Faces``."""
    count = len(data.edges)
    parts = int(np.clip(count // 2048, 1, MOST_PARTITIONS))
    cuts = np.linspace(0, count, parts + 1).astype(np.int64)
    lengths, rings = np.diff(data.fan_start), np.diff(data.ring_start)
    index: list[AnyArray] = []
    rest: list[AnyArray] = []
    blocks: list[tuple[int, int]] = []
    order: list[IntArray] = []
    starts, x_seen, y_seen = [0], [], []
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        begin = len(index)
        for length, ring in sorted(set(zip(lengths[a:b].tolist(), rings[a:b].tolist(), strict=True))):
            own = a + np.flatnonzero((lengths[a:b] == length) & (rings[a:b] == ring))
            padded = np.concatenate([own, np.repeat(own[-1:], -len(own) % WIDTH)])
            fans = data.fan[data.fan_start[padded][:, None] + np.arange(length)]
            around = data.ring_start[padded][:, None] + np.arange(ring)
            real = (np.arange(len(padded)) < len(own)).astype(float)
            head = [data.stretch[padded] * real, data.shear[padded] * real, data.floor[padded]]
            weights = np.column_stack([*head, data.along[padded], data.ring_weight[around]])
            table = np.concatenate([data.edges[padded], fans, data.ring[around]], axis=1)
            for k in range(0, len(padded), WIDTH):
                index.append(table[k : k + WIDTH].T.ravel())
                rest.append(weights[k : k + WIDTH].T.ravel())
                blocks.append((length, ring))
            order.append(np.where(real > 0, padded, -1))
        starts.append(len(blocks))
        part = index[begin:]
        sizes = blocks[begin:]
        x_seen.append(_range([t[_particles(s)] for t, s in zip(part, sizes, strict=True)]))
        y_seen.append(_range([t[2 * WIDTH : (2 + s[0]) * WIDTH] for t, s in zip(part, sizes, strict=True)]))
    x_ranges, x_buffer = _buffer(x_seen)
    y_ranges, y_buffer = _buffer(y_seen)
    length, ring = np.array(blocks).T
    return Faces(
        length=length,
        ring=ring,
        index_at=np.concatenate([[0], np.cumsum([len(t) for t in index])]),
        rest_at=np.concatenate([[0], np.cumsum([len(t) for t in rest])]),
        index=np.concatenate(index).astype(np.uint32),
        rest=np.concatenate(rest),
        starts=np.array(starts),
        x_ranges=x_ranges,
        y_ranges=y_ranges,
        x_buffer=x_buffer,
        y_buffer=y_buffer,
        order=np.concatenate(order),
        scratch=int((28 + 6 * length.max() + 6 * ring.max()) * WIDTH),
    )


def _particles(size: tuple[int, int]) -> IntArray:
    """Places of particles (not dual vertices) in a block's index rows."""
    fan_end = (2 + size[0]) * WIDTH
    return np.concatenate([np.arange(2 * WIDTH), np.arange(fan_end, fan_end + size[1] * WIDTH)])


def _range(rows: list[AnyArray]) -> tuple[int, int]:
    return min(int(r.min()) for r in rows), max(int(r.max()) for r in rows) + 1


def _buffer(seen: list[tuple[int, int]]) -> tuple[IntArray, Array]:
    low, high = np.array(seen).T
    offset = np.concatenate([[0], np.cumsum(high - low)])
    return np.stack([low, high, offset[:-1]]), np.zeros((int(offset[-1]), 3))
