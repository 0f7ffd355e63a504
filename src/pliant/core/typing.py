"""Array types used across pliant."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
Vector = tuple[float, float, float]
Kernel = Any
"""A compiled function of arrays and numbers: numba has no types for it."""
