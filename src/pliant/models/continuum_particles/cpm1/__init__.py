"""Continuum particle model 1: forces over the faces of dual cells, one face per edge."""

from pliant.models.continuum_particles.cpm1.model import Cpm1

__all__ = ["Cpm1"]
