"""What is measured while a simulation runs, one class each; ``MEASURES`` names them for scenes."""

from pliant.measures.fracture import FractureMeasure
from pliant.measures.peak import Peak
from pliant.measures.selected import FluxMeasure, Probe, Reaction
from pliant.measures.state import EnergyMeasure, Momentum, Volume
from pliant.protocols import Measure
from pliant.registry import Registry

MEASURES: Registry[Measure] = Registry(
    "measure",
    {
        cls.kind: cls
        for cls in (Volume, EnergyMeasure, Momentum, Probe, Reaction, FluxMeasure, FractureMeasure, Peak)
    },
    entry_points="pliant.measures",
)

__all__ = [
    "MEASURES",
    "EnergyMeasure",
    "FluxMeasure",
    "FractureMeasure",
    "Momentum",
    "Peak",
    "Probe",
    "Reaction",
    "Volume",
]
