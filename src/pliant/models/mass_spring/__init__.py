"""Mass-spring bodies on tetrahedra."""

from pliant.models.mass_spring.model import MassSpring

__all__ = ["MassSpring"]
