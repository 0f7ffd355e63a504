"""What all shapes share: checked sizes, the target edge length, and the contract of a shape."""

import math
from abc import ABC, abstractmethod
from typing import Annotated

from pydantic import AfterValidator

from pliant.core.errors import MeshError
from pliant.core.units import Length
from pliant.mesh.mesh import Surface, TetMesh

SMALLEST, LARGEST = 1e-9, 1e9
TRIANGLE_LIMIT = 5_000_000


class Shape(ABC):
    """A solid with a name in scenes: its closed surface, and its tets where it is structured."""

    @abstractmethod
    def surface(self, edge: float | None = None) -> Surface:
        """The closed surface, facing outward, triangles of about ``edge`` [m] (None: the shape's own)."""

    def volume(self) -> TetMesh | None:
        """The structured tets; None where a mesher fills the surface."""
        return None


def positive(value: float) -> float:
    """``value`` [m], refused unless it is a length that geometry can be computed with."""
    if not value > 0:
        raise ValueError(f"expected a positive length, got {value:g} m")
    if not SMALLEST <= value <= LARGEST:
        raise ValueError(f"expected a length from {SMALLEST:g} m to {LARGEST:g} m, got {value:g} m")
    return value


Positive = Annotated[Length, AfterValidator(positive)]
Size = tuple[Positive, Positive, Positive]


def target_edge(edge: float | None, default: float, area: float, most: float = math.inf) -> float:
    """The edge length [m] for a surface of ``area`` [m2]: ``edge`` or ``default``, and ``most`` at most."""
    wanted = default if edge is None else float(edge)
    if not (math.isfinite(wanted) and wanted > 0):
        raise MeshError(
            f"the edge length must be a positive number, got {edge!r}.", hint="Give it in metres."
        )
    target = min(wanted, most)
    count = area / (math.sqrt(3) / 4 * target * target)
    if count > TRIANGLE_LIMIT:
        least = target * math.sqrt(count / TRIANGLE_LIMIT)
        raise MeshError(
            f"an edge of {target:g} m makes about {count:.1g} triangles; the limit is {TRIANGLE_LIMIT}.",
            hint=f"Take an edge of {least:.2g} m or more." if least < most else "Take a less slender shape.",
        )
    return target
