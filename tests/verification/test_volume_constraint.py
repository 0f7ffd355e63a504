"""The volume constraint: what it keeps, and that the body still bends and twists."""

import numpy as np
import pytest
from bodies import block, simulate, values

import pliant as pl
from pliant.actions import Damping, Fix, Force, Gravity, Move, Rotate, VolumeConstraint
from pliant.core.curves import Curve
from pliant.core.errors import IncompatibleError
from pliant.core.where import plane
from pliant.measures import Probe
from pliant.mesh.mesh import surface_volume
from pliant.simulation.simulation import Simulation

YOUNG, LENGTH, SIDE = 1e5, 1.0, 0.2


def squeezed(*constraints: VolumeConstraint) -> list[float]:
    """Relative volume errors of all frames of a cube squeezed by 24 %."""
    path = Curve([0.0, 0.4], [(0, 0, 0), (0, 0, -0.24 * 0.4)], "smooth")
    actions = [
        Fix(None, plane("z", "min")),
        Move(None, plane("z", "max"), displacement=path),
        Damping(rate=5.0),
    ]
    simulation = simulate([block((4, 4, 4))], [*actions, *constraints], seconds=0.02)
    errors = []
    for _ in range(24):
        simulation.advance()
        errors.append(abs(values(simulation)["volume"] / 0.4**3 - 1))
    return errors


def test_a_squeezed_cube_keeps_its_volume_in_every_frame() -> None:
    assert max(squeezed(VolumeConstraint())) < 1e-9


def test_without_the_constraint_the_volume_does_change() -> None:
    assert max(squeezed()) > 0.01


def printed_errors(gain: float) -> list[float]:
    """Volume errors of the printed feedback, while every step adds the same change of volume."""
    from pliant.actions.volume_projections import BodyVolume

    structure = block((3, 3, 3)).structure()
    solver = BodyVolume(structure, None, VolumeConstraint(feedback="everts", gain=gain))  # type: ignore[arg-type]
    x, v = structure.rest.copy(), np.zeros_like(structure.rest)
    w = np.repeat(1 / structure.mass[:, None], 3, axis=1)
    errors = []
    for _ in range(12):
        centre = x.mean(axis=0)
        x += 1e-7 * (x - centre)  # adds 3e-7 of the volume
        solver.project(x, v, w, 1e-3)
        errors.append((solver._volume(x) / solver.target - 1) / 3e-7)
    return errors


@pytest.mark.parametrize("gain", [0.2, 0.5, 0.7])
def test_the_printed_feedback_follows_its_recursion(gain: float) -> None:
    """Eq. (3.20) gives e_n+1 = (1 - 3g) e_n + (1 - g) dV: never zero, and growing without end for g > 2/3."""
    expected, e = [], 0.0
    for _ in range(12):
        e = (1 - 3 * gain) * e + (1 - gain)
        expected.append(e)
    found = printed_errors(gain)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
    limit = (1 - gain) / (3 * gain)
    assert (abs(found[-1] - limit) > abs(found[1] - limit)) == (gain > 2 / 3)


def beam(poisson: float, *actions: object) -> Simulation:
    body = pl.Body(
        pl.shapes.box(LENGTH, SIDE, SIDE),
        edge=0.06,
        material={"young": YOUNG, "poisson": poisson, "density": 1000.0},
    )
    tip = Probe(select=plane("x", "max"), what="displacement", name="tip")
    return simulate(
        [body], [Fix(None, plane("x", "min")), Damping(rate=4.0), *actions], seconds=0.02, measures=[tip]
    )


def node_volume_error(simulation: Simulation) -> float:
    """Largest relative error of any particle's volume, a quarter of its tets'."""
    from pliant.mesh.mesh import tet_volumes

    world = simulation.system.world
    tets = world.bodies[0].structure.cells["tetra"]
    now, rest = np.zeros(world.count), np.zeros(world.count)
    for share, x in ((now, world.x), (rest, world.rest)):
        np.add.at(share, tets.ravel(), np.repeat(0.25 * tet_volumes(x, tets), 4))
    return float(np.abs(now / rest - 1).max())


