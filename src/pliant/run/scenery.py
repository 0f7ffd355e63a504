"""The obstacles of a recorded run, with the meshes that the run keeps."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.contact.obstacle_shape import ObstacleShape
from pliant.core.tables import Table
from pliant.mesh.io.sequences import write_sequence
from pliant.scene.load import build_member, read_members
from pliant.scene.scene import UP, Scene

if TYPE_CHECKING:
    from pliant.actions.base import ActionParameters
    from pliant.run.store import Run

FOLDER = "obstacles"  # in the run folder: NUMBER.npz of the action


def keep_meshes(scene: Scene, folder: Path) -> None:
    """Write the surfaces of mesh obstacles into the run folder, so that it can be drawn anywhere."""
    for number, action in enumerate(scene.actions):
        if action.mesh is None:
            continue
        shape = scene.located(action).scenery(UP[scene.up])
        if shape is not None and shape.motion is not None:
            write_sequence(folder / FOLDER / f"{number}.npz", shape.motion.sequence)


def obstacles(run: "Run") -> tuple[Table, list[ObstacleShape]]:
    """The scene's table, and the shapes that its actions put into the world; those that are not known here
    are left out."""
    table, _, _ = read_members(run.scene_text)
    up = UP.get(str(table.get("up", "z")), UP["z"])
    found = [_kept(action, run.path, number).scenery(up) for number, action in _actions(table)]
    return table, [shape for shape in found if shape is not None]


def _actions(table: Table) -> Iterator[tuple[int, "ActionParameters"]]:
    entries = table.get("actions", [])
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        action = build_member("actions", entry) if isinstance(entry, dict) else None
        if action is not None:
            yield number, action


def _kept(action: "ActionParameters", folder: Path, number: int) -> "ActionParameters":
    file = folder / FOLDER / f"{number}.npz"
    if action.mesh is None or not file.is_file():
        return action
    return replace(action, mesh=file)  # type: ignore[type-var]
