"""The lattice model: elements on a cubic lattice, and connections that break, flow and are added."""

from pliant.models.lattice.model import Lattice

__all__ = ["Lattice"]
