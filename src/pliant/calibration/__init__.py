"""Material parameters from measured curves: bounded least squares over runs of a scene.

``matching`` compares series with columns of measured data, ``evaluation`` runs a scene at given parameters in
memory, ``least_squares`` finds the best parameters, ``identifiability`` says which of them the test
determines, ``intervals`` how well, ``report`` writes it all down.
"""

from pliant.calibration.fit import FitResult, FittedParameter, compare_models, fit

__all__ = ["FitResult", "FittedParameter", "compare_models", "fit"]
