"""Motions of the matrix: what happens to a test body, as the tables of a scene file.

Everything that a scene does not have to name keeps its default: step, contact, self-contact, damping (none).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.core.rotation import Rotation
from pliant.core.tables import Table
from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.validation.matrix.figures import FIGURES, SIZE, figure_surface

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
KICK, CUT = 0.1, 0.2  # s, when the impulse and the cut happen
SLAB = 0.15  # of the height: what is held or turned
KICKED = 0.2  # of the mass: what is kicked, so that it does not depend on how thin the end is
GRID = 40  # points along each side of the box, to see where the mass is
BALL = 0.03  # m, radius of the ball that pokes
Keys = list[tuple[float, tuple[float, float, float]]]


@dataclass(frozen=True)
class Placed:
    """A test body in a scene: its table and its surface [m]."""

    table: Table
    points: Array
    triangles: IntArray

    @property
    def low(self) -> Array:
        return np.asarray(self.points.min(axis=0))

    @property
    def high(self) -> Array:
        return np.asarray(self.points.max(axis=0))

    def slab(self, top: bool) -> Table:
        """The selection of the highest or lowest particles."""
        height = self.high[2] - self.low[2]
        if top:
            return self._between(self.high[2] - SLAB * height, self.high[2] + SIZE)
        return self._between(self.low[2] - SIZE, self.low[2] + SLAB * height)

    def upper_part(self, share: float) -> Table:
        """The selection of the particles above a height, with about ``share`` of the mass."""
        axes = [
            low + (np.arange(GRID) + 0.5) / GRID * (high - low)
            for low, high in zip(self.low, self.high, strict=True)
        ]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        inside = Bvh(self.points, self.triangles).inside(grid)
        return self._between(float(np.quantile(grid[inside, 2], 1.0 - share)), self.high[2] + SIZE)

    def _between(self, bottom: float, top: float) -> Table:
        low, high = self.low - SIZE, self.high + SIZE
        low[2], high[2] = bottom, top
        return {"body": self.table["name"], "box": {"min": _rounded(low), "max": _rounded(high)}}


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 6) for value in values]


def placed(
    name: str, gap: float = 0.0, turn: tuple[str, float] | None = None, label: str = "body", **options: object
) -> Placed:
    """The test body ``name``, turned by (axis, degrees), its lowest point at ``gap`` [m] above z = 0."""
    rotation = None if turn is None else {"axis": turn[0], "degrees": turn[1]}
    matrix = np.eye(3) if turn is None else Rotation(axis=turn[0], degrees=turn[1]).matrix()
    points = figure_surface(name).points @ matrix.T
    low, high = points.min(axis=0), points.max(axis=0)
    shift = np.round([-0.5 * (low[0] + high[0]), -0.5 * (low[1] + high[1]), gap - low[2]], 6)
    table: Table = {
        "name": label,
        "mesh": f"../meshes/{name}.obj",
        "edge": FIGURES[name].edge_length,
        "model": "fem",
        "material": MATERIAL,
        "position": _rounded(shift),
    }
    if rotation is not None:
        table["rotation"] = rotation
    return Placed(table | options, points + shift, figure_surface(name).triangles)


def upright(name: str) -> tuple[str, float] | None:
    """The turn that makes the longest side of a body vertical."""
    longest = int(np.argmax(np.ptp(figure_surface(name).points, axis=0)))
    return (("y", -90.0), ("x", 90.0), None)[longest]


def mass(name: str) -> float:
    """Mass [kg] of a test body."""
    from pliant.mesh.edge_length import enclosed

    surface = figure_surface(name)
    return enclosed(surface.points, surface.triangles) * MATERIAL["density"]


@dataclass(frozen=True)
class Motion:
    """A motion: how its scene is made, and what its verdict may assume.

    free_from: time [s] after which no external force acts, so that momenta stay (None: some do);
    ground: whether bodies must stay above z = 0; ball: the path of the ball that must stay outside; smooth:
    nothing collides, so that the ledger closes ten times as closely; needs: seconds until all has happened.
    """

    name: str
    about: str
    build: Callable[[str], tuple[list[Table], list[Table]]]
    free_from: float | None = None
    ground: bool = False
    ball: Callable[[str], Keys] | None = None
    smooth: bool = False
    needs: float = 0.5

    def scene(self, body: str, seconds: float) -> Table:
        """The tables of the scene file."""
        bodies, actions = self.build(body)
        title = f"Matrix: {body}, {self.about}"
        time = {"duration": float(seconds), "fps": 50.0}
        return {"schema": 1, "title": title, "time": time, "bodies": bodies, "actions": actions}


MOTIONS: dict[str, Motion] = {}
GRAVITY: Table = {"type": "gravity"}
GROUND: Table = {"type": "ground"}
Built = tuple[list[Table], list[Table]]


def motion(name: str, about: str, **options: object) -> Callable[[Callable[[str], Built]], object]:
    """Decorator: enter a function that gives bodies and actions as a motion."""

    def enter(build: Callable[[str], Built]) -> object:
        MOTIONS[name] = Motion(name, about, build, **options)  # type: ignore[arg-type]
        return build

    return enter


@motion("drop", "dropped from 20 cm, tilted", ground=True)
def _drop(name: str) -> Built:
    return [placed(name, 0.2, ("x", 20.0)).table], [GRAVITY, GROUND]


@motion("kick", "spins freely; an impulse on the fifth of its mass at one end", free_from=KICK + 0.02)
def _kick(name: str) -> Built:
    body = placed(name, 0.0, upright(name), spin=[2.0, 1.0, 5.0])
    value = [round(0.5 * mass(name), 6), 0.0, 0.0]  # 2.5 m/s for the part that is kicked
    push = {"type": "impulse", "select": body.upper_part(KICKED), "value": value}
    return [body.table], [push | {"at": KICK}]


@motion("hang", "hangs from its top under its own weight", smooth=True)
def _hang(name: str) -> Built:
    body = placed(name, 0.0, upright(name))
    return [body.table], [GRAVITY, {"type": "fix", "select": body.slab(top=True)}]


@motion("twist", "turned by 90 degrees at its top and released", smooth=True, needs=1.0)
def _twist(name: str) -> Built:
    body = placed(name, 0.0, upright(name))
    speed = float(np.pi / 2 / 0.4)
    keys = [{"time": t, "value": v} for t, v in ((0.0, 0.0), (0.1, speed), (0.4, speed), (0.5, 0.0))]
    turn = {"type": "rotate", "select": body.slab(top=True), "axis": "z", "until": 0.5, "keys": keys}
    return [body.table], [{"type": "fix", "select": body.slab(top=False)}, turn]


def _ball(name: str) -> Keys:
    """Where the ball is: it comes down on the highest point, by a quarter of the height, and goes back."""
    points = placed(name).points
    x, y, z = (float(c) for c in points[int(np.argmax(points[:, 2]))])
    depth = 0.25 * float(np.ptp(points[:, 2]))
    above, pressed = z + BALL + 0.01, z + BALL - depth
    heights = ((0.0, above), (0.3, pressed), (0.5, pressed), (0.8, above + 0.05))
    return [(t, (round(x, 6), round(y, 6), round(h, 6))) for t, h in heights]


@motion("poke", "a ball presses its highest point", ball=_ball, needs=1.0)
def _poke(name: str) -> Built:
    body = placed(name)
    keys = [{"time": t, "value": list(place)} for t, place in _ball(name)]
    ball = {"type": "obstacle", "name": "ball", "sphere": {"radius": BALL}, "keys": keys}
    return [body.table], [{"type": "fix", "select": body.slab(top=False)}, ball]


@motion("slide", "slides at 1 m/s over rough ground", ground=True)
def _slide(name: str) -> Built:
    return [placed(name, 0.001, velocity=[1.0, 0.0, 0.0]).table], [GRAVITY, GROUND | {"friction": 0.3}]


@motion("stack", "one falls on another that stands on the ground", ground=True)
def _stack(name: str) -> Built:
    lower = placed(name, 0.001, label="lower")
    upper = placed(name, float(lower.high[2]) + 0.02, ("z", 90.0), label="upper")
    return [lower.table, upper.table], [GRAVITY, GROUND]


@motion("cut", "spins freely and is cut through its middle", free_from=0.0)
def _cut(name: str) -> Built:
    body = placed(name, 0.0, upright(name), spin=[1.0, 0.5, 2.0])
    middle = round(0.5 * float(body.low[2] + body.high[2]), 6)
    return [body.table], [{"type": "cut", "body": "body", "plane": {"axis": "z", "at": middle}, "at": CUT}]
