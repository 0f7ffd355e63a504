"""VTU, VTK, gmsh MSH and MEDIT files: cells of several kinds, of which tets or triangles count."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, IntArray
from pliant.mesh.io.cells import KINDS, POLYGON, QUADS, TETS, TRIANGLES, CellFile, joined, uniform
from pliant.mesh.io.checks import checked_surface, checked_volume, fans
from pliant.mesh.io.gmsh import read_gmsh, write_gmsh
from pliant.mesh.io.medit import read_medit, write_medit
from pliant.mesh.io.vtk import read_vtk, write_vtk
from pliant.mesh.io.vtu import read_vtu, write_vtu
from pliant.mesh.mesh import Surface, TetMesh

READERS: dict[str, Callable[[Path], CellFile]] = {
    ".vtu": read_vtu,
    ".vtk": read_vtk,
    ".msh": read_gmsh,
    ".mesh": read_medit,
}
REGION_NAMES = ("region", "gmsh:physical", "medit:ref")
GROUP = "group:"
NAME_SAFE = "!#$&'()*+,/:;=?@[]^`{|}~"


def holds_tets(path: Path) -> bool:
    """Whether the file has any cell that fills space."""
    return bool((_read(path).dimensions == 3).any())


def read_tets(path: Path) -> TetMesh:
    """The tets of a file, with groups and regions.

    Groups: point data ``group:NAME`` that is not 0, and the points of gmsh's named physical groups.
    Regions: cell data ``region``, gmsh's physical numbers or MEDIT's references, unless these are all 0.
    Triangles, lines and points beside the tets are left out; other solids are an error.
    """
    file = _read(path)
    other = np.flatnonzero((file.dimensions == 3) & ~np.isin(file.kinds, TETS))
    if len(other):
        kind = int(file.kinds[other[0]])
        raise MeshError(
            f"{path}: {(file.kinds == kind).sum()} cells of type '{KINDS[kind].name}'; pliant takes "
            "tetrahedra only.",
            hint="Split the cells into tetrahedra where the mesh was made.",
        )
    groups = {
        unquote(name[len(GROUP) :]): np.flatnonzero(data)
        for name, data in file.point_data.items()
        if name.startswith(GROUP)
    }
    for name, cells in _physical_groups(file):
        inside = np.isin(np.arange(len(file.kinds)), cells)
        groups.setdefault(name, np.unique(file.corners[np.repeat(inside, np.diff(file.starts))]))
    cells = file.of(*TETS)
    return checked_volume(str(path), file.points, file.first(cells, 4), groups, _regions(path, file, cells))


def read_triangles(path: Path) -> Surface:
    """The triangles and quads of a file without solids; gmsh's named physical surfaces as groups."""
    file = _read(path)
    if (file.dimensions == 3).any():
        raise MeshError(
            f"{path}: a volume mesh, not a surface.", hint="Read it with pliant.mesh.io.read_volume."
        )
    cells = file.of(*TRIANGLES, *QUADS, POLYGON)
    if not len(cells):
        raise MeshError(f"{path}: no triangles.", hint="Check that the file holds a surface or volume mesh.")
    sizes = np.diff(file.starts)[cells]
    for corners, kinds in ((3, TRIANGLES), (4, QUADS)):
        sizes[np.isin(file.kinds[cells], kinds)] = corners
    place = np.repeat(file.starts[cells] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    flat = file.corners[place]
    if flat.min() < 0 or flat.max() >= len(file.points):
        raise MeshError(f"{path}: a face refers to a point that is not there.", hint="Export the mesh again.")
    place, polygon = fans(file.points, flat, sizes)
    owner = cells[polygon]
    groups = {name: np.flatnonzero(np.isin(owner, members)) for name, members in _physical_groups(file)}
    groups = {name: faces for name, faces in groups.items() if len(faces)}
    return checked_surface(str(path), file.points, flat[place], groups=groups)


def _read(path: Path) -> CellFile:
    return READERS[path.suffix.lower()](path)


def _physical_groups(file: CellFile) -> Iterator[tuple[str, IntArray]]:
    """Per named group of gmsh, the cells in it."""
    physical = file.cell_data.get("gmsh:physical")
    for name, (number, dimension) in file.names.items():
        if physical is not None:
            members = np.flatnonzero((physical == number) & (file.dimensions == dimension))
            if len(members):
                yield name, members


def _regions(path: Path, file: CellFile, cells: IntArray) -> IntArray | None:
    """Region numbers of ``cells``, or None."""
    for name in REGION_NAMES:
        if len(cells) and name in file.cell_data:
            values = np.ravel(file.cell_data[name][cells])
            whole = np.rint(np.where(np.isfinite(values), values, 0.5)).astype(np.int64)
            if not np.array_equal(whole, values):
                raise MeshError(
                    f"{path}: the cell data '{name}' is not whole numbers.", hint="Remove or round it."
                )
            return whole if name == "region" or whole.any() else None
    return None


# ---------------------------------------------------------------------------------------------- writing


def _writer(write: Callable[[Path, CellFile], None], region: str) -> Callable[[Path, TetMesh], None]:
    """Writes tets, their groups as data of points, and their regions as the cell data ``region``."""

    def write_tets(path: Path, mesh: TetMesh) -> None:
        flags: dict[str, AnyArray] = {}
        for name, members in mesh.groups.items():
            flags[GROUP + quote(name, safe=NAME_SAFE)] = flag = np.zeros(len(mesh.points), dtype=np.int32)
            flag[members] = 1
        regions = {} if mesh.regions is None else {region: mesh.regions.astype(np.int32)}
        file = CellFile(mesh.points, *joined([uniform(10, mesh.tets)]))
        write(path, replace(file, point_data=flags, cell_data=regions))

    return write_tets


WRITERS = {
    ".vtu": _writer(write_vtu, "region"),
    ".vtk": _writer(write_vtk, "region"),
    ".msh": _writer(write_gmsh, "gmsh:physical"),
    ".mesh": _writer(write_medit, "medit:ref"),
}
"""VTK XML and legacy VTK (binary): groups as point data ``group:NAME``, regions as cell data ``region``. gmsh
2.2 (binary): groups as node data, regions as physical numbers. MEDIT text with 17 digits: regions as
references; the format has no place for groups."""
