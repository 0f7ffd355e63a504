"""Rigid bodies: six degrees of freedom."""

from pliant.models.rigid.model import Rigid

__all__ = ["Rigid"]
