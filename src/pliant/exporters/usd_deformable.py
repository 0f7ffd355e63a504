"""What a USD file says about a deformable body for programs that simulate.

Names follow the deformable proposal of the USD Physics working group, which is staged for UsdPhysics under
the names OmniPhysics...API and omniphysics:... (Omni Physics Deformable Schema, as of its release 110).
"""

from typing import Any

import numpy as np

from pliant.core.typing import Array
from pliant.exporters.axes_units import AxisTransform
from pliant.exporters.usd_samples import vectors
from pliant.mesh.mesh import boundary_triangles
from pliant.run.store import BodyRecord

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
