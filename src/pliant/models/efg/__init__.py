"""Element-free Galerkin: bodies of points that fit the deformation around them by least squares."""

from pliant.models.efg.model import Efg

__all__ = ["Efg"]
