"""Obstacles that are triangle meshes: still, keyed, turning, and deforming by sequences and caches."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

import pliant as pl
from pliant.actions import Gravity, Ground, Obstacle
from pliant.contact import Contact
from pliant.core.errors import IncompatibleError, InputError, MeshError
from pliant.mesh.io import write_surface
from pliant.mesh.io.sequences import read_sequence
from pliant.mesh.mesh import Surface, boundary_triangles
from pliant.mesh.shapes import box, icosphere
from pliant.scene import Body, Scene

SOFT = {"young": 1e5, "poisson": 0.3, "density": 1000.0, "friction": 0.4, "damping": 0.01}
BARRIER = Contact(method="barrier")


def surface_of(shape: Any) -> Surface:
    volume = shape.volume()
    if volume is None:
        return shape.surface(None)  # type: ignore[no-any-return]
    return Surface(volume.points, boundary_triangles(volume.tets))


def slab(path: Path, top: float = 0.0) -> Path:
    """A closed slab of 1 x 1 x 0.2 m with its top at a height, as a file."""
    surface = surface_of(box(1.0, 1.0, 0.2, divisions=(2, 2, 1)))
    used, corners = np.unique(surface.triangles, return_inverse=True)
    points = surface.points[used] + [-0.5, -0.5, top - 0.2]
    write_surface(path, Surface(points, corners.reshape(-1, 3)))
    return path


def block(**options: Any) -> Body:
    return Body(
        box(0.2, 0.2, 0.2, divisions=(3, 3, 3)), model="fem", material=SOFT, name="block",
        position=options.pop("position", (0.0, 0.0, 0.01)), **options,
    )  # fmt: skip


def test_a_slab_bears_a_block_like_the_ground(tmp_path: Path) -> None:
    """The same block on the ground and on a mesh with a flat top, explicit steps: the same motion to a
    thousandth of its size, the same force at rest."""
    file = slab(tmp_path / "slab.obj")
    found = []
    for obstacle in (Ground(friction=0.5), Obstacle(mesh=file, friction=0.5, name="ground")):
        simulation = simulate([block()], [Gravity(), obstacle], seconds=1.0)
        found.append((simulation.system.world.x.copy(), values(simulation)["ground.z"]))
    assert np.abs(found[0][0] - found[1][0]).max() < 2e-4
    assert found[1][1] == pytest.approx(-8.0 * 9.81, rel=5e-3)


@pytest.mark.parametrize("integrator", ["leapfrog", "implicit-euler"])
def test_a_slab_that_rises_lifts_the_block(tmp_path: Path, integrator: str) -> None:
    """Keyed from z = 0 to 0.2 m: no particle is below its top, the block is lifted by as much, and the work
    of the obstacle is the gain of potential energy and of what is dissipated."""
    keys = {
        "keys": [{"time": 0.2, "value": [0, 0, 0]}, {"time": 1.2, "value": [0, 0, 0.2]}],
        "ease": "smooth",
    }
    lift = Obstacle(mesh=slab(tmp_path / "slab.obj"), position=keys, name="lift")
    implicit = integrator != "leapfrog"
    simulation = simulate(
        [block()], [Gravity(), lift], seconds=1.5, integrator=integrator, step=0.01 if implicit else "auto",
        contact=BARRIER if implicit else Contact(),
    )  # fmt: skip
    x, row = simulation.system.world.x, values(simulation)
    assert x[:, 2].min() > 0.2 - 1e-4
    assert x[:, 2].mean() - 0.1 == pytest.approx(0.2, abs=0.012)
    assert row["lift.z"] == pytest.approx(-8.0 * 9.81, rel=0.02)
    assert row["energy.work"] == pytest.approx(8.0 * 9.81 * 0.2, rel=0.1)
    assert abs(row["energy.unexplained"]) < 0.02 * row["energy.work"]


def test_a_block_on_a_turntable(tmp_path: Path) -> None:
    """A slab that turns by a quarter carries the block with it (mu 0.8, slowly)."""
    quarter = {"keys": [{"time": 0.3, "value": 0.0}, {"time": 1.8, "value": "90 deg"}], "ease": "smooth"}
    table = Obstacle(mesh=slab(tmp_path / "slab.obj"), angle=quarter, friction=0.8, name="table")
    for integrator, contact in (("leapfrog", Contact()), ("implicit-euler", BARRIER)):
        simulation = simulate(
            [block(position=(-0.1, -0.1, 0.004))], [Gravity(), table], seconds=2.0, integrator=integrator,
            step="auto" if integrator == "leapfrog" else 0.02, contact=contact,
        )  # fmt: skip
        world = simulation.system.world
        arms = [x - x.mean(axis=0) for x in (world.rest, world.x)]
        angle = np.arctan2(
            np.sum(arms[0][:, 0] * arms[1][:, 1] - arms[0][:, 1] * arms[1][:, 0]),
            np.sum(arms[0][:, :2] * arms[1][:, :2]),
        )
        assert np.degrees(angle) == pytest.approx(90.0, abs=4.0)


def test_a_hand_that_opens_a_sheet_may_have_holes(tmp_path: Path) -> None:
    """An open sheet holds a ball with barrier contact; explicit steps need an inside and say so."""
    points = np.array([[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]], float)
    write_surface(tmp_path / "sheet.obj", Surface(points, np.array([[0, 1, 2], [0, 2, 3]])))
    sheet = Obstacle(mesh=tmp_path / "sheet.obj", name="sheet")
    simulation = simulate(
        [block()], [Gravity(), sheet], seconds=0.6, integrator="implicit-euler", step=0.01, contact=BARRIER
    )
    assert simulation.system.world.x[:, 2].min() > 0.0
    with pytest.raises(IncompatibleError, match="has holes"):
        simulate([block()], [Gravity(), sheet], seconds=0.1)


def rising(folder: Path, frames: int = 6) -> list[Path]:
    """Files of a slab whose middle rises to a hump of 0.1 m."""
    surface = surface_of(box(1.0, 1.0, 0.2, divisions=(8, 8, 1)))
    used, corners = np.unique(surface.triangles, return_inverse=True)
    base = surface.points[used] + [-0.5, -0.5, -0.2]
    top = base[:, 2] > -1e-9
    files = []
    for k in range(frames):
        points = base.copy()
        hump = np.exp(-np.sum(points[:, :2] ** 2, axis=1) / 0.05)
        points[:, 2] += np.where(top, 0.1 * k / (frames - 1) * hump, 0.0)
        files.append(folder / f"hump_{k:04d}.obj")
        write_surface(files[-1], Surface(points, corners.reshape(-1, 3)))
    return files


def write_pc2(path: Path, points: Any) -> None:
    head = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, points.shape[1], 0.0, 1.0, len(points))
    path.write_bytes(head + points.astype("<f4").tobytes())


def write_mdd(path: Path, points: Any, times: Any) -> None:
    head = struct.pack(">ii", *points.shape[:2]) + np.asarray(times, ">f4").tobytes()
    path.write_bytes(head + points.astype(">f4").tobytes())


def test_sequences_and_caches_hold_the_same(tmp_path: Path) -> None:
    files = rising(tmp_path)
    whole = read_sequence(tmp_path / "hump_%04d.obj", None, 10.0)
    assert whole.points.shape[0] == 6
    assert whole.times == pytest.approx(np.arange(6) / 10.0)
    assert np.array_equal(read_sequence(tmp_path / "hump_####.obj", None, 10.0).points, whole.points)
    write_pc2(tmp_path / "hump.pc2", whole.points)
    write_mdd(tmp_path / "hump.mdd", whole.points, whole.times)
    for cache in ("hump.pc2", "hump.mdd"):
        found = read_sequence(files[0], tmp_path / cache, 10.0)
        assert found.points == pytest.approx(whole.points, abs=1e-7)
        assert found.times == pytest.approx(whole.times, abs=1e-6)
    (tmp_path / "short.pc2").write_bytes((tmp_path / "hump.pc2").read_bytes()[:-4])
    with pytest.raises(MeshError, match="ends too early"):
        read_sequence(files[0], tmp_path / "short.pc2", 10.0)
    with pytest.raises(MeshError, match="no file"):
        read_sequence(tmp_path / "none_%04d.obj", None, 10.0)
    write_surface(tmp_path / "other.obj", surface_of(icosphere(0.1, subdivisions=1)))
    with pytest.raises(MeshError, match="moves"):
        read_sequence(tmp_path / "other.obj", tmp_path / "hump.pc2", 10.0)


def test_usd_time_samples(tmp_path: Path) -> None:
    usd = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    whole = read_sequence(rising(tmp_path)[0].parent / "hump_%04d.obj", None, 10.0)
    stage = usd.Stage.CreateNew(str(tmp_path / "hump.usda"))
    stage.SetTimeCodesPerSecond(10.0)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    mesh = UsdGeom.Mesh.Define(stage, "/hump")
    mesh.GetFaceVertexCountsAttr().Set([3] * len(whole.triangles))
    mesh.GetFaceVertexIndicesAttr().Set(whole.triangles.ravel().tolist())
    for k, points in enumerate(whole.points):
        mesh.GetPointsAttr().Set([tuple(map(float, each)) for each in points], k)
    stage.Save()
    found = read_sequence(tmp_path / "hump.usda", None, 24.0)
    assert found.points == pytest.approx(whole.points, abs=1e-6)
    assert found.times == pytest.approx(whole.times)


@pytest.mark.parametrize("integrator", ["leapfrog", "implicit-euler"])
def test_a_hump_lifts_a_ball(tmp_path: Path, integrator: str) -> None:
    """A surface deforming by numbered files lifts a block in its middle by its height, and bears it."""
    rising(tmp_path)
    hump = Obstacle(mesh=tmp_path / "hump_%04d.obj", fps=5.0, friction=0.8, name="hump")
    implicit = integrator != "leapfrog"
    simulation = simulate(
        [block(position=(-0.1, -0.1, 0.005))], [Gravity(), hump], seconds=1.6, integrator=integrator,
        step=0.01 if implicit else "auto", contact=BARRIER if implicit else Contact(),
    )  # fmt: skip
    world, row = simulation.system.world, values(simulation)
    assert world.x[:, 2].mean() - 0.105 == pytest.approx(0.08, abs=0.03)
    assert row["hump.z"] == pytest.approx(-8.0 * 9.81, rel=0.03)
    assert simulation.system.obstacles[0].distances(1.6, world.x)[0].min() > (0.0 if implicit else -1e-6)


def test_runs_show_the_mesh_wherever_they_are(tmp_path: Path) -> None:
    """The run folder keeps the surface: the picture does not need the file."""
    file = slab(tmp_path / "slab.obj")
    scene = Scene([block()], [Gravity(), Obstacle(mesh=file, name="slab")])
    run = scene.run(duration=0.1, fps=20, to=tmp_path / "slab.pliant", progress=False)
    file.unlink()
    from pliant.render.plan import scenery_of

    (shape,) = scenery_of(pl.load(run.path)).shapes
    assert shape.kind == "mesh"
    assert shape.corners(0.0)[:, 2].min() == pytest.approx(-0.2)


def test_bad_meshes_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give one of sphere, box, capsule, mesh"):
        Obstacle(mesh="a.obj", sphere={"radius": 1.0})
    with pytest.raises(InputError, match="belong to an obstacle with mesh"):
        Obstacle(sphere={"radius": 1.0}, angle=1.0)
    with pytest.raises(MeshError):
        simulate([block()], [Obstacle(mesh=tmp_path / "none.obj")], seconds=0.1)
    rigid = Body(box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model="rigid", name="brick")
    with pytest.raises(IncompatibleError, match="does not collide with obstacle"):
        simulate([rigid], [Obstacle(mesh=slab(tmp_path / "slab.obj"))], seconds=0.1)
    turning = Obstacle(
        mesh=slab(tmp_path / "slab.obj"), angle={"keys": [{"time": 0, "value": 0}, {"time": 1, "value": 1}]}
    )
    with pytest.raises(IncompatibleError, match="turns or deforms"):
        simulate([block()], [turning], seconds=0.1, integrator="implicit-euler", step=0.01)
    inside = Body(box(0.2, 0.2, 0.2, divisions=(2, 2, 2)), model="fem", material=SOFT, position=(0, 0, -0.1))
    with pytest.raises(InputError, match=r"inside obstacle 'obstacle'"):
        simulate(
            [inside], [Obstacle(mesh=slab(tmp_path / "slab.obj"))], seconds=0.1,
            integrator="implicit-euler", step=0.01, contact=BARRIER,
        )  # fmt: skip
