"""What is to be drawn, worked out by the parent and handed to the child processes."""

from dataclasses import dataclass
from pathlib import Path

from pliant.core.typing import Array
from pliant.render.camera import Camera
from pliant.render.overlay import ColourBar
from pliant.render.render_options import RenderOptions
from pliant.render.scenery import Scenery


@dataclass(frozen=True)
class Panel:
    """A run in the picture, or one of several side by side.

    reach: the largest extent of what moves [m]; middle (3,): its middle; bottom: its lowest level along up.
    """

    path: Path
    caption: str
    camera: Camera
    setting: Scenery
    middle: Array
    reach: float
    bottom: float


@dataclass(frozen=True)
class Plan:
    """Everything that holds for all pictures."""

    panels: tuple[Panel, ...]
    look: RenderOptions
    limits: tuple[float, float] | None
    unit: str
    small: bool = False  # pictures of a contact sheet: nothing but the time is written on them

    @property
    def bar(self) -> ColourBar | None:
        """The colour bar, where one is wanted."""
        look = self.look
        if not look.bar or look.colour is None or self.limits is None:
            return None
        return ColourBar(look.colour, self.unit, self.limits, look.map)


@dataclass(frozen=True)
class Shot:
    """One picture: the time [s] in the runs, and how far through the movie it is (0..1)."""

    time: float
    phase: float = 0.0
