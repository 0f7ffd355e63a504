"""Dual cells of tet meshes: which piece of material belongs to which particle."""

from pliant.structure.dual.cells import Dual, dual_cells
from pliant.structure.dual.sampler import CellSampler

__all__ = ["CellSampler", "Dual", "dual_cells"]
