"""Adaptive resolution: levels of tet meshes, each simulated where and when it is needed."""

from pliant.models.multires.model import Multires

__all__ = ["Multires"]
