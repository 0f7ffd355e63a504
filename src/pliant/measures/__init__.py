"""What is measured while a simulation runs, one class each; ``MEASURES`` names them for scenes."""

from pliant.core.registry import Registry, SceneMember
from pliant.measures.base import MeasureParameters
from pliant.measures.contact_force import ContactForce as ContactForce
from pliant.measures.probes import Peak as Peak
from pliant.measures.probes import Probe as Probe
from pliant.measures.probes import Reaction as Reaction
from pliant.measures.section_force import Flux as Flux
from pliant.measures.totals import Energy as Energy
from pliant.measures.totals import Fracture as Fracture
from pliant.measures.totals import Momentum as Momentum
from pliant.measures.totals import Volume as Volume

MEASURES: Registry[MeasureParameters] = Registry(
    "measure",
    (Volume, Energy, Momentum, Probe, Reaction, ContactForce, Flux, Fracture, Peak),
    entry_points="pliant.measures",
    base=SceneMember,
)
EnergyMeasure, FluxMeasure, FractureMeasure = Energy, Flux, Fracture  # their names up to 0.1
