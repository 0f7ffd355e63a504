"""VTU, VTK, gmsh MSH and MEDIT files, through meshio and nowhere else."""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, IntArray
from pliant.mesh.io.bounded import bounded_decompression
from pliant.mesh.io.checks import checked_surface, checked_volume, fans
from pliant.mesh.mesh import Surface, TetMesh

MODULES = {".vtu": "vtu", ".vtk": "vtk", ".msh": "gmsh", ".mesh": "medit"}  # of meshio
_TETS = ("tetra", "tetra10")
FLAT_CORNERS = dict.fromkeys(("triangle", "triangle6", "triangle7"), 3)
FLAT_CORNERS |= dict.fromkeys(("quad", "quad8", "quad9"), 4) | {"polygon": 0}  # 0: all of them
OTHER_SOLIDS = ("hexahedron", "wedge", "pyramid", "voxel", "polyhedron", "tetra")
REGION_NAMES = ("region", "gmsh:physical", "medit:ref")
GROUP = "group:"
SPARE_BYTES, DENSEST = 128 * 1024**2, 20  # a file may hold so many bytes, and so many for each of its own
NAME_SAFE = "!#$&'()*+,/:;=?@[]^`{|}~"


def holds_tets(path: Path) -> bool:
    """Whether the file has any cell that fills space."""
    return any(block.type.startswith(OTHER_SOLIDS) for block in _read(path).cells)


def read_tets(path: Path) -> TetMesh:
    """The tets of a file, with groups and regions.

    Groups: point data ``group:NAME`` that is not 0, and the points of gmsh's named physical groups.
    Regions: cell data ``region``, gmsh's physical numbers or MEDIT's references, unless these are all 0.
    Triangles, lines and points beside the tets are left out; other solids are an error.
    """
    mesh = _read(path)
    for block in mesh.cells:
        if block.type.startswith(OTHER_SOLIDS) and block.type not in _TETS:
            raise MeshError(
                f"{path}: {len(block.data)} cells of type '{block.type}'; pliant takes tetrahedra only.",
                hint="Split the cells into tetrahedra where the mesh was made.",
            )
    blocks = [k for k, block in enumerate(mesh.cells) if block.type in _TETS]
    tets = [np.asarray(mesh.cells[k].data)[:, :4] for k in blocks]
    groups = {
        unquote(name[len(GROUP) :]): np.flatnonzero(data)
        for name, data in mesh.point_data.items()
        if name.startswith(GROUP)
    }
    for name, members in _physical_groups(mesh):
        points = [np.asarray(mesh.cells[k].data)[rows].ravel() for k, rows in members]
        groups.setdefault(name, np.unique(np.concatenate(points)))
    joined = np.concatenate(tets) if tets else np.empty((0, 4), dtype=np.int64)
    return checked_volume(str(path), mesh.points, joined, groups, _regions(path, mesh, blocks))


def read_triangles(path: Path) -> Surface:
    """The triangles and quads of a file without solids; gmsh's named physical surfaces as groups."""
    mesh = _read(path)
    if any(block.type.startswith(OTHER_SOLIDS) for block in mesh.cells):
        raise MeshError(
            f"{path}: a volume mesh, not a surface.", hint="Read it with pliant.mesh.io.read_volume."
        )
    corners: list[AnyArray] = []
    sizes: list[AnyArray] = []
    starts: dict[int, int] = {}
    total = 0
    for k, block in enumerate(mesh.cells):
        if block.type in FLAT_CORNERS:
            data = np.asarray(block.data)
            data = data[:, : FLAT_CORNERS[block.type] or data.shape[1]]
            corners.append(data.ravel())
            sizes.append(np.full(len(data), data.shape[1]))
            starts[k], total = total, total + len(data)
    if not total:
        raise MeshError(f"{path}: no triangles.", hint="Check that the file holds a surface or volume mesh.")
    flat = np.concatenate(corners).astype(np.int64)
    if flat.min() < 0 or flat.max() >= len(mesh.points):
        raise MeshError(f"{path}: a face refers to a point that is not there.", hint="Export the mesh again.")
    place, polygon = fans(np.asarray(mesh.points, dtype=np.float64), flat, np.concatenate(sizes))
    groups = {}
    for name, members in _physical_groups(mesh):
        faces = [rows + starts[k] for k, rows in members if k in starts]
        if faces:
            groups[name] = np.flatnonzero(np.isin(polygon, np.concatenate(faces)))
    return checked_surface(str(path), mesh.points, flat[place], groups=groups)


