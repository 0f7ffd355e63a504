"""Shapes with one flat profile: beam with a hole, support, cylinder, prism."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.common import Positive, Shape, Size, target_edge
from pliant.mesh.shapes.planar import extrude, sample_circle, sample_polygon, upright


@parameters
class BeamWithHole(Shape):
    """A box from the origin to ``size`` [m] with a round hole along y through its middle.

    ``radius`` [m] defaults to 0.3 of the smaller of the x and z sizes; at most 0.45 of it fits.
    """

    size: Size
    radius: Positive | None = None

    @model_validator(mode="after")
    def _hole_fits(self) -> Self:
        most = 0.45 * min(self.size[0], self.size[2])
        if self.radius is not None and self.radius > most:
            raise ValueError(
                f"a hole of radius {self.radius:g} m does not fit into {self.size[0]:g} m by "
                f"{self.size[2]:g} m (x by z); at most {most:.3g} m leaves enough wall"
            )
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """The beam; ``edge`` (a sixth of the smaller of x and z) is at most the wall beside the hole."""
        x, y, z = self.size
        radius = self.radius or 0.3 * min(x, z)
        default = max(min(x, z) / 6, max(self.size) / 200)
        area = 2 * (x * y + y * z + z * x)
        target = target_edge(edge, default, area, most=min(x, z) / 2 - radius)
        count = max(24, math.ceil(2 * math.pi * radius / target))
        hole = sample_circle((x / 2, z / 2), radius, count)[::-1]
        return upright(extrude([_rectangle(x, z, target), hole], y, target), y)


@parameters
class Support(Shape):
    """An L-shaped bracket from the origin to ``size`` [m]: back plate at x = 0, shelf at z = 0.

    Both plates are ``thickness`` [m] thick (a quarter of the smaller of the x and z sizes) and as wide as
    the y size. After the support of reference E, figure 4.
    """

    size: Size
    thickness: Positive | None = None

    @model_validator(mode="after")
    def _plates_fit(self) -> Self:
        if self.thickness is not None and self.thickness > 0.9 * min(self.size[0], self.size[2]):
            raise ValueError(
                f"plates {self.thickness:g} m thick leave no L in {self.size[0]:g} m by "
                f"{self.size[2]:g} m (x by z)"
            )
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """The bracket's surface; ``edge`` defaults to half the thickness."""
        x, y, z = self.size
        t = self.thickness or 0.25 * min(x, z)
        area = 2 * (t * x + t * (z - t)) + 2 * y * (x + z)
        target = target_edge(edge, t / 2, area, most=t)
        corners = [(0.0, 0.0), (x, 0.0), (x, t), (t, t), (t, z), (0.0, z)]
        return upright(extrude([sample_polygon(corners, target)], y, target), y)


@parameters
class Cylinder(Shape):
    """A cylinder about the z axis, from z = 0 to ``height`` [m]."""

    radius: Positive
    height: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """An inscribed prism of at least 24 sides; ``edge`` defaults to a quarter of the radius."""
        area = 2 * math.pi * self.radius * (self.radius + self.height)
        target = target_edge(edge, self.radius / 4, area, most=2 * math.pi * self.radius / 24)
        sides = math.ceil(2 * math.pi * self.radius / target - 1e-9)
        return extrude([sample_circle((0.0, 0.0), self.radius, sides)], self.height, target)


@parameters
class Prism(Shape):
    """A regular prism about z, from z = 0 to ``height``, corners at ``radius`` [m], the first on +x."""

    radius: Positive
    height: Positive
    sides: Annotated[int, Field(ge=3, le=256)] = 6

    def surface(self, edge: float | None = None) -> Surface:
        """The prism's surface, exact; ``edge`` defaults to a quarter of the radius."""
        area = 2 * math.pi * self.radius * (self.radius + self.height)
        side = 2 * self.radius * math.sin(math.pi / self.sides)
        target = target_edge(edge, self.radius / 4, area, most=side)
        corners = sample_circle((0.0, 0.0), self.radius, self.sides)
        outline = sample_polygon([(float(u), float(v)) for u, v in corners], target)
        return extrude([outline], self.height, target)


def _rectangle(width: float, height: float, edge: float) -> Array:
    return sample_polygon([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)], edge)
