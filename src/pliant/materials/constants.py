"""What a material constant may be at all, and the isotropic ones from any two of them."""

from dataclasses import dataclass

from pliant.core.tables import TableView
from pliant.materials import elastic


@dataclass(frozen=True)
class Range:
    """An interval with a unit; ``open_low`` and ``open_high`` leave the ends out."""

    unit: str
    low: float
    high: float | None = None
    open_low: bool = True
    open_high: bool = True

    def holds(self, value: float) -> bool:
        """Whether ``value`` lies inside."""
        above = value > self.low if self.open_low else value >= self.low
        if self.high is None:
            return above
        return above and (value < self.high if self.open_high else value <= self.high)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        low = f"{'above' if self.open_low else 'at least'} {self.low:g}"
        if self.high is None:
            return f"{low}{unit}"
        return f"{low} and {'below' if self.open_high else 'at most'} {self.high:g}{unit}"


RANGES = {
    "young": Range("Pa", 1e-9, 1e15),
    "poisson": Range("", -1.0, 0.5),
    "shear": Range("Pa", 1e-10, 1e15),
    "density": Range("kg/m3", 1e-6, 1e9),
    "damping": Range("s", 0.0, open_low=False),
    "yield": Range("Pa", 0.0),
    "creep": Range("1/s", 0.0),
    "plastic-max": Range("", 0.0),
    "strength": Range("Pa", 0.0),
    "toughness": Range("J/m2", 0.0),
    "crack-speed": Range("m/s", 0.0),
    "friction": Range("", 0.0, open_low=False),
    "restitution": Range("", 0.0, 1.0, open_low=False, open_high=False),
}
INCOMPRESSIBLE = (
    "a ratio of 0.5 means no change of volume at all: use 0.49, or add the action volume-constraint"
)


def check_range(key: str, value: float) -> float:
    """``value`` itself if the constant ``key`` may have it; a ``ValueError`` that says the range if not."""
    allowed = RANGES[key]
    if allowed.holds(value):
        return value
    unit = f" {allowed.unit}" if allowed.unit else ""
    hint = f"; {INCOMPRESSIBLE}" if key == "poisson" and value >= 0.5 else ""
    raise ValueError(f"{key} = {value:g}{unit} is not possible: it must be {allowed}{hint}")


ISOTROPIC = ("young", "poisson", "shear")
AGREEMENT = 1e-6  # relative, between a given shear modulus and the one from young and poisson


def isotropic(table: TableView, preset: TableView | None = None) -> dict[str, float]:
    """Young, Poisson and shear from the two (or three, if they agree) that ``table`` gives.

    One given constant is completed from ``preset``: Poisson's ratio stays that of the preset, and if
    Poisson's ratio is the one given, Young's modulus stays. Raises ``ValueError`` if nothing fits.
    """
    given = {key: float(table[key]) for key in ISOTROPIC if table.get(key) is not None}
    if len(given) < 2 and preset is not None:
        other = "young" if "poisson" in given else "poisson"
        given[other] = float(preset[other])
        if len(given) < 2:
            given["young"] = float(preset["young"])
    if len(given) < 2:
        said = f"only {next(iter(given))} is given" if given else "none is given"
        raise ValueError(
            f"a material needs two of young, poisson and shear, and {said}; add one, or name a preset"
        )
    if "poisson" not in given:
        given["poisson"] = _poisson(given["young"], given["shear"])
    if "young" not in given:
        given["young"] = elastic.young_from_shear_poisson(given["shear"], given["poisson"])
    expected = elastic.shear_modulus(given["young"], given["poisson"])
    shear = given.setdefault("shear", expected)
    if abs(shear - expected) > AGREEMENT * expected:
        raise ValueError(
            f"young, poisson and shear do not agree: young = {given['young']:g} Pa and poisson = "
            f"{given['poisson']:g} make shear = {expected:.7g} Pa, not {shear:.7g} Pa; leave one of them out"
        )
    return {key: given[key] for key in ISOTROPIC}


def _poisson(young: float, shear: float) -> float:
    poisson = elastic.poisson_from_young_shear(young, shear)
    if RANGES["poisson"].holds(poisson):
        return poisson
    hint = f"; {INCOMPRESSIBLE}" if poisson < 0.5 + 1e-9 else ""
    raise ValueError(
        f"young = {young:g} Pa and shear = {shear:g} Pa make poisson = {poisson:g}, which must be "
        f"{RANGES['poisson']}: shear must be more than a third of young{hint}"
    )
