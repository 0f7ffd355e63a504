"""A mesh of the user's own, from the file to a movie with three commands."""

from pathlib import Path

import numpy as np
import pytest
from command_line import Pliant
from messy_meshes import BIG, MESSY, write_messy

import pliant as pl
from pliant.render.plan import framed
from pliant.render.render_options import RenderOptions
from pliant.run.requests import RenderRequest


def _begun(pliant: Pliant, folder: Path, name: str) -> None:
    write_messy(folder / f"{name}.obj", name)
    made = pliant("new", name, "--mesh", f"{name}.obj")
    assert made.code == 0, made.err


def _height(name: str) -> tuple[np.ndarray, float]:
    """Extent [m] and lowest point of a body at the start."""
    points = pl.load(f"{name}.pliant").frames[0].positions
    return np.ptp(points, axis=0), float(points[:, 2].min())


@pytest.mark.parametrize("name", [name for name in MESSY if name not in BIG])
def test_messy_meshes_start_above_the_ground(pliant: Pliant, folder: Path, name: str) -> None:
    _begun(pliant, folder, name)
    ran = pliant("run", f"{name}.toml", "--duration", "0.02", "--json")
    assert ran.code == 0, ran.err
    extent, low = _height(name)
    assert 0.0 < low < 0.3 * extent[2] + 0.01
    assert 0.02 < extent.max() < 1.0
    if name in ("millimetres", "y_up"):  # 150 mm along z, and 0.2 m along y: OBJ files have Y up
        long = {"millimetres": 1, "y_up": 2}[name]
        assert int(extent.argmax()) == long
        assert extent.max() == pytest.approx({"millimetres": 0.15, "y_up": 0.2}[name], rel=0.02)
    if name == "flat_parts":  # the camera makes room for the sheet, 0.4 m long, in which no particle is
        look = RenderOptions.of(RenderRequest(), (320, 240), None)
        (panel,) = framed([pl.load(f"{name}.pliant")], look, [0], 0.0, False, None)
        assert extent.max() < 0.25
        assert panel.reach == pytest.approx(0.4, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MESSY))
def test_messy_meshes_become_movies(pliant: Pliant, folder: Path, name: str) -> None:
    pytest.importorskip("pyvista")
    _begun(pliant, folder, name)
    assert pliant("run", f"{name}.toml", "--quiet").code == 0
    run = pl.load(f"{name}.pliant")
    assert run.state == "done"
    last = run.frames[-1].positions
    extent, _ = _height(name)
    assert np.isfinite(last).all()
    assert last[:, 2].min() > -0.05 * extent.max()  # on the ground
    assert np.ptp(last, axis=0).max() < 2.0 * extent.max()  # in one piece
    drawn = pliant("render", f"{name}.pliant", f"{name}.mp4", "--size", "320x240", "--quiet")
    assert drawn.code == 0, drawn.err
    assert (folder / f"{name}.mp4").stat().st_size > 10_000


def test_up_units_and_material_are_taken_as_given(pliant: Pliant, folder: Path) -> None:
    write_messy(folder / "column.obj", "y_up")
    made = pliant(
        "new", "a/column", "--mesh", "column.obj", "--up", "z", "--units", "cm", "--material", "foam"
    )
    assert (made.code, made.err) == (0, "")
    scene = pl.read("a/column.toml")
    (body,) = scene.bodies
    assert (body.mesh, body.mesh_up, body.mesh_units) == ("../column.obj", "z", "cm")
    (structure,) = scene.structures()
    extent = np.ptp(structure.rest, axis=0)
    assert extent == pytest.approx([0.0008, 0.002, 0.0008], rel=1e-6)
    assert 'material = "foam"' in (folder / "a/column.toml").read_text()


def test_options_of_a_mesh_need_one(pliant: Pliant) -> None:
    refused = pliant("new", "beam", "--up", "y")
    assert refused.code == 2
    assert "--up belongs to a mesh" in refused.err


def test_up_and_units_of_a_body_turn_and_scale_its_mesh(folder: Path) -> None:
    write_messy(folder / "column.obj", "y_up")
    plain = pl.Body(mesh="column.obj", edge=0.05).geometry().surface().points
    turned = pl.Body(mesh="column.obj", mesh_up="y", mesh_units="cm", edge=0.05).geometry().surface().points
    expected = 0.01 * np.column_stack([plain[:, 0], -plain[:, 2], plain[:, 1]])
    assert turned == pytest.approx(expected)
    with pytest.raises(pl.errors.ParameterError, match="mesh-up and mesh-units"):
        pl.Body(pl.shapes.box(1, 1, 1), mesh_up="y")


def test_the_shipped_mesh_is_copied_with_its_scene(pliant: Pliant, folder: Path) -> None:
    assert pliant("examples", "own-mesh", "--copy", "deep/duck.toml").code == 0
    surface = pl.read("deep/duck.toml").located(pl.read("deep/duck.toml").bodies[0]).geometry().surface()
    assert surface.uv is not None
    assert (folder / "deep/duck.obj").is_file()
    assert np.ptp(surface.points, axis=0)[2] == pytest.approx(0.08)


def test_statements_of_other_programs_are_skipped(folder: Path) -> None:
    write_messy(folder / "a.obj", "y_up")
    assert pl.Body(mesh="a.obj").geometry().surface().triangles.shape[1] == 3
