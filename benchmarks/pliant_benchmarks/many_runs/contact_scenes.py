"""The scenes of the contact suite: forty that have made contact methods fail, each built in code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actions import Fix, Gravity, Ground, Move, Obstacle, Rotate
from pliant.actions.obstacles import CapsuleShape
from pliant.contact import Contact
from pliant.core import where
from pliant.core.rotation import Rotation
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import box, gummy, icosphere, torus
from pliant.scene import Body, Scene

SOFT = {"young": 5e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3}
FIRM = {"young": 1e6, "poisson": 0.3, "density": 1000.0, "friction": 0.3}
STIFF = {"young": 1e9, "poisson": 0.3, "density": 1000.0, "friction": 0.5}


@dataclass(frozen=True)
class ContactScene:
    """A scene of the suite: how to build it, for how long [s], at which step [s]."""

    name: str
    build: Callable[[], tuple[Sequence[Body], Sequence[Any]]]
    duration: float
    step: float
    integrator: str = "implicit-euler"

    def scene(self) -> Scene:
        bodies, actions = self.build()
        return Scene(
            list(bodies), list(actions), integrator=self.integrator, step=self.step, title=self.name,
            contact=Contact(method="barrier"),
        )  # fmt: skip


def bar(name: str, size: Any, divisions: Any, position: Any = (0, 0, 0), **more: Any) -> Body:
    model, material = more.pop("model", "fem"), more.pop("material", SOFT)
    return Body(
        box(*size, divisions=divisions), model=model, material=material, position=position, name=name, **more
    )


def ball(name: str, radius: float, position: Any, **more: Any) -> Body:
    model, material = more.pop("model", "fem"), more.pop("material", SOFT)
    edge = more.pop("edge", 0.6 * radius)
    return Body(
        icosphere(radius, subdivisions=2), edge=edge, model=model, material=material, position=position,
        name=name, **more,
    )  # fmt: skip


def ring(name: str, major: float, minor: float, position: Any, degrees: float, **more: Any) -> Body:
    return Body(
        torus(major, minor), edge=minor, model="fem", material=more.pop("material", SOFT), position=position,
        rotation=Rotation(axis="x", degrees=degrees), name=name, **more,
    )  # fmt: skip


def tetrahedra(name: str, points: Any, faces: Any, position: Any = (0, 0, 0), **more: Any) -> Body:
    """A body from a small closed surface, rigid unless ``model`` is given."""
    surface = Surface(np.array(points, float), np.array(faces, np.int64))
    return Body(
        surface, model=more.pop("model", "rigid"), material=more.pop("material", STIFF), position=position,
        name=name, **more,
    )  # fmt: skip


def spike(height: float, width: float, up: bool) -> tuple[Array, IntArray]:
    """A pyramid with its tip up or down."""
    w, h = 0.5 * width, height if up else -height
    points = np.array([[-w, -w, 0], [w, -w, 0], [w, w, 0], [-w, w, 0], [0, 0, h]])
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    return points, faces if up else faces[:, ::-1]


def wedge(length: float, height: float, up: bool) -> tuple[Array, IntArray]:
    """A prism with an edge along x, up or down."""
    a, b, h = 0.5 * length, 0.4 * height, height if up else -height
    points = np.array([[-a, -b, 0], [a, -b, 0], [a, b, 0], [-a, b, 0], [-a, 0, h], [a, 0, h]])
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 5], [0, 5, 4], [2, 3, 4], [2, 4, 5], [0, 4, 3], [1, 2, 5]])
    return points, faces if up else faces[:, ::-1]


def hold(body: Body, axis: Any, at: Any) -> Fix:
    return Fix(body, where.plane(axis, at))


# ------------------------------------------------------------------------------------- groups of scenes


def crossed(speed: float, integrator: str = "implicit-euler", material: Any = SOFT) -> ContactScene:
    def build() -> Any:
        low = bar("low", (0.4, 0.1, 0.1), (8, 2, 2), (0, 0, 0.02), material=material)
        high = bar(
            "high",
            (0.1, 0.4, 0.1),
            (2, 8, 2),
            (0.15, -0.15, 0.14),
            velocity=(0, 0, -speed),
            material=material,
        )
        return [low, high], [Gravity(), Ground()]

    return ContactScene(f"crossed-bars-{speed:g}-{integrator}", build, 0.4, 0.01, integrator)


def thrown(speed: float) -> ContactScene:
    def build() -> Any:
        material = SOFT if speed < 30.0 else FIRM  # whose waves travel at 7 and 32 m/s
        sheet = bar("sheet", (0.4, 0.4, 0.02), (8, 8, 1), material=material)
        shot = ball("ball", 0.05, (0.2, 0.2, 0.1), velocity=(0, 0, -speed), material=material)
        return [sheet, shot], [hold(sheet, "x", "min"), hold(sheet, "x", "max")]

    return ContactScene(
        f"ball-on-sheet-{speed:g}", build, 0.1 if speed > 10 else 0.3, 0.005 if speed < 30.0 else 0.002
    )


def pile(model: str, count: int) -> ContactScene:
    def build() -> Any:
        bodies = [
            ball(
                f"b{k}", 0.05,
                (0.11 * (k % 2) + 0.02 * (k // 4), 0.11 * (k // 2 % 2), 0.06 + 0.11 * (k // 4)),
                model=model, material=SOFT if model == "fem" else STIFF,
            )
            for k in range(count)
        ]  # fmt: skip
        return bodies, [Gravity(), Ground(friction=0.5)]

    return ContactScene(f"pile-{model}-{count}", build, 0.8, 0.01)


def stack(model: str, count: int, integrator: str = "implicit-euler") -> ContactScene:
    def build() -> Any:
        material = FIRM if model == "fem" else STIFF
        bodies = [
            bar(
                f"b{k}", (0.2, 0.2, 0.1), (3, 3, 2), (0, 0, 0.005 + 0.107 * k), model=model, material=material
            )
            for k in range(count)
        ]
        return bodies, [Gravity(), Ground(friction=0.5)]

    return ContactScene(f"stack-{model}-{count}-{integrator}", build, 0.8, 0.01, integrator)


def folding(width: float, cells: Any, young: float) -> ContactScene:
    def build() -> Any:
        soft = {**SOFT, "young": young}
        strip = bar("strip", (0.02, width, 0.5), cells, (0, 0, 0.01), velocity=(0, 0, -1), material=soft)
        return [strip], [Gravity((1.0, 0, -9.81)), Ground(friction=0.5)]

    return ContactScene(f"folding-{width:g}-{young:g}", build, 0.6, 0.02)


def rollers() -> ContactScene:
    def build() -> Any:
        plate = bar("plate", (0.3, 0.1, 0.06), (8, 2, 2), (-0.32, -0.05, -0.03))
        capsule = CapsuleShape(radius=0.08, length=0.3, axis="y")
        upper = Obstacle(capsule=capsule, position=(0.08, 0, 0.1), friction=0.2, name="upper")
        lower = Obstacle(capsule=capsule, position=(0.08, 0, -0.1), friction=0.2, name="lower")
        middle = where.box((-0.021, -1.0, -0.001), (0.0, 1.0, 0.001))  # thinner than the gap of 4 cm
        return [plate], [upper, lower, Move(plate, middle, velocity=(0.4, 0, 0))]

    return ContactScene("between-rollers", build, 0.8, 0.01)


def squeezed_through_ring() -> ContactScene:
    def build() -> Any:
        collar = ring("collar", 0.09, 0.03, (0, 0, 0.0), 0.0, material=FIRM)
        plug = bar("plug", (0.1, 0.1, 0.2), (3, 3, 6), (-0.05, -0.05, 0.035))
        press = Move(plug, where.plane("z", "max"), velocity=(0, 0, -0.3))
        return [collar, plug], [Fix(collar, where.all()), press]

    return ContactScene("bar-through-ring", build, 0.6, 0.01)


def interlocked() -> ContactScene:
    def build() -> Any:
        one = ring("one", 0.1, 0.025, (0, 0, 0), 0.0)
        two = ring("two", 0.1, 0.025, (0.1, 0, 0), 90.0, velocity=(1.5, 0, 0))
        return [one, two], []

    return ContactScene("linked-tori", build, 0.4, 0.01)


def chain() -> ContactScene:
    def build() -> Any:
        links = [ring(f"r{k}", 0.06, 0.015, (0.085 * k, 0, 0), 90.0 * (k % 2)) for k in range(4)]
        return links, [Gravity(), Fix(links[0], where.all())]

    return ContactScene("chain-of-four", build, 0.5, 0.01)


def twisted(turns: float) -> ContactScene:
    def build() -> Any:
        strip = bar("strip", (0.5, 0.1, 0.02), (20, 4, 1))
        turning = Rotate(
            strip, where.plane("x", "max"), axis="x", centre=(0, 0.05, 0.01), speed=2 * np.pi * turns / 0.8
        )
        return [strip], [hold(strip, "x", "min"), turning]

    return ContactScene(f"twisted-strip-{turns:g}", build, 0.8, 0.01)


def pulled_loop() -> ContactScene:
    """Two hooked loops of a soft rod pulled against each other, as in a knot."""

    def build() -> Any:
        one = ring("one", 0.08, 0.02, (0, 0, 0), 0.0)
        two = ring("two", 0.08, 0.02, (0.1, 0, 0), 90.0)
        left = Move(one, where.plane("x", "min", tolerance=0.02), velocity=(-0.25, 0, 0))
        right = Move(two, where.plane("x", "max", tolerance=0.02), velocity=(0.25, 0, 0))
        return [one, two], [left, right]

    return ContactScene("loops-pulled", build, 0.5, 0.01)


def characters(count: int) -> ContactScene:
    def build() -> Any:
        bodies = [
            Body(
                gummy(0.2), edge=0.04, model="fem", material=SOFT, name=f"g{k}",
                position=(0.03 * (k % 2), 0.02 * k, 0.02 + 0.24 * k),
                rotation=Rotation(axis="x", degrees=35.0 * k),
            )
            for k in range(count)
        ]  # fmt: skip
        return bodies, [Gravity(), Ground(friction=0.5)]

    return ContactScene(f"characters-{count}", build, 0.9, 0.01)


def fixtures(
    name: str, below: tuple[Any, Any], above: tuple[Any, Any], height: float, offset: Any = (0.0, 0.0)
) -> ContactScene:
    """A rigid body that falls on another one that is held: vertices, edges and faces against each other."""

    def build() -> Any:
        low = tetrahedra("low", *below)
        high = tetrahedra("high", *above, position=(*offset, height))
        return [low, high], [Gravity(), Fix(low, where.all())]

    return ContactScene(name, build, 0.5, 0.01)


def slab(size: float) -> tuple[Array, IntArray]:
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 0)], float) * 0.5 * size
    faces = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
         [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    )  # fmt: skip
    return points, faces


def shell(integrator: str) -> ContactScene:
    """A thin curved sheet of solids pressed by a ball."""

    def build() -> Any:
        sheet = bar("sheet", (0.4, 0.2, 0.01), (16, 8, 1), (0, 0, 0))
        shot = ball("ball", 0.05, (0.2, 0.1, 0.08), velocity=(0, 0, -3), material=FIRM)
        return [sheet, shot], [Gravity(), hold(sheet, "x", "min"), hold(sheet, "x", "max")]

    return ContactScene(f"thin-shell-{integrator}", build, 0.3, 0.005, integrator)


def pressed(shape: str) -> ContactScene:
    """A keyed obstacle pushed into a block."""

    def build() -> Any:
        body = bar("block", (0.2, 0.2, 0.2), (4, 4, 4))
        sizes: dict[str, Any] = {
            "sphere": {"sphere": {"radius": 0.06}},
            "box": {"box": {"size": (0.1, 0.1, 0.1)}},
            "capsule": {"capsule": {"radius": 0.04, "length": 0.1, "axis": "x"}},
        }
        top = {"sphere": 0.06, "box": 0.05, "capsule": 0.04}[shape]
        keys = {"keys": [
            {"time": 0.0, "value": [0.1, 0.1, 0.21 + top]}, {"time": 0.5, "value": [0.1, 0.1, 0.12 + top]},
        ]}  # fmt: skip
        tool = Obstacle(**sizes[shape], position=keys, friction=0.3, name="tool")
        return [body], [hold(body, "z", "min"), tool]

    return ContactScene(f"pressed-by-{shape}", build, 0.6, 0.01)


def dropped_rigid_on_soft() -> ContactScene:
    def build() -> Any:
        pillow = bar("pillow", (0.3, 0.3, 0.1), (6, 6, 2))
        bricks = [
            bar(f"b{k}", (0.08, 0.08, 0.08), (2, 2, 2), (0.05 + 0.1 * k, 0.1, 0.13 + 0.05 * k), model="rigid",
                material=STIFF, velocity=(0, 0, -2))
            for k in range(2)
        ]  # fmt: skip
        return [pillow, *bricks], [Gravity(), hold(pillow, "z", "min")]

    return ContactScene("bricks-on-pillow", build, 0.6, 0.01)


def spinning_top() -> ContactScene:
    def build() -> Any:
        top = tetrahedra("top", *spike(0.15, 0.15, False), position=(0, 0, 0.16), spin=(0.2, 0, 40.0))
        return [top], [Gravity(), Ground(friction=0.3)]

    return ContactScene("spinning-top", build, 0.5, 0.005)


SCENES: tuple[ContactScene, ...] = (
    crossed(2.0), crossed(10.0), crossed(2.0, "tr-bdf2"), crossed(2.0, "energy-momentum"),
    crossed(5.0, material=FIRM), thrown(5.0), thrown(20.0), thrown(50.0), pile("fem", 8), pile("rigid", 8),
    stack("fem", 3), stack("fem", 3, "tr-bdf2"), stack("rigid", 5), stack("rigid", 3, "tr-bdf2"),
    folding(0.09, (1, 3, 16), 2e4), folding(0.03, (1, 1, 20), 2e5), folding(0.15, (1, 5, 20), 5e3),
    rollers(), squeezed_through_ring(), interlocked(), chain(), twisted(1.0), twisted(2.0), pulled_loop(),
    characters(2), characters(4), shell("implicit-euler"), shell("tr-bdf2"), pressed("sphere"),
    pressed("box"), pressed("capsule"), dropped_rigid_on_soft(), spinning_top(),
    fixtures("vertex-on-vertex", spike(0.1, 0.1, True), spike(0.1, 0.1, False), 0.25),
    fixtures("vertex-on-face", slab(0.3), spike(0.1, 0.1, False), 0.15),
    fixtures("edge-on-edge", wedge(0.3, 0.1, True), wedge(0.3, 0.1, False), 0.25),
    fixtures("edge-on-edge-shifted", wedge(0.3, 0.1, True), wedge(0.3, 0.1, False), 0.25, (0.05, 0.001)),
    fixtures("spike-in-wedge", wedge(0.3, 0.1, True), spike(0.2, 0.05, False), 0.35, (0.0, 0.01)),
    fixtures("face-on-face", slab(0.3), slab(0.2), 0.15),
    fixtures("slab-over-edge", slab(0.3), slab(0.2), 0.15, (0.18, 0.0)),
)  # fmt: skip
