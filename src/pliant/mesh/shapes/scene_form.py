"""A shape or a mesh as scene files give it: ``{ box = { size = [...] } }``, or something in memory."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from pliant.core.parameters import from_table, to_table
from pliant.core.registry import nearest
from pliant.mesh.mesh import Surface, TetMesh
from pliant.mesh.shapes import SHAPES, Shape


def _shape(value: Any) -> Any:
    """A shape from ``{ box = { size = [...] } }``, a Shape, a mesh in memory or a path."""
    if isinstance(value, str) and value in SHAPES:
        raise ValueError(
            f"a shape is a table such as {{ {value} = {{ ... }} }}, with its sizes, got '{value}'"
        )
    if value is None or isinstance(value, (Shape, Surface, TetMesh, str, Path)):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"a shape is one table such as {{ box = {{ size = [1, 1, 1] }} }}, got {value!r}")
    ((name, table),) = value.items()
    if name not in SHAPES:
        raise ValueError(f"unknown shape '{name}'; {nearest(name, list(SHAPES))}")
    return from_table(SHAPES[name], table)


def _shape_table(value: Any) -> Any:
    if isinstance(value, Shape):
        name = next(name for name, cls in SHAPES.items() if type(value) is cls)
        return {name: to_table(value)}
    return None if value is None else "in memory" if isinstance(value, (Surface, TetMesh)) else str(value)


AnyShape = Annotated[Any, BeforeValidator(_shape), PlainSerializer(_shape_table)]
