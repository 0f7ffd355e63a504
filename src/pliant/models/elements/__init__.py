"""Elements on a lattice, and connections between them that break, flow and are made anew."""

from pliant.models.elements.model import Elements

__all__ = ["Elements"]
