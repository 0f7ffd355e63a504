"""The small versions of the methods in docs/book do what the program's kernels do."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import block, shaken, simulate

import pliant as pl
from pliant.core.typing import Array
from pliant.interfaces import Cuttable, Projection
from pliant.mesh.mesh import boundary_triangles
from pliant.scene import Body, Scene
from pliant.state.world import BodyState

BOOK = Path(__file__).resolve().parents[2] / "docs/book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("*.py"))
LAME = (4e5, 2e5)  # lambda, mu [Pa]
MATERIAL = {"young": 2e5 * (3 * 4e5 + 2 * 2e5) / 6e5, "poisson": 4e5 / (2 * 6e5), "density": 1000.0}
EXACT = 1e-10  # of the largest force: rounding


def chapter(name: str) -> dict[str, Any]:
    return runpy.run_path(str(BOOK / f"{name}.py"))


def body_of(model: Any, material: dict[str, float] = MATERIAL, **options: Any) -> BodyState:
    """A block in a simulation, with its mechanics."""
    scene = Scene([block(model=model, material=material, **options)])
    return scene.simulation().system.world.bodies[0]


def forces_of(part: BodyState, x: Array) -> Array:
    out = np.zeros_like(x)
    part.mechanics.add_elastic_forces(x, out)
    return out


def assert_same(ours: Array, theirs: Array, share: float = EXACT) -> None:
    assert np.abs(theirs).max() > 0.0
    assert np.abs(ours - theirs).max() < share * np.abs(theirs).max()


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_runs_on_its_own_and_is_short(name: str) -> None:
    path = BOOK / f"{name}.py"
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 90, "40 to 80 lines of method, and a few that show it"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) >= 1
    assert "pliant" not in path.read_text()


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_its_page(name: str) -> None:
    page = (BOOK / f"{name.replace('_', '-')}.md").read_text()
    assert f"{{literalinclude}} {name}.py" in page
    for part in ("## In the program", "## A live scene", "## Exercises", "Solution"):
        assert part in page


def test_springs_and_their_volumetric_term() -> None:
    part = body_of("mass-spring")
    rest, tets = part.structure.rest, part.structure.cells["tetra"]
    x = shaken(rest, 0.02)
    assert_same(chapter("mass_spring")["forces"](x, rest, tets, *LAME), forces_of(part, x))


def test_the_constraint_on_the_total_volume() -> None:
    from pliant.actions.volume_projections import BodyVolume

    part = body_of("mass-spring")
    rest, before = part.structure.rest, shaken(part.structure.rest, 0.005)
    x, w = before * [1.0, 1.0, 0.9], np.repeat(1.0 / part.structure.mass[:, None], 3, axis=1)
    own = BodyVolume(part.structure, part.material, pl.VolumeConstraint(body="body"))
    own.begin(before)
    theirs, v = x.copy(), np.zeros_like(x)
    own.project(theirs, v, w, 1e-3)
    triangles = boundary_triangles(part.structure.cells["tetra"])
    target = float(np.prod(np.ptp(rest, axis=0)))
    ours = chapter("mass_spring")["keep_volume"](x, before, triangles, target, w)
    assert np.abs(ours - theirs).max() < EXACT * np.ptp(rest)


def test_cpm2() -> None:
    part = body_of("cpm2")
    rest, tets = part.structure.rest, part.structure.cells["tetra"]
    x = shaken(rest, 0.005)
    assert_same(chapter("continuum_particles")["forces"](x, rest, tets, *LAME), forces_of(part, x))


def test_two_levels_where_all_is_fine() -> None:
    """A clamped block falls for 0.2 s; the program takes steps of its own."""
    model = {
        "type": "multires",
        "levels": 2,
        "detail": "finest",
        "coupling": "galerkin",
        "operator": "linear",
    }
    soft, lame = {**MATERIAL, "young": MATERIAL["young"] / 10}, [value / 10 for value in LAME]
    body = Body(pl.shapes.box(0.4, 0.2, 0.2), edge=0.05, model=model, material=soft)
    simulation = simulate([body], [pl.Gravity(), pl.Fix(body, pl.where.plane("x", "min"))], seconds=0.2)
    part = simulation.system.world.bodies[0]
    rest, tets, own = part.structure.rest, part.structure.cells["tetra"], chapter("multiresolution")
    matrix, volume = own["stiffness"](rest, tets, *lame, np.ones(len(tets)))
    held = rest[:, 0] < 1e-9
    mass = np.where(held, 1e12, MATERIAL["density"] * volume)
    load = np.where(held[:, None], 0.0, mass[:, None] * np.array([0.0, 0.0, -9.81]))
    u, _, _ = own["vibrate"](matrix, mass, np.zeros_like(rest), np.zeros_like(rest), 2e-4, 1000, load)
    theirs = simulation.system.world.x - simulation.system.world.rest
    assert_same(u, theirs, 1e-4)


def test_two_levels_keep_momentum_and_energy() -> None:
    own = chapter("multiresolution")
    coarse, fine = own["grid"]((4, 2, 2), 0.1), own["grid"]((8, 4, 4), 0.05)
    refined = coarse[0][coarse[1]].mean(axis=1)[:, 0] < 0.2
    matrix, mass, _ = own["two_levels"](coarse, fine, refined, 4e4, 2e4, 1000.0)
    assert mass.sum() == pytest.approx(16.0)
    assert np.abs(matrix - matrix.T).max() < EXACT * np.abs(matrix).max()
    v = np.random.default_rng(2).normal(size=(len(mass), 3))
    before = mass @ v
    _, v, energy = own["vibrate"](matrix, mass, np.zeros_like(v), v, 5e-4, 2000)
    assert np.abs(mass @ v - before).max() < EXACT * np.abs(mass[:, None] * v).sum()
    assert np.ptp(energy) < 0.01 * energy[0]


def test_corotational_elements() -> None:
    part = body_of("fem")
    rest, tets = part.structure.rest, part.structure.cells["tetra"]
    x = shaken(rest, 0.02)
    assert_same(chapter("finite_elements")["forces"](x, rest, tets, *LAME), forces_of(part, x))


def test_backward_euler() -> None:
    """The program stops a step at 1e-8 of the external forces, ours goes to rounding."""
    body = block(model="fem", material=MATERIAL)
    hold = pl.Fix(body, pl.where.plane("x", "min"))
    dt, steps = 0.02, 5
    method = pl.integrators.ImplicitEuler(tolerance=1e-8)
    simulation = simulate([body], [pl.Gravity(), hold], seconds=dt * steps, step=dt, integrator=method)
    world = simulation.system.world
    rest, mass = world.rest, world.mass
    free = rest[:, 0] > 1e-9
    x, v, model = rest.copy(), np.zeros_like(rest), (rest, world.bodies[0].structure.cells["tetra"], *LAME)
    load = mass[:, None] * np.array([0.0, 0.0, -9.81])
    step = chapter("finite_elements")["implicit_step"]
    for _ in range(steps):
        x, v = step(x, v, dt, mass, load, free, model)
    assert np.abs(world.x - rest).max() > 1e-3
    assert np.abs(x - world.x).max() < 1e-5 * np.abs(world.x - rest).max()


def test_meshless_forces() -> None:
    part = body_of({"type": "efg", "law": "st-venant-kirchhoff", "sampling": "lattice"}, edge=0.1)
    rest, volume = part.structure.rest, part.structure.mass / part.material.density
    x = shaken(rest, 0.005)
    assert_same(chapter("meshless")["forces"](x, rest, volume, *LAME), forces_of(part, x))


def test_the_lattice() -> None:
    quarter = {"young": 1e6, "poisson": 0.25, "density": 1000.0}
    part = body_of("lattice", quarter, edge=0.05)
    rest, a = part.structure.rest, part.structure.spacing
    own = chapter("lattice")
    index = np.rint((rest - rest.min(axis=0)) / a).astype(int)
    edges, steps = own["connections"](index)
    k = own["stiffness"](index, edges, steps, 1e6, a)
    x = shaken(rest, 0.002)
    assert_same(own["forces"](x, rest, edges, k), forces_of(part, x))


@pytest.mark.parametrize(("restitution", "friction"), [(0.0, 0.3), (0.5, 0.0), (0.8, 0.6)])
def test_particles_on_the_ground(restitution: float, friction: float) -> None:
    """Particles that come, go, rest and slide, with loads that press and pull."""
    body = block((6, 5, 4), model="fem")
    ground = pl.Ground(restitution=restitution, friction=friction)
    system = Scene([body], [ground], step=1e-3).simulation().system
    (runtime,) = [each for _, each in system.actions if each.offer(Projection)]
    world, rng, dt = system.world, np.random.default_rng(3), 1e-3
    world.x[:, 2] = rng.uniform(-2e-3, 2e-3, len(world.x))
    world.v[:] = rng.uniform(-2.0, 2.0, world.v.shape)
    world.f[:] = rng.uniform(-500.0, 500.0, world.f.shape) * world.mass[:, None]
    respond = chapter("contact")["respond"]
    x, v = respond(world.x, world.v, world.f, world.mass, dt, restitution, friction)
    before = world.v.copy()
    runtime.project(0.0, dt, world)
    assert (np.abs(world.v - before) > 0).any(axis=1).sum() > 40
    assert np.abs(x - world.x).max() < EXACT * 1e-3
    assert np.abs(v - world.v).max() < EXACT


def test_where_a_body_cracks() -> None:
    """The stress around particles, the one that cracks first, and the load at which it does."""
    own, strength = chapter("fracture"), 2e4
    own_block = block((6, 4, 4), model="fem", material={**MATERIAL, "strength": strength})
    part = Scene([own_block]).simulation().system.world.bodies[0]
    rest, tets = part.structure.rest, part.structure.cells["tetra"]
    x = shaken(rest, 1e-4)
    x[:, 0] += 0.02 * np.tanh((rest[:, 0] - 0.3) / 0.1)  # stretched most in the middle
    ours = own["nodal_stress"](x, rest, tets, *LAME)
    theirs = part.mechanics.elements.nodal_stress(x)  # type: ignore[attr-defined]
    assert_same(ours[:, [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]], theirs)
    found = own["first_crack"](x, rest, tets, *LAME, strength)
    assert found is not None
    fracture = part.mechanics.offer(Cuttable)
    planes = fracture.cracking.planes(0.0, x, tets, theirs)  # type: ignore[union-attr]
    assert planes is not None
    assert planes.nodes.tolist() == [found[0]]
    top = float(np.linalg.eigvalsh(ours)[:, 2].max())
    assert own["first_crack"](x, rest, tets, *LAME, 1.0001 * top) is None
    assert own["first_crack"](x, rest, tets, *LAME, 0.9999 * top) is not None
