"""Recorded contact forces: those on particles balance those on obstacles and on other bodies."""

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.core.errors import InputError
from pliant.scene.load import parse
from stopping import assert_same, stopped_and_resumed

DROP = """
schema = 1
[time]
duration = 0.3
fps = 50
integrator = "INTEGRATOR"
[record]
contact-forces = true
[contact]
method = "METHOD"
[[bodies]]
name = "block"
shape = { box = { size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] } }
position = [0, 0, 0.02]
velocity = [0.3, 0, 0]
model = "fem"
material = { young = "50 kPa", poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "ground"
name = "floor"
friction = 0.4
"""
SECOND = """
[[bodies]]
name = "top"
shape = { box = { size = [0.08, 0.08, 0.08], divisions = [2, 2, 2] } }
position = [0.01, 0.01, 0.14]
model = "fem"
material = { young = "50 kPa", poisson = 0.3, density = 1000 }
"""
FLOOR = ("floor.x", "floor.y", "floor.z")


def scene(integrator: str, method: str = "penalty", more: str = "") -> pl.Scene:
    return parse(DROP.replace("INTEGRATOR", integrator).replace("METHOD", method) + more, Path(), "drop")


@pytest.mark.parametrize(
    ("integrator", "method"),
    [("leapfrog", "penalty"), ("implicit-euler", "penalty"), ("implicit-euler", "barrier")],
)
def test_forces_on_particles_are_those_on_the_obstacle(tmp_path: Path, integrator: str, method: str) -> None:
    run = scene(integrator, method).run(to=tmp_path / "drop.pliant", progress=False)
    floor = np.stack([run.series[name] for name in FLOOR], axis=1)
    forces = np.stack([frame.field("contact-force").values for frame in run.frames])
    assert floor[:, 2].min() < -5.0  # it weighs 10 N
    assert np.abs(floor[:, 0]).max() > 0.5  # and slides
    assert np.abs(forces.sum(axis=1) + floor).max() < 1e-9 * np.abs(floor).max()
    far = run.frames[-1].field("displacement").values + run.topology(0)[0].structure.rest
    assert np.abs(forces[-1][far[:, 2] > 0.06]).max() == 0.0  # nothing touches the top


def test_bodies_push_each_other_equally_and_resume_keeps_it(tmp_path: Path) -> None:
    given = scene("leapfrog", more=SECOND)
    run = given.run(to=tmp_path / "two.pliant", progress=False)
    pushed = False
    for number, frame in enumerate(run.frames):
        lower, upper = (frame.field("contact-force", name).values.sum(axis=0) for name in ("block", "top"))
        floor = np.array([run.series[name][number] for name in FLOOR])
        assert np.abs(lower + upper + floor).max() < 1e-9 * max(1.0, np.abs(floor).max())
        pushed |= upper[2] > 1.0
    assert pushed
    again = stopped_and_resumed(given, tmp_path / "again.pliant", 8)
    assert_same(run, again)
    for a, b in zip(run.frames, again.frames, strict=True):
        assert np.array_equal(a.field("contact-force").values, b.field("contact-force").values)


def test_recording_them_changes_nothing_else(tmp_path: Path) -> None:
    with_them = scene("leapfrog", more=SECOND).run(to=tmp_path / "a.pliant", progress=False)
    text = (DROP.replace("INTEGRATOR", "leapfrog").replace("METHOD", "penalty") + SECOND).replace(
        "contact-forces = true", ""
    )
    without = parse(text, Path(), "drop").run(to=tmp_path / "b.pliant", progress=False)
    assert_same(with_them, without)
    assert "contact-force" in with_them.frames[0].field_names("top")
    with pytest.raises(InputError, match="contact-force"):
        without.frames[0].field("contact-force", "top")


