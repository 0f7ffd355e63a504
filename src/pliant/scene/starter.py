"""A scene for a mesh of the user's own: placed above the ground, with settings that suit its size."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.core.rotation import quarter_turn
from pliant.core.units import parse
from pliant.materials import resolve
from pliant.mesh.mesh import Surface, TetMesh
from pliant.scene.modelling_warnings import LOCKING_RATIO
from pliant.scene.to_toml import toml_value

UP_OF_FILES = {".obj": "y", ".glb": "y"}  # what modelling programs write; others are left as they are
BELIEVED = {"m": 5.0, "cm": 25.0}  # extents, in the file's own units, up to which each is assumed; then mm
DROP = 0.25  # height above the ground, as a share of the body's
STEPS_MS = (10.0, 5.0, 4.0, 2.0, 1.0, 0.5, 0.2, 0.1)  # all divide a frame of 20 ms
GRAVITY = 9.81
SOFT = ("gelatine", "soft-rubber", "rubber")
LARGEST_SAG = 0.05  # strain by its own weight up to which a body keeps its shape
TEMPLATE = """\
#:schema pliant.schema.json
# The line above gives completion in editors with Taplo, after:  pliant schema -o pliant.schema.json
# A pliant scene: {name} falls on the ground. Run it with:  pliant run {file}
# Numbers are SI (metres, seconds, kilograms); strings may include a unit: "3 MPa", "5 cm".
schema = 1
title = {title}
up = "z"

[time]
duration = {duration:g}               # simulated seconds
fps = 50                     # recorded frames per simulated second
step = "{step:g} ms"
integrator = "implicit-euler"

[[bodies]]
name = "body"
mesh = {mesh}
mesh-up = "{up}"                # the axis that points up in the file
mesh-units = "{units}"             # what one unit of the file stands for
{edge}model = "fem"
material = {material}          # `pliant materials` lists presets{why}
position = [{x:.4g}, {y:.4g}, {z:.4g}]   # {drop:.2g} m above the ground

[[actions]]
type = "gravity"

[[actions]]
type = "ground"
friction = 0.5

[[measures]]                 # the mean position of the body in each frame: centre.x, centre.y, centre.z
type = "probe"
name = "centre"
select = {{ body = "body", all = true }}
"""


@dataclass(frozen=True)
class MeshScene:
    """The text of a scene, and what was assumed about the mesh, a sentence each."""

    text: str
    assumed: tuple[str, ...]


def mesh_scene(
    mesh: Path, scene: Path, *, up: str | None = None, units: str | None = None, material: str | None = None
) -> MeshScene:
    """A scene for the file ``mesh``, to be written to ``scene``: the body falls from a quarter of its height.

    up, units: of the file; by default Y for OBJ and GLB, Z for others; metres up to 5 units of extent,
    centimetres up to 25, then millimetres. material: by default gelatine for what it can
    carry, soft rubber for larger bodies.
    """
    from pliant.mesh.io import kind_of, read_surface, read_volume

    assumed = []
    volume = kind_of(mesh) == "volume"
    read: Surface | TetMesh = read_volume(mesh) if volume else read_surface(mesh)
    used = np.unique(read.tets if isinstance(read, TetMesh) else read.triangles)
    own = read.points[used]
    extent = float(np.ptp(own, axis=0).max())
    if up is None:
        up = UP_OF_FILES.get(mesh.suffix.lower(), "z")
        assumed.append(f"{up.upper()} points up in {mesh.name} (--up)")
    if units is None:
        units = next((unit for unit, most in BELIEVED.items() if extent <= most), "mm")
        assumed.append(f"its lengths are in {units} (--units)")
    factor = parse(f"1 {units}", "m")
    points = factor * own @ quarter_turn(up, "z").T
    low, high = points.min(axis=0), points.max(axis=0)
    if material is None:
        material = next((m for m in SOFT if _sag(m, float(high[2] - low[2])) < LARGEST_SAG), SOFT[-1])
        assumed.append(f"it is made of {material} (--material)")
    resolved = resolve(material)
    drop = DROP * float(high[2] - low[2]) or DROP * extent * factor
    edge = None if volume else _edge(read, factor)
    spacing = edge or _spacing(read, factor)
    middle = 0.5 * (low + high)
    step = _step(spacing, np.sqrt(2.0 * GRAVITY * drop))
    locks = resolved.poisson >= LOCKING_RATIO
    text = TEMPLATE.format(
        name=mesh.name,
        file=scene.name,
        title=toml_value(scene.stem.replace("-", " ").replace("_", " ").capitalize()),
        duration=2.0 if extent * factor < 3.0 else 3.0,
        step=step,
        mesh=toml_value(Path(os.path.relpath(mesh, scene.parent)).as_posix()),
        up=up,
        units=units,
        edge="" if edge is None else f"edge = {edge:.2g}                # target edge length [m]\n",
        material=f"{{ preset = {toml_value(material)}, poisson = 0.4 }}" if locks else toml_value(material),
        why="; 0.4 keeps linear tets from locking" if locks else "",
        x=0.0 - middle[0],
        y=0.0 - middle[1],
        z=drop - low[2],
        drop=drop,
    )
    return MeshScene(text, tuple(assumed))


def _sag(material: str, height: float) -> float:
    """Strain at the foot of a column of this ``height`` [m] under its own weight."""
    known = resolve(material)
    return known.density * GRAVITY * height / known.young


def _edge(surface: Surface | TetMesh, factor: float) -> float:
    """The edge that a fill takes by itself [m], to two digits."""
    from pliant.mesh.edge_length import checked_edge
    from pliant.mesh.repair import repair

    assert isinstance(surface, Surface)
    repaired, _ = repair(surface, max_dropped=1.0, max_hole=np.inf)
    return float(f"{factor * checked_edge(repaired.points, repaired.triangles, None):.2g}")


def _spacing(mesh: Surface | TetMesh, factor: float) -> float:
    from pliant.mesh.mesh import tet_volumes

    assert isinstance(mesh, TetMesh)
    return factor * float(np.cbrt(6.0 * np.abs(tet_volumes(mesh.points, mesh.tets)).mean()))


def _step(spacing: float, speed: float) -> float:
    """Milliseconds in which the body moves at most half its spacing when it hits the ground."""
    return next((ms for ms in STEPS_MS if 1e-3 * ms * speed <= 0.5 * spacing), STEPS_MS[-1])
