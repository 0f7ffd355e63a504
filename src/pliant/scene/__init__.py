"""Scenes: bodies, actions and measures together, from Python or from a TOML file."""

from pliant.scene.body import Body
from pliant.scene.scene import RecordSettings, Scene, TimeSettings

__all__ = ["Body", "RecordSettings", "Scene", "TimeSettings"]
