"""The four Voronoi blocks of a ``.str`` file ([Everts2006]_ table 8.1), from dual cells."""

from dataclasses import replace

import numpy as np

from pliant.mesh.mesh import TetMesh
from pliant.structure.samplers.dual.cells import Dual, Recipe, dual_cells


def with_cells(mesh: TetMesh, recipe: Recipe = "blended") -> TetMesh:
    """``mesh`` with the blocks of its dual cells in ``extra``; blocks that it came with are kept."""
    if mesh.extra:
        return mesh
    return replace(mesh, extra=str_blocks(dual_cells(mesh.points, mesh.tets, recipe), mesh))


def str_blocks(dual: Dual, mesh: TetMesh) -> dict[str, object]:
    """``voronoivertices``, ``dependencies``, ``voronoiridges`` and ``voronoicells``.

    A ridge is ``p0 p1 count v0 v1 ...``: the face's vertices around the edge, turning right-handed about
    p0 -> p1; the last of a closed face is not said again, and a face on the boundary has the edge's midpoint
    at its end. Vertices that depend on three or two particles repeat the last one.
    """
    fans = [dual.fan[a:b] for a, b in zip(dual.start[:-1], dual.start[1:], strict=True)]
    count = len(dual.particles)
    open_edges = [k for k, fan in enumerate(fans) if fan[0] != fan[-1]]
    middle = {edge: count + place for place, edge in enumerate(open_edges)}
    ends = dual.edges[open_edges].reshape(-1, 2)
    vertices = np.concatenate([dual.vertices(mesh.points), mesh.points[ends].mean(axis=1)])
    ridges, cells = [], [[0] for _ in mesh.points]
    for k, fan in enumerate(fans):
        around = [*fan.tolist(), middle[k]] if k in middle else fan[:-1].tolist()
        i, j = dual.edges[k].tolist()
        ridges.append([i, j, len(around), *around])
        cells[i].append(k)
        cells[j].append(k)
    for cell in cells:
        cell[0] = len(cell) - 1
    return {
        "voronoivertices": vertices,
        "dependencies": np.concatenate([dual.particles, ends[:, [0, 1, 1, 1]]]),
        "voronoiridges": ridges,
        "voronoicells": cells,
    }
