"""USD: render meshes over time, binary (.usd, .usdc) or text (.usda).

/World/BODY is an Xform, /World/BODY/surface its Mesh. Points and velocities are samples at the frames'
numbers; topology is written once. Fields that are asked for are primvars of the surface.

A body whose topology changes has surface_1, surface_2, ..., each visible in its own frames. Smooth normals
are written where they are asked for: being samples, they increase the file size by about 50 %.

/World/BODY/simulation is the tet mesh at rest, a guide, with deformable attributes for programs that
simulate. Their names follow the proposal of the USD Physics working group, which is staged for UsdPhysics
as OmniPhysics...API and omniphysics:... (Omni Physics Deformable Schema, as of its release 110).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import Array
from pliant.exporters.job import SURFACES, AxisTransform, Exporter, Job, Piece, by_name
from pliant.exporters.prefetch import Prefetched
from pliant.exporters.surfaces import vertex_normals
from pliant.exporters.usd_data import UsdSamples, each_sample, integers, save, vectors, write_text
from pliant.mesh.mesh import Surface, boundary_triangles
from pliant.run.store import BodyRecord, Frame

_POSE = "deformablePose:default:omniphysics:"


def define_body(stage: Any, path: str, record: BodyRecord, place: AxisTransform) -> None:
    """The body's Xform with its mass and material, and its tets at rest as a guide."""
    from pxr import Sdf, UsdGeom, UsdPhysics, Vt

    structure = record.structure
    body = UsdGeom.Xform.Define(stage, path).GetPrim()
    body.AddAppliedSchema("OmniPhysicsDeformableBodyAPI")
    enabled = body.CreateAttribute("omniphysics:deformableBodyEnabled", Sdf.ValueTypeNames.Bool)
    enabled.Set(True)
    kinematic = body.CreateAttribute("omniphysics:kinematicEnabled", Sdf.ValueTypeNames.Bool)
    kinematic.Set(True)  # what happens is in the samples already
    mass = body.CreateAttribute("omniphysics:mass", Sdf.ValueTypeNames.Float)
    mass.Set(float(structure.mass.sum()))
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    _define_material(stage, path, record, place)
    tets = structure.cells.get("tetra")
    if tets is None or not len(tets):
        return
    rest = place.points(structure.rest)
    corners = Vt.Vec4iArray.FromNumpy(np.ascontiguousarray(tets, np.int32))
    mesh = UsdGeom.TetMesh.Define(stage, f"{path}/simulation")
    mesh.CreatePurposeAttr(UsdGeom.Tokens.guide)
    mesh.CreatePointsAttr(vectors(rest))
    mesh.CreateTetVertexIndicesAttr(corners)
    sides = np.ascontiguousarray(boundary_triangles(tets), np.int32)
    mesh.CreateSurfaceFaceVertexIndicesAttr(Vt.Vec3iArray.FromNumpy(sides))
    prim = mesh.GetPrim()
    prim.AddAppliedSchema("OmniPhysicsVolumeDeformableSimAPI")
    prim.CreateAttribute("omniphysics:restShapePoints", Sdf.ValueTypeNames.Point3fArray).Set(vectors(rest))
    prim.CreateAttribute("omniphysics:restTetVtxIndices", Sdf.ValueTypeNames.Int4Array).Set(corners)
    bind_pose(prim, rest)


def bind_pose(prim: Any, points: Array) -> None:
    """The pose in which a body's shown surface belongs to its simulated mesh."""
    from pxr import Sdf, Vt

    prim.AddAppliedSchema("OmniPhysicsDeformablePoseAPI:default")
    kinds = Sdf.ValueTypeNames
    prim.CreateAttribute(_POSE + "purposes", kinds.TokenArray).Set(Vt.TokenArray(["bindPose"]))
    prim.CreateAttribute(_POSE + "points", kinds.Point3fArray).Set(vectors(points))


def _define_material(stage: Any, path: str, record: BodyRecord, place: AxisTransform) -> None:
    """Young's modulus and density in the units of the stage (kilograms, its lengths, seconds)."""
    from pxr import Sdf, UsdShade

    from pliant.materials import resolve

    try:
        material = resolve(record.material)
    except ValueError:
        return
    prim = UsdShade.Material.Define(stage, f"{path}/material").GetPrim()
    prim.AddAppliedSchema("OmniPhysicsDeformableMaterialAPI")
    for name, value in (
        ("youngsModulus", material.young * place.metres),
        ("poissonsRatio", material.poisson),
        ("density", material.density * place.metres**3),
    ):
        prim.CreateAttribute(f"omniphysics:{name}", Sdf.ValueTypeNames.Float).Set(float(value))
    binding = UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath(path))
    binding.Bind(UsdShade.Material(prim), materialPurpose="physics")


CAMERA = "/World/camera"
SAVED_BYTES = 16_000_000  # held in memory until they are written: each time costs something


def _plan(job: Job) -> list[Piece]:
    suffix = job.out.suffix.lower()
    if job.place.up == "x":
        raise InputError("In USD files y or z points up, not x.", hint="Turn it: --up z")
    write = _write_text if suffix == ".usda" else _write
    return [(job.out, by_name(suffix, lambda path: write(job, path)))]


