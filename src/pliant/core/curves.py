"""Numbers that change with time: keys, linear or smooth, as any numeric input of a scene may have."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer

from pliant.core.typing import Array
from pliant.core.units import parse


class Curve:
    """Keys (time [s], value) joined by straight lines or by ``ease="smooth"`` (3s^2 - 2s^3).

    Before the first key the first value holds, after the last the last one. Values are numbers or
    vectors of three; a single value is a constant.
    """

    def __init__(self, times: Sequence[float], values: Any, ease: str = "linear") -> None:
        self.times = [float(t) for t in times]
        self.values: Array = np.array(values, dtype=np.float64)
        self.ease = ease
        self._whole = self._integrate_keys()

    @classmethod
    def constant(cls, value: Any) -> "Curve":
        return cls([0.0], [value])

    @property
    def is_constant(self) -> bool:
        return len(self.times) == 1

    @property
    def is_zero(self) -> bool:
        """Whether it is zero at all times."""
        return not np.any(self.values)

    def _place(self, time: float) -> tuple[int, float, float]:
        """Segment, its length and the fraction (0..1) of it at ``time`` (length 0 outside the keys)."""
        times = self.times
        k = bisect_right(times, time) - 1
        if k < 0:
            return 0, 0.0, 0.0
        if k >= len(times) - 1:
            return len(times) - 1, 0.0, 0.0
        length = times[k + 1] - times[k]
        return k, length, (time - times[k]) / length

    def at(self, time: float) -> Any:
        """Value at ``time``: a float or an array of three."""
        values = self.values
        if len(self.times) == 1:
            return values[0]
        k, length, s = self._place(time)
        if length == 0.0:
            return values[k]
        if self.ease == "smooth":
            s = s * s * (3.0 - 2.0 * s)
        return values[k] + s * (values[k + 1] - values[k])

    def at_all(self, times: Any) -> Any:
        """Values at ``times`` (k,): (k,) or (k, 3), the same bytes as those of ``at``."""
        if 0 < len(times) <= 2:
            return np.array([self.at(float(time)) for time in times])
        times = np.asarray(times, float)
        near = self._keys_around(times)  # a hand leaves thousands of keys behind: only those around count
        keys, values = np.asarray(self.times[near], float), np.asarray(self.values[near], float)
        if len(self.times) == 1:
            return np.repeat(values, len(times), axis=0)
        k = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
        s = np.clip((times - keys[k]) / (keys[k + 1] - keys[k]), 0.0, 1.0)
        if self.ease == "smooth":
            s = s * s * (3.0 - 2.0 * s)
        if values.ndim == 2:
            s = s[:, None]
        found = values[k] + s * (values[k + 1] - values[k])
        found[times >= self.times[-1]] = self.values[-1]
        return found

    def _keys_around(self, times: Any) -> slice:
        """Keys that values at ``times`` are made of; two at least, where there are."""
        if not len(times):
            return slice(None)
        begin = min(max(bisect_right(self.times, times.min()) - 1, 0), max(len(self.times) - 2, 0))
        return slice(begin, max(bisect_right(self.times, times.max()) + 1, begin + 2))

    def rate(self, time: float) -> Any:
        """Time derivative at ``time`` (from the right at a key)."""
        k, length, s = self._place(time)
        if length == 0.0:
            return np.zeros_like(self.values[0])
        slope = (self.values[k + 1] - self.values[k]) / length
        return slope * (6.0 * s * (1.0 - s)) if self.ease == "smooth" else slope

    def curvature(self, time: float) -> Any:
        """Second time derivative at ``time``; zero on straight lines, whose corners have none."""
        k, length, s = self._place(time)
        if length == 0.0 or self.ease != "smooth":
            return np.zeros_like(self.values[0])
        return (self.values[k + 1] - self.values[k]) * (6.0 - 12.0 * s) / length**2

    def integral(self, time: float) -> Any:
        """Exact integral from time 0 to ``time``."""
        return self._from_first(time) - self._from_first(0.0)

    def _from_first(self, time: float) -> Any:
        first = self.times[0]
        if time <= first or len(self.times) == 1:
            return (time - first) * self.values[0]
        k, length, s = self._place(time)
        if length == 0.0:
            return self._whole[-1] + (time - self.times[-1]) * self.values[-1]
        rise = self.values[k + 1] - self.values[k]
        part = s**3 - 0.5 * s**4 if self.ease == "smooth" else 0.5 * s * s
        return self._whole[k] + length * (s * self.values[k] + part * rise)

    def _integrate_keys(self) -> list[Any]:
        whole = [np.zeros_like(self.values[0])]
        for k in range(len(self.times) - 1):
            mean = 0.5 * (self.values[k] + self.values[k + 1])
            whole.append(whole[-1] + (self.times[k + 1] - self.times[k]) * mean)
        return whole

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Curve)
            and self.times == other.times
            and self.ease == other.ease
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.times), self.values.tobytes(), self.ease))

    def __repr__(self) -> str:
        return f"Curve({self.to_scene()!r})"

    def to_scene(self) -> Any:
        """Its form in a scene file."""
        values = self.values.tolist()
        if self.is_constant:
            return values[0]
        keys = [{"time": t, "value": v} for t, v in zip(self.times, values, strict=True)]
        return {"keys": keys} if self.ease == "linear" else {"keys": keys, "ease": self.ease}


def _value(value: Any, unit: str, vector: bool | None) -> Any:
    """A number, or a ``vector``; None: either."""
    if not vector and (vector is not None or not isinstance(value, (list, tuple, np.ndarray))):
        return parse(value, unit)
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 3:
        raise ValueError(f"expected three numbers [x, y, z]{f' in {unit}' if unit else ''}, got {value!r}")
    return [parse(part.item() if isinstance(part, np.generic) else part, unit) for part in value]


def _curve(value: Any, unit: str, vector: bool | None) -> Curve:
    if isinstance(value, Curve):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, dict):
        return Curve.constant(_value(value, unit, vector))
    unknown = set(value) - {"keys", "ease"}
    if unknown or "keys" not in value:
        raise ValueError(f"expected a number or {{ keys = [...], ease = ... }}, got {value!r}")
    keys, ease = value["keys"], value.get("ease", "linear")
    if ease not in ("linear", "smooth"):
        raise ValueError(f"ease is 'linear' or 'smooth', got {ease!r}")
    if not isinstance(keys, (list, tuple)) or not keys:
        raise ValueError("keys is a list of { time = ..., value = ... } with at least one entry")
    times, values = [], []
    for n, key in enumerate(keys):
        if not isinstance(key, dict) or set(key) != {"time", "value"}:
            raise ValueError(f"key {n + 1} must be {{ time = ..., value = ... }}, got {key!r}")
        times.append(parse(key["time"], "s"))
        values.append(_value(key["value"], unit, vector))
    if any(b <= a for a, b in pairwise(times)):
        raise ValueError("key times must increase")
    if len({np.ndim(each) for each in values}) > 1:
        raise ValueError("values of keys are all numbers or all vectors")
    return Curve(times, values, ease)


def _reads(unit: str, vector: bool | None = False) -> Any:
    return BeforeValidator(lambda value: None if value is None else _curve(value, unit, vector))


# Types of fields that take a constant or keys. They hold a Curve after validation; ``Any`` lets callers pass
# plain numbers.
_WRITES = PlainSerializer(lambda curve: None if curve is None else curve.to_scene())
KeyedNumber = Annotated[Any, _reads(""), _WRITES]
KeyedForce = Annotated[Any, _reads("N", vector=True), _WRITES]
KeyedTorque = Annotated[Any, _reads("N*m"), _WRITES]
KeyedPressure = Annotated[Any, _reads("Pa"), _WRITES]
KeyedTraction = Annotated[Any, _reads("Pa", vector=True), _WRITES]
KeyedAcceleration = Annotated[Any, _reads("m/s2", vector=None), _WRITES]
KeyedVelocity = Annotated[Any, _reads("m/s", vector=True), _WRITES]
KeyedPoint = Annotated[Any, _reads("m", vector=True), _WRITES]
KeyedLength = Annotated[Any, _reads("m"), _WRITES]
KeyedRate = Annotated[Any, _reads("1/s"), _WRITES]
KeyedFrequency = Annotated[Any, _reads("Hz"), _WRITES]
KeyedAngularSpeed = Annotated[Any, _reads("rad/s"), _WRITES]
KeyedAngle = Annotated[Any, _reads("rad"), _WRITES]
KeyedDensity = Annotated[Any, _reads("kg/m3"), _WRITES]
VECTORS = (KeyedForce, KeyedTraction, KeyedVelocity, KeyedPoint)
UNITS = {
    KeyedForce: "N", KeyedTorque: "N*m", KeyedPressure: "Pa", KeyedTraction: "Pa", KeyedAcceleration: "m/s2",
    KeyedVelocity: "m/s", KeyedPoint: "m", KeyedLength: "m", KeyedRate: "1/s", KeyedFrequency: "Hz",
    KeyedAngularSpeed: "rad/s", KeyedAngle: "rad", KeyedDensity: "kg/m3", KeyedNumber: "",
}  # fmt: skip
