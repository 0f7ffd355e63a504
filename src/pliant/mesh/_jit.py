"""The decorator that every mesh kernel uses; importing this module imports numba."""

from collections.abc import Callable
from typing import TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """``function``, compiled on first use and kept on disk; floating-point division never raises."""
    compiled: F = njit(cache=True, error_model="numpy")(function)
    return compiled
