"""Fills of simple bodies by every mesher: exact where they can be, and the same each time."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from test_health import cube, flipped, together, unmerged

from pliant.core.errors import MeshError, MissingExtra
from pliant.mesh import meshers
from pliant.mesh import tetrahedralise as fill_module
from pliant.mesh.edge_length import default_edge, particles
from pliant.mesh.mesh import Surface, TetMesh, tet_volumes
from pliant.mesh.quality import quality
from pliant.mesh.shapes import sphere
from pliant.mesh.tetrahedralise import fill

needs_tetgen = pytest.mark.skipif(find_spec("tetgen") is None, reason="needs the extra tetgen")
EVERY = ["tetwild", "lattice", pytest.param("tetgen", marks=needs_tetgen)]


def volume(mesh: TetMesh) -> float:
    volumes = tet_volumes(mesh.points, mesh.tets)
    assert (volumes > 0).all()
    assert len(np.unique(mesh.tets)) == len(mesh.points)
    return float(volumes.sum())


def box(x: float, y: float, z: float) -> Surface:
    return Surface(cube().points * [x, y, z], cube().triangles)


def ball(radius: float = 1.0, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Surface:
    surface = sphere(radius).surface(0.25)
    return Surface(surface.points + np.array(at), surface.triangles)


@pytest.mark.parametrize("mesher", EVERY)
def test_unit_cube_has_volume_one_and_edges_as_asked(mesher: str) -> None:
    mesh = fill(cube(), edge=0.2, mesher=mesher, cache=False)
    assert volume(mesh) == pytest.approx(1.0, abs=1e-9)
    assert mesh.points.min(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert mesh.points.max(axis=0) == pytest.approx([1, 1, 1], abs=1e-12)
    assert 0.1 < np.median(quality(mesh).edge_lengths) < 0.25


@pytest.mark.parametrize("mesher", EVERY)
def test_a_coarse_edge_is_kept(mesher: str) -> None:
    """fTetWild alone makes 730 points of a cube with edges of half its side, 0.15 long."""
    mesh = fill(cube(), edge=0.5, mesher=mesher, cache=False)
    assert volume(mesh) == pytest.approx(1.0, abs=1e-9)
    assert len(mesh.points) < 60
    assert 0.3 < np.median(quality(mesh).edge_lengths) < 0.75


@pytest.mark.parametrize("mesher", ["tetwild", "lattice"])
def test_two_fills_have_the_same_bytes(mesher: str) -> None:
    if mesher == "tetwild" and not sys.platform.startswith("linux"):
        pytest.skip("fTetWild's seed can be fixed on Linux only")
    one, two = (fill(ball(), edge=0.5, mesher=mesher, cache=False) for _ in range(2))
    assert one.points.tobytes() == two.points.tobytes()
    assert one.tets.tobytes() == two.tets.tobytes()


@pytest.mark.parametrize("size", [1e-3, 100.0])
def test_size_does_not_matter(size: float) -> None:
    small = fill(cube(), edge=0.25, cache=False)
    mesh = fill(cube(size), edge=0.25 * size, cache=False)
    assert volume(mesh) == pytest.approx(size**3, rel=1e-9)
    assert 0.5 < len(mesh.tets) / len(small.tets) < 2


@needs_tetgen
@pytest.mark.parametrize("switches", ["nqa0.01", "pq1.2a0.01"])
def test_tetgen_takes_switches(switches: str) -> None:
    mesh = fill(cube(), mesher="tetgen", switches=switches, cache=False)
    assert volume(mesh) == pytest.approx(1.0, abs=1e-9)
    assert tet_volumes(mesh.points, mesh.tets).max() <= 0.01


def test_a_thin_plate_is_exact() -> None:
    assert volume(fill(box(1.0, 1.0, 0.02), edge=0.1, cache=False)) == pytest.approx(0.02, rel=1e-9)


def test_a_plate_too_thin_for_the_lattice_says_so() -> None:
    notes: list[str] = []
    mesh = fill(box(1.0, 1.0, 0.05), edge=0.2, mesher="lattice", cache=False, notify=notes.append)
    assert volume(mesh) == pytest.approx(0.05, rel=0.05)
    assert "too thin" in notes[0]


@pytest.mark.parametrize("mesher", EVERY)
def test_a_cavity_stays_empty(mesher: str) -> None:
    mesh = fill(
        together(cube(3.0), flipped(cube(1.0, at=(1.0, 1.0, 1.0)))), edge=0.5, mesher=mesher, cache=False
    )
    assert volume(mesh) == pytest.approx(26.0, rel=1e-9 if mesher != "lattice" else 0.02)


@pytest.mark.parametrize("mesher", ["tetwild", "lattice"])
def test_two_components_are_both_filled(mesher: str) -> None:
    mesh = fill(together(cube(), cube(1.0, at=(2.0, 0.0, 0.0))), edge=0.3, mesher=mesher, cache=False)
    assert volume(mesh) == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("mesher", ["tetwild", "lattice"])
def test_crossing_balls_are_filled_once(mesher: str) -> None:
    """Unit balls one radius apart: V = 2 (4 pi / 3) - 5 pi / 12 (the common lens)."""
    mesh = fill(together(ball(), ball(at=(1.0, 0.0, 0.0))), edge=0.3, mesher=mesher, cache=False)
    assert volume(mesh) == pytest.approx(8 * np.pi / 3 - 5 * np.pi / 12, rel=0.04)


@pytest.mark.parametrize("mesher", ["auto", "lattice"])
def test_an_open_inside_out_soup_is_filled(mesher: str) -> None:
    """A cube without its lid, every triangle apart, wound inward."""
    notes: list[str] = []
    broken = unmerged(Surface(cube().points, cube().triangles[2:, ::-1]))
    mesh = fill(broken, edge=0.25, mesher=mesher, cache=False, notify=notes.append)
    assert volume(mesh) == pytest.approx(1.0, abs=1e-9)
    assert notes == [
        "Closed 1 hole with 2 triangles, the widest 82% of the model's size: the shape there is a guess.",
        "Turned 1 inside-out component outward.",
    ]


def test_a_ball_keeps_its_volume() -> None:
    """Boundary vertices are moved off the surface by the mean gap below it."""
    surface = sphere(1.0).surface(0.08)
    mesh = fill(surface, edge=0.3, cache=False)
    assert volume(mesh) == pytest.approx(4 * np.pi / 3, rel=0.01)


def test_default_edge_gives_the_promised_particles() -> None:
    edge = default_edge(8.0, 24.0, np.sqrt(12.0))
    assert particles(8.0, 24.0, edge) == pytest.approx(1200, rel=1e-6)
    mesh = fill(cube(), mesher="lattice", cache=False)
    assert 800 < len(mesh.points) < 2000
    assert default_edge(0.015, 2.0, 1.4) == pytest.approx(2 * 2 * 0.015 / 2.0)  # a plate: twice its thickness
    assert default_edge(0.0001, 2.0, 1.4) == pytest.approx(0.014)  # a film: a hundredth of its size


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edge": 0.0}, "positive"),
        ({"edge": float("nan")}, "positive"),
        ({"edge": 50.0}, "larger than the whole body"),
        ({"edge": 1e-4}, "particles"),
        ({"mesher": "magic"}, "no mesher"),
        ({"switches": "pq"}, "Switches"),
        ({"timeout": 0.0}, "time limit"),
        pytest.param({"mesher": "tetgen", "switches": "p; rm"}, "no switches", marks=needs_tetgen),
        pytest.param({"mesher": "tetgen", "switches": "rq"}, "switch r", marks=needs_tetgen),
    ],
)
def test_bad_options_are_mesh_errors_with_hints(options: dict[str, object], words: str) -> None:
    with pytest.raises(MeshError, match=words) as error:
        fill(cube(), cache=False, **options)  # type: ignore[arg-type]
    assert error.value.hint


def test_a_flat_sheet_encloses_nothing() -> None:
    sheet = Surface(
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    )
    with pytest.raises(MeshError, match="encloses no volume") as error:
        fill(sheet, cache=False)
    assert "thickness" in str(error.value.hint)


def test_tetgen_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(fill_module, "version", missing)
    with pytest.raises(MissingExtra, match=r"pliant\[tetgen\]"):
        fill(cube(), mesher="tetgen", cache=False)


def test_the_second_fill_comes_from_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    calls: list[str] = []
    notes: list[str] = []
    plate = box(1.0, 1.0, 0.05)
    first = fill(
        plate, edge=0.2, mesher="lattice", notify=notes.append, progress=lambda _, what: calls.append(what)
    )
    monkeypatch.setattr(meshers, "lattice", None)
    second = fill(plate, edge=0.2, mesher="lattice", notify=notes.append)
    assert first.points.tobytes() == second.points.tobytes()
    assert first.tets.tobytes() == second.tets.tobytes()
    assert len(notes) == 2
    assert notes[0] == notes[1]
    assert "cutting a lattice along the surface" in calls


def test_importing_the_mesher_is_light() -> None:
    heavy = "{'numba', 'scipy', 'trimesh', 'zarr'}"
    code = f"import sys, pliant.mesh.tetrahedralise; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
