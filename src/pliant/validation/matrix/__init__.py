"""The standing matrix: test bodies x motions x models x integrators at default settings, a verdict per run.

figures   the test bodies
motions   the scenes that they are put into
verdict   what is measured of a run, and the limits
cells     one run of the matrix
pairs     a part of the matrix that has every pair
workers   processes that live on from run to run
table     all runs: resumable, in parallel
report    JSON, the compact table and the HTML page
"""

from pliant.validation.matrix.cells import SCHEMES as SCHEMES
from pliant.validation.matrix.figures import FIGURES as FIGURES
from pliant.validation.matrix.motions import MOTIONS as MOTIONS
from pliant.validation.matrix.table import MatrixPlan as MatrixPlan
from pliant.validation.matrix.table import matrix_plan as matrix_plan
from pliant.validation.matrix.table import run_matrix as run_matrix
