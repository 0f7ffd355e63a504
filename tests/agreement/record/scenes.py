"""Short scenes that together use every model, integrator, action and measure.

Scenes are written as tables and turned into TOML by ``text``, so that they are read the way users' files are.
``needs`` names series that must come to at least a value somewhere in the run (or to at most it, where the
name starts with a minus): it guards against scenes in which the crack, cut or contact they are about does not
happen. ``loose`` marks chaotic scenes, whose numbers are not comparable between kinds of processors.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, Protocol

Table = dict[str, Any]


class Hands(Protocol):
    """What a take does to a running simulation; see ``internals.Session``."""

    def add(self, table: Table) -> int: ...
    def steer(self, number: int, target: tuple[float, float, float]) -> None: ...
    def end(self, number: int) -> None: ...
    def particles(self, body: str) -> int: ...


@dataclass(frozen=True)
class Scene:
    """A scene of the record: its tables, files beside it, and for takes what hands do before each frame."""

    tables: Table
    needs: dict[str, float] = field(default_factory=dict)
    loose: bool = False
    state: str = "done"
    files: dict[str, str] = field(default_factory=dict)
    hands: Callable[[Hands, int], None] | None = None


def text(tables: Table) -> str:
    """A scene file with these tables."""
    lines = ["schema = 1"]
    for key, value in tables.items():
        if isinstance(value, list):
            for entry in value:
                lines += ["", f"[[{key}]]", *(f"{k} = {_value(v)}" for k, v in entry.items())]
    plain = [f"{k} = {_value(v)}" for k, v in tables.items() if not isinstance(v, list | dict)]
    heads = []
    for key, value in tables.items():
        if isinstance(value, dict):
            heads += ["", f"[{key}]", *(f"{k} = {_value(v)}" for k, v in value.items())]
    return "\n".join([lines[0], *plain, *heads, *lines[1:]]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    return json.dumps(value)


# ----------------------------------------------------------------------------------------- parts of scenes


def box(*size: float, n: tuple[int, int, int] | None = None) -> Table:
    return {"box": {"size": size} | ({"divisions": n, "split": "uniform"} if n else {})}


def body(name: str, shape: Table, model: Any, material: Any, **more: Any) -> Table:
    return {"name": name, "shape": shape, "model": model, "material": material, **more}


def act(kind: str, **more: Any) -> Table:
    """An action or a measure; ``from_`` is the key "from", ``a_b`` the key "a-b"."""
    return {"type": kind} | {key.rstrip("_").replace("_", "-"): value for key, value in more.items()}


def end(name: str, axis: str, at: Any) -> Table:
    return {"body": name, "plane": {"axis": axis, "at": at}}


def within(name: str, low: tuple[float, float, float], high: tuple[float, float, float]) -> Table:
    return {"body": name, "box": {"min": low, "max": high}}


def whole(name: str) -> Table:
    return {"body": name, "all": True}


def keys(*pairs: tuple[float, Any]) -> list[Table]:
    return [{"time": time, "value": value} for time, value in pairs]


def keyed(*pairs: tuple[float, Any]) -> Table:
    return {"keys": keys(*pairs)}


def timed(duration: float, fps: float = 50, integrator: Any = "leapfrog", **more: Any) -> Table:
    return {"duration": duration, "fps": fps, "integrator": integrator, **more}


def scene(time: Table, bodies: list[Table], actions: list[Table], measures: Any = (), **more: Any) -> Table:
    """The tables of a scene that records velocities."""
    found: Table = {"time": time, "record": {"velocities": True}, **more, "bodies": bodies}
    return found | {"actions": actions, "measures": list(measures)}


GRAVITY = act("gravity")
SOFT = {"young": 2e4, "poisson": 0.3, "density": 1000}
DAMPED = SOFT | {"damping": 1e-3}
FIRM = {"young": 1e6, "poisson": 0.25, "density": 1000, "damping": 1e-4}
BRITTLE = FIRM | {"strength": 1e4}
BAR = box(0.2, 0.1, 0.1, n=(6, 3, 3))


def cantilever(
    model: Any, time: Table, more: Any = (), measures: Any = (), material: Any = SOFT, **others: Any
) -> Table:
    """A bar held at one end, under its weight."""
    held = act("fix", select=end("bar", "x", "min"))
    return scene(time, [body("bar", BAR, model, material, **others)], [GRAVITY, held, *more], measures)


# --------------------------------------------------------------------------------------- files beside them


def _ball(centre: tuple[float, float, float], radius: float) -> str:
    """An octahedron, a closed surface, as OBJ."""
    points = [
        [c + sign * radius * (axis == k) for k, c in enumerate(centre)]
        for axis in range(3)
        for sign in (-1.0, 1.0)
    ]
    faces = []
    for signs in product((0, 1), repeat=3):
        corner = [2 * axis + sign + 1 for axis, sign in enumerate(signs)]
        faces.append(corner if sum(signs) % 2 else corner[::-1])
    rows = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a} {b} {c}" for a, b, c in faces]
    return "\n".join(rows) + "\n"


def _two_regions(cells: int = 4, side: float = 0.05) -> str:
    """A bar of cubes, six tets each, as a Medit mesh; its halves are regions 1 and 2."""
    points = list(product(range(cells + 1), range(3), range(3)))
    number = {point: k + 1 for k, point in enumerate(points)}
    tets = []
    for i, j, k in product(range(cells), range(2), range(2)):
        for order in permutations(range(3)):
            corner, path = [i, j, k], [number[i, j, k]]
            for axis in order:
                corner[axis] += 1
                path.append(number[tuple(corner)])
            odd = order in ((0, 2, 1), (1, 0, 2), (2, 1, 0))
            if odd:
                path[2], path[3] = path[3], path[2]
            tets.append((*path, 1 if i < cells // 2 else 2))
    rows = ["MeshVersionFormatted 2", "Dimension", "3", "Vertices", f"{len(points)}"]
    rows += [f"{side * x} {side * y} {side * z} 0" for x, y, z in points]
    rows += ["Tetrahedra", f"{len(tets)}", *(" ".join(map(str, tet)) for tet in tets), "End"]
    return "\n".join(rows) + "\n"


# -------------------------------------------------------------------------------------- springs, particles


def _springs() -> dict[str, Scene]:
    tip = end("bar", "x", "max")
    busy = scene(
        timed(0.2, 50),
        [
            body("cube", box(0.2, 0.2, 0.2, n=(5, 5, 5)), "mass-spring", DAMPED, position=(0, 0, 0.002)),
            body("bar", BAR, "mass-spring", SOFT | {"poisson": 0.4}, position=(1, 0, 0.5)),
        ],
        [
            GRAVITY,
            act("ground", friction=0.3),
            act("damping", rate=1.0),
            act("volume-constraint", body="cube"),
            act("volume-constraint", body="bar", per="node"),
            act("fix", select=end("bar", "x", "min"), until=0.1),
            act("move", select=tip, from_=0.1, until=0.16, velocity=(0, 0, 0.4)),
            act("impulse", select=whole("cube"), at=0.1, value=(0, 0.4, 0)),
            act(
                "obstacle", sphere={"radius": 0.05}, keys=keys((0, (0.1, 0.1, 0.3)), (0.2, (0.1, 0.1, 0.19)))
            ),
        ],
        [
            act("probe", name="tip", every="step", select=tip),
            act("flux", plane={"axis": "x", "at": 1.12}, body="bar"),
        ],
    )
    sine = cantilever(
        {"type": "mass-spring", "stiffness": 120.0},
        timed(0.2, 50, {"type": "verlet", "keep": 0.99}),
        [act("sine", select=tip, axis="y", amplitude=0.02, frequency=5.0, phase=0.3)],
        [act("energy", every="step")],
    )
    feedback = scene(
        timed(0.1, 100),
        [
            body("tets", box(0.2, 0.2, 0.2, n=(3, 3, 3)), "mass-spring", SOFT | {"poisson": 0.45}),
            body("old", box(0.2, 0.2, 0.2, n=(3, 3, 3)), "mass-spring", SOFT, position=(0.5, 0, 0)),
        ],
        [
            act("fix", select={"plane": {"axis": "z", "at": "min"}}, axes=["z"]),
            act("move", select={"plane": {"axis": "z", "at": "max"}}, axes=["z"], velocity=(0, 0, -0.3)),
            act("volume-constraint", body="tets", per="tet", compliance=0.05, sweeps=3),
            act("volume-constraint", body="old", feedback="everts", gain=0.3),
        ],
        contact={"between": False},
    )
    rested = cantilever(
        "mass-spring",
        timed(0.3, 50, {"type": "implicit-euler", "kinetic-damping": True}),
        [act("tabletop", height=-0.02, size=(0.6, 0.3), centre=(0.1, 0.05), friction=0.2)],
        [act("momentum", every="step")],
    )
    seam = scene(
        timed(0.2, 50),
        [
            body("bar", box(0.3, 0.1, 0.1, n=(9, 3, 3)), "mass-spring", SOFT, position=(0, 0, 0.05)),
            body("guest", BAR, "mass-spring", DAMPED, position=(0, 0, 0.3), velocity=(0, 0, -1.0)),
            body("leaves", BAR, "mass-spring", SOFT, position=(0, 0.5, 0.1)),
        ],
        [
            GRAVITY,
            act("ground"),
            act("fix", select=end("bar", "x", "min")),
            act("seam", body="bar", plane={"axis": "x", "at": 0.2}, at=0.04),
            act("cut", body="bar", plane={"point": (0.13, 0.05, 0.1), "normal": (1, 0.3, 0.2)}, at=0.1),
            act("create", body="guest", at=0.06),
            act("remove", body="leaves", at=0.12),
        ],
        contact={"self": "pieces"},
    )
    late = scene(
        timed(0.2, 50, step=1e-3, refine=True),
        [body("bar", BAR, "mass-spring", DAMPED, spin=(0, "1 turn/s", 0),
              rotation={"axis": "y", "degrees": 20})],
        [
            act("gravity", keys=keys((0, 0), (0.1, 9.81)), ease="smooth"),
            act("pull", select={"body": "bar", "nearest": {"to": (0.2, 0.05, 0.05), "count": 4}},
                target=keyed((0, (0.2, 0.05, 0.05)), (0.1, (0.25, 0.2, 0.0))), stiffness=60.0, damping=0.5,
                name="hook", until=0.14),
            act("force", select={"body": "bar", "ids": [0, 5, 7]}, value=(0.05, 0, 0), per="particle",
                from_=0.06),
            act("cut", body="bar", plane={"axis": "x", "at": 0.11}, at=0.1),
            act("fix", select={"body": "bar", "sphere": {"centre": (0, 0, 0), "radius": 0.06}}, late=True,
                from_=0.14),
        ],
        up="y",
    )  # fmt: skip
    return {
        "springs-busy": Scene(busy, {"obstacle.z": 0.1, "-ground.z": -1.0}),
        "springs-sine-verlet": Scene(sine),
        "springs-volume-tets-and-feedback": Scene(feedback),
        "springs-implicit-table": Scene(rested, {"-tabletop.z": -0.1}),
        "springs-seam-cut-create-remove": Scene(seam, {"fracture.pieces": 3}, loose=True),
        "springs-late-pull-up-y": Scene(late, {"fracture.pieces": 2, "hook.y": 0.1}),
    }


def _particles() -> dict[str, Scene]:
    tip = end("bar", "x", "max")
    turned = scene(
        timed(0.2, 50, "rk4"),
        [body("bar", BAR, "cpm1", SOFT)],
        [
            act("fix", select=end("bar", "x", "min")),
            act("rotate", select=tip, axis="x", keys=keys((0, 0), (0.1, "500 deg/s"))),
            act("damping", stiffness="0.2 ms"),
        ],
        [act("reaction", name="hand", select=tip), act("flux", plane={"axis": "x", "at": 0.11})],
    )
    lattice = scene(
        timed(0.1, 50, "symplectic-euler"),
        [body("ball", {"sphere": {"radius": 0.1}}, {"type": "cpm1", "calibrate": True, "dual": "barycentric"},
              SOFT, edge=0.05, mesher="lattice", position=(0, 0, 0.1), velocity=(0, 0, -1))],
        [GRAVITY, act("ground", restitution=0.5)],
    )  # fmt: skip
    printed = cantilever(
        {"type": "cpm1", "form": "everts", "mapping": "everts"},
        timed(0.1, 50, "symplectic-euler"),
        [act("damping", factor=0.999, step=1e-3)],
        [act("flux", plane={"axis": "x", "at": 0.11})],
    )
    euler = cantilever(
        {"type": "cpm2", "calibrate": True},
        timed(0.06, 50, "explicit-euler", step=1e-4),
        [act("moment", select=tip, axis="x", keys=keys((0, 0), (0.06, 0.05)))],
        [act("flux", plane={"axis": "x", "at": 0.11}), act("peak", body="bar", field="strain")],
    )
    everts = cantilever(
        {"type": "cpm2", "form": "everts", "mapping": "everts", "constants": (3e4, 1e4)},
        timed(0.1, 50, {"type": "verlet"}),
        [act("volume-constraint", body="bar", per="node")],
    )
    implicit = cantilever("cpm2", timed(0.2, 50, "implicit-midpoint"), [act("damping", rate=2.0)])
    return {
        "cpm1-twist-rk4": Scene(turned, {"hand.torque.x": 0.01}),
        "cpm1-calibrated-lattice-ball": Scene(lattice, {"-ground.z": -1.0}),
        "cpm1-everts": Scene(printed),
        "cpm2-explicit-euler": Scene(euler),
        "cpm2-everts": Scene(everts),
        "cpm2-implicit-midpoint": Scene(implicit),
    }


# ----------------------------------------------------------------------------------------- finite elements

WOOD = {"E1": 6e4, "E2": 2e4, "E3": 1.5e4, "nu12": 0.3, "nu13": 0.35, "nu23": 0.4, "G12": 9e3, "G13": 8e3,
        "G23": 5e3}  # fmt: skip


def _general() -> list[float]:
    """The upper triangle of a stiffness matrix without symmetry: isotropic, and something more."""
    young, poisson = 2e4, 0.3
    shear = young / (2 * (1 + poisson))
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    found = []
    for i in range(6):
        for j in range(i, 6):
            value = 0.05 * shear * math.sin(1 + i + 6 * j)
            if i < 3 and j < 3:
                value += lame
            if i == j:
                value += 2 * shear if i < 3 else shear
            found.append(value)
    return found


def _fem() -> dict[str, Scene]:
    tip, foot = end("bar", "x", "max"), end("bar", "x", "min")
    loads = cantilever(
        "fem",
        timed(0.12, 50),
        [
            act("force", select=tip, keys=keys((0, (0, 0, 0)), (0.1, (0, 0.3, 0.2)))),
            act("moment", select=tip, axis=(1, 0, 0), value=0.01),
            act("pressure", body="bar", value="-500 Pa"),
            act(
                "drag",
                body="bar",
                coefficient=1.2,
                density=20.0,
                wind=keyed((0, (0, 0, 0)), (0.1, (0, 5, 0))),
            ),
            act("damping", stiffness=1e-4, body="bar"),
        ],
        [
            act("probe", name="where", select=tip),
            act("probe", name="way", select=tip, what="displacement", every="step"),
            act("probe", name="speed", select=tip, what="velocity"),
            act("reaction", name="wall", select=foot, every="step"),
            act("flux", plane={"axis": "x", "at": 0.11}, body="bar", every="step"),
            act("peak", body="bar", field="stress"),
            act("volume", every="step"),
        ],
        material=DAMPED,
    )
    swing = cantilever({"type": "fem", "law": "st-venant-kirchhoff"}, timed(0.2, 50, "newmark"))
    nearly = cantilever(
        {"type": "fem", "law": "neo-hookean", "locking": "averaged-pressure"},
        timed(0.2, 50, {"type": "implicit-midpoint", "tolerance": 0.03}),
        [act("move", select=tip, axes=["x"], keys=keys((0, (0, 0, 0)), (0.2, (0.05, 0, 0))))],
        material=SOFT | {"poisson": 0.45},
    )
    crushed = scene(
        timed(0.1, 50),
        [body("cube", box(0.1, 0.1, 0.1, n=(4, 4, 4)), {"type": "fem", "locking": "averaged-pressure"},
              DAMPED | {"poisson": 0.45}, position=(0, 0, 0.001), velocity=(0, 0, -2))],
        [GRAVITY, act("ground", friction=0.8),
         act("obstacle", box={"size": (0.1, 0.1, 0.02)}, rotation={"axis": "x", "degrees": 10},
             keys=keys((0, (0.05, 0.05, 0.16)), (0.1, (0.05, 0.05, 0.08))))],
    )  # fmt: skip
    wood = cantilever(
        "fem",
        timed(0.2, 50, "bdf2"),
        material={"density": 800, "moduli": WOOD, "frame": [(1, 0.2, 0), (0, 1, 0.1)]},
        rotation={"axis": "z", "degrees": 30},
    )
    crystal = cantilever(
        {"type": "fem", "law": "st-venant-kirchhoff"},
        timed(0.1, 50, "static"),
        material={"density": 300, "moduli": _general()},
    )
    regions = cantilever("fem", timed(0.1, 50))
    regions["bodies"] = [
        {"name": "bar", "mesh": "two.mesh", "model": "fem", "groups": {"tip": [40, 41]},
         "material": SOFT | {"regions": [{"region": 2, "young": 5e3, "density": 500}]}}
    ]  # fmt: skip
    regions["measures"] = [act("probe", select={"body": "bar", "group": "tip"})]
    dent = scene(
        timed(0.3, 50, "implicit-euler"),
        [body("clay", box(0.2, 0.2, 0.1, n=(6, 6, 3)), {"type": "fem", "plasticity": "small"},
              {"young": 5e5, "poisson": 0.4, "density": 1800, "yield": 1.5e4, "plastic-max": 0.2})],
        [act("fix", select=end("clay", "z", "min")),
         act("obstacle", name="ball", sphere={"radius": 0.06}, friction=0.3,
             keys=keys((0, (0.1, 0.1, 0.165)), (0.2, (0.1, 0.1, 0.13)), (0.3, (0.1, 0.1, 0.2))))],
        [act("peak", name="flow", body="clay", field="plastic")],
    )  # fmt: skip
    press = [
        act("fix", select=end("dough", "z", "min")),
        act("move", select=end("dough", "z", "max"), keys=keys((0, (0, 0, 0)), (0.2, (0, 0, -0.04)))),
        act("damping", rate=5.0),
    ]
    dough = {"young": 1e4, "poisson": 0.45, "density": 1100, "yield": 1e3}
    lump = box(0.2, 0.2, 0.1, n=(4, 4, 3))
    flow = [act("peak", name="flow", body="dough", field="plastic")]
    pressed = scene(
        timed(0.24, 50, "implicit-euler"),
        [body("dough", lump, {"type": "fem", "law": "neo-hookean"}, dough | {"creep": 20.0})],
        press,
        flow,
    )
    large = scene(
        timed(0.16, 50), [body("dough", lump, {"type": "fem", "plasticity": "large"}, dough)], press, flow
    )
    cairns = scene(
        timed(0.1, 50),
        [body("dough", lump, {"type": "fem", "rotation": "gram-schmidt", "plasticity": "cairns"},
              dough | {"creep": 5.0})],
        press,
        flow,
    )  # fmt: skip
    quadratic = {"type": "fem", "elements": "quadratic"}
    still = cantilever(
        quadratic | {"law": "neo-hookean"}, timed(0.04, 50, "static"), material=SOFT | {"poisson": 0.45}
    )
    clay = scene(
        timed(0.08, 50),
        [body("dough", box(0.2, 0.2, 0.1, n=(2, 2, 1)), quadratic | {"plasticity": "small"}, dough)],
        [*press, GRAVITY],
        flow,
    )
    return {
        "fem-loads-and-measures": Scene(loads),
        "fem-st-venant-kirchhoff-newmark": Scene(swing),
        "fem-neo-hookean-averaged-pressure": Scene(nearly),
        "fem-crushed-by-a-box": Scene(crushed, {"-ground.z": -1.0, "obstacle.z": 0.5}),
        "fem-orthotropic-bdf2": Scene(wood),
        "fem-anisotropic-static": Scene(crystal),
        "fem-regions": Scene(regions, files={"two.mesh": _two_regions()}),
        "fem-dent-small-plasticity": Scene(dent, {"flow": 0.01}, loose=True),
        "fem-pressed-dough-neo-hookean": Scene(pressed, {"flow": 0.05}),
        "fem-large-plasticity": Scene(large, {"flow": 0.05}),
        "fem-cairns-gram-schmidt": Scene(cairns, {"flow": 0.01}),
        "fem-quadratic-static": Scene(still),
        "fem-quadratic-plastic": Scene(clay, {"flow": 0.01}),
    }


def _apart() -> dict[str, Scene]:
    """Finite elements that break, are cut, and touch themselves."""
    necked = {"necked-bar": {"size": (0.4, 0.1, 0.05), "neck": 0.6, "divisions": (12, 4, 2)}}
    brittle = {"young": 1e6, "poisson": 0.3, "density": 1000, "damping": 5e-4, "strength": 2e4}
    breaking = scene(
        timed(0.1, 50),
        [body("bar", necked, "fem", brittle | {"crack-speed": 20})],
        [
            act("move", select=end("bar", "x", "min"), axes="x", velocity=(-0.12, 0, 0)),
            act("move", select=end("bar", "x", "max"), axes="x", velocity=(0.12, 0, 0)),
            GRAVITY,
        ],
        [act("fracture", every="step"), act("reaction", name="pull", select=end("bar", "x", "max"))],
        contact={"self": "pieces"},
    )
    cuts = scene(
        timed(0.1, 50),
        [body("cube", box(0.1, 0.1, 0.1, n=(4, 4, 4)), "fem", SOFT | {"young": 1e5}, spin=(1, 3, 2),
              position=(0, 0, 0.01))],
        [
            GRAVITY,
            act("ground"),
            act("cut", body="cube", mesh="ball.obj", at=0.02),
            act("cut", body="cube", plane={"point": (0.05, 0.05, 0.05), "normal": (1, 0.2, 0.1)}, at=0.06),
        ],
    )  # fmt: skip
    crumb = SOFT | {"young": 6e4}
    blades = scene(
        timed(0.2, 50, "implicit-euler"),
        [
            body("loaf", box(0.2, 0.08, 0.08, n=(7, 3, 3)), "fem", crumb, position=(0, 0, 0.1)),
            body("jelly", box(0.12, 0.08, 0.12, n=(4, 3, 4)), "fem", crumb, position=(0, 1, 0.1)),
        ],
        [
            GRAVITY,
            act("ground"),
            act("fix", select={"plane": {"axis": "x", "at": "min"}}),
            act("cut", body="loaf", plane={"axis": "x", "at": 0.11}, direction=(0, 0, -1),
                keys=keys((0, -0.19), (0.16, -0.05))),
            act("cut", body="jelly", tip=keyed((0, (0.07, 0.98, 0.24)), (0.16, (0.06, 0.98, 0.08))),
                heel=keyed((0, (0.07, 1.1, 0.24)), (0.1, (0.05, 1.1, 0.16)), (0.16, (0.02, 1.1, 0.08)))),
        ],
    )  # fmt: skip
    folded = scene(
        timed(0.2, 50),
        [body("ring", {"beam-with-hole": {"size": (0.2, 0.05, 0.2), "radius": 0.07}}, "mass-spring",
              SOFT | {"damping": 2e-3}, edge=0.045, mesher="lattice")],
        [
            act("fix", select=end("ring", "z", "min")),
            act("move", select=end("ring", "z", "max"), keys=keys((0, (0, 0, 0)), (0.16, (0, 0, -0.13)))),
        ],
        contact={"self": True},
    )  # fmt: skip
    return {
        "fem-break": Scene(breaking, {"fracture.pieces": 2}, loose=True),
        "fem-cut-mesh-and-plane": Scene(cuts, {"fracture.pieces": 3}, loose=True, files={
            "ball.obj": _ball((0.05, 0.05, 0.06), 0.035)}),
        "fem-blades": Scene(blades, {"fracture.pieces": 4}, loose=True),
        "springs-self-contact": Scene(folded),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ meshless


def _efg() -> dict[str, Scene]:
    falls = scene(
        timed(0.12, 50),
        [
            body(
                "can",
                {"cylinder": {"radius": 0.1, "height": 0.2}},
                "efg",
                DAMPED,
                edge=0.05,
                position=(0, 0, 0.01),
                velocity=(0, 0, -1),
            )
        ],
        [GRAVITY, act("ground", friction=0.4)],
    )
    hooke = scene(
        timed(0.2, 50, "implicit-euler"),
        [body("bar", box(0.3, 0.1, 0.1),
              {"type": "efg", "law": "hooke", "sampling": "bcc", "volume-stiffness": "5 kPa",
               "support": "radius"},
              SOFT | {"yield": 1e3}, edge=0.05)],
        [GRAVITY, act("fix", select=within("bar", (-1, -1, -1), (0.03, 1, 1)))],
        [act("peak", name="flow", body="bar", field="plastic")],
    )  # fmt: skip
    octree = scene(
        timed(0.12, 50, {"type": "verlet", "keep": 0.999}),
        [body("figure", {"gummy": {"height": 0.2}}, {"type": "efg", "sampling": "octree", "count": 300},
              {"preset": "gelatine", "damping": "1 ms"}, position=(0, 0, 0.005), velocity=(0, 0, -1),
              rotation={"axis": (0, 1, 0), "degrees": 5})],
        [GRAVITY, act("ground")],
    )  # fmt: skip
    pulled = [
        act("fix", select=end("bar", "x", "min")),
        act("move", select=end("bar", "x", "max"), velocity=(0.6, 0, 0)),
    ]
    absorb = scene(
        timed(0.1, 50),
        [body("bar", box(0.3, 0.1, 0.1), {"type": "efg", "law": "hooke", "plasticity": "absorb"},
              SOFT | {"yield": 1e3}, edge=0.05)],
        pulled,
        [act("peak", name="flow", body="bar", field="plastic")],
    )  # fmt: skip
    slab = box(0.6, 0.3, 0.2)
    flows = scene(
        timed(0.05, 100),
        [body("bar", slab, {"type": "efg", "resample": True, "hardening": 0.3},
              {"young": 1e6, "poisson": 0.4, "density": 1000, "yield": 2e4}, edge=0.1)],
        [
            GRAVITY,
            act("fix", select=end("bar", "x", "min")),
            act("move", select=end("bar", "x", "max"), velocity=(10, 0, 0)),
        ],
    )  # fmt: skip
    breaks = scene(
        timed(0.05, 100),
        [body("bar", slab, "efg", FIRM | {"poisson": 0.3, "strength": 1.5e4, "crack-speed": 20}, edge=0.1)],
        [
            GRAVITY,
            act("fix", select=end("bar", "x", "min")),
            act("move", select=end("bar", "x", "max"), velocity=(0.7, 0.1, 0)),
        ],
    )
    cuts = scene(
        timed(0.12, 50),
        [
            body("bar", box(0.4, 0.2, 0.2), "efg", DAMPED, edge=0.07, position=(0, 0, 0.02)),
            body("log", box(0.4, 0.2, 0.2), {"type": "efg", "divide": False}, DAMPED, edge=0.07,
                 position=(0, 1, 0.02)),
        ],
        [
            GRAVITY,
            act("ground"),
            act("cut", body="bar", plane={"axis": "x", "at": 0.21}, direction=(0, 0, -1),
                keys=keys((0, -0.25), (0.06, 0.0))),
            act("seam", body="log", plane={"axis": "x", "at": 0.2}, at=0.02),
            act("cut", body="log", plane={"point": (0.1, 1.1, 0.1), "normal": (1, 0.2, 0)}, at=0.06),
        ],
    )  # fmt: skip
    return {
        "efg-falls": Scene(falls, {"-ground.z": -1.0}),
        "efg-hooke-bcc-implicit": Scene(hooke, {"flow": 1e-3}),
        "efg-octree-figure": Scene(octree, {"-ground.z": -0.1}),
        "efg-absorb": Scene(absorb, {"flow": 1e-2}),
        "efg-resampled": Scene(flows, {"versions": 2}, loose=True),
        "efg-break": Scene(breaks, {"fracture.broken": 1}, loose=True),
        "efg-cut-and-seam": Scene(cuts, {"fracture.pieces": 5}, loose=True),
    }


# ---------------------------------------------------------------------------------------- levels of detail

TISSUE = {"young": 2e4, "poisson": 0.3, "density": 1000, "damping": 5e-3}


def _multires() -> dict[str, Scene]:
    held = act("fix", select=end("cube", "z", "min"))
    visit = keyed((0, (0.5, 0.45, 1.25)), (0.15, (0.5, 0.45, 1.05)), (0.3, (0.5, 0.45, 1.5)))
    ball = act("obstacle", name="tool", sphere={"radius": 0.2}, friction=0.0, position=visit)
    cells = box(1, 1, 1, n=(8, 8, 8))

    def poked(tool: Table, *more: Table, **model: Any) -> Table:
        table = {"type": "multires", **model}
        base = [act("reaction", name="base", select=end("cube", "z", "min"))]
        return scene(timed(0.3, 60), [body("cube", cells, table, TISSUE)], [held, tool, *more], base)

    box_tool = act("tool", name="tool", box={"size": (0.4, 0.3, 0.2)}, friction=0.3,
                   rotation={"axis": (0, 0, 1), "degrees": 25},
                   position=keyed((0, (0.4, 0.5, 1.2)), (0.25, (0.4, 0.5, 1.0))))  # fmt: skip
    capsule = act("obstacle", name="tool", capsule={"radius": 0.12, "length": 0.4, "axis": "x"},
                  keys=keys((0, (0.5, 0.45, 1.2)), (0.2, (0.5, 0.5, 1.0))))  # fmt: skip
    tumble = scene(
        timed(0.3, 60),
        [body("jelly", box(0.2, 0.2, 0.12, n=(8, 8, 4)),
              {"type": "multires", "operator": "corotational", "split": 0.05},
              {"young": 1e4, "poisson": 0.4, "density": 1000, "damping": 5e-4}, position=(0, 0, 0.06),
              rotation={"axis": (1, 1, 0), "degrees": 25}, velocity=(0.4, 0, -0.5), spin=(2, 4, 0))],
        [GRAVITY, act("ground", friction=0.5),
         act("impulse", select=whole("jelly"), value=(0, 0.5, 0), at=0.1)],
    )  # fmt: skip
    stiff = TISSUE | {"young": 2e5, "damping": 2e-3}
    table = {"type": "multires"}
    slanted = {"point": (0.62, 0.5, 0.5), "normal": (1, 0.2, 0.1)}
    blade = scene(
        timed(0.2, 60),
        [body("cube", box(1, 1, 1, n=(6, 6, 6)), table, stiff)],
        [
            GRAVITY,
            act("fix", select=end("cube", "x", "min")),
            act("cut", body="cube", plane=slanted, direction=(0, 0, 1), keys=keys((0, -0.1), (0.15, 1.2))),
            act("tool", name="tool", sphere={"radius": 0.2},
                position=keyed((0, (0.3, 0.5, 1.3)), (0.2, (0.3, 0.5, 1.05)))),
        ],
    )  # fmt: skip
    cut = scene(
        timed(0.2, 60),
        [body("cube", box(1, 1, 1, n=(6, 6, 6)), table, stiff,
              velocity=(0.3, 0, 0), spin=(0, 1, 2))],
        [
            act("seam", body="cube", plane={"axis": "y", "at": 0.34}, at=0.05),
            act("cut", body="cube", plane=slanted, at=0.1),
            act("obstacle", name="post", capsule={"radius": 0.1, "length": 1.0, "axis": "z"},
                position=(1.13, 0.4, 0.5)),
        ],
    )  # fmt: skip
    return {
        "multires-ball": Scene(poked(ball), {"tool.z": 10, "cube.active.2": 1}),
        "multires-ball-neo-hookean": Scene(
            poked(ball, operator="neo-hookean"), {"tool.z": 10, "cube.active.2": 1}
        ),
        "multires-budget": Scene(
            poked(box_tool, act("damping", rate=1.0), budget=400, levels=2),
            {"tool.z": 10, "cube.refused": 1},
        ),
        "multires-linear-capsule": Scene(
            poked(capsule, operator="linear", levels=2, split=0.1), {"tool.z": 10, "cube.active.1": 1}
        ),
        "multires-debunne-operator": Scene(poked(ball, GRAVITY, operator="debunne"), {"tool.z": 10}),
        "multires-debunne-finest": Scene(
            poked(ball, operator="debunne", detail="finest", levels=2), {"tool.z": 10}
        ),
        "multires-tumbling": Scene(tumble, {"-ground.z": -1.0, "jelly.active.1": 1}, loose=True),
        "multires-blade": Scene(blade, {"fracture.pieces": 2}),
        "multires-cuts": Scene(cut, {"fracture.pieces": 4}, loose=True),
    }  # fmt: skip


# ------------------------------------------------------------------------- elements, rigid bodies, contact


def _elements() -> dict[str, Scene]:
    breaks = scene(
        timed(0.16, 50),
        [
            body("bar", box(0.8, 0.2, 0.2), "elements", BRITTLE, edge=0.1, position=(-0.3, 0, 0.35),
                 velocity=(0, 0, -3)),
            body("block", box(0.2, 0.2, 0.3), "elements", FIRM, edge=0.1),
        ],
        [GRAVITY, act("ground"), act("renormalise", select=whole("block"), at=0.1)],
    )  # fmt: skip
    distance = scene(
        timed(0.2, 50, "symplectic-euler"),
        [body("bar", box(0.8, 0.2, 0.2),
              {"type": "elements", "rule": "text", "compensate": False, "fracture": "distance",
               "lattice": {"axis": "x", "degrees": 20}},
              FIRM | {"strength": 1e5, "yield": 3e4, "creep": 50, "plastic-max": 0.3, "crack-speed": 10},
              edge=0.07)],
        [
            act("fix", select=within("bar", (-1, -1, -1), (0.15, 1, 1))),
            act("move", select=within("bar", (0.65, -1, -1), (2, 1, 1)), velocity=(0.8, 0, 0)),
        ],
    )  # fmt: skip
    grows = scene(
        timed(0.1, 50),
        [
            body("bar", box(0.8, 0.2, 0.2), "elements", FIRM, edge=0.1, position=(0, 0, 0.1),
                 velocity=(0, 0, -4)),
            body("cap", box(0.2, 0.2, 0.1), "elements", FIRM, edge=0.1, position=(0.2, 0, 0.33),
                 velocity=(0, 0, -4)),
        ],
        [
            GRAVITY,
            act("ground"),
            act("fuse", bodies=["bar", "cap"], at=0.005),
            act("remove", select=within("bar", (-1, -1, -1), (0.1, 0.1, 1)), at=0.01),
            act("add", body="bar", shape=box(0.2, 0.2, 0.3), position=(0.4, 0, 0.2), at=0.02),
            act("add", body="bar", shape={"sphere": {"radius": 0.12}}, position=(0.8, 0.1, 0.1), at=0.06),
        ],
    )  # fmt: skip
    lift = keyed((0, (0, 0, 0)), (0.06, (0, 0, -0.002)), (0.18, (0, 0, 0.05)))
    sticky = scene(
        timed(0.24, 50),
        [
            body(name, box(0.4, 0.2, 0.1), "elements", FIRM, edge=0.1, position=(0, 0, height))
            for name, height in (("bar", 0.0), ("tool", 0.1))
        ],
        [
            GRAVITY,
            act("ground"),
            act("manipulator", body="tool", displacement=lift, sticky=True, release=0.2, name="hand"),
            act(
                "attributes",
                select=end("bar", "x", "max"),
                at=0.04,
                stiffness=2.0,
                damping=1e-3,
                friction=0.9,
            ),
        ],
    )
    glued = scene(
        timed(0.2, 50, "implicit-euler"),
        [
            body("bar", box(0.4, 0.2, 0.1), "elements", FIRM, edge=0.1),
            body("tool", box(0.4, 0.2, 0.1), "elements", FIRM, edge=0.1, position=(0, 0, 0.1)),
            body("below", box(0.2, 0.1, 0.1, n=(4, 2, 2)), "fem", SOFT, position=(0.1, 0.05, -0.101)),
        ],
        [
            GRAVITY,
            act("manipulator", body="tool", angle=keyed((0, 0), (0.2, "20 deg")), axis="y", name="hand"),
            act("glue", select=end("bar", "z", "max"), to="tool", until=0.16),
            act("glue", select=end("below", "z", "max"), to="bar", reach=0.08, at=0.02),
            act("renormalise", select=whole("bar"), at=0.1),
        ],
    )
    return {
        "elements-break": Scene(breaks, {"versions": 2}, loose=True),
        "elements-distance-yield": Scene(distance, {"versions": 2}, loose=True),
        "elements-add-remove-fuse": Scene(grows, {"versions": 4}, loose=True),
        "elements-sticky-attributes": Scene(sticky, {"hand.z": 0.1}),
        "elements-glue-implicit": Scene(glued, loose=True),
    }


def _contact() -> dict[str, Scene]:
    rubber = {"preset": "rubber", "density": 1000, "friction": 0.6, "restitution": 0.2}
    rigid = scene(
        timed(0.2, 50),
        [
            body("ball", {"sphere": {"radius": 0.1}}, "rigid", rubber, edge=0.05, position=(0, 0, 0.12),
                 velocity=(0.5, 0, -1), spin=(0, 0, 5)),
            body("block", box(0.2, 0.1, 0.1), {"type": "rigid", "stiffness": 2e4}, rubber, edge=0.05,
                 position=(0.2, -0.05, 0.05), rotation={"axis": "y", "degrees": 12}),
            body("door", box(0.1, 0.02, 0.2), "rigid", rubber, edge=0.05, position=(0, 1, 0.5)),
        ],
        [
            GRAVITY,
            act("ground", friction=0.4, restitution=0.5),
            act("fix", select=end("door", "x", "min")),
            act("impulse", select=whole("ball"), value=(0.5, 0, 0), at=0.04),
            act("obstacle", capsule={"radius": 0.03, "length": 0.4, "axis": "y"}, position=(0.3, 0, 0.02),
                rotation={"axis": "z", "degrees": 15}, friction=0.1),
        ],
    )  # fmt: skip
    hinge = scene(
        timed(0.2, 50),
        [body("door", box(0.2, 0.04, 0.2), "rigid", rubber, edge=0.1),
         body("pendulum", box(0.2, 0.04, 0.04), "rigid", rubber, edge=0.1, position=(0, 1, 0))],
        [
            GRAVITY,
            act("fix", select={"body": "door", "box": {"min": (-0.01, -0.01, -1), "max": (0.01, 0.01, 1)}}),
            act("force", select=end("door", "x", "max"), value=(0, 1.0, 0)),
            act("move", select={"body": "pendulum", "nearest": {"to": (0, 1, 0)}}, ease="smooth",
                keys=keys((0, (0, 0, 0)), (0.1, (0.05, 0, 0)), (0.2, (0, 0.02, 0)))),
        ],
    )  # fmt: skip
    side = {"edge": 0.05}
    pile = scene(
        timed(0.16, 50),
        [
            body("base", box(0.3, 0.2, 0.1), "elements", FIRM | {"young": 1e5}, **side),
            body("fem", box(0.2, 0.1, 0.1, n=(4, 2, 2)), "fem", DAMPED | {"friction": 0.8},
                 position=(0.05, 0.02, 0.115), velocity=(0.3, 0, -0.5)),
            body("efg", box(0.15, 0.1, 0.1), "efg", DAMPED, position=(0.08, 0.03, 0.25), velocity=(0, 0, -1),
                 **side),
            body("stone", {"sphere": {"radius": 0.05}}, "rigid", rubber, position=(0.15, 0.08, 0.43),
                 velocity=(0, 0, -1), **side),
            body("springs", box(0.1, 0.1, 0.1, n=(2, 2, 2)), "mass-spring", DAMPED,
                 position=(-0.02, 0.06, 0.14), velocity=(0.2, 0, -1)),
            body("cpm", box(0.1, 0.1, 0.1, n=(2, 2, 2)), "cpm2", DAMPED, position=(0.26, 0.06, 0.15),
                 velocity=(-0.2, 0, -1)),
        ],
        [GRAVITY, act("ground", friction=0.6), act("fix", select=end("base", "z", "min"))],
        contact={"stiffness": 0.8, "separate": True,
                 "pairs": [{"bodies": ["fem", "base"], "friction": 0.1, "restitution": 0.3},
                           {"bodies": ["efg", "fem"], "adhesion": 500.0}]},
    )  # fmt: skip
    levels = scene(
        timed(0.2, 60),
        [
            body("slab", box(0.6, 0.6, 0.3, n=(8, 8, 4)), {"type": "multires"},
                 TISSUE),
            body("block", box(0.2, 0.2, 0.2, n=(2, 2, 2)), "fem", DAMPED, position=(0.2, 0.2, 0.35),
                 velocity=(0, 0, -2)),
        ],
        [GRAVITY, act("fix", select=end("slab", "z", "min"))],
        contact={"pairs": [{"bodies": ["block", "slab"], "friction": 0.7}]},
    )  # fmt: skip
    small = {
        name: {name: size}
        for name, size in {
            "mattress": {"size": (0.2, 0.1, 0.05)},
            "support": {"size": (0.1, 0.05, 0.1)},
            "prism": {"radius": 0.05, "height": 0.1, "sides": 5},
            "icosphere": {"radius": 0.05, "subdivisions": 2},
            "torus": {"major": 0.06, "minor": 0.02},
            "goblet": {"height": 0.2, "divisions": (12, 8, 1)},
        }.items()
    }
    shapes = scene(
        timed(0.04, 50),
        [
            body(
                name,
                shape,
                "fem" if k % 2 else "mass-spring",
                SOFT,
                position=(0.3 * k, 0, 0),
                scale=1.1,
                surface="boundary" if k % 3 else "embedded",
                **({} if name == "goblet" else {"edge": 0.05, "mesher": "lattice"}),
            )
            for k, (name, shape) in enumerate(small.items())
        ],
        [GRAVITY, act("ground", level=-0.06)],
    )
    diverges = cantilever("mass-spring", timed(0.4, 50, "explicit-euler", step=0.02, refine=False))
    return {
        "rigid-pile": Scene(rigid, {"-ground.z": -1.0}, loose=True),
        "rigid-joints": Scene(hinge),
        "contact-of-all-models": Scene(pile, loose=True),
        "contact-multires-and-fem": Scene(levels, {"slab.active.1": 1}),
        "shapes": Scene(shapes),
        "diverges": Scene(diverges, loose=True, state="diverged"),
    }


# -------------------------------------------------------------------------------------------- large bodies


def _large() -> dict[str, Scene]:
    """Bodies large enough for the loops that threads share."""
    cells = box(1, 1, 1, n=(18, 18, 17))

    def hanging(*bodies: Table) -> Table:
        held = act("fix", select={"plane": {"axis": "x", "at": "min"}})
        time, apart = timed(0.01, 100), {"between": False}
        return scene(time, list(bodies), [GRAVITY, held, act("ground", level=-0.001)], contact=apart)

    levels = {"type": "multires", "levels": 2, "detail": "finest"}
    return {
        "large-springs-and-fem": Scene(
            hanging(body("springs", cells, "mass-spring", DAMPED), body("fem", cells, "fem", DAMPED))
        ),
        "large-cpm2": Scene(hanging(body("cube", cells, "cpm2", DAMPED))),
        "large-multires": Scene(hanging(body("cube", cells, levels, DAMPED))),
        "large-efg": Scene(hanging(body("cube", box(1, 1, 1), "efg", DAMPED, edge=0.06))),
        "large-elements": Scene(hanging(body("cube", box(1, 1, 1), "elements", FIRM, edge=0.0556))),
    }


# ---------------------------------------------------------------------------------------------- live takes


def _pulled(hands: Hands, frame: int) -> None:
    """Pull, pause, pull on; let go; kick; hold the other end; push with a ball; turn gravity round."""
    spot = end("block", "x", "max")
    match frame:
        case 2:
            hands.add({"type": "pull", "select": spot, "target": [0.2, 0.05, 0.05], "stiffness": 40.0})
            hands.steer(2, (0.2, 0.06, 0.08))
        case 3 | 4:
            hands.steer(2, (0.2 + 0.01 * frame, 0.05, 0.1 / frame))
        case 6:
            hands.end(2)
            hands.add({"type": "impulse", "select": spot, "value": [0.0, 0.02, 0.0]})
        case 7:
            hands.end(1)
            hands.add({"type": "fix", "select": spot})
            hands.add(
                {"type": "tool", "name": "ball", "sphere": {"radius": 0.05}, "position": [0, 0.05, 0.2]}
            )
        case 8 | 9 | 10:
            hands.steer(5, (0.0, 0.05, 0.2 - 0.02 * (frame - 7)))
        case 11:
            hands.end(0)
            hands.add({"type": "gravity", "acceleration": -3.0})


def _worked(hands: Hands, frame: int) -> None:
    """Cut a body in two, pull a piece by particles that came with the cut, glue, kick."""
    match frame:
        case 3:
            hands.add({"type": "impulse", "select": whole("high"), "value": [0.0, 0.0, -0.02]})
        case 4:
            hands.add({"type": "cut", "body": "high", "plane": {"axis": "x", "at": 0.09}})
        case 6:
            count = hands.particles("high")
            spot = {"body": "high", "ids": [count - 1, count - 2]}
            hands.add({"type": "pull", "select": spot, "target": [0.1, 0.05, 0.25], "stiffness": 5.0})
            hands.steer(5, (0.1, 0.1, 0.3))
        case 8:
            hands.add({"type": "glue", "select": whole("high"), "to": "low", "reach": 0.06})
        case 11:
            hands.end(5)


def _clayed(hands: Hands, frame: int) -> None:
    """Keep the present shape of a bar of elements, stiffen it, add and cut, and let the bodies fuse."""
    match frame:
        case 3:
            hands.add({"type": "renormalise", "select": whole("low")})
        case 4:
            hands.add({"type": "attributes", "select": end("low", "z", "max"), "stiffness": 3.0})
        case 5:
            hands.add(
                {"type": "add", "body": "low", "shape": box(0.05, 0.1, 0.1), "position": [0.2, 0.0, 0.0]}
            )
        case 7:
            hands.add({"type": "fuse", "bodies": ["low", "high"], "reach": 0.08})
        case 9:
            hands.add({"type": "cut", "body": "low", "plane": {"axis": "x", "at": 0.201}})


def _stroked(hands: Hands, frame: int) -> None:
    """A capsule comes and is pressed into a cube of several levels; a seam opens it."""
    if frame == 0:
        shape = {"capsule": {"radius": 0.1, "length": 0.2}, "position": [0.5, 0.5, 1.4], "name": "hand"}
        hands.add({"type": "tool", **shape})
    if frame == 10:
        hands.add({"type": "cut", "body": "cube", "plane": {"axis": "x", "at": 0.55}})
    hands.steer(2, (0.5 - 0.01 * frame, 0.5, 1.4 - 0.02 * frame))


def _takes() -> dict[str, Scene]:
    block = body("block", box(0.2, 0.1, 0.1, n=(4, 2, 2)), "mass-spring", SOFT)
    hold = act("fix", select=end("block", "x", "min"))
    pulled = scene(timed(0.28, 50), [block], [GRAVITY, hold])

    def two(low: str, high: str) -> Table:
        bodies = [
            body("low", box(0.2, 0.1, 0.1, n=(4, 2, 2)), low, SOFT, edge=0.05),
            body("high", box(0.1, 0.1, 0.1, n=(2, 2, 2)), high, SOFT, edge=0.05, position=(0.05, 0, 0.11)),
        ]
        kick = act("impulse", select=whole("high"), value=(0, 0.01, 0), at=0.2)
        return scene(timed(0.26, 50), bodies, [GRAVITY, act("fix", select=end("low", "z", "min")), kick])

    table = {"type": "multires", "levels": 2}
    cube = body("cube", box(1, 1, 1, n=(6, 6, 6)), table, TISSUE | {"young": 1e5})
    stroked = scene(
        timed(0.3, 60), [cube], [act("fix", select=end("cube", "z", "min")), act("damping", rate=1.0)]
    )
    implicit = pulled | {"time": timed(0.28, 50, "implicit-euler")}
    return {
        "take-pull": Scene(pulled, hands=_pulled),
        "take-pull-implicit": Scene(implicit, hands=_pulled),
        "take-cut-and-glue": Scene(two("mass-spring", "fem"), {"fracture.pieces": 2}, hands=_worked),
        "take-clay": Scene(two("elements", "elements"), hands=_clayed),
        "take-multires-tool": Scene(stroked, {"hand.z": 1.0}, hands=_stroked),
    }


SCENES: dict[str, Scene] = {
    **_springs(),
    **_particles(),
    **_fem(),
    **_apart(),
    **_efg(),
    **_multires(),
    **_elements(),
    **_contact(),
    **_large(),
    **_takes(),
}
