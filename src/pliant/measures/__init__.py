"""What is measured while a simulation runs, one class each; ``MEASURES`` names them for scenes."""

from pliant.measures.fracture import Fracture
from pliant.measures.peak import Peak
from pliant.measures.selected import Flux, Probe, Reaction
from pliant.measures.state import Energy, Momentum, Volume
from pliant.protocols import Measure
from pliant.registry import Registry

MEASURES: Registry[Measure] = Registry(
    "measure",
    {cls.kind: cls for cls in (Volume, Energy, Momentum, Probe, Reaction, Flux, Fracture, Peak)},
    entry_points="pliant.measures",
)
EnergyMeasure, FluxMeasure, FractureMeasure = Energy, Flux, Fracture  # their names up to 0.1

__all__ = ["MEASURES", "Energy", "Flux", "Fracture", "Momentum", "Peak", "Probe", "Reaction", "Volume"]
