"""Bodies that overlap at the start of a run with barrier contact are moved apart on request, or refused."""

from typing import Any

import numpy as np
import pytest

from pliant.actions import Fix, Gravity, Ground
from pliant.contact import Contact
from pliant.core import where
from pliant.core.errors import InputError
from pliant.mesh.shapes import box, icosphere, torus
from pliant.scene import Body, Scene

SOFT = {"young": 5e4, "poisson": 0.3, "density": 1000.0}
SEPARATE = Contact(method="barrier", separate=True)


def start(bodies: list[Body], actions: Any = (), contact: Contact = SEPARATE) -> Any:
    simulation = Scene(bodies, actions, integrator="implicit-euler", step=0.01, contact=contact).simulation()
    simulation.start()
    return simulation


def ball(name: str, *position: float, model: str = "fem") -> Body:
    return Body(
        icosphere(0.1, subdivisions=2), edge=0.06, model=model, material=SOFT, position=position, name=name
    )


def shifts(simulation: Any) -> list[Any]:
    world = simulation.system.world
    return [(world.x - world.rest)[part.rows].mean(axis=0) for part in world.bodies]


@pytest.mark.parametrize("model", ["fem", "rigid"])
@pytest.mark.parametrize("gap", [0.19, 0.15, 0.1])
def test_two_balls_to_half_overlap(gap: float, model: str) -> None:
    """They part by equal and opposite ways, about along the line of their centres, which ends between the sum
    of the radii of the spheres within their facets, 0.098 m each, and 3 cm more than that of those around
    them, 0.1 m; no state has an intersection afterwards."""
    simulation = start([ball("a", 0, 0, 0.0, model=model), ball("b", 0, 0, gap, model=model)])
    a, b = shifts(simulation)
    assert a == pytest.approx(-b, abs=1e-12)
    assert 2 * 0.098 < np.linalg.norm(b - a + [0.0, 0.0, gap]) < 0.2 + 0.03
    assert np.abs(b[:2]).max() < 0.2 * (b[2] - a[2])
    assert any("was moved by" in text for text in simulation.diagnostics.texts())
    for _ in range(3):
        simulation.advance()


def test_what_is_held_stays_and_obstacles_do() -> None:
    slab = Body(box(0.4, 0.4, 0.1, divisions=(6, 6, 2)), model="fem", material=SOFT, name="slab",
                position=(-0.2, -0.2, -0.1))  # fmt: skip
    simulation = start([slab, ball("a", 0.0, 0.0, 0.07)], [Fix(slab, where.plane("z", "min"))])
    held, moved = shifts(simulation)
    assert np.abs(held).max() == 0.0
    assert 0.03 < moved[2] < 0.06
    simulation = start([ball("a", 0, 0, 0.05)], [Gravity(), Ground()])
    assert 0.05 < shifts(simulation)[0][2] < 0.07


def test_a_chain_of_four() -> None:
    simulation = start([ball(f"b{k}", 0.17 * k, 0.01 * (k % 2), 0.0) for k in range(4)])
    simulation.advance()
    total = sum(shifts(simulation))
    assert np.abs(total).max() < 1e-6


def test_what_cannot_be_separated_is_refused_and_put_back() -> None:
    with pytest.raises(InputError, match="inside the other"):
        start([ball("a", 0, 0, 0), Body(icosphere(0.03, subdivisions=1), edge=0.03, model="fem",
                                        material=SOFT, name="b")])  # fmt: skip
    rings = [
        Body(torus(0.1, 0.03), edge=0.05, model="fem", material=SOFT, name="one"),
        Body(torus(0.1, 0.03), edge=0.05, model="fem", material=SOFT, name="two", position=(0.18, 0, 0),
             rotation={"axis": "x", "degrees": 90}),
    ]  # fmt: skip
    with pytest.raises(InputError, match="may be linked"):
        start(rings)
    walls = [
        Body(box(0.3, 0.3, 0.05, divisions=(4, 4, 1)), model="fem", material=SOFT, name=f"w{k}",
             position=(-0.15, -0.15, z)) for k, z in enumerate((-0.12, 0.07))
    ]  # fmt: skip
    held = [Fix(wall, where.all()) for wall in walls]
    with pytest.raises(InputError, match="overlap at the start"):
        start([*walls, ball("a", 0, 0, 0.0)], held)


def test_without_the_request_they_are_refused() -> None:
    with pytest.raises(InputError, match="overlap at the start"):
        start([ball("a", 0, 0, 0), ball("b", 0, 0, 0.15)], contact=Contact(method="barrier"))
