"""pliant: turn a mesh and a material into a deformable body, simulate it, render and measure the result.

    import pliant as pl

    beam = pl.Body(pl.shapes.box(2.0, 0.2, 0.2), edge=0.05, material="rubber")
    scene = pl.Scene([beam], [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))])
    run = scene.run(duration=2.0, fps=50, to="beam.pliant")

Names are loaded on first use, so that ``import pliant`` is quick; ``__init__.pyi`` has their types. Every
action and every measure is a name of pliant, from the tables ``ACTIONS`` and ``MEASURES`` of their families.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_FAMILIES = ("actions", "measures")
_MODULES = {name: f"pliant.{name}" for name in (*_FAMILIES, "integrators", "materials", "models")}
_MODULES |= {"errors": "pliant.core.errors", "shapes": "pliant.mesh.shapes", "where": "pliant.core.where"}
_NAMES = {
    "Material": "pliant.materials",
    "Run": "pliant.run.store",
    "load": "pliant.run.store",
    "Rotation": "pliant.core.rotation",
    "Body": "pliant.scene",
    "RecordSettings": "pliant.scene",
    "Scene": "pliant.scene",
    "TimeSettings": "pliant.scene",
    "read": "pliant.scene.load",
    "resume": "pliant.run.runner",
    "Sweep": "pliant.campaign",
    "open_sweep": "pliant.campaign",
    "sweep": "pliant.campaign",
    "FitResult": "pliant.calibration",
    "fit": "pliant.calibration",
    "Dataset": "pliant.training_data",
    "dataset": "pliant.training_data",
}
_FORMER = {"Record": "RecordSettings", "TimePlan": "TimeSettings"}  # names up to 0.1


def _in_families(name: str) -> Any:
    """The action or measure class called ``name``, or None."""
    for family in _FAMILIES:
        found = getattr(import_module(_MODULES[family]), name, None)
        if hasattr(found, "kind"):
            return found
    return None


def __getattr__(name: str) -> Any:
    name = _FORMER.get(name, name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    found = None if name.startswith("_") else _in_families(name)
    if found is None:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    families = [
        name for family in _FAMILIES for name in dir(import_module(_MODULES[family])) if _in_families(name)
    ]
    return sorted([*_MODULES, *_NAMES, *families, "__version__"])
