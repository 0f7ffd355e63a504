"""Mechanics models, one folder each; ``MODELS`` names them for scenes."""

from pliant.models.fem import Fem
from pliant.models.mass_spring import MassSpring
from pliant.protocols import Model
from pliant.registry import Registry

MODELS: Registry[Model] = Registry(
    "model", {MassSpring.kind: MassSpring, Fem.kind: Fem}, entry_points="pliant.models"
)

__all__ = ["MODELS", "Fem", "MassSpring"]
