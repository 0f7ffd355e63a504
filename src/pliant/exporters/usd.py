"""USD: shown surfaces over time, binary (.usd, .usdc) or text (.usda).

/World/BODY is an Xform, /World/BODY/surface its Mesh. Points and velocities are samples at the frames'
numbers; topology is written once. A body whose topology changes has surface_1, surface_2, ..., each visible
in its own frames. /World/BODY/simulation is the tet mesh at rest, a guide, with the deformable attributes
of the proposal that is staged for UsdPhysics under the names OmniPhysics...API and omniphysics:....
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, by_name
from pliant.mesh.types import Surface
from pliant.recording import BodyRecord, Frame
from pliant.typing import Array

SAVED_EVERY = 64  # frames held in memory until they are written


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
    for count, (shown, following) in enumerate(_pairs(job), 1):
        writer.frame(shown, following)
        if binary and count % SAVED_EVERY == 0:
            layer.Save()
    layer.Save()


@dataclass(frozen=True)
class _Shown:
    """A frame with the surfaces of its bodies."""

    frame: Frame
    surfaces: dict[str, Surface]


def _pairs(job: Job) -> Iterator[tuple[_Shown, _Shown | None]]:
    """Each frame with the next one of the same topology, or None."""
    before: _Shown | None = None
    for frame in job.each():
        shown = _Shown(frame, {name: frame.surface(name) for name in job.bodies_of(frame)})
        if before is not None:
            yield before, shown if frame.version == before.frame.version else None
        before = shown
    if before is not None:
        yield before, None


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
        self.last: dict[str, Array] = {}  # velocities of the frame before, for the last of a version

    def frame(self, now: _Shown, following: _Shown | None) -> None:
        """Samples of one frame."""
        from pxr import Vt

        frame = now.frame
        time, shown = float(frame.index), set()
        for name, surface in now.surfaces.items():
            points, velocities, extent = self._mesh(frame, name, surface)
            shown.add((frame.version, name))
            points.Set(_vectors(surface.points), time)
            velocities.Set(_vectors(self._velocities(frame, following, name, surface)), time)
            columns = surface.points.T.astype(np.float32)
            box = np.array([[column.min() for column in columns], [column.max() for column in columns]])
            extent.Set(Vt.Vec3fArray.FromNumpy(box), time)
        self._show(shown, time)

    def _velocities(self, frame: Frame, following: _Shown | None, name: str, surface: Surface) -> Array:
        """Recorded ones; else those that lead to the next frame, and at the end those that led here."""
        recorded = frame.velocities
        if recorded is not None:
            record = frame.record(name)
            assert record.structure.carrier is not None
            return record.structure.carrier.positions(recorded[slice(*record.rows)])
        if following is not None:
            apart = following.frame.time - frame.time
            self.last[name] = (following.surfaces[name].points - surface.points) / apart
        velocities = self.last.get(name)
        if velocities is None or velocities.shape != surface.points.shape:
            velocities = np.zeros_like(surface.points)
        return velocities

    def _mesh(self, frame: Frame, name: str, surface: Surface) -> tuple[Any, Any, Any]:
        key = (frame.version, name)
        if key not in self.meshes:
            self.meshes[key] = self._define(frame.record(name), surface)
        mesh = self.meshes[key]
        return mesh.GetPointsAttr(), mesh.GetVelocitiesAttr(), mesh.GetExtentAttr()

    def _define(self, record: BodyRecord, surface: Surface) -> Any:
        """A mesh of a topology version, all that does not change with time."""
        from pxr import Sdf, UsdGeom, Vt

        from pliant.render.look import BODY_COLOURS

        place = self.names[record.name]
        earlier = sum(name == record.name for _, name in self.meshes)
        if not earlier:
            self._body(place, record)
        mesh = UsdGeom.Mesh.Define(self.stage, f"{place}/surface{f'_{earlier}' if earlier else ''}")
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(surface.triangles), 3))
        mesh.CreateFaceVertexIndicesAttr(_integers(surface.triangles))
        number = list(self.names).index(record.name)
        colour = BODY_COLOURS[number % len(BODY_COLOURS)].lstrip("#")
        rgb = [(int(colour[k : k + 2], 16) / 255.0) ** 2.2 for k in (0, 2, 4)]
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray([tuple(rgb)]))
        variables = UsdGeom.PrimvarsAPI(mesh)
        if surface.uv is not None and surface.uv_triangles is not None:
            st = variables.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying)
            st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(surface.uv, np.float32)))
            st.SetIndices(_integers(surface.uv_triangles))
        for group, triangles in surface.groups.items():
            subset = UsdGeom.Subset.CreateGeomSubset(mesh, _word(group), UsdGeom.Tokens.face, Vt.IntArray())
            subset.GetIndicesAttr().Set(_integers(triangles))
        return mesh

    def _body(self, place: str, record: BodyRecord) -> None:
        from pxr import Sdf, UsdGeom, Vt

        structure = record.structure
        body = UsdGeom.Xform.Define(self.stage, place).GetPrim()
        body.AddAppliedSchema("OmniPhysicsDeformableBodyAPI")
        kinematic = body.CreateAttribute("omniphysics:kinematicEnabled", Sdf.ValueTypeNames.Bool)
        kinematic.Set(True)  # what happens is in the samples already
        mass = body.CreateAttribute("omniphysics:mass", Sdf.ValueTypeNames.Float)
        mass.Set(float(structure.mass.sum()))
        tets = structure.cells.get("tetra")
        if tets is None or not len(tets):
            return
        rest = _vectors(self.job.place.points(structure.rest))
        corners = Vt.Vec4iArray.FromNumpy(np.ascontiguousarray(tets, np.int32))
        mesh = UsdGeom.TetMesh.Define(self.stage, f"{place}/simulation")
        mesh.CreatePurposeAttr(UsdGeom.Tokens.guide)
        mesh.CreatePointsAttr(rest)
        mesh.CreateTetVertexIndicesAttr(corners)
        prim = mesh.GetPrim()
        prim.AddAppliedSchema("OmniPhysicsVolumeDeformableSimAPI")
        prim.CreateAttribute("omniphysics:restShapePoints", Sdf.ValueTypeNames.Point3fArray).Set(rest)
        prim.CreateAttribute("omniphysics:restTetVtxIndices", Sdf.ValueTypeNames.Int4Array).Set(corners)

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


def _vectors(points: Array) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, np.float32))


def _integers(numbers: Any) -> Any:
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(numbers, np.int32).ravel())


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
    Exporter(suffix, _ABOUT, SURFACES, _plan, needs=("pxr",), extra="usd", whole=True)
    for suffix in (".usd", ".usda", ".usdc")
)
