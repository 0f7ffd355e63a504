"""Finite elements on tetrahedra."""

from pliant.models.fem.model import Fem

__all__ = ["Fem"]