def test_pressure_and_gap(tmp_path: Path) -> None:
    """Pressure times area of the foot of a resting block is its weight; its gap to the ground is the height;
    files for other programs carry the fields."""
    given = scene("implicit-euler", "barrier")
    given.time = type(given.time)(duration=1.0, fps=20.0, step=0.01, integrator="implicit-euler")
    run = given.run(to=tmp_path / "rest.pliant", progress=False)
    frame = run.frames[-1]
    assert {"contact-force", "pressure", "gap"} <= set(frame.field_names("block"))
    x, foot = frame.positions, frame.positions[:, 2] < 0.02
    pressure, gap = frame.field("pressure"), frame.field("gap")
    assert (pressure.unit, gap.unit) == ("Pa", "m")
    assert gap.values == pytest.approx(x[:, 2], abs=1e-12)
    assert np.abs(pressure.values[~foot]).max() == 0.0
    triangles = frame.bodies[0].structure.cells["triangle"]
    a, b, c = (x[triangles[:, k]] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    inside = areas[(x[triangles][:, :, 2] < 0.02).all(axis=1)].sum()
    assert pressure.values[foot].mean() == pytest.approx(9.81 / inside, rel=0.3), inside
    run.export(tmp_path / "block.vtkhdf", fields=["pressure", "gap"])
    vtk = pytest.importorskip("vtk")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(tmp_path / "block.vtkhdf"))
    reader.Update()
    data = reader.GetOutputDataObject(0)
    assert data is not None


def test_pictures_draw_contact_forces_as_lines(tmp_path: Path) -> None:
    """A line from each particle that bears a force, along it, three spacings for the largest one; a run
    without contact forces says what to record."""
    from pliant.render.geometry import contact_arrows

    run = scene("leapfrog").run(to=tmp_path / "drop.pliant", progress=False)
    frame = next(each for each in run.frames if np.abs(each.field("contact-force").values).max() > 1.0)
    forces = frame.field("contact-force").values
    drawn = contact_arrows(frame, "block")
    size = np.linalg.norm(forces, axis=1)
    pressed = np.flatnonzero(size > 1e-3 * size.max())
    start, end = (drawn.points[drawn.corners[:, k]] for k in range(2))
    assert 0 < len(pressed) < len(forces)
    assert np.array_equal(start, frame.positions[pressed])
    spacing = frame.bodies[0].structure.spacing
    assert end - start == pytest.approx(3.0 * spacing / size.max() * forces[pressed], abs=1e-12)
    run.render(tmp_path / "forces.png", frame=frame.index, style="contacts", size=(160, 120))
    bare = parse(
        DROP.replace("INTEGRATOR", "leapfrog").replace("METHOD", "penalty").replace("= true", "= false")
    )
    other = bare.run(to=tmp_path / "bare.pliant", duration=0.04, progress=False)
    with pytest.raises(InputError, match="did not record contact forces"):
        contact_arrows(other.frames[-1], "block")


def test_usd_and_vtkhdf_carry_contact_fields(tmp_path: Path) -> None:
    """VTKHDF files have force and pressure without being asked; USD has what is asked for as primvars with a
    sample per frame, equal to the fields of the run where the surface is that of the particles."""
    h5py, usd = pytest.importorskip("h5py"), pytest.importorskip("pxr.UsdGeom")
    from pxr import Usd

    run = scene("leapfrog", more=SECOND).run(to=tmp_path / "drop.pliant", progress=False)
    run.export(tmp_path / "a.vtkhdf")
    with h5py.File(tmp_path / "a.vtkhdf") as file:
        assert {"contact-force", "pressure"} <= set(file["VTKHDF/PointData"])
    run.export(tmp_path / "a.usdc", fields=["contact-force", "gap"])
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    mesh = usd.Mesh(stage.GetPrimAtPath("/World/block/surface"))
    variables = usd.PrimvarsAPI(mesh)
    number = max(
        range(len(run.frames)), key=lambda k: np.abs(run.frames[k].field("contact-force").values).max()
    )
    force = np.asarray(variables.GetPrimvar("contact_force").Get(number))
    frame = run.frames[number]
    points, x = frame.surface("block").points, frame.rows("block")
    nearest = np.linalg.norm(points[:, None] - x[None], axis=2).argmin(axis=1)
    assert np.abs(force).max() > 1.0
    assert force == pytest.approx(frame.field("contact-force", "block").values[nearest], rel=1e-5, abs=1e-4)
    assert len(variables.GetPrimvar("gap").GetTimeSamples()) == len(run.frames)
    with pytest.raises(InputError, match="no field 'presure'"):
        run.export(tmp_path / "b.usdc", fields=["presure"])