def _write(job: Job, path: Path) -> None:
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateNew(str(path), args={"format": "usdc"} if path.suffix == ".usd" else {})
    writer = _UsdWriter(job, Usd.Stage.Open(layer))
    save(layer)
    held = 0
    with path.open("rb") as file:
        soon = Prefetched(file.fileno())
        for samples in each_sample(job):
            writer.frame(samples)
            held += samples.size
            if held > SAVED_BYTES:
                save(layer)
                soon.wrote(held)
                held = 0
        save(layer)


def _write_text(job: Job, path: Path) -> None:
    """By way of a binary file, so that memory stays flat."""
    binary = path.with_suffix(".usdc")
    _write(job, binary)
    write_text(binary, path)


class _UsdWriter:
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
        _define_camera(stage, job)
        self.several = len(job.versions()) > 1
        self.names = _paths(job)
        self.meshes: dict[tuple[int, str], Any] = {}
        self.paths: dict[tuple[int, str], tuple[Any, ...]] = {}  # of points, velocities, extent and normals

    def frame(self, now: UsdSamples) -> None:
        """Write the samples of one frame."""
        frame, layer = now.frame, self.stage.GetRootLayer()
        time, shown = float(frame.index), set()
        for name, surface in now.surfaces.items():
            points, velocities, extent, normals = self._mesh(frame, name, surface)
            shown.add((frame.version, name))
            layer.SetTimeSample(points, time, now.points[name])
            layer.SetTimeSample(velocities, time, now.velocities[name])
            layer.SetTimeSample(extent, time, now.extents[name])
            if normals is not None:
                smooth = vertex_normals(surface.points, surface.triangles)
                layer.SetTimeSample(normals, time, vectors(smooth))
            for field in self.job.fields or ():
                self._write_field(frame, name, field, time)
        self._show(shown, time)

    def _write_field(self, frame: Frame, body: str, field: str, time: float) -> None:
        """Numbers or vectors of a field at the points of the surface; a body that lacks it has none."""
        from pxr import Sdf, UsdGeom, Vt

        from pliant.render.scalar_fields import on_particles, on_surface

        frame = self.job.frame(frame.index)  # in the units and axes of the file
        if all(field not in frame.field_names(each) for each in self.names):
            frame.field(field, body)  # which tells what fields there are
        if field not in frame.field_names(body):
            return
        data, structure = frame.field(field, body), frame.record(body).structure
        columns = np.asarray(data.values, float).reshape(len(data.values), -1)
        if structure.carrier is None or columns.shape[1] not in (1, 3):
            raise InputError(f"USD files have no field '{field}' of body '{body}'.", hint="Use .vtkhdf.")
        shown = [
            on_surface(on_particles(replace(data, values=column), structure), structure)
            for column in columns.T
        ]
        kinds = Sdf.ValueTypeNames
        kind = kinds.FloatArray if len(shown) == 1 else kinds.Vector3fArray
        variables = UsdGeom.PrimvarsAPI(self.meshes[(frame.version, body)])
        variable = variables.CreatePrimvar(_word(field), kind, UsdGeom.Tokens.vertex)
        values = Vt.FloatArray.FromNumpy(shown[0].astype(np.float32)) if len(shown) == 1 else None
        variable.Set(vectors(np.stack(shown, axis=1)) if values is None else values, time)

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

        from pliant.render.render_options import body_rgb

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
        rgb = [(part / 255.0) ** 2.2 for part in body_rgb(list(self.names).index(record.name))]
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


def _define_camera(stage: Any, job: Job) -> None:
    """The camera of the scene, where it has one; it looks along its -z."""
    from pxr import Gf, UsdGeom

    eyes = job.eyes()
    if eyes is None:
        return
    camera = UsdGeom.Camera.Define(stage, CAMERA)
    width, height = 36.0, 20.25  # 16:9; apertures and focal lengths are tenths of a scene unit
    camera.CreateHorizontalApertureAttr(width)
    camera.CreateVerticalApertureAttr(height)
    distance = float(np.linalg.norm(eyes[0].position - eyes[0].target))
    camera.CreateClippingRangeAttr(Gf.Vec2f(1e-3 * distance, 1e3 * distance))
    place, lens = camera.AddTransformOp(), camera.CreateFocalLengthAttr()
    for number, eye in zip(job.frames, eyes, strict=False):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[3, :3] = eye.axes(), eye.position  # rows, as USD has them
        focal = 0.5 * height / np.tan(np.radians(eye.angle) / 2.0)
        when = (float(number),) if len(eyes) > 1 else ()
        place.Set(Gf.Matrix4d(*matrix.ravel().tolist()), *when)
        lens.Set(float(focal), *when)


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{word}" if not word or word[0].isdigit() else word


def _paths(job: Job) -> dict[str, str]:
    """A place in the stage for each body."""
    names: dict[str, str] = {}
    taken = [] if job.eyes() is None else [CAMERA]
    for version in job.versions():
        for record in job.run.topology(version):
            if record.name not in names and (job.bodies is None or record.name in job.bodies):
                names[record.name] = _free(_word(record.name), [*taken, *names.values()])
    return names


def _free(word: str, taken: Sequence[str]) -> str:
    path, number = f"/World/{word}", 1
    while path in taken:
        number += 1
        path = f"/World/{word}_{number}"
    return path


_ABOUT = "render meshes over time"
USD, USDA, USDC = (
    Exporter(suffix, _ABOUT, SURFACES | {"normals", "fields"}, _plan, needs=("pxr",), extra="usd", whole=True)
    for suffix in (".usd", ".usda", ".usdc")
)
