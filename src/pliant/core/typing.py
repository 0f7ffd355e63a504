"""Array types used across pliant."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
Vector = tuple[float, float, float]
Table = dict[str, Any]
"""A table of a TOML or JSON file, or keyword arguments: values by name."""
TableView = Mapping[str, Any]
"""A table that is only read."""
Kernel = Any
"""A compiled function of arrays and numbers: numba has no types for it."""
