"""mesh: reports, fills, conversions."""

from pathlib import Path

import pytest
from command_line import Pliant

from pliant.mesh.io import read_volume, write_surface
from pliant.mesh.mesh import Surface, tet_volumes
from pliant.mesh.shapes import box


@pytest.fixture
def cube(folder: Path) -> Path:
    """The surface of a cube of 1 m."""
    path = folder / "cube.obj"
    write_surface(path, box(1, 1, 1).surface(0.5))
    return path


def test_a_surface_is_reported_without_writing(pliant: Pliant, cube: Path, folder: Path) -> None:
    result = pliant("mesh", str(cube))
    assert (result.code, result.err) == (0, "")
    assert "1 x 1 x 1 m" in result.out
    assert "health   good" in result.out
    found = pliant("mesh", str(cube), "--scale", "0.001", "--json").json
    assert found["health"]["volume"] == pytest.approx(1e-9)
    assert list(folder.iterdir()) == [cube]


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh", ".mesh", ".node", ".str"])
def test_a_surface_is_filled_into_every_format(pliant: Pliant, cube: Path, suffix: str) -> None:
    out = f"cube{suffix}"
    result = pliant("mesh", str(cube), out, "--edge", "25 cm", "--mesher", "lattice", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json["output"] == out
    assert result.json["quality"]["volume"]["total"] == pytest.approx(1.0, rel=0.05)
    mesh = read_volume(out)
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert (volumes > 0).all()
    assert len(volumes) == result.json["quality"]["tets"]
    again = pliant("mesh", str(cube), out, "--mesher", "lattice")
    assert again.code == 2
    assert f"{out} exists already" in again.err
    assert pliant("mesh", str(cube), out, "--edge", "0.5", "--mesher", "lattice", "--force").code == 0


def test_a_volume_is_converted_and_scaled(pliant: Pliant, cube: Path) -> None:
    assert pliant("mesh", str(cube), "cube.vtu", "--edge", "0.5", "--mesher", "lattice").code == 0
    result = pliant("mesh", "cube.vtu", "small.msh", "--scale", "0.1")
    assert result.code == 0
    assert "dihedral angles" in result.out
    assert "small.msh written" in result.out
    assert read_volume("small.msh").points.max() == pytest.approx(0.1)
    refused = pliant("mesh", "cube.vtu", "other.msh", "--edge", "0.1")
    assert refused.code == 2
    assert "holds tets already" in refused.err


def test_flaws_are_repaired_and_reported_and_tetgen_refuses_large_holes(pliant: Pliant, folder: Path) -> None:
    whole = box(1, 1, 1).surface(0.25)
    write_surface(folder / "hole.obj", Surface(whole.points, whole.triangles[1:]))
    mended = pliant("mesh", "hole.obj", "hole.vtu", "--edge", "0.5", "--json")
    assert mended.code == 0
    assert any("hole" in note for note in mended.json["notes"])
    assert mended.json["quality"]["volume"]["total"] == pytest.approx(1.0, rel=0.05)
    keep = whole.points[whole.triangles][:, :, 2].max(axis=1) < 0.999  # no lid
    write_surface(folder / "open.obj", Surface(whole.points, whole.triangles[keep]))
    filled = pliant("mesh", "open.obj", "new/open.vtu", "--edge", "0.5", "--json").json
    assert filled["quality"]["volume"]["total"] == pytest.approx(0.75, rel=0.05)
    assert filled["notes"][0] == "1 part and 1 hole: fTetWild fills it as it is."
    assert "of the model's size: the shape there is a guess" in filled["notes"][1]
    refused = pliant("mesh", "open.obj", "open.vtu", "--mesher", "tetgen")
    assert refused.code == 2
    assert "open.obj: " in refused.err
    assert "hole" in refused.err
    assert not (folder / "open.vtu").exists()


def test_tetgen_takes_its_own_switches(pliant: Pliant, cube: Path) -> None:
    pytest.importorskip("tetgen")
    result = pliant("mesh", str(cube), "cube.vtu", "--switches", "pqa0.01", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json["quality"]["volume"]["max"] <= 0.01 * (1 + 1e-9)
    assert result.json["quality"]["volume"]["total"] == pytest.approx(1.0)
