"""What is audited: the surfaces of bodies, state by state, from runs of pliant or files of other programs."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError, MissingExtra
from pliant.core.typing import Array, IntArray
from pliant.interfaces import Structure
from pliant.mesh.io import read_surface
from pliant.mesh.topology import components
from pliant.run.scenery import obstacles
from pliant.run.store import Run, load
from pliant.run.store.frames import Frame
from pliant.run.store.ways import read_way

SURFACES = ("simulated", "shown")
_VTK_TRIANGLE, _VTK_TET, _VTK_TET10 = 5, 10, 24
_TET_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])


@dataclass(frozen=True)
class SurfaceFrame:
    """One state: points (n, 3) [m], triangles (t, 3), and the body (n,) of each point, an index of names."""

    label: str
    points: Array
    triangles: IntArray
    body: IntArray
    names: tuple[str, ...]
    way: tuple[Array, ...] | None = None  # recorded places of its first points on the way to this state

    def digest(self) -> str:
        """SHA-256 of the geometry."""
        found = hashlib.sha256()
        for array in (self.points, self.triangles, self.body):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


Frames = tuple[int, Iterator[SurfaceFrame]]
"""How many states there are, and the states, read one by one."""


def frames_of(path: Path, surface: str = "simulated", ways: bool = False) -> Frames:
    """The states of a run folder, a USD or VTKHDF file, or files whose names differ by a number
    (``frame_%04d.obj``).

    surface: of runs, whether the surfaces that collide or those that are shown are looked at; ways: whether
    to read the ways that a run recorded.
    """
    if surface not in SURFACES:
        raise InputError(f"There is no surface '{surface}'.", hint=f"Choose from {', '.join(SURFACES)}.")
    if path.is_dir():
        return _run_frames(load(path), surface, ways)
    readers: dict[str, Callable[[Path], Frames]] = {
        ".usd": _usd_frames,
        ".usda": _usd_frames,
        ".usdc": _usd_frames,
        ".vtkhdf": _vtkhdf_frames,
    }
    return readers.get(path.suffix.lower(), _mesh_frames)(path)


def joined(label: str, parts: list[tuple[str, Array, IntArray]]) -> SurfaceFrame:
    """One state from the named surfaces of bodies; points that no triangle uses are left out."""
    points, triangles, body, count = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], [np.empty(0, int)], 0
    for number, (_, x, t) in enumerate(parts):
        used, corners = np.unique(np.asarray(t, np.int64), return_inverse=True)
        points.append(np.asarray(x, float)[used])
        triangles.append(corners.reshape(-1, 3) + count)
        body.append(np.full(len(used), number))
        count += len(used)
    names = tuple(name for name, _, _ in parts)
    return SurfaceFrame(label, np.concatenate(points), np.concatenate(triangles), np.concatenate(body), names)


def _run_frames(run: Run, surface: str, ways: bool) -> Frames:
    meshes = [shape for shape in obstacles(run)[1] if shape.motion is not None]

    def state(frame: Frame) -> SurfaceFrame:
        parts = [(body.name, *_body_surface(frame, body.name, surface)) for body in frame.bodies]
        for number, shape in enumerate(meshes):
            if shape.motion is not None and shape.exists_at(frame.time):
                parts.append(
                    (f"obstacle mesh {number + 1}", shape.motion.at(frame.time), shape.motion.triangles)
                )
        found = joined(f"frame {frame.index}, t = {frame.time:g} s", parts)
        places = read_way(run.path, frame.index) if ways else None
        return found if places is None else replace(found, way=_way(frame, places, surface))

    return len(run.frames), map(state, run.frames)


def _way(frame: Frame, places: Array, surface: str) -> tuple[Array, ...]:
    """The points of the bodies' surfaces at ``places`` (w, n, 3) of all particles."""
    found = []
    for x in places:
        parts = []
        for body in frame.bodies:
            own, structure = x[slice(*body.rows)], body.structure
            cells = _own_triangles(structure)
            if surface == "simulated" and cells is not None:
                parts.append((body.name, own, cells))
            elif structure.carrier is not None:
                parts.append(
                    (body.name, structure.carrier.positions(own), structure.carrier.surface.triangles)
                )
        found.append(joined("", parts).points)
    return tuple(found)


def _own_triangles(structure: Structure) -> IntArray | None:
    """The triangles of the particles; None where they are no surface: of lattices they go through the middle
    of the elements."""
    cells = structure.cells.get("triangle")
    bare = cells is None or len(cells) < 2 or "hexahedron" in structure.cells
    return None if bare else cells


def _body_surface(frame: Frame, name: str, surface: str) -> tuple[Array, IntArray]:
    structure = frame.record(name).structure
    cells = _own_triangles(structure)
    if surface == "simulated" and cells is not None:
        return frame.rows(name), cells
    if structure.carrier is None:
        raise InputError(f"Body '{name}' has no surface to audit.")
    shown = frame.surface(name)
    return shown.points, shown.triangles


def _mesh_frames(path: Path) -> Frames:
    files = [path]
    if "%" in path.name:
        try:
            files = sorted(one for one in path.parent.glob("*" + path.suffix) if _fits(path.name, one.name))
        except (TypeError, ValueError):
            raise InputError(f"'{path.name}' is no pattern.", hint="For example: frame_%04d.obj") from None
    if not files or not all(file.is_file() for file in files):
        raise InputError(f"There is no file {path}.", hint="Give a run folder, a file, or frame_%04d.obj.")
    return len(files), map(_mesh_state, files)


