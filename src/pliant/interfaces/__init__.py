"""The extension points of pliant: the first folder to read.

Data flows  mesh -> Structure -> Body -> World -> Simulation -> Run.  A model, an action, an integrator or a
measure has two halves. The first is a frozen parameter class (``pliant.core.parameters``), which holds the
keys of a scene file. Its ``prepare`` makes the second, a runtime object that works on arrays, once per
simulation. Runtime objects never own positions: they are handed ``x``, ``v`` and ``out``, (n, 3), SI units.

Runtimes derive from an abstract base (``Mechanics``, ``ActionRuntime``, ``MeasureSampler``) whose optional
members have neutral defaults. What only some of them can do is a protocol that they declare in
``capabilities``; others ask with ``runtime.offer(Protocol)``.
"""

from pliant.interfaces.action import ActionRuntime as ActionRuntime
from pliant.interfaces.action import AddStiffnessDamping as AddStiffnessDamping
from pliant.interfaces.action import BetweenSteps as BetweenSteps
from pliant.interfaces.action import BodyChange as BodyChange
from pliant.interfaces.action import ClampFace as ClampFace
from pliant.interfaces.action import DisableVolumetricTerm as DisableVolumetricTerm
from pliant.interfaces.action import Event as Event
from pliant.interfaces.action import HideBody as HideBody
from pliant.interfaces.action import MakeSticky as MakeSticky
from pliant.interfaces.action import PrescribedMotion as PrescribedMotion
from pliant.interfaces.action import Projection as Projection
from pliant.interfaces.action import RecurringEvent as RecurringEvent
from pliant.interfaces.action import Request as Request
from pliant.interfaces.action import offered as offered
from pliant.interfaces.capability import Capable as Capable
from pliant.interfaces.force_term import ForceTerm as ForceTerm
from pliant.interfaces.integrator import Integrator as Integrator
from pliant.interfaces.integrator import IntegratorState as IntegratorState
from pliant.interfaces.measure import MeasureSampler as MeasureSampler
from pliant.interfaces.mechanics import Cuttable as Cuttable
from pliant.interfaces.mechanics import Damped as Damped
from pliant.interfaces.mechanics import DiscreteGradient as DiscreteGradient
from pliant.interfaces.mechanics import Editable as Editable
from pliant.interfaces.mechanics import ElasticConstraints as ElasticConstraints
from pliant.interfaces.mechanics import FractureStatistics as FractureStatistics
from pliant.interfaces.mechanics import IncrementalFlow as IncrementalFlow
from pliant.interfaces.mechanics import Mechanics as Mechanics
from pliant.interfaces.mechanics import Model as Model
from pliant.interfaces.mechanics import Resamplable as Resamplable
from pliant.interfaces.mechanics import SectionForce as SectionForce
from pliant.interfaces.mechanics import StepHook as StepHook
from pliant.interfaces.mechanics import StoredEnergy as StoredEnergy
from pliant.interfaces.mechanics import Tangent as Tangent
from pliant.interfaces.mechanics import VolumetricTerm as VolumetricTerm
from pliant.interfaces.shared_data import ACCOUNTS as ACCOUNTS
from pliant.interfaces.shared_data import ContactSurface as ContactSurface
from pliant.interfaces.shared_data import EnergyTotals as EnergyTotals
from pliant.interfaces.shared_data import FieldData as FieldData
from pliant.interfaces.shared_data import StableStep as StableStep
from pliant.interfaces.stepping_body import EnergyKeeping as EnergyKeeping
from pliant.interfaces.stepping_body import SelfStepping as SelfStepping
from pliant.interfaces.stepping_body import StepContext as StepContext
from pliant.interfaces.structure import Carrier as Carrier
from pliant.interfaces.structure import Geometry as Geometry
from pliant.interfaces.structure import Sampler as Sampler
from pliant.interfaces.structure import StoredExtra as StoredExtra
from pliant.interfaces.structure import Structure as Structure
from pliant.interfaces.structure import StructureExtra as StructureExtra
from pliant.interfaces.topology import ChangingTopology as ChangingTopology
from pliant.interfaces.topology import IndexMap as IndexMap
from pliant.interfaces.topology import NewParticles as NewParticles
from pliant.interfaces.topology import SelectionMap as SelectionMap
from pliant.interfaces.topology import TopologyChange as TopologyChange
from pliant.interfaces.topology import blend as blend
