"""Continuum particle model 2: forces over six sub-faces in each tet."""

from pliant.models.continuum_particles.cpm2.model import Cpm2

__all__ = ["Cpm2"]
