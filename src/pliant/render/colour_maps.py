"""Colour maps: those of matplotlib, and blue-green-red for strain and stress as Cairns (2010) draws them."""

from typing import Any

from pliant.core.environment import need
from pliant.core.errors import InputError
from pliant.core.registry import nearest

OWN = {"blue-green-red": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))}
"""Colours at even distances from the lowest value to the highest, joined by straight lines in RGB."""


def colour_map(name: str) -> Any:
    """A map from 0..1 to RGBA by its name; InputError for one that does not exist."""
    need("Drawing pictures", "matplotlib")
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if name in OWN:
        return LinearSegmentedColormap.from_list(name, OWN[name])
    if name not in colormaps:
        known = ["viridis", "turbo", "coolwarm", *OWN]
        raise InputError(f"There is no colour map '{name}'; {nearest(name, known)}")
    return colormaps[name]