def _mesh_state(file: Path) -> SurfaceFrame:
    """Connected parts of the mesh count as bodies."""
    mesh = read_surface(file)
    edges = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]]])
    _, piece = components(len(mesh.points), edges)
    _, part = np.unique(piece[mesh.triangles[:, 0]], return_inverse=True)
    parts = [(f"part {k}", mesh.points, mesh.triangles[part == k]) for k in range(int(part.max()) + 1)]
    return joined(file.name, parts)


def _fits(pattern: str, name: str) -> bool:
    head, _, rest = pattern.partition("%")
    tail = rest[rest.index("d") + 1 :]
    middle = name.removeprefix(head).removesuffix(tail)
    return name == head + middle + tail and middle.isdigit() and name == pattern % int(middle)


def _usd_frames(path: Path) -> Frames:
    try:
        from pxr import Usd, UsdGeom
    except ImportError as error:
        raise MissingExtra("USD files need usd-core.", hint="pip install 'pliant[usd]'") from error
    stage: Any = Usd.Stage.Open(str(path)) if path.is_file() else None
    if not stage:
        raise InputError(f"{path} cannot be opened as USD.")

    def meshes() -> list[Any]:  # of the stage, which has to be kept
        return [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]

    if not meshes():
        raise InputError(f"{path} has no meshes.")
    times = sorted({time for mesh in meshes() for time in mesh.GetPointsAttr().GetTimeSamples()}) or [0.0]

    def state(time: float) -> SurfaceFrame:
        place = UsdGeom.XformCache(time)
        return joined(f"time code {time:g}", [_usd_mesh(mesh, time, place) for mesh in meshes()])

    return len(times), map(state, times)


def _usd_mesh(mesh: Any, time: float, place: Any) -> tuple[str, Array, IntArray]:
    points = np.asarray(mesh.GetPointsAttr().Get(time), float).reshape(-1, 3)
    matrix = np.asarray(place.GetLocalToWorldTransform(mesh.GetPrim()), float)  # of row vectors
    counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get(time), int)
    corners = np.asarray(mesh.GetFaceVertexIndicesAttr().Get(time), np.int64)
    starts, fans = np.cumsum(counts) - counts, counts - 2
    face = np.repeat(np.arange(len(counts)), fans)
    step = np.arange(len(face)) - np.repeat(np.cumsum(fans) - fans, fans)
    triangles = np.stack([corners[starts[face] + k] for k in (0 * step, step + 1, step + 2)], axis=1)
    return str(mesh.GetPath()), points @ matrix[:3, :3] + matrix[3, :3], triangles


def _vtkhdf_frames(path: Path) -> Frames:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("VTKHDF files need h5py.", hint="pip install 'pliant[render]'") from error
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    try:
        top = h5py.File(path).get("VTKHDF")  # open as long as states are read from it
    except OSError as error:
        raise InputError(f"{path} is no HDF5 file: {error}.") from error
    if top is None or bytes(top.attrs["Type"]) != b"UnstructuredGrid":
        raise InputError(f"{path} is no VTKHDF file of an unstructured grid.")
    count = int(top["Steps"].attrs["NSteps"]) if "Steps" in top else 1
    return count, (_vtkhdf_step(top, step) for step in range(count))


def _vtkhdf_step(top: Any, step: int) -> SurfaceFrame:
    steps = top.get("Steps")
    start = {name: int(np.ravel(steps[name][step])[0]) if steps else 0 for name in _VTK_OFFSETS}
    part = start["PartOffsets"]
    sizes = {name: int(top[name][part]) for name in ("NumberOfPoints", "NumberOfCells")}
    points = np.asarray(top["Points"][start["PointOffsets"] :][: sizes["NumberOfPoints"]], float)
    first, count = start["CellOffsets"], sizes["NumberOfCells"]
    types = np.asarray(top["Types"][first : first + count])
    offsets = np.asarray(top["Offsets"][first + part : first + part + count + 1], int)
    corners = np.asarray(top["Connectivity"][start["ConnectivityIdOffsets"] :][: offsets[-1]], np.int64)
    bodies = np.zeros(count, int)
    if "body" in top.get("CellData", {}):
        bodies = np.asarray(top["CellData/body"][first : first + count], int).ravel()
    parts = []
    for number in np.unique(bodies):
        own = bodies == number
        parts.append((f"body {number}", points, _outer(types[own], offsets[:-1][own], corners)))
    time = float(steps["Values"][step]) if steps else 0.0
    return joined(f"step {step}, t = {time:g} s", parts)


_VTK_OFFSETS = ("PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets")


def _outer(types: IntArray, starts: IntArray, corners: IntArray) -> IntArray:
    """Triangles among cells, and the faces that one tet alone has."""
    flat = starts[types == _VTK_TRIANGLE]
    solid = starts[(types == _VTK_TET) | (types == _VTK_TET10)]
    tets = corners[solid[:, None] + np.arange(4)]
    faces = tets[:, _TET_FACES].reshape(-1, 3)
    _, index, times = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    found: IntArray = np.concatenate([corners[flat[:, None] + np.arange(3)], faces[index[times == 1]]])
    return found
