"""Fits find planted parameters, say what a test does not determine, and give honest intervals."""

import json
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from matplotlib.axes import Axes

import pliant as pl
from pliant.calibration.evaluation import simulate
from pliant.calibration.measurements import MeasuredCurve, Measurements, branches
from pliant.calibration.report import draw_fit
from pliant.campaign.executors import executor
from pliant.campaign.executors.base import Executor
from pliant.campaign.points import read_variation
from pliant.campaign.resolved_scene import scene_at
from pliant.cli.main import run as command
from pliant.core.errors import InputError
from pliant_benchmarks.many_runs import fits as campaigns
from pliant_benchmarks.many_runs.material_tests import (
    BENDING,
    LOAD_UNLOAD,
    QUICK_TENSION,
    RING_DOWN,
    SLOPE,
    TENSION,
    TIP,
    measure,
    scene,
)

YOUNG = "bodies.bar.material.young"
POISSON = "bodies.bar.material.poisson"
DENSITY = "bodies.bar.material.density"
DAMPING = "bodies.bar.material.damping"
YIELD = "bodies.bar.material.yield"
CREEP = "bodies.bar.material.creep"
STRENGTH = "bodies.bar.material.strength"
RANGE = {YOUNG: "0.1..10 MPa:log"}


@pytest.fixture(scope="module")
def place() -> Iterator[Executor]:
    with executor("local:2", 1) as found:
        yield found


def fitted(folder: Path, series: str, vary: dict[str, str], place: Executor, **more: object) -> pl.FitResult:
    return pl.fit(folder / "scene.toml", folder / "data.csv", f"{series}=y@t", vary, on=place, **more)  # type: ignore[arg-type]


def test_a_tension_test_gives_young_and_not_poisson(tmp_path: Path, place: Executor) -> None:
    """In uniaxial stress the force is E A e whatever Poisson's ratio is."""
    folder = measure(tmp_path, scene(TENSION), {YOUNG: 2.3e6}, "grip.x", 0.02, 1)
    found = fitted(folder, "grip.x", {**RANGE, POISSON: "0.05..0.45"}, place)
    assert found["young"].value == pytest.approx(2.3e6, rel=0.03)
    assert found["young"].determined
    assert found["young"].low is not None
    assert found["young"].low < found["young"].value < (found["young"].high or 0)
    assert not found["poisson"].determined
    assert found.identifiability.sentences == (f"This test does not determine {POISSON}.",)
    assert "young" in found.toml
    assert "poisson = 0.3" in found.toml  # the scene's own, not where the search ended
    assert found.noise[0] == pytest.approx(0.02 * 2.3e6 * 4e-4 * 0.2, rel=0.4)
    assert found.table()["key"].tolist() == [YOUNG, POISSON]


def test_the_interval_is_that_of_linear_least_squares(tmp_path: Path, place: Executor) -> None:
    """Force is linear in E: the variance of E is sigma^2 / sum (F/E)^2, and the profile is a parabola."""
    folder = measure(tmp_path, scene(TENSION), {YOUNG: 1e6}, "grip.x", 0.02, 2)
    found = fitted(folder, "grip.x", RANGE, place)
    curve = found.curves[0]
    slope = found.predicted[0] / found["young"].value
    estimate = float(slope @ curve.y / (slope @ slope))
    assert found["young"].value == pytest.approx(estimate, rel=2e-3)
    from scipy.stats import t

    half = t.ppf(0.975, len(curve.y) - 1) * found.noise[0] / np.sqrt(slope @ slope)
    low, high = found["young"].low, found["young"].high
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)


def test_a_ring_down_gives_damping(tmp_path: Path, place: Executor) -> None:
    text = scene(RING_DOWN, more=', damping = "2 ms"')
    folder = measure(tmp_path, text, {YOUNG: 1.4e6, DAMPING: 3e-3}, "tip.z", 0.02, 3)
    found = fitted(folder, "tip.z", {YOUNG: "0.5..4 MPa:log", DAMPING: "0.5..20 ms:log"}, place)
    assert found["young"].value == pytest.approx(1.4e6, rel=0.03)
    assert found["damping"].value == pytest.approx(3e-3, rel=0.1)
    assert all(p.determined for p in found.parameters)


