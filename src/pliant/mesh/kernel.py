"""The decorator that every mesh kernel uses; importing this module imports numba."""

from collections.abc import Callable
from typing import TypeVar

from pliant.kernels.jit import jit

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """``function``, compiled on first use and kept on disk; floating-point division never raises."""
    compiled: F = jit(function)
    return compiled
