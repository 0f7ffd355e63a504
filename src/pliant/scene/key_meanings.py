"""What the keys of scene files mean, for the JSON Schema, ``pliant info`` and the reference pages.

A key's meaning is what its parameter class says of it: a text under the field, or ``name [unit]: ...`` in the
docstring of the class or of one of its bases. ``SHARED`` has those of keys that many classes share, and of
keys that docstrings explain in their sentences. A test holds that every key has one, and every entry a use.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import fields
from functools import cache
from itertools import pairwise, zip_longest
from typing import Any

from pliant.core.parameters import kebab

_NAME = r"(?:``)?(\w+)(?:``)?(?: \[[^\]]*\])?"
_JOIN = r"(?:, | and | or )"
_HEAD = re.compile(rf"(?:^|(?<=[.;,)] ))((?:{_NAME}{_JOIN})*{_NAME}):(?= )")

SHARED = {  # by class and key, or by key alone
    "from": "start time",
    "until": "end time; none: the end of the simulation",
    "at": "time of the event",
    "body": "name of the body; none: all bodies",
    "select": "the selected particles, see selections",
    "name": "name of its series; none: the type",
    "every": "whether a row is recorded every frame or every step",
    "axis": "x, y, z, or a direction",
    "axes": "the constrained directions; the others stay free",
    "friction": "Coulomb's coefficient",
    "restitution": "ratio of the speeds after and before an impact",
    "reach": "distance within which particles are connected; none: 1.8 spacings",
    "size": "lengths along x, y and z",
    "divisions": "number of cells along each direction; none: an unstructured tetrahedral mesh",
    "radius": "radius",
    "height": "height along z",
    "constants": "[E, G] used for both forces instead of the material's",
    "position": "position of the centre",
    "rotation": "rotation about the centre",
    "SceneFile.schema": "version of the format",
    "SceneFile.title": "title in lists and pictures",
    "SceneFile.up": "axis that points up; gravity acts in the opposite direction",
    "SceneFile.time": "duration, frames, step and integrator",
    "SceneFile.record": "what is recorded besides positions and series",
    "SceneFile.contact": "how bodies collide with each other",
    "SceneFile.camera": "the view of pictures and exports; none: frames everything that moves",
    "SceneFile.bodies": "the deformable bodies",
    "SceneFile.actions": "loads, supports, obstacles and cuts",
    "SceneFile.measures": "series to record",
    "TimeSettings.duration": "simulated time",
    "TimeSettings.fps": "recorded frames per simulated second",
    "TimeSettings.step": "time step; auto: the longest stable step, for implicit schemes at most a frame",
    "TimeSettings.integrator": "the integration scheme, a name or a table with type",
    "RecordSettings.velocities": "whether velocities are recorded",
    "CameraKeys.position": "position of the camera",
    "CameraKeys.target": "the point that the camera looks at",
    "CameraKeys.angle": "vertical field of view, in degrees",
    "Body.shape": "one of the shapes; a body has a shape or a mesh",
    "Body.mesh": "a file of a surface or a volume mesh; a body has a shape or a mesh",
    "Body.position": "position of the body's origin",
    "Body.rotation": "rotation about the body's origin",
    "Body.scale": "scale factor about the body's origin",
    "Body.model": "the model, a name or a table with type",
    "Body.material": "a preset, or a table of constants",
    "Body.name": "name of the body; none: body, body-2, ...",
    "Body.velocity": "initial velocity",
    "Body.spin": "initial angular velocity about the centre of mass",
    "Body.mesher": "the tetrahedral mesher",
    "ContactPairSettings.bodies": "names of the two bodies",
    "Rotation.axis": "the axis of rotation",
    "Rotation.degrees": "the angle",
    "Plane.axis": "the axis across which the plane lies",
    "Plane.at": "coordinate of the plane, or the end of the body",
    "Plane.tolerance": "distance from the plane; none: a tenth of the spacing at an end, else a quarter",
    "BoxRegion.min": "the lower corner",
    "BoxRegion.max": "the upper corner",
    "SphereRegion.centre": "its centre",
    "Nearest.to": "the point",
    "Nearest.count": "how many particles",
    "Select.plane": "particles on a plane",
    "Select.box": "particles in a box",
    "Select.sphere": "particles in a ball",
    "Select.ids": "particles by number",
    "Select.nearest": "the particles nearest to a point",
    "Select.group": "a named group of the mesh or the body",
    "Select.all": "all particles",
    "Contact.between": "whether bodies collide with each other",
    "Flux.plane": "the section",
    "CutPlane.axis": "the axis across which the plane lies",
    "CutPlane.at": "its coordinate in the rest shape",
    "CuttingPlane.axis": "the axis across which the plane lies, with at",
    "CuttingPlane.at": "its coordinate",
    "CuttingPlane.point": "a point of the plane, with normal",
    "CuttingPlane.normal": "the direction across the plane",
    "Region.region": "number or name of the cell group",
    "RegionalProperties.regions": "parts of the body with other constants",
    "Prism.radius": "distance of the corners from the axis",
    "Prism.sides": "number of sides",
    "BeamWithHole.radius": "radius of the hole; none: 0.3 of the smaller of the x and z sizes",
    "Support.thickness": "of both plates; none: a quarter of the smaller of the x and z sizes",
    "Icosphere.subdivisions": "number of times that each triangle is divided into four",
    "Torus.major": "radius of the ring",
    "Torus.minor": "radius of its tube",
    "Liver.width": "length along x",
    "NeckedBar.neck": "width of the narrow part as a share of the bar's",
    "ChocolateBar.squares": "number of squares along x and y",
    "ChocolateBar.groove": "depth of the grooves as a share of the height",
    "Goblet.wall": "thickness of the wall; none: a thirtieth of the height",
    "Efg.nearest": "number of neighbours whose mean distance sets the support",
    "Efg.reach": "radius of the support over that mean distance",
    "Efg.radius": "radius of the support; none: 1.2 reach spacings",
    "Efg.plasticity": "scheme of plastic flow for materials with a yield stress",
    "Fem.plasticity": "scheme of plastic flow for materials with a yield stress",
    "Create.body": "name of the body",
    "Remove.body": "name of the body; none: that of select",
    "Add.body": "name of the body",
    "Cut.direction": "the direction in which a blade in the plane moves",
    "Cut.edge": "coordinate of the blade's edge along direction",
    "Seam.plane": "the plane along which the body is separated",
    "Pressure.value": "pressure; positive pushes inward",
    "Drag.density": "density of the medium",
    "Drag.coefficient": "coefficient of drag",
    "Drag.wind": "velocity of the medium",
    "Damping.step": "the time step for which factor was published",
    "Attributes.stiffness": "factor on the stiffness of their connections",
    "Attributes.fracture-distance": "factor on the distance at which their connections break",
    "Attributes.friction": "their new coefficient of friction",
    "Attributes.strength": "their new strength",
    "Attributes.damping": "their new damping time",
    "Cut.plane": "along a plane, at time at; with direction and edge, a blade that moves in the plane",
    "Cut.mesh": "along a surface: a closed one separates its inside, an open one cuts as far as it extends",
    "Glue.to": "name of the body to which the particles are tied",
    "Fuse.bodies": "names of the two bodies",
    "Gravity.acceleration": "magnitude, in the direction opposite to up; or a vector",
    "Force.value": "the force",
    "Force.per": "whether value is the total or acts on each particle",
    "Moment.axis": "the axis of the torque",
    "Moment.value": "the torque",
    "Impulse.value": "the impulse, a total",
    "Pull.target": "target position of the centre of mass",
    "Pull.stiffness": "stiffness of the spring",
    "Pull.damping": "damping of the spring",
    "Manipulator.axis": "the axis of angle",
    "Manipulator.release": "time at which a sticky tool releases",
    "Ground.level": "coordinate of the ground along up",
    "Tabletop.height": "coordinate of its top along up",
    "Tabletop.size": "lengths of its sides",
    "Tabletop.centre": "its centre in the plane across up",
    "Tabletop.thickness": "thickness of the plate",
    "CapsuleShape.length": "length of the cylinder between its caps",
    "Obstacle.sphere": "a ball: radius",
    "Obstacle.box": "a box: size",
    "Obstacle.capsule": "a capsule: radius, length, axis",
    "Obstacle.mesh": "a surface file, numbered files (hand_%04d.obj), or a USD file with one mesh",
    "Obstacle.cache": "a file with the points of mesh over time: .pc2 or .mdd",
    "Obstacle.fps": "numbered files, or frames of a .pc2 cache, per second",
    "Obstacle.scale": "factor on the size of mesh",
    "Obstacle.mesh-units": "the length that one unit of mesh stands for",
    "Obstacle.angle": "how far mesh has turned about axis",
    "Obstacle.axis": "the axis of angle, through position",
    "ContactForce.between": "two names of bodies and obstacles: the force on the first from the second",
    "Move.velocity": "velocity of the particles, instead of displacement",
    "Move.displacement": "displacement of the particles from where they started",
    "Rotate.axis": "the axis of rotation",
    "Rotate.speed": "angular speed",
    "Rotate.centre": "a point of the axis; none: the particles' centre",
    "Sine.axis": "the direction of the oscillation",
    "Sine.amplitude": "amplitude",
    "Sine.frequency": "frequency",
    "Sine.phase": "phase at the start",
    "Traction.value": "force per area at rest",
    "Traction.total": "total force, distributed by area; instead of value",
    "Resample.finest": "smallest edge with resolution = auto; none: half of the body's",
    "Resample.tolerance": "change of strain between neighbours that is resolved, with resolution = auto",
    "VolumeConstraint.per": "constrained volume: the body, each particle's neighbourhood, or each tet",
    "VolumeConstraint.tolerance": "relative error of the volume; none: 1e-11 for body, 1e-5 for node",
    "VolumeConstraint.feedback": "how errors are corrected: exactly, or as in Everts (2006)",
    "VolumeConstraint.gain": "the gain g of the published feedback",
    "VolumeConstraint.compliance": "of per = tet: one over the stiffness in multiples of the bulk modulus",
    "VolumeConstraint.sweeps": "of per = tet: sweeps of Gauss-Seidel in a step",
    "Probe.what": "the quantity",
    "Manipulator.body": "name of the body",
    "Peak.body": "name of the body",
    "Peak.field": "the field, such as stress",
}  # fmt: skip


@cache
def meanings(cls: Any) -> dict[str, str]:
    """What each scene key of a parameter class means, in the words of docstrings."""
    keys = [kebab(entry.name) for entry in fields(cls)]
    told: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("pliant"):
            told |= _in_docstring(base) | _under_fields(base)
            named = {name.partition(".")[2]: text for name, text in SHARED.items() if _of(base, name)}
            told |= named
    return {key: text for key in keys if (text := told.get(key, SHARED.get(key)))}


def _of(cls: type, name: str) -> bool:
    return name.startswith(f"{cls.__name__}.")


def _in_docstring(cls: Any) -> dict[str, str]:
    """``name [unit], other: text`` of a docstring's paragraphs, by key."""
    found: dict[str, str] = {}
    for paragraph in inspect.cleandoc(vars(cls).get("__doc__") or "").split("\n\n"):
        text = " ".join(paragraph.split())
        heads = list(_HEAD.finditer(text))
        for head, following in zip_longest(heads, heads[1:]):
            about = text[head.end() : following.start() if following else None].strip(" ;,.")
            for name in re.findall(_NAME + f"(?:{_JOIN}|$)", head[1]):
                found.setdefault(kebab(name), about)
    return found


def _under_fields(cls: Any) -> dict[str, str]:
    """Texts under the fields of a class, by key."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[kebab(field.target.id)] = " ".join(str(text.value.value).split()).rstrip(".")
    return found
