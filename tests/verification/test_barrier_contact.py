"""Barrier contact: nothing passes through anything, friction is Coulomb's, energy is accounted for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import values

from pliant.actions import Fix, Gravity, Ground, Obstacle
from pliant.contact import Contact, ContactPairSettings
from pliant.contact.barrier.geometry import surface_of
from pliant.core.errors import IncompatibleError, InputError, SceneError
from pliant.core.where import plane
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation

SOFT = {"young": 5e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3}
BARRIER = Contact(method="barrier")


def simulation_of(
    bodies: list[Body], actions: list[Any], integrator: Any, step: float, contact: Contact = BARRIER
) -> Simulation:
    scene = Scene(bodies, actions, integrator=integrator, step=step, contact=contact)
    scene.time = type(scene.time)(
        duration=1.0, fps=1.0 / step, step=scene.time.step, integrator=scene.time.integrator
    )
    simulation = scene.simulation()
    simulation.start()
    return simulation


def crossings(simulation: Simulation) -> int:
    """Edges that pass through triangles, by the independent auditor."""
    pytest.importorskip("ipctk")
    from pliant.audit.auditor import audit_state
    from pliant.audit.surface_frames import joined

    world, parts = simulation.system.world, []
    for part in world.bodies:
        own = surface_of(part)
        x = np.einsum("vk,vki->vi", own.weights, world.x[part.rows][own.rows])
        parts.append((part.name, x, own.triangles))
    return audit_state(joined("now", parts)).crossings


def block(size: tuple[float, float, float], divisions: tuple[int, int, int], **options: Any) -> Body:
    return Body(
        box(*size, divisions=divisions), model="fem", material=options.pop("material", SOFT), **options
    )


def crossed_bars() -> list[Body]:
    return [
        block((0.4, 0.1, 0.1), (8, 2, 2), position=(0, 0, 0.02), name="low"),
        block((0.1, 0.4, 0.1), (2, 8, 2), position=(0.15, -0.15, 0.14), velocity=(0, 0, -2), name="high"),
    ]


@pytest.mark.parametrize("integrator", ["implicit-euler", "tr-bdf2", "energy-momentum"])
def test_crossed_bars_stay_apart(integrator: str) -> None:
    """Two soft bars thrown onto each other on the ground: no crossing in any state, nothing below the
    ground, and kinetic, elastic, contact and potential energy never above their start."""
    simulation = simulation_of(crossed_bars(), [Gravity(), Ground()], integrator, 0.01)
    names = [f"energy.{name}" for name in ("kinetic", "elastic", "gravity", "contact")]
    start = sum(values(simulation)[name] for name in names)
    for _ in range(20):
        simulation.advance()
        row = values(simulation)
        assert crossings(simulation) == 0
        assert simulation.system.world.x[:, 2].min() > 0.0
        assert sum(row[name] for name in names) < start + 1e-3 * abs(start)
    assert row["energy.friction"] > 0.0


def test_a_cube_that_touches_the_ground_at_the_start_rests_on_it() -> None:
    """The ground carries m g; the cube does not jump; what it takes is told."""
    simulation = simulation_of(
        [block((0.2, 0.2, 0.2), (3, 3, 3))], [Gravity(), Ground()], "implicit-euler", 0.02
    )
    for _ in range(40):
        simulation.advance()
    world, row = simulation.system.world, values(simulation)
    assert row["ground.z"] == pytest.approx(-8.0 * 9.81, rel=2e-3)
    assert np.abs(world.v).max() < 2e-3
    assert -1e-3 < world.x[:, 2].min() < 2e-3


def slide(angle: float, integrator: str) -> tuple[float, float]:
    """Acceleration down a slope, mu 0.5, as the slope of v in the second quarter of a second, and the way."""
    a, step = np.radians(angle), 0.01
    stiff = {**SOFT, "young": 1e6}
    down = Gravity((9.81 * np.sin(a), 0.0, -9.81 * np.cos(a)))
    body = block((0.2, 0.2, 0.1), (3, 3, 2), material=stiff)
    simulation = simulation_of([body], [down, Ground(friction=0.5)], integrator, step)
    world, speed = simulation.system.world, []
    for _ in range(50):
        simulation.advance()
        speed.append(float(np.average(world.v[:, 0], weights=world.mass)))
    moved = float((world.x - world.rest)[:, 0].mean())
    return float(np.polyfit(step * np.arange(25), speed[25:], 1)[0]), moved


@pytest.mark.parametrize("integrator", ["implicit-euler", pytest.param("tr-bdf2", marks=pytest.mark.slow)])
def test_a_block_slides_as_coulomb_says(integrator: str) -> None:
    """mu = 0.5: it holds at 26.0 degrees, slips at 27.2, and accelerates with g (sin a - mu cos a)."""
    held, moved = slide(26.0, integrator)
    assert abs(held) < 0.02
    assert moved < 5e-3
    assert 0.05 < slide(27.2, integrator)[0] < 0.2
    for angle in (30.0, 45.0):
        a = np.radians(angle)
        expected = 9.81 * (np.sin(a) - 0.5 * np.cos(a))
        assert slide(angle, integrator)[0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("integrator", "share"), [("implicit-euler", 1e-9), ("tr-bdf2", 1e-4), ("energy-momentum", 2e-3)]
)
def test_two_bodies_in_space_keep_their_momentum(integrator: str, share: float) -> None:
    """Off-centre impact of two bars without anything else: linear momentum to 1e-8; friction acts half-way
    between the surfaces, so that the angular momentum stays, to rounding with backward Euler."""
    bodies = [
        block((0.3, 0.1, 0.1), (6, 2, 2), velocity=(0, 0, 1), spin=(3, 1, 2), name="one"),
        block((0.3, 0.1, 0.1), (6, 2, 2), position=(0.2, 0.03, 0.12), velocity=(0, 0, -1), name="two"),
    ]
    simulation = simulation_of(bodies, [], integrator, 0.01)
    world = simulation.system.world

    def momenta() -> tuple[Any, Any]:
        p = world.mass[:, None] * world.v
        return p.sum(axis=0), np.cross(world.x, p).sum(axis=0)

    (p0, l0), scale = momenta(), 3.0 * 1.0
    for _ in range(15):
        simulation.advance()
        assert crossings(simulation) == 0
        p1, l1 = momenta()
        assert np.abs(p1 - p0).max() < 1e-8 * scale
        assert np.abs(l1 - l0).max() < share * np.linalg.norm(l0)
    assert values(simulation)["energy.friction"] > 0.0


@pytest.mark.parametrize(
    "shape",
    [
        {"sphere": {"radius": 0.06}},
        {"capsule": {"radius": 0.04, "length": 0.1, "axis": "x"}},
        {"box": {"size": (0.1, 0.1, 0.1)}},
    ],
)
def test_keyed_obstacles_press_into_a_block(shape: Any) -> None:
    """The obstacle arrives where its keys say, no vertex is in it. Its work is what the block got, and what
    a force at the end of each of five steps does more than the mean force: a fifth or so, in numerical."""
    top = 0.06 if "sphere" in shape else 0.04 if "capsule" in shape else 0.05
    keys = [{"time": 0.0, "value": [0.1, 0.1, 0.22 + top]}, {"time": 0.2, "value": [0.1, 0.1, 0.18 + top]}]
    tool = Obstacle(**shape, position={"keys": keys}, friction=0.3, name="tool")
    body = block((0.2, 0.2, 0.2), (4, 4, 4))
    held = Fix(None, plane("z", "min"))
    simulation = simulation_of([body], [held, tool], "implicit-euler", 0.02)
    world = simulation.system.world
    obstacle = simulation.system.obstacles[0]
    values(simulation)  # the ledger begins
    for k in range(12):
        simulation.advance()
        assert obstacle.distances(0.02 * (k + 1), world.x)[0].min() > 0.0
    row = values(simulation)
    assert row["tool.z"] > 1.0
    assert row["energy.unexplained"] == pytest.approx(0.0, abs=1e-12)
    assert row["energy.friction"] >= 0.0
    assert 0.0 < row["energy.numerical"] < 0.3 * row["energy.work"]


@pytest.mark.parametrize("model", ["mass-spring", "cpm1", "efg", "lattice"])
def test_bodies_of_other_models_collide(model: str) -> None:
    """A block thrown onto another one: no crossing of the surfaces that follow the particles; the ground and
    the other block stop it."""
    bodies = [
        Body(box(0.2, 0.2, 0.1), edge=0.06, model=model, material=SOFT, name="low", position=(0, 0, 0.01)),
        Body(
            box(0.1, 0.1, 0.1), edge=0.05, model=model, material=SOFT, name="high",
            position=(0.03, 0.04, 0.13), velocity=(0, 0, -1),
        ),
    ]  # fmt: skip
    simulation = simulation_of(bodies, [Gravity(), Ground()], "implicit-euler", 0.01)
    for _ in range(12):
        simulation.advance()
        assert crossings(simulation) == 0
    world, row = simulation.system.world, values(simulation)
    assert world.x[:, 2].min() > 0.0
    assert row["energy.contact"] > 0.0
    assert np.abs(world.v[:, 2]).max() < 1.5
    assert abs(row["energy.unexplained"]) < 1e-9


@pytest.mark.parametrize("speed", [5.0, 50.0])
def test_a_thrown_cube_does_not_pass_a_sheet(speed: float) -> None:
    """At 50 m/s it would go 25 cm in a step, twelve times the thickness of the sheet."""
    sheet = block((0.3, 0.3, 0.02), (6, 6, 1), name="sheet")
    cube = block(
        (0.06, 0.06, 0.06), (2, 2, 2), position=(0.12, 0.12, 0.05), velocity=(0, 0, -speed), name="cube"
    )
    simulation = simulation_of([sheet, cube], [], "implicit-euler", 0.005)
    for _ in range(6):
        simulation.advance()
        assert crossings(simulation) == 0
    world = simulation.system.world
    moving = [
        float(np.average(world.v[part.rows, 2], weights=world.mass[part.rows])) for part in world.bodies
    ]
    assert moving[0] < -0.05 * speed  # the sheet was hit
    low, cube_low = (world.x[p.rows][p.structure.cells["triangle"], 2].min() for p in world.bodies)
    assert cube_low > low  # of the surfaces: the node inside of the cube may be beyond (inverted cells)


def test_every_accepted_move_is_free_by_tight_inclusion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only states: each straight move of the solver in the first steps of an impact at 50 m/s."""
    ipctk = pytest.importorskip("ipctk")
    from pliant.integrators.implicit.lbfgs import Lbfgs

    sheet = block((0.3, 0.3, 0.02), (6, 6, 1), name="sheet")
    cube = block(
        (0.06, 0.06, 0.06), (2, 2, 2), position=(0.12, 0.12, 0.05), velocity=(0, 0, -50), name="cube"
    )
    simulation = simulation_of([sheet, cube], [], "implicit-euler", 0.005)
    world = simulation.system.world
    parts = [p.structure.cells["triangle"] + p.rows.start for p in world.bodies]
    rows, corners = np.unique(np.concatenate(parts), return_inverse=True)
    triangles = np.asfortranarray(corners.reshape(-1, 3).astype(np.int32))
    mesh = ipctk.CollisionMesh(np.asfortranarray(world.rest[rows]), ipctk.edges(triangles), triangles)
    ccd, free, plain = ipctk.TightInclusionCCD(conservative_rescaling=0.99), list[bool](), Lbfgs.taken

    def taken(self: Lbfgs, x: Any, g: Any) -> Any:
        found = plain(self, x, g)
        ends = (np.asfortranarray(each[rows]) for each in (x, found[0]))
        free.append(bool(ipctk.is_step_collision_free(mesh, *ends, narrow_phase_ccd=ccd)))
        return found

    monkeypatch.setattr(Lbfgs, "taken", taken)
    for _ in range(2):
        simulation.advance()
    assert len(free) > 50
    assert all(free)


