"""Scenes: bodies, actions and measures together, from Python or from a TOML file."""

from pliant.scene.body import Body
from pliant.scene.scene import Record, Scene, TimePlan

__all__ = ["Body", "Record", "Scene", "TimePlan"]
