"""Colour maps: those of matplotlib, and blue-green-red for strain and stress as Cairns (2010) draws them."""

import math
from typing import Any

from pliant.core.environment import need
from pliant.core.errors import InputError
from pliant.core.registry import nearest

OWN = {"blue-green-red": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))}
"""Colours at even distances from the lowest value to the highest, joined by straight lines in RGB."""


WHOLE = ("level",)  # fields of whole numbers, drawn in as many colours as there are numbers
MOST_STEPS = 24


def whole_numbers(colour: str, limits: tuple[float, float]) -> list[int] | None:
    """The numbers of a field of whole numbers within ``limits``; None for other fields."""
    low, high = math.ceil(limits[0]), math.floor(limits[1])
    if colour not in WHOLE or not 0 <= high - low < MOST_STEPS:
        return None
    return list(range(low, high + 1))


def colour_map(name: str, steps: int | None = None) -> Any:
    """A map from 0..1 to RGBA by its name, in ``steps`` colours or continuous; InputError for one that does
    not exist."""
    found = _continuous(name)
    if steps is None:
        return found
    from matplotlib.colors import ListedColormap

    return ListedColormap([found(k / max(steps - 1, 1)) for k in range(steps)])


def _continuous(name: str) -> Any:
    need("Drawing pictures", "matplotlib")
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if name in OWN:
        return LinearSegmentedColormap.from_list(name, OWN[name])
    if name not in colormaps:
        known = ["viridis", "turbo", "coolwarm", *OWN]
        raise InputError(f"There is no colour map '{name}'; {nearest(name, known)}")
    return colormaps[name]
