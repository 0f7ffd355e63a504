"""Properties that hold for any shape, place, size and order, over all registered models: drawn by hypothesis.

Few examples each, the same ones every time; ``--hypothesis-seed`` and more examples find rarer ones.
"""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, shaken

pytest.importorskip("hypothesis", reason="needs hypothesis: pip install 'pliant[dev]'")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.core.errors import PliantError
from pliant.core.rotation import Rotation
from pliant.kernels.jit import set_threads
from pliant.mesh.mesh import TetMesh
from pliant.mesh.shapes import box
from pliant.models import deforming
from pliant.scene import Body, Scene
from pliant.scene.scene import TimeSettings

few = settings(
    max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
every_model = pytest.mark.parametrize("model", deforming())  # a rigid body has no internal forces
seeds = st.integers(0, 2**31 - 1)
turns = st.builds(
    lambda axis, degrees: Rotation(axis=axis, degrees=degrees).matrix(),
    st.tuples(*[st.floats(-1, 1)] * 2, st.floats(0.1, 1)),
    st.floats(-180, 180),
)


def lattice(seed: int) -> TetMesh:
    """A block of 2 x 1 x 1 cells of 0.1 m with its points moved a little."""
    mesh = box(0.2, 0.1, 0.1, divisions=(2, 1, 1)).volume()
    assert mesh is not None
    return TetMesh(shaken(mesh.points, 0.01, seed), mesh.tets)


def prepared(model: Any, mesh: TetMesh) -> tuple[Any, Any]:
    """Structure and mechanics; skips a model that does not take a mesh as it is.

    Elements are two in the thickness: by themselves they would be as large as the block is thick.
    """
    edge = 0.45 * float(np.ptp(mesh.points[:, 1])) if model == "lattice" else None
    body = Body(mesh, model=model, material=MATERIAL, surface="boundary", edge=edge)
    try:
        structure = body.structure()
    except PliantError as refusal:
        pytest.skip(f"{model}: {refusal}")
    return structure, body.model.prepare(structure, body.resolved_material)


def forces(mechanics: Any, x: Any) -> Any:
    out = np.zeros_like(x)
    mechanics.add_forces(x, np.zeros_like(x), out)
    return out


def bent(rest: Any, seed: int) -> Any:
    """A smooth, uneven deformation of the places ``rest``, the same for any order and any mesh."""
    a = np.random.default_rng(seed).uniform(-0.1, 0.1, (3, 3))
    return rest + rest @ a.T + 0.3 * rest[:, [1, 2, 0]] * rest[:, [2, 0, 1]]


@every_model
@few
@given(seed=seeds, turn=turns, shift=st.tuples(*[st.floats(-10, 10)] * 3))
def test_forces_go_along_with_rigid_motion(model: str, seed: int, turn: Any, shift: Any) -> None:
    turning = {"type": "multires", "operator": "corotational"} if model == "multires" else model
    structure, mechanics = prepared(turning, lattice(seed))
    x = bent(structure.rest, seed)
    f = forces(mechanics, x)
    moved = forces(mechanics, x @ turn.T + np.array(shift))
    assert np.abs(moved - f @ turn.T).max() < 1e-9 * np.abs(f).max()


@every_model
@few
@given(seed=seeds, power=st.floats(-2, 3))
def test_forces_scale_with_area_from_a_millimetre_to_a_hundred_metres(
    model: str, seed: int, power: float
) -> None:
    size, mesh = 10.0**power, lattice(seed)
    structure, mechanics = prepared(model, mesh)
    _, other = prepared(model, TetMesh(size * mesh.points, mesh.tets))
    x = structure.rest + 0.05 * bent(structure.rest, seed)
    f, g = forces(mechanics, x), forces(other, size * x)
    assert np.abs(g / size**2 - f).max() < 1e-9 * np.abs(f).max()


@every_model
@few
@given(seed=seeds)
def test_the_order_of_vertices_and_tets_does_not_matter(model: str, seed: int) -> None:
    mesh, generator = lattice(seed), np.random.default_rng(seed)
    order = generator.permutation(len(mesh.points))
    place = np.argsort(order)
    mixed = TetMesh(mesh.points[order], place[mesh.tets][generator.permutation(len(mesh.tets))])
    one, first = prepared(model, mesh)
    two, second = prepared(model, mixed)
    f, g = forces(first, bent(one.rest, seed)), forces(second, bent(two.rest, seed))
    away = np.linalg.norm(one.rest[:, None] - two.rest[None], axis=2)
    same = away.argmin(axis=1)
    assert away.min(axis=1).max() < 1e-12
    assert np.abs(g[same] - f).max() < 1e-9 * np.abs(f).max()
    assert two.mass[same] == pytest.approx(one.mass, rel=1e-12)


@every_model
@few
@given(seed=seeds)
def test_a_mirrored_body_has_mirrored_forces(model: str, seed: int) -> None:
    mesh, flip = lattice(seed), np.array([-1.0, 1.0, 1.0])
    one, first = prepared(model, mesh)
    two, second = prepared(model, TetMesh(mesh.points * flip, mesh.tets[:, [0, 2, 1, 3]]))
    x = bent(one.rest, seed)
    same = np.linalg.norm((one.rest * flip)[:, None] - two.rest[None], axis=2).argmin(axis=1)
    back = np.argsort(same)
    f, g = forces(first, x), forces(second, (x * flip)[back])
    assert np.abs(g[same] * flip - f).max() < 1e-9 * np.abs(f).max()


@every_model
@few
@given(seed=seeds)
def test_any_number_of_threads_gives_the_same_bytes(model: str, seed: int) -> None:
    mesh = box(0.4, 0.3, 0.3, divisions=(8, 6, 6)).volume()
    assert mesh is not None
    structure, mechanics = prepared(model, mesh)
    x = shaken(structure.rest, 0.005, seed)
    try:
        set_threads(1)
        f = forces(mechanics, x)
        set_threads(2)
        g = forces(mechanics, x)
    finally:
        set_threads(None)
    assert np.array_equal(f, g)


def flown(points: Any, velocity: Any, spin: Any, size: float, order: Any = None) -> Any:
    """Where the particles of a rigid box are at rest, and after it has flown and turned freely for 0.2 s.

    order: another one of its vertices.
    """
    mesh = box(0.2, 0.1, 0.1, divisions=(2, 1, 1)).volume()
    assert mesh is not None
    first = points[mesh.tets[0]]
    cells = mesh.tets if np.linalg.det(first[1:] - first[0]) > 0 else mesh.tets[:, [0, 2, 1, 3]]
    if order is not None:
        points, cells = points[order], np.argsort(order)[cells]
    stiff = MATERIAL | {"young": MATERIAL["young"] * size**2}  # the speed of sound grows with the body
    body = Body(
        TetMesh(points, cells), model="rigid", material=stiff, surface="boundary", velocity=tuple(velocity),
        spin=tuple(spin),
    )  # fmt: skip
    simulation = Scene([body], [], time=TimeSettings(duration=0.2, fps=10.0, step=0.01)).simulation()
    simulation.start()
    for _ in range(2):
        simulation.advance()
    return np.array(simulation.system.world.rest), np.array(simulation.system.world.x)


@few
@given(seed=seeds, turn=turns, power=st.floats(-2, 3), flip=st.booleans())
def test_a_rigid_body_s_flight_goes_along_with_motion_scale_mirrors_and_order(
    seed: int, turn: Any, power: float, flip: bool
) -> None:
    """x -> s R x of the start, its velocity and its spin (a mirror turns spins the other way) is that of the
    end too, in any order of vertices."""
    points = lattice(seed).points
    velocity, spin = np.random.default_rng(seed).uniform(-1, 1, (2, 3))
    change, size = turn @ np.diag([-1.0 if flip else 1.0, 1.0, 1.0]), 10.0**power
    rest, here = flown(points, velocity, spin, 1.0)
    turned = np.linalg.det(change) * change @ spin
    order = np.random.default_rng(seed).permutation(len(points))
    other, there = flown(size * points @ change.T, size * change @ velocity, turned, size, order)
    same = np.linalg.norm((rest @ change.T)[:, None] - other[None] / size, axis=2).argmin(axis=1)
    assert np.abs(there[same] / size - here @ change.T).max() < 1e-9


def test_a_rigid_body_s_bytes_do_not_depend_on_threads() -> None:
    body = Body(
        box(0.4, 0.3, 0.3, divisions=(8, 6, 6)), model="rigid", material=MATERIAL, velocity=(1.0, 0.0, 2.0),
        spin=(3.0, 1.0, 2.0),
    )  # fmt: skip
    ends = []
    try:
        for threads in (1, 2):
            set_threads(threads)
            simulation = Scene([body], [], time=TimeSettings(duration=0.1, fps=10.0, step=0.01)).simulation()
            simulation.start()
            simulation.advance()
            ends.append(simulation.system.world.x.tobytes())
    finally:
        set_threads(None)
    assert ends[0] == ends[1]
