"""Surfaces that deform: numbered files, and caches of points (PC2, MDD, USD)."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface

MOST = 4_000_000_000  # bytes of points that a sequence may take


@dataclass(frozen=True)
class SurfaceSequence:
    """Points (k, v, 3) of a surface at times (k,) [s], with the same triangles (t, 3) at all of them."""

    times: Array
    points: Array
    triangles: IntArray


def read_sequence(mesh: Path, cache: Path | None, fps: float) -> SurfaceSequence:
    """The surface in ``mesh``: one file, numbered files (``hand_%04d.obj``, ``hand_####.obj``), or a USD file
    with time samples; with the points of a ``cache`` (.pc2, .mdd). fps: samples a second where files do not
    tell; numbered files begin at time 0."""
    from pliant.mesh.io import read_surface

    if mesh.suffix.lower() == ".npz":
        with np.load(mesh) as kept:
            return SurfaceSequence(kept["times"], kept["points"], kept["triangles"])
    if mesh.suffix.lower() in (".usd", ".usda", ".usdc"):
        if cache is not None:
            raise MeshError(f"{mesh} has its own motion; it takes no cache.", hint="Leave cache out.")
        return _read_usd(mesh)
    if "%" in mesh.name or "#" in mesh.name:
        if cache is not None:
            raise MeshError("Numbered files take no cache.", hint="Name one mesh, or leave cache out.")
        files = _numbered(mesh)
        surfaces = [read_surface(file) for file in files]
        first = surfaces[0]
        for file, surface in zip(files, surfaces, strict=True):
            if not np.array_equal(surface.triangles, first.triangles):
                raise MeshError(
                    f"{file} has other triangles than {files[0]}.",
                    hint="All files of a sequence need the same vertices in the same order.",
                )
            if surface.points.shape != first.points.shape:
                raise MeshError(f"{file} has {len(surface.points)} points, {files[0]} {len(first.points)}.")
        points = np.stack([surface.points for surface in surfaces])
        return SurfaceSequence(np.arange(len(files)) / fps, points, first.triangles)
    surface = read_surface(mesh)
    if cache is None:
        return SurfaceSequence(np.zeros(1), surface.points[None], surface.triangles)
    times, points = _CACHES[_suffix(cache)](cache, fps)
    if points.shape[1] != len(surface.points):
        raise MeshError(
            f"{cache} moves {points.shape[1]} points, and {mesh} has {len(surface.points)}.",
            hint="The cache and the mesh must have the same points in the same order.",
        )
    return SurfaceSequence(times, points, surface.triangles)


def write_sequence(path: Path, found: SurfaceSequence) -> None:
    """Keep a sequence as .npz, for ``read_sequence``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez(file, times=found.times, points=found.points, triangles=found.triangles)


def _numbered(pattern: Path) -> list[Path]:
    """The files of a pattern with one number, in its order."""
    import re

    name = pattern.name
    if "#" in name:
        name = re.sub("#+", lambda found: f"%0{len(found.group())}d", name, count=1)
    parts = re.fullmatch(r"([^%]*)%0?\d*d([^%]*)", name)
    if parts is None:
        raise MeshError(f"{pattern} is no pattern of numbered files.", hint='Try "hand_%04d.obj".')
    form = re.compile(re.escape(parts[1]) + r"(\d+)" + re.escape(parts[2]))
    folder = pattern.parent
    every = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [(int(match[1]), file) for file in every if (match := form.fullmatch(file.name))]
    if not found:
        raise MeshError(f"There is no file {pattern}.", hint="Check the folder and the pattern.")
    return [file for _, file in sorted(found)]


def _suffix(cache: Path) -> str:
    suffix = cache.suffix.lower()
    if suffix not in _CACHES:
        raise MeshError(f"{cache}: a cache of points is .pc2 or .mdd, not '{suffix}'.")
    return suffix


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MeshError(f"{path} cannot be read: {error.strerror or error}.") from error


def _read_pc2(path: Path, fps: float) -> tuple[Array, Array]:
    """PointCache2: the text POINTCACHE2, version, number of points, first frame, frames a sample, number of
    samples, then little-endian float32 points."""
    data = _bytes(path)
    if len(data) < 32 or data[:12] != b"POINTCACHE2\0":
        raise MeshError(f"{path} is no PC2 file.")
    _, points, start, rate, samples = struct.unpack("<iiffi", data[12:32])
    found = _points(path, data[32:], "<f4", samples, points)
    times = (start + rate * np.arange(samples)) / fps
    return times - min(times[0], 0.0), found


def _read_mdd(path: Path, fps: float) -> tuple[Array, Array]:
    """MDD: numbers of frames and of points, the times of all frames [s], then big-endian float32 points."""
    data = _bytes(path)
    if len(data) < 8:
        raise MeshError(f"{path} is no MDD file.")
    samples, points = struct.unpack(">ii", data[:8])
    if samples < 1 or points < 1 or len(data) < 8 + 4 * samples:
        raise MeshError(f"{path} is no MDD file.")
    times = np.frombuffer(data, ">f4", samples, 8).astype(float)
    return times, _points(path, data[8 + 4 * samples :], ">f4", samples, points)


def _points(path: Path, data: bytes, form: str, samples: int, points: int) -> Array:
    if samples < 1 or points < 1 or len(data) < 12 * samples * points:
        raise MeshError(
            f"{path} ends too early: {samples} samples of {points} points need "
            f"{12 * samples * points} bytes, there are {len(data)}."
        )
    if 24 * samples * points > MOST:
        raise MeshError(f"{path} is too large: {samples} samples of {points} points.")
    found = np.frombuffer(data, form, 3 * samples * points).astype(float).reshape(samples, points, 3)
    if not np.isfinite(found).all():
        raise MeshError(f"{path} has points that are not finite.")
    return found


_CACHES = {".pc2": _read_pc2, ".mdd": _read_mdd}


def _read_usd(path: Path) -> SurfaceSequence:
    """The first mesh of a USD file, at its time samples, in world coordinates and metres."""
    try:
        from pxr import Gf, Usd, UsdGeom
    except ImportError as error:
        raise MeshError("USD needs the package usd-core.", hint="pip install 'pliant[usd]'") from error
    try:
        stage = Usd.Stage.Open(str(path))
    except Exception as error:
        raise MeshError(f"{path} cannot be read as USD.") from error
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    if len(meshes) != 1:
        raise MeshError(f"{path} has {len(meshes)} meshes; an obstacle is one.", hint="Export one mesh.")
    mesh, unit = meshes[0], UsdGeom.GetStageMetersPerUnit(stage)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get())
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    starts = np.concatenate([[0], np.cumsum(counts)])
    triangles = [
        (corners[a], corners[a + k], corners[a + k + 1])
        for a, n in zip(starts, counts, strict=False)
        for k in range(1, n - 1)
    ]
    query = UsdGeom.XformCache()
    samples = set(mesh.GetPointsAttr().GetTimeSamples())
    prim = mesh.GetPrim()
    while prim and prim.IsA(UsdGeom.Xformable):
        samples |= set(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()
    codes = sorted(samples) or [Usd.TimeCode.Default().GetValue()]
    points = []
    for code in codes:
        time = Usd.TimeCode(code) if samples else Usd.TimeCode.Default()
        query.SetTime(time)
        own = np.array(mesh.GetPointsAttr().Get(time), float)
        matrix = np.array(Gf.Matrix4d(query.GetLocalToWorldTransform(mesh.GetPrim())))
        points.append(unit * (own @ matrix[:3, :3] + matrix[3, :3]))
    shapes = {each.shape for each in points}
    if len(shapes) != 1:
        raise MeshError(f"{path}: the number of points changes.", hint="Obstacles keep their points.")
    times = np.array(codes) / stage.GetTimeCodesPerSecond() if samples else np.zeros(1)
    return SurfaceSequence(times, np.stack(points), np.array(triangles, np.int64))


def surface_of(found: SurfaceSequence) -> Surface:
    """The surface at its first sample."""
    return Surface(found.points[0], found.triangles)