def _writer(module: str, *regions: str, **options: object) -> Callable[[Path, TetMesh], None]:
    """Writes tets through a module of meshio, their regions as cell data ``regions``."""

    def write(path: Path, mesh: TetMesh) -> None:
        if module == "medit":
            mesh = replace(mesh, groups={})
        with _quiet(path):
            import_module(f"meshio.{module}").write(path, _to_meshio(mesh, regions), **options)

    return write


WRITERS = {
    ".vtu": _writer("vtu", "region"),
    ".vtk": _writer("vtk", "region", binary=True),
    ".msh": _writer("gmsh", "gmsh:physical", "gmsh:geometrical", fmt_version="2.2", binary=True),
    ".mesh": _writer("medit", "medit:ref"),
}
"""VTK XML and legacy VTK (binary): groups as point data ``group:NAME``, regions as cell data ``region``. gmsh
2.2 (binary): groups as node data, regions as physical numbers. MEDIT text with 17 digits: regions as
references; the format has no place for groups."""


def _to_meshio(mesh: TetMesh, region_names: Sequence[str]) -> Any:
    import meshio

    flags = {}
    for name, members in mesh.groups.items():
        flags[GROUP + quote(name, safe=NAME_SAFE)] = flag = np.zeros(len(mesh.points), dtype=np.int32)
        flag[members] = 1
    regions = mesh.regions
    if regions is None and "region" not in region_names:
        regions = np.zeros(len(mesh.tets), dtype=np.int64)
    values = {} if regions is None else {name: [regions.astype(np.int32)] for name in region_names}
    return meshio.Mesh(mesh.points, [("tetra", mesh.tets)], point_data=flags, cell_data=values)


def _read(path: Path) -> Any:
    with _quiet(path), bounded_decompression(SPARE_BYTES + DENSEST * path.stat().st_size):
        mesh = import_module(f"meshio.{MODULES[path.suffix.lower()]}").read(path)
        mesh.points = np.asarray(mesh.points, dtype=np.float64)
        return mesh


@contextlib.contextmanager
def _quiet(path: Path) -> Iterator[None]:
    """No chatter from meshio, and its errors as ours."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stderr(io.StringIO()):
                yield
    except (MeshError, OSError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise MeshError(
            f"{path}: not a readable {path.suffix.lower()} file: {reason}.",
            hint="It may be cut short, damaged or of another format; export it again.",
        ) from error


def _physical_groups(mesh: Any) -> Iterator[tuple[str, list[tuple[int, IntArray]]]]:
    """Per named group of gmsh, the block numbers and cell numbers in them."""
    physical = mesh.cell_data.get("gmsh:physical")
    for name, entry in (mesh.field_data or {}).items():
        if physical is None or np.size(entry) != 2:
            continue
        number, dimension = (int(v) for v in entry)
        members = [
            (k, np.flatnonzero(np.asarray(physical[k]) == number))
            for k, block in enumerate(mesh.cells)
            if block.dim == dimension
        ]
        members = [(k, rows) for k, rows in members if len(rows)]
        if members:
            yield str(name), members


def _regions(path: Path, mesh: Any, blocks: list[int]) -> IntArray | None:
    """Region numbers of the tets in ``blocks``, or None."""
    for name in REGION_NAMES:
        if blocks and name in mesh.cell_data:
            values = np.concatenate([np.ravel(mesh.cell_data[name][k]) for k in blocks])
            whole = np.rint(np.where(np.isfinite(values), values, 0.5)).astype(np.int64)
            if not np.array_equal(whole, values):
                raise MeshError(
                    f"{path}: the cell data '{name}' is not whole numbers.", hint="Remove or round it."
                )
            return whole if name == "region" or whole.any() else None
    return None
