"""What the world does to bodies, one class each; ``ACTIONS`` names them for scenes."""

from pliant.actions.adding import Add
from pliant.actions.bonds import Fuse, Glue
from pliant.actions.coming import Create, Remove
from pliant.actions.cuts import Cut, Seam
from pliant.actions.drives import Fix, Move, Rotate, Sine
from pliant.actions.gravity import Gravity
from pliant.actions.loads import Force, Impulse, Moment
from pliant.actions.manipulator import Manipulator
from pliant.actions.media import Damping, Drag, Pressure
from pliant.actions.obstacles import Ground, Obstacle, Tabletop, Tool
from pliant.actions.operations import Attributes, Renormalise
from pliant.actions.pull import Pull
from pliant.actions.volume_constraint import VolumeConstraint
from pliant.protocols import Action
from pliant.registry import Registry

ACTIONS: Registry[Action] = Registry(
    "action",
    {
        cls.kind: cls
        for cls in (
            Gravity, Fix, Force, Moment, Move, Rotate, Sine, Impulse, Pressure, Drag, Damping,
            Ground, Tabletop, Obstacle, Tool, Pull, VolumeConstraint, Cut, Seam,
            Manipulator, Renormalise, Attributes, Glue, Fuse, Create, Remove, Add,
        )
    },
    entry_points="pliant.actions",
)  # fmt: skip

__all__ = [
    "ACTIONS",
    "Add",
    "Attributes",
    "Create",
    "Cut",
    "Damping",
    "Drag",
    "Fix",
    "Force",
    "Fuse",
    "Glue",
    "Gravity",
    "Ground",
    "Impulse",
    "Manipulator",
    "Moment",
    "Move",
    "Obstacle",
    "Pressure",
    "Pull",
    "Remove",
    "Renormalise",
    "Rotate",
    "Seam",
    "Sine",
    "Tabletop",
    "Tool",
    "VolumeConstraint",
]
