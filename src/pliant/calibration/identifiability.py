"""Which parameters a test determines, from the singular values of the Jacobian.

Residuals are in standard deviations of the noise and parameters in lengths of their ranges. Before the test a
parameter may be anywhere in its range: a uniform distribution of variance 1/12. After it the covariance is
``(J^T J + 12 I)^-1``. A parameter whose standard deviation is not halved by the test is not determined.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.calibration.parameters import FitParameter
from pliant.core.typing import Array

BEFORE = 1.0 / 12.0  # variance of a uniform distribution over a range of length 1
SHARED = 0.3  # part of a singular direction above which a parameter belongs to it


@dataclass(frozen=True)
class Identifiability:
    """What a test determines.

    singular_values: of the Jacobian in noise over ranges, largest first; deviations: standard deviations
    afterwards as shares of the ranges; determined: for each parameter; sentences: what it does not determine.
    """

    singular_values: Array
    deviations: Array
    determined: tuple[bool, ...]
    sentences: tuple[str, ...]


def identifiability(jacobian: Array, parameters: Sequence[FitParameter]) -> Identifiability:
    """From the Jacobian of residuals in standard deviations, with respect to places on the scales."""
    widths = np.array([p.width for p in parameters])
    scaled = jacobian * widths
    _, values, directions = np.linalg.svd(scaled, full_matrices=False)
    after = np.linalg.inv(scaled.T @ scaled + np.eye(len(parameters)) / BEFORE)
    deviations = np.sqrt(np.diag(after))
    determined = tuple(bool(d < 0.5 * np.sqrt(BEFORE)) for d in deviations)
    sentences = []
    told: set[int] = set()
    for value, direction in zip(values[::-1], directions[::-1], strict=True):
        members = [k for k, share in enumerate(direction) if abs(share) > SHARED and not determined[k]]
        if len(members) > 1 and np.sqrt(1.0 / (value**2 + 1.0 / BEFORE)) > 0.5 * np.sqrt(BEFORE):
            names = " and ".join(parameters[k].key for k in members)
            sentences.append(f"This test does not determine {names} separately, only a combination of them.")
            told.update(members)
    for k, parameter in enumerate(parameters):
        if not determined[k] and k not in told:
            sentences.append(f"This test does not determine {parameter.key}.")
    return Identifiability(values, deviations, determined, tuple(sentences))


def covariance(jacobian: Array, parameters: Sequence[FitParameter]) -> Array:
    """Covariance of the places on the scales, the ranges counted as prior knowledge."""
    widths = np.array([p.width for p in parameters])
    scaled = jacobian * widths
    after: Array = np.linalg.inv(scaled.T @ scaled + np.eye(len(parameters)) / BEFORE)
    return after * np.outer(widths, widths)
