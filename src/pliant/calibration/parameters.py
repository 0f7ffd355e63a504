"""Parameters of a fit and the scale of their search: logarithm, or logit of the place in a range."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.campaign.points import Variation
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.typing import Array
from pliant.core.units import si_unit

LOGIT_END = 6.0  # the scale of a plain range ends at 0.25 % and 99.75 % of it


@dataclass(frozen=True)
class FitParameter:
    """A scene key with a range; ``log``: searched on the logarithm, otherwise on the logit."""

    key: str
    low: float
    high: float
    log: bool
    unit: str = ""

    @property
    def bounds(self) -> tuple[float, float]:
        return (math.log(self.low), math.log(self.high)) if self.log else (-LOGIT_END, LOGIT_END)

    @property
    def width(self) -> float:
        """The length of the range on the scale."""
        return self.bounds[1] - self.bounds[0]

    def value(self, place: float) -> float:
        """The parameter at a place of the scale."""
        if self.log:
            return min(max(math.exp(place), self.low), self.high)
        return self.low + (self.high - self.low) / (1.0 + math.exp(-place))

    def at_share(self, share: float) -> float:
        """The place at a share, 0 to 1, of the range."""
        if self.log:
            return self.bounds[0] + share * self.width
        inside = min(max(share, 0.01), 0.99)
        return math.log(inside / (1.0 - inside))

    @property
    def short(self) -> str:
        return self.key.rpartition(".")[2]


def fit_parameters(variations: Sequence[Variation], units: dict[str, str]) -> list[FitParameter]:
    """Ranges as parameters; InputError for lists, which a fit cannot search."""
    found: list[FitParameter] = []
    for each in variations:
        if not each.is_range:
            raise InputError(
                f"{option('vary', key=each.key)}: a fit needs a range.", hint="Write a..b or a..b:log"
            )
        if any(each.key == other.key for other in found):
            raise InputError(f"{option('vary', key=each.key)} is given twice.")
        if each.count is not None:
            raise InputError(
                f"{option('vary', key=each.key)}: a fit takes no number of values.",
                hint="Write a..b or a..b:log",
            )
        unit = units.get(each.key, "")
        if each.unit and each.unit != (si_unit(unit) if unit else ""):
            raise InputError(
                f"{option('vary', key=each.key)}: the range is in {each.unit}, the key in {unit or '1'}."
            )
        low, high = sorted((float(each.low), float(each.high)))
        if low == high:
            raise InputError(f"{option('vary', key=each.key)}: both ends are {low:g}.")
        found.append(FitParameter(each.key, low, high, each.log, unit))
    if not found:
        raise InputError(
            "Nothing to fit.", hint=f"Add {option('vary', '10kPa..10MPa:log', 'bodies.NAME.material.young')}"
        )
    return found


def values_at(parameters: Sequence[FitParameter], places: Array) -> dict[str, float]:
    """Values by key."""
    return {p.key: p.value(float(z)) for p, z in zip(parameters, np.atleast_1d(places), strict=True)}
