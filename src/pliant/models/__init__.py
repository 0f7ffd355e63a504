"""Mechanics models, one folder each; ``MODELS`` names them for scenes."""

from pliant.models.cpm1 import Cpm1
from pliant.models.cpm2 import Cpm2
from pliant.models.efg import Efg
from pliant.models.elements import Elements
from pliant.models.fem import Fem
from pliant.models.mass_spring import MassSpring
from pliant.models.multires import Multires
from pliant.models.rigid import Rigid
from pliant.protocols import Model
from pliant.registry import Registry

MODELS: Registry[Model] = Registry(
    "model",
    {cls.kind: cls for cls in (MassSpring, Fem, Cpm1, Cpm2, Efg, Elements, Multires, Rigid)},
    entry_points="pliant.models",
)


def deforming() -> list[str]:
    """The models whose bodies change their shape: what can be compared, and has moduli."""
    return [name for name in MODELS if name != Rigid.kind]


__all__ = ["MODELS", "Cpm1", "Cpm2", "Efg", "Elements", "Fem", "MassSpring", "Multires", "Rigid", "deforming"]