def test_young_and_density_only_together(tmp_path: Path, place: Executor) -> None:
    """A free vibration without a force scale depends on E / density; here the push is known, so that both are
    found; a static test knows nothing of the density."""
    folder = measure(tmp_path, scene(BENDING), {YOUNG: 1e6}, "grip.z", 0.02, 4)
    found = fitted(folder, "grip.z", {**RANGE, DENSITY: "500..2000:log"}, place)
    assert [p.determined for p in found.parameters] == [True, False]


def test_unloading_gives_the_yield_stress(tmp_path: Path, place: Executor) -> None:
    folder = measure(tmp_path, scene(LOAD_UNLOAD), {YOUNG: 1e6, YIELD: 8e4}, "grip.x", 0.02, 5)
    found = fitted(folder, "grip.x", {YOUNG: "0.3..3 MPa:log", YIELD: "20..180 kPa:log"}, place)
    assert found["young"].value == pytest.approx(1e6, rel=0.03)
    assert found["yield"].value == pytest.approx(8e4, rel=0.03)


def test_unloading_is_matched_over_displacement(tmp_path: Path, place: Executor) -> None:
    """Force over displacement has two branches, which are compared with two branches."""
    text, keys = scene(LOAD_UNLOAD) + TIP, {YOUNG: 1e6, YIELD: 8e4}
    folder = measure(tmp_path, text, keys, "grip.x", 0.02, 5)
    moved = simulate(scene_at(text, keys))["tip.x"]
    lines = (folder / "data.csv").read_text().splitlines()
    rows = [f"{line},{1e3 * u!r}" for line, u in zip(lines[1:], moved.tolist(), strict=True)]
    (folder / "data.csv").write_text("\n".join(["t [s],y [N],u [mm]", *rows]) + "\n")
    ranges = {YOUNG: "0.3..3 MPa:log", YIELD: "20..180 kPa:log"}
    found = pl.fit(folder / "scene.toml", folder / "data.csv", "grip.x=y@u:tip.x", ranges, on=place)
    assert found["young"].value == pytest.approx(1e6, rel=0.03)
    assert found["yield"].value == pytest.approx(8e4, rel=0.03)
    assert found.at_ends == []
    with mock.patch.object(Axes, "plot", autospec=True, side_effect=Axes.plot) as plotted:
        draw_fit(found, tmp_path / "fit.png")
    lines = [call.args[1] for call in plotted.call_args_list if call.args[3] == "-"]
    assert [bool(np.all(np.diff(x) >= 0)) for x in lines] == [True, True]  # not one line to and fro
    assert sum(len(x) for x in lines) == len(found.curves[0].x)
    narrow = pl.fit(
        folder / "scene.toml", folder / "data.csv", "grip.x=y@t", {YIELD: "20..60 kPa:log"}, on=place
    )
    assert narrow.at_ends == [f"{YIELD} reaches the end of its range: widen it."]


def test_holding_gives_the_rate_of_creep(tmp_path: Path, place: Executor) -> None:
    """A bar is stretched by 20 % and held: what exceeds the yield stress relaxes at the rate ``creep``."""
    text = (
        scene(LOAD_UNLOAD, more=', creep = "2 /s"')
        .replace('integrator = "static"', 'integrator = "implicit-euler"\nstep = 0.01')
        .replace("time = 1, value", "time = 0.2, value")
        .replace("time = 2, value = [0.0, 0, 0]", "time = 2, value = [0.02, 0, 0]")
    )
    folder = measure(tmp_path, text, {YIELD: 6e4, CREEP: 2.0}, "grip.x", 0.02, 9)
    found = fitted(folder, "grip.x", {YIELD: "20..180 kPa:log", CREEP: "0.3..20:log"}, place)
    assert found["yield"].value == pytest.approx(6e4, rel=0.1)
    assert found["creep"].value == pytest.approx(2.0, rel=0.1)