def test_a_strip_folds_onto_itself() -> None:
    """A soft strip that is dropped on its end: it comes to lie on itself, without a crossing."""
    soft = {**SOFT, "young": 2e4}
    strip = block((0.03, 0.09, 0.6), (1, 3, 16), material=soft, position=(0, 0, 0.01), velocity=(0, 0, -1))
    simulation = simulation_of(
        [strip], [Gravity((1.0, 0, -9.81)), Ground(friction=0.5)], "implicit-euler", 0.02
    )
    nearest = np.inf
    for _ in range(30):
        simulation.advance()
        assert crossings(simulation) == 0
        nearest = min(nearest, float(simulation.system.world.x[:, 2].min()))
    assert nearest > 0.0


def test_what_overlaps_is_refused_by_name_and_depth() -> None:
    low, high = crossed_bars()
    deep = block((0.1, 0.4, 0.1), (2, 8, 2), position=(0.15, -0.15, 0.11), name="high")
    with pytest.raises(InputError, match=r"'low' and 'high' overlap at the start, 0\.0"):
        simulation_of([low, deep], [], "implicit-euler", 0.01)
    with pytest.raises(InputError, match=r"'high' starts 0\.06 m inside obstacle 'ground'"):
        simulation_of([high], [Ground(level=0.2)], "implicit-euler", 0.01)
    small = Body(
        icosphere(0.02, subdivisions=1), edge=0.02, model="fem", material=SOFT, position=(0.1, 0.05, 0.07)
    )
    with pytest.raises(InputError, match="overlap at the start"):
        simulation_of([low, small], [], "implicit-euler", 0.01)


