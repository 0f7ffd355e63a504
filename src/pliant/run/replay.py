"""Runs in which bodies decided by what they measured on this machine, and the scenes that repeat them."""

from pathlib import Path
from typing import TYPE_CHECKING

from pliant.core.typing import Table

if TYPE_CHECKING:
    from pliant.scene.scene import Scene
    from pliant.simulation.simulation import Simulation


def write_replay(scene: "Scene", simulation: "Simulation", folder: Path) -> None:
    """``replay.toml`` beside the scene of such a run: the same scene with the decisions, which repeats the
    run to the byte."""
    from pliant.scene.to_toml import scene_text, to_table_of

    table = to_table_of(scene, absolute=True)
    if add_decisions(table, simulation):
        (folder / "replay.toml").write_text(scene_text(table))


def add_decisions(table: Table, simulation: "Simulation") -> bool:
    """Write what bodies decided into the bodies of a scene's ``table``; True if any."""
    found = False
    bodies = {body.get("name"): body for body in table["bodies"]}
    for part in simulation.system.world.bodies:
        keys = part.mechanics.replay_parameters()
        if keys:
            bodies[part.name]["model"] |= keys
            found = True
    return found