@pytest.mark.slow
def test_breaking_gives_the_strength(tmp_path: Path, place: Executor) -> None:
    """A bar is pulled until it breaks: its strength decides when the force falls."""
    text = scene(QUICK_TENSION, "lattice", more=', strength = "120 kPa", damping = "5 ms"')
    folder = measure(tmp_path, text, {STRENGTH: 9e4}, "grip.x", 0.02, 10)
    found = fitted(folder, "grip.x", {STRENGTH: "50..180 kPa"}, place)
    assert found["strength"].value == pytest.approx(9e4, rel=0.1)


def test_branches_of_an_abscissa() -> None:
    up, down = np.linspace(0, 1, 11), np.linspace(0.9, 0, 10)
    found = branches(np.concatenate([up, down, up[1:] / 2]))
    assert [(part.start, part.stop) for part in found] == [(0, 11), (11, 21), (21, 31)]
    assert len(branches(up + 0.02 * np.cos(9 * np.arange(11)))) == 1  # noise is no turn
    assert [part.stop for part in branches(np.array([1.0, 0.0, 1.0]))] == [2, 3]
    curve = MeasuredCurve("f=F@u:x", "f", "x", np.array([0.0, 1.0, 0.5, 1.0]), np.ones(4))
    with pytest.raises(InputError, match="3 branches, x over 2"):
        curve.predicted(np.concatenate([up, down]), np.ones(21))
    # a test that ends before it is unloaded is compared with the first branch
    part = MeasuredCurve("f=F@u:x", "f", "x", np.array([0.25, 0.5]), np.ones(2))
    assert part.predicted(np.concatenate([up, down]), np.concatenate([up, 0 * down])).tolist() == [0.25, 0.5]


def test_a_slope_gives_friction_and_not_young(tmp_path: Path, place: Executor) -> None:
    """A block slides ``g (sin a - mu cos a) t^2 / 2`` down a slope, whatever it is made of."""
    key = "actions.ground.friction"
    folder = measure(tmp_path, scene(SLOPE), {key: 0.22}, "block.x", 0.02, 8)
    found = fitted(folder, "block.x", {key: "0.05..0.5", YOUNG: "0.5..2 MPa:log"}, place)
    assert found[key].value == pytest.approx(0.22, abs=0.01)
    assert found[key].determined
    assert not found["young"].determined
    assert "--set actions.ground.friction" in found.toml


def test_outliers_count_little(tmp_path: Path, place: Executor) -> None:
    folder = measure(tmp_path, scene(TENSION), {YOUNG: 1e6}, "grip.x", 0.01, 6)
    lines = (folder / "data.csv").read_text().splitlines()
    for k in (8, 20):
        lines[k] = f"{lines[k].partition(',')[0]},900"
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    assert fitted(folder, "grip.x", RANGE, place)["young"].value == pytest.approx(1e6, rel=0.05)


