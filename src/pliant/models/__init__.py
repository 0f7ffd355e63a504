"""Mechanics models, one folder each; ``MODELS`` names them for scenes."""

from pliant.models.mass_spring import MassSpring
from pliant.protocols import Model
from pliant.registry import Registry

MODELS: Registry[Model] = Registry("model", {MassSpring.kind: MassSpring}, entry_points="pliant.models")

__all__ = ["MODELS", "MassSpring"]
