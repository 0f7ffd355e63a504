"""The scenes of the symptom guide: each bad one shows its symptom, and the good one beside it does not."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.core.errors import Diverged
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface
from pliant.scene import modelling_warnings
from pliant.scene.check import check
from pliant.simulation import divergence

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "docs/tune"
Pair = Callable[[str], tuple[pl.Run, pl.Run]]


@pytest.fixture
def both(tmp_path: Path) -> Pair:
    """Runs the bad and the good scene of a symptom."""

    def run(symptom: str) -> tuple[pl.Run, pl.Run]:
        names = (f"{symptom}-bad", f"{symptom}-good")
        bad, good = (pl.read(SCENES / f"{n}.toml").run(to=tmp_path / f"{n}.pliant") for n in names)
        return bad, good

    return run


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def lowest(run: pl.Run) -> float:
    """Lowest point of the shown surface over all frames [m]."""
    return float(min(frame.surface(run.bodies[0].name).points[:, 2].min() for frame in run.frames))


def largest_angle(surface: Surface) -> float:
    """Largest angle between the normals of neighbouring triangles [degrees]."""
    x, triangles = surface.points, surface.triangles
    normals = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides = np.sort(triangles[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1)
    order = np.lexsort(sides.T)
    owner = np.repeat(np.arange(len(triangles)), 3)[order].reshape(-1, 2)  # closed: two to a side
    cosines = np.einsum("ij,ij->i", normals[owner[:, 0]], normals[owner[:, 1]])
    return float(np.degrees(np.arccos(np.clip(cosines.min(), -1.0, 1.0))))


def warnings_of(name: str) -> str:
    return " ".join(check(pl.read(SCENES / f"{name}.toml")).warnings)


def test_too_stiff(both: Pair) -> None:
    """Beam theory: F L^3 / 3 E I = 4 mm."""
    bad, good = both("too-stiff")
    closed_form = 0.1 * 1.0**3 / (3 * 1e6 * 0.1**4 / 12)
    assert -bad.series["tip.z"][-1] < 0.6 * closed_form
    assert -good.series["tip.z"][-1] == pytest.approx(closed_form, rel=0.1)
    assert "docs/tune.md#it-is-too-stiff" in warnings_of("too-stiff-bad")
    assert "too stiff" not in warnings_of("too-stiff-good")


def test_sags_sideways(both: Pair) -> None:
    bad, good = both("sags-sideways")
    assert abs(bad.series["tip.y"][-1]) > 0.1 * abs(bad.series["tip.z"][-1])
    assert abs(good.series["tip.y"][-1]) < 1e-6 * abs(good.series["tip.z"][-1])
    assert "docs/tune.md#it-sags-sideways" in warnings_of("sags-sideways-bad")
    assert "diagonal" not in warnings_of("sags-sideways-good")


def test_jitters(both: Pair) -> None:
    """Speed of a corner in the last quarter, long after the impact at 0.1 s."""
    bad, good = (run.series["corner.z"][-75:] for run in both("jitters"))
    assert rms(bad) > 0.01
    assert np.count_nonzero(np.diff(np.sign(bad))) > 10
    assert rms(good) < 1e-6


def test_explodes(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match="above the stable") as stopped:
        pl.read(SCENES / "explodes-bad.toml").run(to=tmp_path / "bad.pliant")
    assert "docs/tune.md#it-explodes" in str(stopped.value)
    good = pl.read(SCENES / "explodes-good.toml").run(to=tmp_path / "good.pliant")
    assert abs(good.series["energy.unexplained"]).max() < 0.01 * good.series["energy.kinetic"].max()


def test_sinks_into_the_ground(both: Pair) -> None:
    bad, good = both("sinks-into-the-ground")
    assert lowest(bad) < -3e-3
    assert lowest(good) > -1e-3


def test_passes_through(both: Pair) -> None:
    """The table's top is at 0.2 m, the ball's radius 0.05 m."""
    bad, good = both("passes-through")
    assert lowest(bad) < 0.0
    assert lowest(good) > 0.15
    assert "docs/tune.md#it-passes-through" in warnings_of("passes-through-bad")
    assert "missed" not in warnings_of("passes-through-good")


def test_never_rests(both: Pair) -> None:
    bad, good = both("never-rests")
    assert rms(bad.series["top.x"][-25:]) > 0.1
    assert rms(good.series["top.x"][-25:]) < 0.01


def test_too_slow(both: Pair) -> None:
    """Steps in a frame of 20 ms."""
    bad, good = both("too-slow")
    assert 0.02 / bad.info()["step"] > 10_000
    assert 0.02 / good.info()["step"] == pytest.approx(1.0)


def test_loses_volume(both: Pair) -> None:
    bad, good = (run.series["volume"] for run in both("loses-volume"))
    assert bad[-1] < 0.8 * bad[0]
    assert good[-1] == pytest.approx(good[0], rel=1e-6)


def test_shatters_to_dust(both: Pair) -> None:
    bad, good = (run.series["fracture.pieces"][-1] for run in both("shatters-to-dust"))
    assert bad >= 8
    assert 2 <= good <= 4


def test_strings(both: Pair) -> None:
    """Area of the crack over the section of the neck, 6 x 10 cm."""
    bad, good = both("strings")
    assert bad.series["fracture.pieces"][-1] >= 2
    assert bad.series["fracture.area"][-1] > 1.8 * 0.06 * 0.1
    assert good.series["fracture.pieces"][-1] == 2
    assert good.series["fracture.area"][-1] == pytest.approx(0.06 * 0.1, rel=0.1)


def test_faceted(both: Pair) -> None:
    bad, good = both("faceted")
    assert largest_angle(bad.frames[0].surface("ball")) > 20.0
    assert largest_angle(good.frames[0].surface("ball")) < 8.0


def test_huge_files(both: Pair) -> None:
    bad, good = both("huge-files")
    size = [sum(p.stat().st_size for p in run.path.rglob("*") if p.is_file()) for run in (bad, good)]
    assert size[0] > 10 * size[1]
    assert len(good.series["tip.z"]) > len(bad.series["tip.z"])


def test_every_scene_is_on_the_page_and_in_a_test() -> None:
    page, tests = (ROOT / "docs/tune.md").read_text(), Path(__file__).read_text()
    names = {path.stem.removesuffix("-bad").removesuffix("-good") for path in SCENES.glob("*.toml")}
    assert len(names) == 13
    for name in names:
        assert f"tune/{name}-bad.toml" in page
        assert f"tune/{name}-good.toml" in page
        assert f'"{name}' in tests


def test_messages_point_at_symptoms_that_are_there() -> None:
    heads = re.findall(r"^## (.*)$", (ROOT / "docs/tune.md").read_text(), re.M)
    anchors = {head.lower().replace(" ", "-") for head in heads}
    used = [
        re.findall(r"see\(['\"]([\w-]+)", inspect.getsource(each))
        for each in (divergence, modelling_warnings)
    ]
    assert all(used)
    assert {anchor for found in used for anchor in found} <= anchors
