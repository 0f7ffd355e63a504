"""What the world does to bodies, one class each; ``ACTIONS`` names them for scenes."""

from pliant.actions.attraction import Attraction as Attraction
from pliant.actions.base import ActionParameters
from pliant.actions.create_remove import Add as Add
from pliant.actions.create_remove import Create as Create
from pliant.actions.create_remove import Remove as Remove
from pliant.actions.cut import Cut as Cut
from pliant.actions.cut import Seam as Seam
from pliant.actions.environment import Damping as Damping
from pliant.actions.environment import Drag as Drag
from pliant.actions.environment import Pressure as Pressure
from pliant.actions.glue import Fuse as Fuse
from pliant.actions.glue import Glue as Glue
from pliant.actions.loads import Force as Force
from pliant.actions.loads import Gravity as Gravity
from pliant.actions.loads import Impulse as Impulse
from pliant.actions.loads import Moment as Moment
from pliant.actions.loads import Pull as Pull
from pliant.actions.manipulator import Manipulator as Manipulator
from pliant.actions.material_edits import Attributes as Attributes
from pliant.actions.material_edits import Renormalise as Renormalise
from pliant.actions.obstacles import Ground as Ground
from pliant.actions.obstacles import Obstacle as Obstacle
from pliant.actions.obstacles import Tabletop as Tabletop
from pliant.actions.obstacles import Tool as Tool
from pliant.actions.prescribed_motion import Fix as Fix
from pliant.actions.prescribed_motion import Move as Move
from pliant.actions.prescribed_motion import Rotate as Rotate
from pliant.actions.prescribed_motion import Sine as Sine
from pliant.actions.resample import Resample as Resample
from pliant.actions.traction import Traction as Traction
from pliant.actions.volume_constraint import VolumeConstraint as VolumeConstraint
from pliant.core.registry import Registry

ACTIONS: Registry[ActionParameters] = Registry(
    "action",
    (
        Gravity, Attraction, Fix, Force, Moment, Move, Rotate, Sine, Impulse, Pressure, Traction, Drag,
        Damping, Ground, Tabletop, Obstacle, Tool, Pull, VolumeConstraint, Cut, Seam,
        Manipulator, Renormalise, Attributes, Glue, Fuse, Create, Remove, Add, Resample,
    ),
    entry_points="pliant.actions",
    base=ActionParameters,
)  # fmt: skip
