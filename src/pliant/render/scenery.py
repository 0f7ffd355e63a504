"""What surrounds the bodies: the ground, tables and obstacles of the scene, and which way is up."""

import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actions import ACTIONS
from pliant.actions.obstacles import Ground, Obstacle, Tabletop
from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.curves import Curve
from pliant.core.typing import Array
from pliant.run.store import Run

KINDS = {1: "sphere", 2: "box", 3: "capsule"}  # as a Barrier numbers them


@dataclass(frozen=True)
class SceneryShape:
    """A rigid sphere, box or capsule: half sizes [m], axes as columns, where it is when, and until when."""

    kind: str
    size: Array
    frame: Array
    path: Curve
    start: float
    until: float
    table: bool

    def there(self, time: float) -> bool:
        """Whether it acts at ``time`` [s]; what starts at the first step is there from the first frame."""
        return self.start - 1e-12 <= time < self.until

    def corners(self, time: float) -> Array:
        """Corners of a box around it at ``time`` (8, 3) [m]."""
        half = {"sphere": self.size[[0, 0, 0]], "box": self.size}.get(
            self.kind, self.size[[0, 0, 0]] + [0.0, 0.0, self.size[1]]
        )
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        place: Array = np.asarray(self.path.at(time)) + (signs * half) @ self.frame.T
        return place


@dataclass(frozen=True)
class Scenery:
    """The surroundings of a run; ground: its level [m] along ``up``, or None."""

    title: str
    up: str
    ground: float | None
    things: tuple[SceneryShape, ...]


def setting_of(run: Run) -> Scenery:
    """Read from the scene that the run keeps; what cannot be understood is left out of the picture."""
    try:
        table: dict[str, Any] = tomllib.loads(run.scene_text)
    except tomllib.TOMLDecodeError:
        table = {}
    up = table.get("up", "z")
    up = up if up in ("x", "y", "z") else "z"
    ground, things = None, []
    for entry in table.get("actions", []):
        if not isinstance(entry, dict) or entry.get("type") not in ("ground", "tabletop", "obstacle"):
            continue
        try:
            action = ACTIONS.build(_spelled_out(entry))
        except ValueError:
            continue
        if isinstance(action, Ground):
            ground = action.level if ground is None else max(ground, action.level)
        elif isinstance(action, (Tabletop, Obstacle)):
            things.append(_thing(action, up))
    return Scenery(str(table.get("title", "")), up, ground, tuple(things))


def _thing(action: Tabletop | Obstacle, up: str) -> SceneryShape:
    x, y, z = np.eye(3)["xyz".index(up)].tolist()
    barrier = action.prepare(None, (x, y, z))  # type: ignore[arg-type]
    assert isinstance(barrier, ObstacleRuntime)
    return SceneryShape(
        KINDS[barrier.shape],
        barrier.size,
        barrier.frame,
        barrier.path,
        barrier.start,
        barrier.until,
        isinstance(action, Tabletop),
    )


def _spelled_out(entry: dict[str, Any]) -> dict[str, Any]:
    """``keys`` and ``ease`` beside the other entries mean an obstacle's position."""
    if "keys" not in entry:
        return entry
    rest = {name: value for name, value in entry.items() if name not in ("keys", "ease")}
    return rest | {"position": {name: entry[name] for name in ("keys", "ease") if name in entry}}
