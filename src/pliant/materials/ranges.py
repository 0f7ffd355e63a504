"""What a material constant may be at all; values outside are errors, not warnings."""

from dataclasses import dataclass


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
