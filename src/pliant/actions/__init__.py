"""What the world does to bodies, one class each; ``ACTIONS`` names them for scenes."""

from pliant.actions.cuts import Cut, Seam
from pliant.actions.drives import Fix, Move, Rotate, Sine
from pliant.actions.gravity import Gravity
from pliant.actions.loads import Force, Impulse, Moment
from pliant.actions.media import Damping, Drag, Pressure
from pliant.actions.obstacles import Ground, Obstacle, Tabletop
from pliant.actions.volume_constraint import VolumeConstraint
from pliant.protocols import Action
from pliant.registry import Registry

ACTIONS: Registry[Action] = Registry(
    "action",
    {
        cls.kind: cls
        for cls in (
            Gravity, Fix, Force, Moment, Move, Rotate, Sine, Impulse, Pressure, Drag, Damping,
            Ground, Tabletop, Obstacle, VolumeConstraint, Cut, Seam,
        )
    },
    entry_points="pliant.actions",
)  # fmt: skip

__all__ = [
    "ACTIONS",
    "Cut",
    "Damping",
    "Drag",
    "Fix",
    "Force",
    "Gravity",
    "Ground",
    "Impulse",
    "Moment",
    "Move",
    "Obstacle",
    "Pressure",
    "Rotate",
    "Seam",
    "Sine",
    "Tabletop",
    "VolumeConstraint",
]
