"""Adaptive multiresolution: levels of detail that come and go where and when they are needed."""

from pliant.models.multires.model import Multires

__all__ = ["Multires"]