@pytest.mark.parametrize("integrator", ["leapfrog", "implicit-midpoint", "newmark"])
def test_schemes_that_cannot_hold_it_are_refused(integrator: str) -> None:
    with pytest.raises(IncompatibleError, match=r"arrier contact|contact was not looked at"):
        simulation_of(crossed_bars(), [Gravity()], integrator, 1e-4)


def test_what_it_cannot_do_is_refused() -> None:
    pair = ContactPairSettings(bodies=("low", "high"), adhesion=1e3)
    for contact in (
        Contact(method="barrier", pairs=(pair,)),
        Contact(method="barrier", self_="pieces"),
    ):
        with pytest.raises(IncompatibleError, match="Barrier contact"):
            simulation_of(crossed_bars(), [Gravity()], "implicit-euler", 0.01, contact)


def digest(simulation: Simulation) -> list[Any]:
    world = simulation.system.world
    return [world.x.tobytes(), world.v.tobytes(), world.f.tobytes(), simulation.row()]


@pytest.mark.parametrize("integrator", ["implicit-euler", "tr-bdf2"])
def test_a_restart_in_contact_gives_the_same_bytes(integrator: str) -> None:
    through = simulation_of(crossed_bars(), [Gravity(), Ground()], integrator, 0.01)
    for _ in range(6):
        through.advance()
    kept = {name: np.array(array) for name, array in through.state().items()}
    for _ in range(4):
        through.advance()
    again = simulation_of(crossed_bars(), [Gravity(), Ground()], integrator, 0.01)
    again.restore(6, kept)
    for _ in range(4):
        again.advance()
    assert digest(again) == digest(through)
    assert values(through)["energy.contact"] > 0.0


