"""Mechanics models, one folder each; ``MODELS`` names them for scenes."""

from pliant.core.registry import Registry
from pliant.interfaces import Model
from pliant.models.continuum_particles.cpm1 import Cpm1 as Cpm1
from pliant.models.continuum_particles.cpm2 import Cpm2 as Cpm2
from pliant.models.efg import Efg as Efg
from pliant.models.fem import Fem as Fem
from pliant.models.lattice import Lattice as Lattice
from pliant.models.mass_spring import MassSpring as MassSpring
from pliant.models.multires import Multires as Multires
from pliant.models.rigid import Rigid as Rigid

MODELS: Registry[Model] = Registry(
    "model",
    (MassSpring, Fem, Cpm1, Cpm2, Efg, Lattice, Multires, Rigid),
    entry_points="pliant.models",
    aliases={"elements": "lattice"},  # its name up to 0.1
    base=Model,
)

Elements = Lattice  # its name up to 0.1


def models_where(deforms: bool | None = None, own_step: bool | None = None) -> list[str]:
    """Names of the models that declare these; None: whatever they declare."""
    return [
        name
        for name, cls in MODELS.items()
        if deforms in (None, cls.deforms) and own_step in (None, cls.own_step)
    ]


def deforming() -> list[str]:
    """The models whose bodies change their shape: what can be compared, and has moduli."""
    return models_where(deforms=True)


def models_offering(capability: type) -> str:
    """The models whose bodies offer ``capability``, in words for a hint."""
    found = [(name, cls.offers[capability]) for name, cls in MODELS.items() if capability in cls.offers]
    texts = [f'"{name}" ({condition})' if condition else f'"{name}"' for name, condition in found]
    return f"model {', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else f"model {''.join(texts)}"
