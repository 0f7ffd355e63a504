"""USD: shown surfaces over time, binary (.usd, .usdc) or text (.usda).

/World/BODY is an Xform, /World/BODY/surface its Mesh. Points and velocities are samples at the frames'
numbers; topology is written once. A body whose topology changes has surface_1, surface_2, ..., each visible
in its own frames. /World/BODY/simulation is the tet mesh at rest, a guide, with the deformable attributes
of the proposal that is staged for UsdPhysics (``usd_deformable``). Smooth normals are written where they are
asked for: being samples, they make the file half as large again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.exporters.ahead import ahead
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, by_name
from pliant.exporters.surfaces import vertex_normals
from pliant.exporters.usd_arrays import bounds, differences, integers, vectors
from pliant.exporters.usd_deformable import bind_pose, define_body
from pliant.mesh.types import Surface
from pliant.recording import BodyRecord, Frame
from pliant.typing import Array

SAVED_BYTES = 32_000_000  # held in memory until they are written: each time costs something


def _plan(job: Job) -> list[Piece]:
    suffix = job.out.suffix.lower()
    if job.place.up == "x":
        raise InputError("In USD files y or z points up, not x.", hint="Turn it: --up z")
    return [(job.out, by_name(suffix, lambda path: _write(job, path)))]


def _write(job: Job, path: Path) -> None:
    from pxr import Sdf, Usd

    binary = path.suffix != ".usda"
    options = {"format": "usdc"} if path.suffix == ".usd" else {}
    layer = Sdf.Layer.CreateNew(str(path), args=options)
    stage = Usd.Stage.Open(layer)
    writer = _Writer(job, stage)
    held = 0
    for shown, following in _pairs(job):
        writer.frame(shown, following)
        held += sum(24 * len(surface.points) for surface in shown.surfaces.values())
        if binary and held > SAVED_BYTES:
            layer.Save()
            held = 0
    layer.Save()


@dataclass(frozen=True)
class _Shown:
    """A frame with the surfaces of its bodies and, where they are recorded, their velocities."""

    frame: Frame
    surfaces: dict[str, Surface]
    velocities: dict[str, Array | None]


def _shown(job: Job, number: int) -> _Shown:
    frame = job.frame(number)
    names = job.bodies_of(frame)
    surfaces = {name: frame.surface(name) for name in names}
    return _Shown(frame, surfaces, {name: frame.surface_velocities(name) for name in names})


def _pairs(job: Job) -> Iterator[tuple[_Shown, _Shown | None]]:
    """Each frame with the next one of the same topology, or None."""
    before: _Shown | None = None
    for shown in ahead(partial(_shown, job, number) for number in job.frames):
        if before is not None:
            yield before, shown if shown.frame.version == before.frame.version else None
            job.tell()
        before = shown
    if before is not None:
        yield before, None
        job.tell()


class _Writer:
    def __init__(self, job: Job, stage: Any) -> None:
        from pxr import UsdGeom

        self.job, self.stage = job, stage
        fps = float(job.run.manifest["fps"])
        UsdGeom.SetStageMetersPerUnit(stage, job.place.metres)
        UsdGeom.SetStageUpAxis(stage, job.place.up.upper())
        stage.SetTimeCodesPerSecond(fps)
        stage.SetFramesPerSecond(fps)
        stage.SetStartTimeCode(min(job.frames))
        stage.SetEndTimeCode(max(job.frames))
        stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
        self.several = len(job.versions()) > 1
        self.names = _paths(job)
        self.meshes: dict[tuple[int, str], Any] = {}
        self.paths: dict[tuple[int, str], tuple[Any, ...]] = {}  # of points, velocities, extent and normals
        self.last: dict[str, Any] = {}  # velocities of the frame before, for the last of a version

    def frame(self, now: _Shown, following: _Shown | None) -> None:
        """Samples of one frame."""
        frame, layer = now.frame, self.stage.GetRootLayer()
        time, shown = float(frame.index), set()
        for name, surface in now.surfaces.items():
            points, velocities, extent, normals = self._mesh(frame, name, surface)
            shown.add((frame.version, name))
            sample = vectors(surface.points)
            layer.SetTimeSample(points, time, sample)
            layer.SetTimeSample(velocities, time, self._velocities(now, following, name))
            layer.SetTimeSample(extent, time, vectors(bounds(np.asarray(sample))))
            if normals is not None:
                smooth = vertex_normals(surface.points, surface.triangles)
                layer.SetTimeSample(normals, time, vectors(smooth))
        self._show(shown, time)

    def _velocities(self, now: _Shown, following: _Shown | None, name: str) -> Any:
        """Recorded ones; else those that lead to the next frame, and at the end those that led here."""
        recorded, points = now.velocities[name], now.surfaces[name].points
        if recorded is not None:
            return vectors(recorded)
        if following is not None:
            apart = following.frame.time - now.frame.time
            self.last[name] = differences(following.surfaces[name].points, points, 1.0 / apart)
        velocities = self.last.get(name)
        if velocities is None or len(velocities) != len(points):
            velocities = vectors(np.zeros_like(points))
        return velocities

    def _mesh(self, frame: Frame, name: str, surface: Surface) -> tuple[Any, ...]:
        key = (frame.version, name)
        if key not in self.meshes:
            self.meshes[key] = mesh = self._define(frame.record(name), surface)
            created = [mesh.CreatePointsAttr(), mesh.CreateVelocitiesAttr(), mesh.CreateExtentAttr()]
            if self.job.normals:
                created.append(mesh.CreateNormalsAttr())
                mesh.SetNormalsInterpolation("vertex")
            paths = [attribute.GetPath() for attribute in created]
            self.paths[key] = (*paths, None)[:4]
        return self.paths[key]

    def _define(self, record: BodyRecord, surface: Surface) -> Any:
        """A mesh of a topology version, all that does not change with time."""
        from pxr import Sdf, UsdGeom, Vt

        from pliant.render.look import BODY_COLOURS

        place = self.names[record.name]
        earlier = sum(name == record.name for _, name in self.meshes)
        if not earlier:
            define_body(self.stage, place, record, self.job.place)
        mesh = UsdGeom.Mesh.Define(self.stage, f"{place}/surface{f'_{earlier}' if earlier else ''}")
        if not earlier and record.structure.carrier is not None:
            bind_pose(mesh.GetPrim(), self.job.place.points(record.structure.carrier.surface.points))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(surface.triangles), 3))
        mesh.CreateFaceVertexIndicesAttr(integers(surface.triangles))
        number = list(self.names).index(record.name)
        colour = BODY_COLOURS[number % len(BODY_COLOURS)].lstrip("#")
        rgb = [(int(colour[k : k + 2], 16) / 255.0) ** 2.2 for k in (0, 2, 4)]
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray([tuple(rgb)]))
        variables = UsdGeom.PrimvarsAPI(mesh)
        if surface.uv is not None and surface.uv_triangles is not None:
            st = variables.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying)
            st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(surface.uv, np.float32)))
            st.SetIndices(integers(surface.uv_triangles))
        for group, triangles in surface.groups.items():
            subset = UsdGeom.Subset.CreateGeomSubset(mesh, _word(group), UsdGeom.Tokens.face, Vt.IntArray())
            subset.GetIndicesAttr().Set(integers(triangles))
        return mesh

    def _show(self, shown: set[tuple[int, str]], time: float) -> None:
        """Where there are several versions, only the present ones are visible."""
        if not self.several:
            return
        from pxr import UsdGeom

        first = float(min(self.job.frames))
        for key, mesh in self.meshes.items():
            visible = mesh.GetVisibilityAttr()
            if not visible.GetNumTimeSamples() and time > first:
                visible.Set(UsdGeom.Tokens.invisible, first)
            visible.Set(UsdGeom.Tokens.inherited if key in shown else UsdGeom.Tokens.invisible, time)


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{word}" if not word or word[0].isdigit() else word


def _paths(job: Job) -> dict[str, str]:
    """A place in the stage for each body."""
    names: dict[str, str] = {}
    for version in job.versions():
        for record in job.run.topology(version):
            if record.name not in names and (job.bodies is None or record.name in job.bodies):
                names[record.name] = _free(_word(record.name), list(names.values()))
    return names


def _free(word: str, taken: Sequence[str]) -> str:
    path, number = f"/World/{word}", 1
    while path in taken:
        number += 1
        path = f"/World/{word}_{number}"
    return path


_ABOUT = "shown surfaces over time"
USD, USDA, USDC = (
    Exporter(suffix, _ABOUT, SURFACES | {"normals"}, _plan, needs=("pxr",), extra="usd", whole=True)
    for suffix in (".usd", ".usda", ".usdc")
)
