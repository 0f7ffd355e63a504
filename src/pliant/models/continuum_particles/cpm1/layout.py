"""Dual vertices and faces of CPM1, laid out for compiled kernels: blocks of 16, in partitions.

A partition is a run of dual vertices, those of tets first, and a run of edges in the mesh's order, sorted
by the kind and size of their polygons. It owns a buffer for forces on particles and one for forces on dual
vertices.
All of it depends on the mesh alone.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IndexArray, IntArray
from pliant.kernels.element_blocks import WIDTH, partitions_for
from pliant.kernels.jit import SERIAL_ROWS
from pliant.kernels.simd_transpose import aligned
from pliant.models.continuum_particles.cpm1.face_kernels import HEAD, LEAST
from pliant.models.continuum_particles.face_law import FLAT
from pliant.models.continuum_particles.material_mapping import FaceConstants
from pliant.structure.samplers.dual import Dual


@dataclass(frozen=True)
class DualVertexBlocks:
    """Dual vertices in blocks of 16 rows.

    index (blocks * 64,) uint32: four rows of 16 particles a block; slots (k,): row of each dual vertex;
    starts (partitions + 1,), middle (partitions,): blocks of a partition begin with those of tets, from
    middle on they are those of the boundary; parallel: whether there is enough work for several threads.
    """

    index: IndexArray
    slots: IntArray
    starts: IntArray
    middle: IntArray
    parallel: bool

    def rows(self, *columns: AnyArray) -> Array:
        """Values per dual vertex (k,) as rows of blocks (blocks, len(columns) * 16); padding gets zero."""
        blocks = len(self.index) // (4 * WIDTH)
        table = np.zeros((len(columns), blocks * WIDTH))
        table[:, self.slots] = columns
        shaped = table.reshape(len(columns), -1, WIDTH).transpose(1, 0, 2)
        return aligned(shaped.reshape(blocks, -1))


def build_vertex_blocks(particles: IntArray, tet_count: int) -> DualVertexBlocks:
    """Sort dual vertices (k, 4), of which the first are those of tets, into blocks."""
    order = np.lexsort((particles.max(axis=1), particles.min(axis=1)))
    parts = partitions_for(tet_count)
    cuts = np.linspace(0, len(order), parts + 1).astype(np.int64)
    slots = np.empty(len(order), np.int64)
    index: list[AnyArray] = []
    starts, middle = [0], []
    for a, b in pairwise(cuts):
        own = order[a:b]
        begin = starts[-1]
        for chosen in (own[own < tet_count], own[own >= tet_count]):
            slots[chosen] = begin * WIDTH + np.arange(len(chosen))
            if len(chosen):
                index.append(particles[np.pad(chosen, (0, -len(chosen) % WIDTH), "edge")])
                begin += len(index[-1]) // WIDTH
            middle.append(begin)
        starts.append(begin)
    table = np.concatenate(index).reshape(-1, WIDTH, 4).transpose(0, 2, 1).astype(np.uint32).ravel()
    return DualVertexBlocks(table, slots, np.array(starts), np.array(middle[::2]), tet_count >= SERIAL_ROWS)


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


class VertexRows(NamedTuple):
    """Dual vertices as the kernels read them: see ``DualVertexBlocks``; weights (blocks, 64) of their
    particles; bulk (blocks, 32): rest volume [m3] and lambda / V of tets."""

    particles: IndexArray
    weights: Array
    bulk: Array
    starts: IntArray
    middle: IntArray


class FaceBlocks(NamedTuple):
    """Faces as the kernels read them.

    Per block: number of the polygons' vertices apart from their origin, whether they are closed, where its
    rows begin in ``rows`` (of indices) and in ``rest``; what those hold is in ``face_kernels``.
    starts (partitions + 1,): blocks. x_ranges (3, partitions): low, high and offset of a partition's rows in
    the buffer for particles, room for those of its dual vertices included; y_ranges: for dual vertices.
    order (slots,): the edge in each slot, -1 for padding. scratch: numbers that a thread needs.
    """

    vertices: IntArray
    closed: BoolArray
    index_at: IntArray
    rest_at: IntArray
    rows: IndexArray
    rest: Array
    starts: IntArray
    x_ranges: IntArray
    y_ranges: IntArray
    x_buffer: Array
    y_buffer: Array
    order: IntArray
    scratch: int


def build_face_blocks(data: FaceData, cells: DualVertexBlocks) -> FaceBlocks:
    """Sort faces into as many partitions of blocks as ``cells`` have; see ``FaceBlocks``."""
    cuts = np.linspace(0, len(data.edges), len(cells.starts)).astype(np.int64)
    lengths = np.diff(data.start)
    closed = data.fan[data.start[:-1]] == data.fan[data.start[1:] - 1]
    kinds = 2 * lengths + closed
    index: list[AnyArray] = []
    rest: list[AnyArray] = []
    blocks: list[tuple[int, bool]] = []
    order: list[IntArray] = []
    starts = [0]
    x_seen, y_seen = [], []
    for part, (a, b) in enumerate(pairwise(cuts)):
        begin = len(index)
        for kind in np.unique(kinds[a:b]).tolist():
            own = a + np.flatnonzero(kinds[a:b] == kind)
            padded = np.concatenate([own, np.repeat(own[-1:], -len(own) % WIDTH)])
            real = np.arange(len(padded)) < len(own)
            table, numbers = _rows(data, padded, int(lengths[own[0]]), bool(closed[own[0]]))
            numbers[~real, :2] = 0.0
            for k in range(0, len(padded), WIDTH):
                index.append(table[k : k + WIDTH].T.ravel())
                rest.append(numbers[k : k + WIDTH].T.ravel())
                blocks.append((numbers.shape[1] - HEAD, bool(closed[own[0]])))
            order.append(np.where(real, padded, -1))
        starts.append(len(blocks))
        around = cells.index[4 * WIDTH * cells.starts[part] : 4 * WIDTH * cells.starts[part + 1]]
        x_seen.append(_range([around, *(rows[: 2 * WIDTH] for rows in index[begin:])]))
        y_seen.append(_range([rows[2 * WIDTH :] for rows in index[begin:]]))
    x_ranges, x_buffer = _buffer(x_seen)
    y_ranges, y_buffer = _buffer(y_seen)
    return FaceBlocks(
        vertices=np.array([count for count, _ in blocks]),
        closed=np.array([shut for _, shut in blocks]),
        index_at=np.concatenate([[0], np.cumsum([len(rows) for rows in index])]),
        rest_at=np.concatenate([[0], np.cumsum([len(rows) for rows in rest])]),
        rows=np.concatenate(index).astype(np.uint32),
        rest=aligned(np.concatenate(rest)),
        starts=np.array(starts),
        x_ranges=x_ranges,
        y_ranges=y_ranges,
        x_buffer=x_buffer,
        y_buffer=y_buffer,
        order=np.concatenate(order),
        scratch=3 * (9 + 3 * max(count for count, _ in blocks)) * WIDTH,
    )


def _rows(data: FaceData, faces: IntArray, length: int, closed: bool) -> tuple[AnyArray, Array]:
    """Index and rest rows of faces whose fans have the same length, (faces, ...) each."""
    at = data.start[faces][:, None] + np.arange(length)
    fan, weight = data.fan[at], data.weight[at]
    total = weight.sum(axis=1)
    if closed:  # the last vertex is the first, which becomes the origin
        fan, weight = fan[:, :-1], weight[:, 1:-1]
        short = LEAST - weight.shape[1]
        if short > 0:
            fan = np.concatenate([fan, np.repeat(fan[:, :1], short, axis=1)], axis=1)
            weight = np.concatenate([weight, np.zeros((len(faces), short))], axis=1)
    along = data.along[faces]
    ends = -0.5 * total - along, along - 0.5 * total  # the fan's weights are those of y_k - (x_i + x_j) / 2
    own = -(ends[0] + ends[1] + weight.sum(axis=1))
    head = data.stretch[faces], data.shear[faces], 2.0 * data.floor[faces], *ends, own
    return np.concatenate([data.edges[faces], fan], axis=1), np.column_stack([*head, weight])


def _range(rows: list[AnyArray]) -> tuple[int, int]:
    return min(int(r.min()) for r in rows), max(int(r.max()) for r in rows) + 1


def _buffer(seen: list[tuple[int, int]]) -> tuple[IntArray, Array]:
    low, high = np.array(seen).T
    offset = np.concatenate([[0], np.cumsum(high - low)])
    return np.stack([low, high, offset[:-1]]), aligned(np.zeros((int(offset[-1]), 4)))


EDGE_FIRST = 9.0  # how much sooner the image of the normal is taken from the edge than from the face


def normal_images(rest: Array, dual: Dual) -> tuple[Array, Array]:
    """Weights of the image of each face's unit normal, ``m = along (x_j - x_i) + sum weight (v_k - q)``.

    Of all weights that give ``m = F n0`` for any uniform deformation F they are the smallest ones (those of
    the face's vertices counting nine times as much as the edge's); a face across its edge gets m = d / d0.
    Returns along (e,) and weight (fan,).
    """
    owner = np.repeat(np.arange(len(dual.edges)), np.diff(dual.start))
    d = rest[dual.edges[:, 1]] - rest[dual.edges[:, 0]]
    q = 0.5 * (rest[dual.edges[:, 0]] + rest[dual.edges[:, 1]])
    v = dual.vertices(rest)[dual.fan] - q[owner]
    first, last = dual.start[:-1], dual.start[1:] - 1
    v[last[dual.fan[first] == dual.fan[last]]] = 0.0  # closed fans name their first vertex twice
    squares = np.einsum("ki,kj->kij", v, v).reshape(-1, 9)
    total = np.stack([np.bincount(owner, squares[:, c], len(d)) for c in range(9)], axis=1)
    gram = total.reshape(-1, 3, 3) + EDGE_FIRST * np.einsum("ki,kj->kij", d, d)
    normal = dual.areas / np.linalg.norm(dual.areas, axis=1)[:, None]
    z = np.linalg.solve(gram, normal[:, :, None])[:, :, 0]
    along = EDGE_FIRST * np.einsum("ij,ij->i", d, z)
    return along, np.asarray(np.einsum("ij,ij->i", v, z[owner]))


def edge_means(values: Array, volumes: Array, dual: Dual) -> Array:
    """A value per tet, averaged by volume over the tets around each edge; shape (e,)."""
    tet, edge = dual.around.tet, dual.around.edge
    mean: Array = np.bincount(edge, (values * volumes)[tet]) / np.bincount(edge, volumes[tet])
    return mean


def face_data(
    rest: Array,
    volumes: Array,
    dual: Dual,
    image: tuple[Array, Array],
    constants: FaceConstants,
    slots: IntArray,
    printed: bool,
) -> FaceData:
    """Faces for the kernels; ``slots`` is the row of each dual vertex there.

    Weights of the law: ``A0 h0`` with h0 = n0 . d0 for the energy, A0 for the printed forces.
    """
    area = np.linalg.norm(dual.areas, axis=1)
    d = rest[dual.edges[:, 1]] - rest[dual.edges[:, 0]]
    weight = np.einsum("ij,ij->i", dual.areas, d)
    if not (weight > 0.0).all():
        raise IncompatibleError(
            f"{int(np.sum(~(weight > 0)))} of {len(area)} dual faces have a negative area or none.",
            hint='Use dual = "blended", which has none.',
        )
    if printed:
        weight = area
    return FaceData(
        edges=dual.edges,
        start=dual.start,
        fan=slots[dual.fan],
        along=image[0],
        weight=image[1],
        stretch=weight * edge_means(constants.stretch, volumes, dual),
        shear=weight * edge_means(constants.shear, volumes, dual),
        floor=FLAT * area,
    )
