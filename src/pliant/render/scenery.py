"""What surrounds the bodies of a run: the rigid shapes of its scene, which way is up, units of its series."""

from dataclasses import dataclass

from pliant.contact.obstacle_shape import PLANE, ObstacleShape
from pliant.measures import Energy, Momentum, Volume
from pliant.run.store import Run
from pliant.scene.load import read_members
from pliant.scene.scene import UP


@dataclass(frozen=True)
class Scenery:
    """The surroundings of a run; ground: its level [m] along ``up``, or None; shapes: all but planes."""

    title: str
    up: str
    ground: float | None
    shapes: tuple[ObstacleShape, ...]


def scenery_of(run: Run) -> Scenery:
    """Read from the scene that the run keeps; actions that are not known here are left out."""
    table, actions, _ = read_members(run.scene_text)
    up = str(table.get("up", "z"))
    up = up if up in UP else "z"
    shapes = [shape for action in actions if (shape := action.scenery(UP[up])) is not None]
    grounds = [float(shape.path.at(0.0) @ shape.frame[:, 2]) for shape in shapes if shape.shape == PLANE]
    others = tuple(shape for shape in shapes if shape.shape != PLANE)
    return Scenery(str(table.get("title", "")), up, max(grounds, default=None), others)


def units_of(run: Run) -> dict[str, str]:
    """Unit of each series by its name; those of unknown measures are left out."""
    _, actions, measures = read_members(run.scene_text)
    named = {"time": "s"}
    for member in (Volume(), Energy(), Momentum(), *measures, *actions):
        named |= member.series_units()
    found = {}
    for series in run.series:
        owners = [name for name in named if series == name or series.startswith(f"{name}.")]
        if owners:
            found[series] = named[max(owners, key=len)]
    return found
