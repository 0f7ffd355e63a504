"""Elements on a lattice, and connections between them that break, flow and are made anew."""

from pliant.models.lattice.model import Lattice

__all__ = ["Lattice"]