def test_the_command_compares_models_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = measure(tmp_path / "a folder", scene(TENSION), {YOUNG: 2e6}, "grip.x", 0.02, 7)
    out = tmp_path / "out"
    words = ["fit", str(folder / "scene.toml"), "--data", str(folder / "data.csv"), "--match", "grip.x=y@t"]
    words += ["--vary", f"{YOUNG}=0.3..9MPa:log", "-o", str(out), "--on", "local:2", "--starts", "4"]
    words += ["--held-out", "2 * grip.x=y@t"]
    assert command([*words, "--model", "fem,mass-spring", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {entry["model"] for entry in found} == {"fem", "mass-spring"}
    fem = next(entry for entry in found if entry["model"] == "fem")
    assert fem["parameters"][0]["value"] == pytest.approx(2e6, rel=0.03)
    assert fem["held_out_rms"] == pytest.approx(1.0, rel=0.05)  # twice the force is off by its own size
    page = (out / "report.html").read_text()
    assert "data:image/png" in page
    assert "95 % interval" in page
    assert "young" in (out / "material.toml").read_text()
    assert command(words) == 2  # the folder exists


def test_wrong_input(tmp_path: Path, place: Executor) -> None:
    folder = measure(tmp_path, scene(TENSION), {}, "grip.x", 0.0, 0)
    data = folder / "data.csv"
    for match, vary, said in (
        ("grip.x=y", RANGE, "not complete"),
        ("grip.x=z@t", RANGE, "no column 'z'"),
        ("grap.x=y@t", RANGE, "no series 'grap.x'"),
        ("grip.x=y@t", {}, "Nothing to fit"),
        ("grip.x=y@t", {YOUNG: [1e6, 2e6]}, "needs a range"),
        ("grip.x=y@t", {"bodies.bar.material.jung": "1..2"}, "jung"),
        ("grip.x=y@t", {YOUNG: "1..2 MPa:4"}, "takes no number"),
        ("grip.x=t@t", RANGE, "data is in s, grip.x in N"),
        ("grip.x=y@t", {"bodies.bar.shape.box.divisions.0": "1..9"}, r"vary=\{.*whole number"),
    ):
        with pytest.raises(InputError, match=said):
            pl.fit(folder / "scene.toml", data, match, vary, on=place)
    twice = [read_variation(f"{YOUNG}=1..{end} MPa:log") for end in (2, 3)]
    with pytest.raises(InputError, match="given twice"):
        pl.fit(folder / "scene.toml", data, "grip.x=y@t", twice, on=place)
    with pytest.raises(InputError, match="only the points of sweeps"):
        pl.fit(folder / "scene.toml", data, "grip.x=y@t", RANGE, on="list")
    with pytest.raises(InputError, match=r"held_out='grip\.x=y'"):
        pl.fit(folder / "scene.toml", data, "grip.x=y@t", RANGE, on=place, held_out="grip.x=y")
    for text, said in (
        ("t [s],y\n0,1\n1,2\n5,3\n", "ends at 5 s, the scene at 1 s"),
        ("t [s],y\n0,0\n1,0\n0.5,0\n", "0 everywhere"),
        ("t [s],y [F N]\n0,1\n1,2\n0.5,3\n", "column 'y'"),
    ):
        data.write_text(text)
        with pytest.raises(InputError, match=said):
            pl.fit(folder / "scene.toml", data, "grip.x=y@t", RANGE, on=place)
    data.write_text("t [s],y\n0,1\n1,x\n")
    with pytest.raises(InputError, match="line 3"):
        Measurements([data])


@pytest.mark.slow
def test_a_hundred_synthetic_tests(tmp_path: Path) -> None:
    found = campaigns.fits(tmp_path)
    assert found["error_95"] < 0.03
    assert 0.9 <= found["coverage"] <= 0.99


@pytest.mark.slow
def test_what_twenty_tests_do_not_determine(tmp_path: Path) -> None:
    assert campaigns.unknowns(tmp_path)["recognised"] == 20


@pytest.mark.slow
def test_a_static_fit_of_seven_thousand_tets(tmp_path: Path) -> None:
    """Prints the CPU time of its workers: two of them take half of it."""
    import resource

    fine = TENSION.replace("divisions = [4, 1, 1]", "divisions = [24, 7, 7]").replace("fps = 30", "fps = 8")
    folder = measure(tmp_path, scene(fine), {YOUNG: 2.3e6}, "grip.x", 0.02, 9)
    with executor("local:2", 1) as place:
        found = fitted(folder, "grip.x", RANGE, place)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{found.evaluations} runs, {used.ru_utime + used.ru_stime:.0f} CPU s")
    assert found["young"].value == pytest.approx(2.3e6, rel=0.05)
