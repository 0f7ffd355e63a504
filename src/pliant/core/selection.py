"""Selections: which particles an action or a measure is about.

Geometric selections look at rest positions in world coordinates. An empty selection is an error.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from pliant.core.errors import SelectionError
from pliant.core.parameters import parameters
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.core.units import Length

if TYPE_CHECKING:
    from pliant.state.world import World

Axis = Literal["x", "y", "z"]
Point = tuple[Length, Length, Length]
AXES = {"x": 0, "y": 1, "z": 2}


def _body_reference(value: object) -> object:
    """A body by name, or the Body object itself (the Scene gives it its name)."""
    if value is None or isinstance(value, str) or hasattr(value, "material"):
        return value
    raise ValueError(f"expected a body's name, got {value!r}")


def _one_body(value: object) -> object:
    if value is None or value == "":
        raise ValueError("is missing: the name of a body")
    return _body_reference(value)


_BY_NAME = PlainSerializer(lambda body: body if body is None or isinstance(body, str) else body.name)
BodyRef = Annotated[Any, BeforeValidator(_body_reference), _BY_NAME]
OneBody = Annotated[Any, BeforeValidator(_one_body), _BY_NAME, WithJsonSchema({"type": "string"})]
"""A body, where all bodies are not meant by none."""


@parameters
class Plane:
    """Particles on a plane across an axis: at a coordinate, or at the body's own "min" or "max" end.

    The tolerance defaults to a tenth of the particle spacing at an end and a quarter elsewhere.
    """

    axis: Axis
    at: Literal["min", "max"] | Length
    tolerance: Length | None = None

    def mask(self, rest: Array, spacing: float) -> BoolArray:
        values = rest[:, AXES[self.axis]]
        if self.at == "min":
            level = values.min()
        elif self.at == "max":
            level = values.max()
        else:
            level = self.at
        share = 0.1 if isinstance(self.at, str) else 0.25
        tolerance = share * spacing if self.tolerance is None else self.tolerance
        return np.asarray(np.abs(values - level) <= tolerance)


@parameters
class BoxRegion:
    """Particles inside an axis-aligned box, its faces included."""

    min: Point
    max: Point

    def mask(self, rest: Array, spacing: float) -> BoolArray:
        margin = 1e-9 * spacing
        low, high = np.array(self.min) - margin, np.array(self.max) + margin
        return np.asarray(((rest >= low) & (rest <= high)).all(axis=1))


@parameters
class SphereRegion:
    """Particles inside a ball."""

    centre: Point
    radius: Length = Field(gt=0)

    def mask(self, rest: Array, spacing: float) -> BoolArray:
        square = ((rest - np.array(self.centre)) ** 2).sum(axis=1)
        return np.asarray(square <= (self.radius * (1 + 1e-9)) ** 2)


@parameters
class Nearest:
    """The ``count`` particles nearest to a point (ties broken by particle number)."""

    to: Point
    count: int = Field(default=1, ge=1)

    def mask(self, rest: Array, spacing: float) -> BoolArray:
        if self.count > len(rest):
            raise SelectionError(f"'nearest' asks for {self.count} particles, the body has {len(rest)}.")
        distance = ((rest - np.array(self.to)) ** 2).sum(axis=1)
        mask = np.zeros(len(rest), bool)
        mask[np.argsort(distance, kind="stable")[: self.count]] = True
        return mask


_KINDS = ("plane", "box", "sphere", "ids", "nearest", "group", "all")


@parameters
class Select:
    """A selection: of one body, or of all bodies where ``body`` is not given; exactly one way to choose."""

    body: BodyRef = None
    plane: Plane | None = None
    box: BoxRegion | None = None
    sphere: SphereRegion | None = None
    ids: tuple[int, ...] | None = None
    nearest: Nearest | None = None
    group: str | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> "Select":
        given = [kind for kind in _KINDS if getattr(self, kind) not in (None, False)]
        if len(given) > 1:
            raise ValueError(f"choose one of {', '.join(given)}, not several")
        if not given:
            raise ValueError(f"says which body but not which particles: give one of {', '.join(_KINDS)}")
        return self

    def _of_body(self, rest: Array, spacing: float, groups: Mapping[str, IntArray], name: str) -> IntArray:
        if self.all:
            return np.arange(len(rest))
        if self.group is not None:
            if self.group not in groups:
                known = ", ".join(sorted(groups)) or "none"
                raise SelectionError(f"body '{name}' has no group '{self.group}'; its groups: {known}.")
            return np.asarray(groups[self.group], np.int64)
        if self.ids is not None:
            ids = np.unique(np.array(self.ids, np.int64))
            if len(ids) and (ids[0] < 0 or ids[-1] >= len(rest)):
                wrong = ids[0] if ids[0] < 0 else ids[-1]
                raise SelectionError(f"body '{name}' has particles 0 to {len(rest) - 1}; {wrong} is not one.")
            return ids
        region = self.plane or self.box or self.sphere or self.nearest
        assert region is not None
        return np.flatnonzero(region.mask(rest, spacing))

    def rows(self, world: "World", what: str, body: Any = None) -> IntArray:
        """World rows of the selected particles, ascending; SelectionError where there are none."""
        if world.restored_rows is not None:
            world.remember(self, world.restored_rows, what)
            return world.restored_rows
        found = []
        body = self.body if body is None else body
        parts = world.bodies_named(body, what)
        if self.ids is not None and len(parts) > 1:
            raise SelectionError(
                f"{what}: ids without a body, and there are {len(parts)}.",
                hint=f'Say whose: body = "{parts[0].name}".',
            )
        for part in parts:
            structure = part.structure
            try:
                local = self._of_body(structure.rest, structure.spacing, structure.groups, part.name)
            except SelectionError as error:
                error.message = f"{what}: {error.message}"
                raise
            found.append(local + part.rows.start)
        rows = np.concatenate(found) if found else np.zeros(0, np.int64)
        if not len(rows):
            low, high = world.rest_bounds(body, what)
            raise SelectionError(
                f"{what}: the selection is empty.",
                hint=f"The body spans {_point(low)} to {_point(high)} in world coordinates.",
            )
        world.remember(self, rows, what)
        return rows

    def rows_again(
        self, rest: Array, spacing: float, groups: Mapping[str, IntArray], name: str, what: str
    ) -> IntArray:
        """The selected particles of body ``name`` (its own numbers), which was sampled again; SelectionError
        where there are none, or where numbers do not tell which they are."""
        if self.ids is not None:
            raise SelectionError(
                f"{what}: it selects particles of body '{name}' by their ids, and the body is resampled: the "
                "ids stand for others then.",
                hint="Select them by where they are: plane, box, sphere or nearest.",
            )
        rows = self._of_body(rest, spacing, groups, name)
        if not len(rows):
            raise SelectionError(
                f"{what}: the selection is empty once body '{name}' is resampled to an edge of "
                f"{spacing:.4g} m.",
                hint="Give it a larger tolerance, or a box or sphere.",
            )
        return rows


def _point(p: Array) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in p) + ")"
