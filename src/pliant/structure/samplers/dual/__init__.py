"""Dual cells of tet meshes: which piece of material belongs to which particle."""

from pliant.structure.samplers.dual.cells import Dual, dual_cells
from pliant.structure.samplers.dual.sampler import DualCellSampler

__all__ = ["Dual", "DualCellSampler", "dual_cells"]
