"""Mechanics models, one folder each; ``MODELS`` names them for scenes."""

from typing import Any

from pliant.models.mass_spring import MassSpring
from pliant.parameters import from_table, to_table
from pliant.protocols import Model
from pliant.registry import Registry

MODELS: Registry[Model] = Registry("model", {MassSpring.name: MassSpring}, entry_points="pliant.models")

__all__ = ["MODELS", "MassSpring", "model_from_table", "model_to_table"]


def model_from_table(value: Any) -> Model:
    """A model from its scene form: a name, a table with ``type``, or a model object."""
    if isinstance(value, str):
        value = {"type": value}
    if isinstance(value, dict):
        table = dict(value)
        if "type" not in table:
            raise ValueError("a model table needs type = \"...\"")
        return from_table(MODELS[table.pop("type")], table)
    if type(value) in MODELS.values():
        return value  # type: ignore[no-any-return]
    raise ValueError(f"expected a model's name or table, got {value!r}")


def model_to_table(model: Model) -> Any:
    """Scene form of a model: its name, or a table where parameters differ from the defaults."""
    table = to_table(model)
    return {"type": model.name, **table} if table else model.name
