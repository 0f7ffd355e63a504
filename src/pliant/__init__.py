"""pliant: a mesh and a material become a deformable body, simulated, shown and measured.

    import pliant as pl

    beam = pl.Body(pl.shapes.box(2.0, 0.2, 0.2), edge=0.05, material="rubber")
    scene = pl.Scene([beam], [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))])
    run = scene.run(duration=2.0, fps=50, to="beam.pliant")

Names load when they are first used, so that ``import pliant`` is quick; ``__init__.pyi`` has their types.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_MODULES = {name: f"pliant.{name}" for name in ("actions", "errors", "integrators", "materials", "measures")}
_MODULES |= {"models": "pliant.models", "shapes": "pliant.mesh.shapes", "where": "pliant.where"}
_NAMES = {
    "Add": "pliant.actions",
    "Attributes": "pliant.actions",
    "Create": "pliant.actions",
    "Cut": "pliant.actions",
    "Damping": "pliant.actions",
    "Drag": "pliant.actions",
    "Fix": "pliant.actions",
    "Force": "pliant.actions",
    "Fuse": "pliant.actions",
    "Glue": "pliant.actions",
    "Gravity": "pliant.actions",
    "Ground": "pliant.actions",
    "Impulse": "pliant.actions",
    "Manipulator": "pliant.actions",
    "Moment": "pliant.actions",
    "Move": "pliant.actions",
    "Obstacle": "pliant.actions",
    "Pressure": "pliant.actions",
    "Pull": "pliant.actions",
    "Remove": "pliant.actions",
    "Renormalise": "pliant.actions",
    "Rotate": "pliant.actions",
    "Seam": "pliant.actions",
    "Sine": "pliant.actions",
    "Tabletop": "pliant.actions",
    "Tool": "pliant.actions",
    "VolumeConstraint": "pliant.actions",
    "Material": "pliant.materials",
    "Energy": "pliant.measures",
    "Flux": "pliant.measures",
    "FluxMeasure": "pliant.measures",
    "Fracture": "pliant.measures",
    "Momentum": "pliant.measures",
    "Peak": "pliant.measures",
    "Probe": "pliant.measures",
    "Reaction": "pliant.measures",
    "Volume": "pliant.measures",
    "Run": "pliant.recording",
    "load": "pliant.recording",
    "Rotation": "pliant.rotation",
    "Body": "pliant.scene",
    "Record": "pliant.scene",
    "Scene": "pliant.scene",
    "TimePlan": "pliant.scene",
    "read": "pliant.scene.load",
    "resume": "pliant.scene.running",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, *_NAMES, "__version__"])