def test_a_beam_with_constant_nodal_volumes_bends() -> None:
    """Tip deflection F L^3 / (3 E I): springs and incompressibility reach three quarters of it and more."""
    load = 0.5
    constraint = VolumeConstraint(per="node")
    simulation = beam(0.45, Force(None, plane("x", "max"), value=(0, 0, -load)), constraint)
    worst = 0.0
    for _ in range(150):
        simulation.advance()
        worst = max(worst, node_volume_error(simulation))
    expected = load * LENGTH**3 / (3 * YOUNG * SIDE**4 / 12)
    assert worst < 1e-4
    assert 0.75 < -values(simulation)["tip.z"] / expected < 1.1


def test_a_beam_with_constant_nodal_volumes_twists() -> None:
    turn = Rotate(None, plane("x", "max"), axis="x", speed=Curve([0.0, 0.4, 0.41], [3.0, 3.0, 0.0]))
    simulation = beam(0.45, turn, VolumeConstraint(per="node"))
    worst = 0.0
    for _ in range(25):
        simulation.advance()
        worst = max(worst, node_volume_error(simulation))
    world = simulation.system.world
    middle = np.abs(world.rest[:, 0] - 0.5) < 0.05
    y, z = (world.rest - [0, 0.1, 0.1])[middle, 1:].T
    turned = np.mean(y * (world.x[middle, 2] - 0.1) - z * (world.x[middle, 1] - 0.1)) / np.mean(y**2 + z**2)
    assert worst < 1e-4
    assert np.arcsin(turned) == pytest.approx(0.6, abs=0.15)


def test_constraint_per_tet_is_compliant_and_still_bends() -> None:
    squeeze = max(squeezed(VolumeConstraint(per="tet")))
    assert squeeze < 0.4 * max(squeezed())
    load = 0.5
    constraint = VolumeConstraint(per="tet")
    simulation = beam(0.3, Force(None, plane("x", "max"), value=(0, 0, -load)), constraint)
    for _ in range(150):
        simulation.advance()
    expected = load * LENGTH**3 / (3 * YOUNG * SIDE**4 / 12)
    assert 0.5 < -values(simulation)["tip.z"] / expected < 1.1


def test_gravity_does_not_squash_what_keeps_its_volume() -> None:
    simulation = simulate(
        [block()], [Gravity(), Fix(None, plane("z", "min")), VolumeConstraint()], seconds=0.3
    )
    assert abs(values(simulation)["volume"] / 0.012 - 1) < 1e-9


def test_phyxels_keep_the_volume_inside_their_surface() -> None:
    """A block of phyxels, squeezed by a fifth: without the constraint it loses per cents of its volume,
    with it 1e-10."""
    changes = {}
    for kept in (False, True):
        body = pl.Body(
            pl.shapes.box(0.2, 0.2, 0.2), edge=0.05, model="efg", name="block",
            material={"young": 1e5, "poisson": 0.3, "density": 1000.0, "damping": 5e-3},
        )  # fmt: skip
        low, high = pl.where.plane("x", "min"), pl.where.plane("x", "max")
        squeeze = pl.Move("block", high, displacement=Curve([0.0, 0.1], [(0.0, 0, 0), (-0.04, 0, 0)]))
        actions = [pl.Fix("block", low), squeeze, *([VolumeConstraint("block")] if kept else [])]
        simulation = simulate([body], actions, seconds=0.12)
        found = simulation.system.world.bodies[0]
        assert found.structure.carrier is not None
        carried = found.structure.carrier.positions(simulation.system.world.x)
        changes[kept] = surface_volume(carried, found.structure.carrier.surface.triangles) / 0.008 - 1.0
    assert changes[False] < -0.02
    assert abs(changes[True]) < 1e-9


def test_phyxels_have_no_nodal_volumes() -> None:
    body = pl.Body(
        pl.shapes.box(0.2, 0.2, 0.2), edge=0.05, model="efg",
        material={"young": 1e5, "poisson": 0.3, "density": 1000.0},
    )  # fmt: skip
    with pytest.raises(IncompatibleError, match="as a whole"):
        simulate([body], [VolumeConstraint(per="node")], seconds=0.01)
