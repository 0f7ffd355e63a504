from pliant import actions as actions
from pliant import integrators as integrators
from pliant import materials as materials
from pliant import measures as measures
from pliant import models as models
from pliant.actions import *
from pliant.calibration import FitResult as FitResult
from pliant.calibration import fit as fit
from pliant.campaign import Sweep as Sweep
from pliant.campaign import open_sweep as open_sweep
from pliant.campaign import sweep as sweep
from pliant.core import errors as errors
from pliant.core import where as where
from pliant.core.rotation import Rotation as Rotation
from pliant.materials import Material as Material
from pliant.measures import *
from pliant.mesh import shapes as shapes
from pliant.run.runner import resume as resume
from pliant.run.store import Run as Run
from pliant.run.store import load as load
from pliant.scene import Body as Body
from pliant.scene import RecordSettings as RecordSettings
from pliant.scene import Scene as Scene
from pliant.scene import TimeSettings as TimeSettings
from pliant.scene.load import read as read
from pliant.training_data import Dataset as Dataset
from pliant.training_data import dataset as dataset

__version__: str
