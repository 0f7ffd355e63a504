"""Elements laid out for compiled kernels: blocks of 16, in partitions that own a force buffer each.

A kernel gathers a block's particles, computes on scalars, and scatters into the buffer of its partition;
``reduce_buffers`` then adds the buffers to the forces in partition order. The partitions depend on the mesh
alone, so any number of threads gives the same bytes.
"""

from dataclasses import dataclass, replace

import numpy as np

from pliant.core.typing import AnyArray, Array, IndexArray, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, partition, partition_count, prange, twin

WIDTH = 16
MOST_PARTITIONS = 16


@dataclass(frozen=True)
class ElementBlocks:
    """Elements (m, k) as blocks.

    order (m,): the element in each slot; index (blocks, 16, k) uint32; starts (partitions + 1,) blocks of
    each partition; low, high (partitions,): the particle rows a partition touches; offset: where its part
    of ``buffer`` begins; buffer (rows, 3 or more) is zero between calls, in its first three columns.
    """

    order: IntArray
    index: IndexArray
    starts: IntArray
    low: IntArray
    high: IntArray
    offset: IntArray
    buffer: Array
    particle_count: int
    element_count: int

    @property
    def parallel(self) -> bool:
        return self.element_count >= SERIAL_ROWS

    def rows(self, *columns: AnyArray) -> Array:
        """Per-element values (m,) as rows of blocks (blocks, len(columns) * 16); padding gets zero."""
        table = np.zeros((len(columns), self.index.shape[0] * WIDTH))
        for c, column in enumerate(columns):
            table[c, self.slots] = np.asarray(column)[self.order]
        shaped = table.reshape(len(columns), self.index.shape[0], WIDTH)
        return np.ascontiguousarray(shaped.transpose(1, 0, 2)).reshape(self.index.shape[0], -1)

    @property
    def slots(self) -> IntArray:
        """The slot (block * 16 + lane) of each element of ``order``."""
        real = np.ones(self.index.shape[0] * WIDTH, bool)
        real[self._padding] = False
        return np.flatnonzero(real)

    @property
    def _padding(self) -> IntArray:
        per_partition = _sizes(self.element_count, len(self.low))
        blocks = np.diff(self.starts)
        ends = self.starts[1:] * WIDTH
        return np.concatenate(
            [np.arange(e - (b * WIDTH - s), e) for e, b, s in zip(ends, blocks, per_partition, strict=True)]
        )

    def add_to(self, out: Array) -> None:
        """Add the partitions' buffers to ``out`` (n, 3), and clear them."""
        _reduce[self.parallel](self.low, self.high, self.offset, self.buffer, out)


def _sizes(count: int, partitions: int) -> IntArray:
    edges = np.linspace(0, count, partitions + 1).astype(np.int64)
    return np.diff(edges)


def partitions_for(count: int) -> int:
    """Number of partitions for ``count`` elements: a power of two, so that few threads share it evenly."""
    wanted = int(np.clip(count // 1024, 1, MOST_PARTITIONS))
    return 1 << (wanted.bit_length() - 1)


def make_blocks(
    elements: IntArray, particle_count: int, partitions: int | None = None, columns: int = 3
) -> ElementBlocks:
    """Lay out ``elements`` (m, k), sorted by their lowest particle, in ``partitions`` (default: by count);
    ``columns`` of the buffer."""
    count = len(elements)
    order = np.lexsort((elements.max(axis=1), elements.min(axis=1)))
    partitions = min(partitions or partitions_for(count), count)
    ordered = elements[order]
    chunks, starts, low, high = [], [0], [], []
    begin = 0
    for size in _sizes(count, partitions):
        chunk = ordered[begin : begin + size]
        begin += size
        padding = -len(chunk) % WIDTH
        chunks.append(np.concatenate([chunk, np.repeat(chunk[-1:], padding, axis=0)]))
        starts.append(starts[-1] + len(chunks[-1]) // WIDTH)
        low.append(int(chunk.min()))
        high.append(int(chunk.max()) + 1)
    lows, highs = np.array(low), np.array(high)
    offset = np.concatenate([[0], np.cumsum(highs - lows)])
    index = np.concatenate(chunks).reshape(-1, WIDTH, elements.shape[1]).astype(np.uint32)
    return ElementBlocks(
        order=order,
        index=index,
        starts=np.array(starts),
        low=lows,
        high=highs,
        offset=offset,
        buffer=np.zeros((int(offset[-1]), columns)),
        particle_count=particle_count,
        element_count=count,
    )


def share_buffer(first: ElementBlocks, second: ElementBlocks) -> tuple[ElementBlocks, ElementBlocks]:
    """Two families with as many partitions, on one buffer like that of the first: one kernel fills it, one
    reduction adds it."""
    low, high = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    offset = np.concatenate([[0], np.cumsum(high - low)])
    buffer = np.zeros((int(offset[-1]), first.buffer.shape[1]))
    return (
        replace(first, low=low, high=high, offset=offset, buffer=buffer),
        replace(second, low=low, high=high, offset=offset, buffer=buffer),
    )


@jit
def reduce_rows(begin, end, low, high, offset, buffer, out):  # type: ignore[no-untyped-def]
    """Add the buffers to rows ``begin`` to ``end`` of ``out``, partition by partition, and clear them."""
    for p in range(low.shape[0]):
        a = max(begin, low[p])
        b = min(end, high[p])
        shift = offset[p] - low[p]
        for i in range(a, b):
            r = i + shift
            out[i, 0] += buffer[r, 0]
            out[i, 1] += buffer[r, 1]
            out[i, 2] += buffer[r, 2]
            buffer[r, 0] = 0.0
            buffer[r, 1] = 0.0
            buffer[r, 2] = 0.0


@twin
def _reduce(low, high, offset, buffer, out):  # type: ignore[no-untyped-def]
    n = out.shape[0]
    for p in prange(partition_count(n)):
        begin, end = partition(p, n)
        reduce_rows(begin, end, low, high, offset, buffer, out)
