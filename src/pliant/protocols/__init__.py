"""The extension points of pliant, a file per family: the first folder to read.

Data flows  mesh -> Structure -> Body -> World -> Simulation -> Run.  A model, an action, an integrator or a
measure has two halves. The first is a frozen parameter class (``pliant.parameters``): it is what a scene
file says. Its ``prepare`` makes the second, a runtime object that works on arrays, once per simulation.
Runtime objects never own positions: they are handed ``x``, ``v`` and ``out``, shape (n, 3), SI units.

Capabilities are protocols; whoever has the method has the capability, and the loop asks for nothing else.
"""

from pliant.protocols.actions import (
    Acting,
    Action,
    BetweenSteps,
    Contact,
    Drive,
    Event,
    Forces,
    Potential,
    Power,
    Projection,
    Pushing,
)
from pliant.protocols.loop import Integrator, Measure
from pliant.protocols.mechanics import (
    Alterable,
    BodySeries,
    Dissipation,
    Energy,
    EnergyAndForces,
    Flux,
    Growing,
    Mechanics,
    Model,
    Removing,
    Renormalising,
    RestStiffness,
    Rough,
    Stiffening,
    Stiffness,
    StiffnessDamping,
    Thick,
    Uneven,
    VolumeLeaver,
)
from pliant.protocols.shared import (
    Columns,
    FieldData,
    Ledger,
    Memory,
    Noting,
    Restarting,
    Settling,
    StableStep,
    StepLimit,
)
from pliant.protocols.stepping import Completing, Meeting, OwnStep, Solid, Stepped
from pliant.protocols.structure import Carrier, Geometry, Sampler, Structure
from pliant.protocols.topology import Cuttable, Following, Newcomers, Rebuilding, RowChange, Topology, blend

__all__ = [
    "Acting",
    "Action",
    "Alterable",
    "BetweenSteps",
    "BodySeries",
    "Carrier",
    "Columns",
    "Completing",
    "Contact",
    "Cuttable",
    "Dissipation",
    "Drive",
    "Energy",
    "EnergyAndForces",
    "Event",
    "FieldData",
    "Flux",
    "Following",
    "Forces",
    "Geometry",
    "Growing",
    "Integrator",
    "Ledger",
    "Measure",
    "Mechanics",
    "Meeting",
    "Memory",
    "Model",
    "Newcomers",
    "Noting",
    "OwnStep",
    "Potential",
    "Power",
    "Projection",
    "Pushing",
    "Rebuilding",
    "Removing",
    "Renormalising",
    "RestStiffness",
    "Restarting",
    "Rough",
    "RowChange",
    "Sampler",
    "Settling",
    "Solid",
    "StableStep",
    "StepLimit",
    "Stepped",
    "Stiffening",
    "Stiffness",
    "StiffnessDamping",
    "Structure",
    "Thick",
    "Topology",
    "Uneven",
    "VolumeLeaver",
    "blend",
]
