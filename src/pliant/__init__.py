"""pliant: a mesh and a material become a deformable body, simulated, shown and measured.

    import pliant as pl

    beam = pl.Body(pl.shapes.box(2.0, 0.2, 0.2), edge=0.05, material="rubber")
    scene = pl.Scene([beam], [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))])
    run = scene.run(duration=2.0, fps=50, to="beam.pliant")

Names load when they are first used, so that ``import pliant`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pliant import actions, errors, integrators, materials, measures, models, where
    from pliant.actions import (
        Damping,
        Drag,
        Fix,
        Force,
        Gravity,
        Ground,
        Impulse,
        Moment,
        Move,
        Obstacle,
        Pressure,
        Rotate,
        Sine,
        Tabletop,
        VolumeConstraint,
    )
    from pliant.materials import Material
    from pliant.measures import FluxMeasure, Probe, Reaction
    from pliant.mesh import shapes
    from pliant.recording import Run, load
    from pliant.rotation import Rotation
    from pliant.scene import Body, Record, Scene, TimePlan
    from pliant.scene.load import read
    from pliant.scene.running import resume_run as resume

_MODULES = {
    "pliant": ("actions", "errors", "integrators", "materials", "measures", "models", "where"),
    "pliant.mesh": ("shapes",),
}
_NAMES = {
    "pliant.actions": (
        "Damping", "Drag", "Fix", "Force", "Gravity", "Ground", "Impulse", "Moment", "Move", "Obstacle",
        "Pressure", "Rotate", "Sine", "Tabletop", "VolumeConstraint",
    ),
    "pliant.materials": ("Material",),
    "pliant.measures": ("FluxMeasure", "Probe", "Reaction"),
    "pliant.recording": ("Run", "load"),
    "pliant.rotation": ("Rotation",),
    "pliant.scene": ("Body", "Record", "Scene", "TimePlan"),
    "pliant.scene.load": ("read",),
}  # fmt: skip
_RENAMED = {"resume": ("pliant.scene.running", "resume_run")}

__all__ = [
    "__version__",
    *(name for names in (*_MODULES.values(), *_NAMES.values()) for name in names),
    *_RENAMED,
]


def __getattr__(name: str) -> Any:
    for package, names in _MODULES.items():
        if name in names:
            return import_module(f"{package}.{name}")
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(module), name)
    if name in _RENAMED:
        module, real = _RENAMED[name]
        return getattr(import_module(module), real)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
