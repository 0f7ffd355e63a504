"""Dual faces laid out for compiled kernels: blocks of 16 faces with fans of one length, in partitions.

A partition is a run of edges in the mesh's order, sorted by length within; it owns a buffer for forces on
particles and one for forces on dual vertices. All of it depends on the mesh alone.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pliant.models.blocks import MOST_PARTITIONS, WIDTH
from pliant.typing import AnyArray, Array, IndexArray, IntArray


@dataclass(frozen=True)
class FaceData:
    """Faces as plain arrays.

    edges (e, 2); start (e + 1,), fan: rows of dual vertices; along (e,), weight (fan,): weights of x_j - x_i
    and of each dual vertex (minus the edge's midpoint) in the normal's image; stretch, shear, floor (e,).
    """

    edges: IntArray
    start: IntArray
    fan: IntArray
    along: Array
    weight: Array
    stretch: Array
    shear: Array
    floor: Array


@dataclass(frozen=True)
class Faces:
    """What the kernels read.

    Per block: length of the fans, where its rows begin in ``index`` and in ``rest``. index rows of 16: i, j,
    the fan. rest rows of 16: stretch, shear, floor, along, sum of the fan's weights, the fan's weights.
    starts (partitions + 1,): blocks. For particles (x) and dual vertices (y): low, high and offset of each
    partition's buffer. order (slots,): the edge in each slot, -1 for padding. scratch: numbers that a thread
    needs.
    """

    length: IntArray
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


def lay_out(data: FaceData) -> Faces:
    """Sort faces into blocks; see ``Faces``."""
    count = len(data.edges)
    parts = int(np.clip(count // 2048, 1, MOST_PARTITIONS))
    cuts = np.linspace(0, count, parts + 1).astype(np.int64)
    lengths = np.diff(data.start)
    index: list[AnyArray] = []
    rest: list[AnyArray] = []
    blocks: list[int] = []
    order: list[IntArray] = []
    starts = [0]
    x_seen, y_seen = [], []
    for a, b in pairwise(cuts):
        begin = len(index)
        for length in np.unique(lengths[a:b]).tolist():
            own = a + np.flatnonzero(lengths[a:b] == length)
            padded = np.concatenate([own, np.repeat(own[-1:], -len(own) % WIDTH)])
            real = np.arange(len(padded)) < len(own)
            at = data.start[padded][:, None] + np.arange(length)
            weight = data.weight[at]
            head = [data.stretch[padded] * real, data.shear[padded] * real, data.floor[padded]]
            table = np.concatenate([data.edges[padded], data.fan[at]], axis=1)
            numbers = np.column_stack([*head, data.along[padded], weight.sum(axis=1), weight])
            for k in range(0, len(padded), WIDTH):
                index.append(table[k : k + WIDTH].T.ravel())
                rest.append(numbers[k : k + WIDTH].T.ravel())
                blocks.append(length)
            order.append(np.where(real, padded, -1))
        starts.append(len(blocks))
        x_seen.append(_range([rows[: 2 * WIDTH] for rows in index[begin:]]))
        y_seen.append(_range([rows[2 * WIDTH :] for rows in index[begin:]]))
    x_ranges, x_buffer = _buffer(x_seen)
    y_ranges, y_buffer = _buffer(y_seen)
    return Faces(
        length=np.array(blocks),
        index_at=np.concatenate([[0], np.cumsum([len(rows) for rows in index])]),
        rest_at=np.concatenate([[0], np.cumsum([len(rows) for rows in rest])]),
        index=np.concatenate(index).astype(np.uint32),
        rest=np.concatenate(rest),
        starts=np.array(starts),
        x_ranges=x_ranges,
        y_ranges=y_ranges,
        x_buffer=x_buffer,
        y_buffer=y_buffer,
        order=np.concatenate(order),
        scratch=(18 + 6 * max(blocks)) * WIDTH,
    )


def _range(rows: list[AnyArray]) -> tuple[int, int]:
    return min(int(r.min()) for r in rows), max(int(r.max()) for r in rows) + 1


def _buffer(seen: list[tuple[int, int]]) -> tuple[IntArray, Array]:
    low, high = np.array(seen).T
    offset = np.concatenate([[0], np.cumsum(high - low)])
    return np.stack([low, high, offset[:-1]]), np.zeros((int(offset[-1]), 3))
