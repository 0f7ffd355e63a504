"""Selections for Python: ``pl.Fix(beam, pl.where.plane("x", "min"))``."""

from collections.abc import Iterable
from typing import Any

from pliant.core.selection import BoxRegion, Nearest, Plane, Select, SphereRegion


def plane(axis: Any, at: Any, tolerance: float | None = None) -> Select:
    """Particles on a plane across ``axis``, at "min", "max" or a coordinate."""
    return Select(plane=Plane(axis=axis, at=at, tolerance=tolerance))


def box(low: Any, high: Any) -> Select:
    """Particles in an axis-aligned box."""
    return Select(box=BoxRegion(min=low, max=high))


def sphere(centre: Any, radius: float) -> Select:
    """Particles in a ball."""
    return Select(sphere=SphereRegion(centre=centre, radius=radius))


def ids(*numbers: int | Iterable[int]) -> Select:
    """Particles by number: ``ids(1, 2)`` or ``ids([1, 2])``."""
    flat: list[int] = []
    for number in numbers:
        flat.extend([number] if isinstance(number, int) else [int(n) for n in number])
    return Select(ids=tuple(flat))


def nearest(to: Any, count: int = 1) -> Select:
    """The ``count`` particles nearest to a point."""
    return Select(nearest=Nearest(to=to, count=count))


def group(name: str) -> Select:
    """A named group of the mesh."""
    return Select(group=name)


def all() -> Select:
    """All particles."""
    return Select(all=True)