def test_threads_do_not_change_a_byte() -> None:
    from pliant.contact.barrier import broad_kernels, ccd_kernels, stencil_kernels
    from pliant.kernels import jit

    found, before = [], jit.threads_in_use()
    patch = pytest.MonkeyPatch()
    try:
        for module in (broad_kernels, ccd_kernels, stencil_kernels):
            patch.setattr(module, "SERIAL_ROWS", 1)  # the parallel versions
        for threads in (1, 2):
            jit.set_threads(threads)
            simulation = simulation_of(crossed_bars(), [Gravity(), Ground()], "implicit-euler", 0.01)
            for _ in range(6):
                simulation.advance()
            found.append(digest(simulation))
    finally:
        patch.undo()
        jit.use_threads(before)
    simulation = simulation_of(crossed_bars(), [Gravity(), Ground()], "implicit-euler", 0.01)
    for _ in range(6):
        simulation.advance()
    assert found[0] == found[1] == digest(simulation)


def test_recorded_paths_are_audited_move_by_move(tmp_path: Path) -> None:
    """``record.paths``: every straight move between frames is in the run, of which the audit finds each free;
    a move that was tampered with is found."""
    pytest.importorskip("ipctk")
    import pliant as pl
    from pliant.audit import certify
    from pliant.run.store.ways import read_way, write_way

    scene = Scene(
        crossed_bars(), [Gravity(), Ground()], integrator="implicit-euler", step=0.01, contact=BARRIER,
        record=pl.scene.scene.RecordSettings(paths=True),
    )  # fmt: skip
    run = scene.run(duration=0.12, fps=50, to=tmp_path / "bars.pliant", progress=False)
    found = certify(run.path, paths=True)
    assert found.ok
    assert found.table()["checked"]["moves"] > 20
    for k in range(1, len(run.frames)):
        way = read_way(run.path, k)
        assert way is not None
        assert np.abs(way[-1] - run.frames[k].positions).max() < 1e-12
    way = read_way(run.path, 4)
    assert way is not None
    upper = slice(*run.frames[0].record("high").rows)
    way[len(way) // 2, upper, 2] -= 0.5  # through the lower bar and back
    write_way(run.path, 4, way)
    again = certify(run.path, paths=True)
    assert [state.path for state in again.states] == [None, True, True, True, False, True, True]
    with pytest.raises(SceneError, match="barrier contact only"):
        replace(scene, contact=Contact()).simulation()
