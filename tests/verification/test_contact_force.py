"""The measure contact-force: resultants of contact between bodies and obstacles."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

from pliant.actions import Gravity, Ground, Obstacle
from pliant.contact import Contact
from pliant.core.errors import InputError, SelectionError
from pliant.core.selection import Select
from pliant.integrators import ImplicitEuler
from pliant.measures import ContactForce
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene

SOFT = {"young": 1e5, "poisson": 0.3, "density": 1000.0, "friction": 0.5, "damping": 0.02}
EULER = ImplicitEuler(tolerance=1e-3)  # at 0.1, its default, the reaction of held particles is 2 % off
WAYS = [
    ("leapfrog", "penalty"),
    (EULER, "penalty"),
    ("implicit-euler", "barrier"),
    ("tr-bdf2", "barrier"),
]


def step_of(integrator: Any) -> Any:
    return "auto" if integrator == "leapfrog" else 0.01


def stack(gap: float = 0.003, model: str = "fem") -> list[Body]:
    """A block of 8 kg, and one of 1 kg on it."""
    return [
        Body(box(0.2, 0.2, 0.2, divisions=(3, 3, 3)), model=model, material=SOFT, name="low"),
        Body(
            box(0.1, 0.1, 0.1, divisions=(2, 2, 2)), model=model, material=SOFT, name="high",
            position=(0.05, 0.05, 0.2 + gap),
        ),
    ]  # fmt: skip


def force(row: dict[str, float], name: str, kind: str = "") -> Any:
    return np.array([row[f"{name}.{kind}{axis}"] for axis in "xyz"])


@pytest.mark.parametrize(("integrator", "method"), WAYS)
def test_a_stack_bears_its_weight(integrator: Any, method: str) -> None:
    """At rest the upper block presses with m g = 9.81 N on the lower one, both with 88.29 N on the ground;
    force = normal + tangential; action = reaction, in force and in the moment about a common point."""
    names = [("low", "high"), ("high", "low"), ("low", "ground"), ("ground", "low"), ("high", "ground")]
    measures = [ContactForce(between=pair, name="_".join(pair)) for pair in names]
    everything = ContactForce(select=Select(body="low", all=True), name="all")
    simulation = simulate(
        stack(), [Gravity(), Ground()], seconds=2.0, step=step_of(integrator), integrator=integrator,
        contact=Contact(method=method), measures=[*measures, everything],
    )  # fmt: skip
    row, world = values(simulation), simulation.system.world
    assert force(row, "high_low")[2] == pytest.approx(9.81, rel=5e-3)
    assert force(row, "low_ground")[2] == pytest.approx(9.0 * 9.81, rel=5e-3)
    for own, other in (("low", "high"), ("high", "low"), ("low", "ground")):
        name = f"{own}_{other}"
        parts = force(row, name, "normal.") + force(row, name, "tangential.")
        assert np.abs(parts - force(row, name)).max() < 1e-12 * 100.0
        assert row[f"{name}.contacts"] >= 4
    assert row["low_ground.area"] == pytest.approx(0.04, rel=0.1)
    assert row["high_low.area"] == pytest.approx(0.01, rel=0.1)
    assert force(row, "ground_low") == pytest.approx(-force(row, "low_ground"), abs=1e-9)
    assert force(row, "ground_low")[2] == pytest.approx(row["ground.z"], rel=1e-9)
    assert np.abs(force(row, "high_ground")).max() == 0.0
    both = [force(row, name) for name in ("low_high", "high_low")]
    assert np.abs(both[0] + both[1]).max() < 1e-9 * 9.81
    centres = [np.average(world.x[p.rows], axis=0, weights=world.mass[p.rows]) for p in world.bodies]
    moments = [
        force(row, name, "torque.") + np.cross(centre, one)
        for name, centre, one in zip(("low_high", "high_low"), centres, both, strict=True)
    ]
    gap = (
        1e-7 if method == "penalty" else 1e-4
    )  # barrier contact: friction acts on both surfaces, a gap apart
    assert np.abs(moments[0] + moments[1]).max() < gap
    assert force(row, "all") == pytest.approx(force(row, "low_high") + force(row, "low_ground"), abs=1e-7)


@pytest.mark.parametrize(("integrator", "method"), WAYS)
def test_friction_on_a_slope_is_m_g_sin(integrator: Any, method: str) -> None:
    """A block that sticks on 15 degrees: the tangential part is m g sin a, the normal one m g cos a."""
    a = np.radians(15.0)
    down = Gravity((9.81 * np.sin(a), 0.0, -9.81 * np.cos(a)))
    simulation = simulate(
        stack()[:1], [down, Ground(friction=0.5)], seconds=2.0,
        step=step_of(integrator), integrator=integrator, contact=Contact(method=method),
        measures=[ContactForce(between=("low", "ground"), name="foot")],
    )  # fmt: skip
    row = values(simulation)
    assert force(row, "foot", "tangential.") == pytest.approx([-8 * 9.81 * np.sin(a), 0, 0], abs=0.3)
    assert force(row, "foot", "normal.") == pytest.approx([0, 0, 8 * 9.81 * np.cos(a)], abs=0.3)


def test_a_rigid_block_on_the_ground() -> None:
    simulation = simulate(
        stack(model="rigid")[:1], [Gravity(), Ground()], seconds=0.6, fps=50.0,
        measures=[ContactForce(between=("low", "ground"), name="foot")],
    )  # fmt: skip
    row = values(simulation)
    assert force(row, "foot", "normal.") == pytest.approx([0, 0, 8 * 9.81], rel=1e-6, abs=1e-6)
    assert force(row, "foot", "torque.") == pytest.approx([0, 0, 0], abs=1e-3)
    assert row["foot.contacts"] >= 3


def test_rows_of_steps_add_up_to_that_of_the_frame() -> None:
    measures = [
        ContactForce(between=("low", "ground"), name="each", every="step"),
        ContactForce(between=("low", "ground"), name="whole"),
    ]
    scene = Scene(stack()[:1], [Gravity(), Ground()], integrator="leapfrog", measures=measures)
    simulation = scene.simulation()
    simulation.start()
    for _ in range(3):
        rows = simulation.advance()
        assert rows is not None
        column = simulation.step_columns.index("each.z")
        assert rows[:, column].mean() == pytest.approx(values(simulation)["whole.z"], rel=1e-9)
        assert rows[:, column].max() > 0.0


def test_what_cannot_be_measured_is_refused() -> None:
    def prepare(*between: str, **more: Any) -> None:
        Scene(stack(**more), [Gravity(), Ground()], measures=[ContactForce(between=between)]).simulation()  # type: ignore[arg-type]

    with pytest.raises(SelectionError, match="no body or obstacle 'grond'"):
        prepare("low", "grond")
    with pytest.raises(SelectionError, match="add up to nothing"):
        prepare("low", "low")
    with pytest.raises(InputError, match="give between"):
        ContactForce()
    with pytest.raises(InputError, match="every"):
        ContactForce(select=Select(all=True), every="step")
    with pytest.raises(InputError, match="contact forces on obstacles"):
        prepare("low", "ground", model="multires")


def test_resumed_runs_have_the_same_rows() -> None:
    def fresh() -> Any:
        ball = Obstacle(sphere={"radius": 0.05}, position=(0.1, 0.1, 0.352), name="ball")
        scene = Scene(
            stack(), [Gravity(), Ground(), ball], integrator="leapfrog",
            measures=[
                ContactForce(between=("high", "ball")), ContactForce(between=("high", "low"), name="b")
            ],
        )  # fmt: skip
        return scene.simulation()

    through = fresh()
    through.start()
    for _ in range(4):
        through.advance()
    kept = {name: np.array(array) for name, array in through.state().items()}
    again = fresh()
    again.restore(4, kept)
    assert again.row() == through.row()
    for each in (through, again):
        each.advance()
    assert again.row() == through.row()
    assert max(abs(value) for value in force(values(through), "contact-force")) > 0.0
