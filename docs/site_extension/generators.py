"""The generators of ``{generated} NAME`` blocks, by name."""

from collections.abc import Callable

from . import bibliography, command_reference, python_reference, scene_reference

GENERATORS: dict[str, Callable[[], str]] = {
    "actions": lambda: scene_reference.family("actions"),
    "measures": lambda: scene_reference.family("measures"),
    "models": lambda: scene_reference.family("models"),
    "integrators": lambda: scene_reference.family("integrators"),
    "shapes": lambda: scene_reference.family("shapes"),
    "laws": scene_reference.laws,
    "materials": scene_reference.materials,
    "presets": scene_reference.presets,
    "top-level": scene_reference.top_level,
    "body": scene_reference.body,
    "selections": scene_reference.selections,
    "commands": command_reference.page,
    "python": python_reference.page,
    "bibliography": bibliography.page,
}
