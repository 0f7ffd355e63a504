"""Fits find planted parameters, say what a test does not determine, and give honest intervals."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from material_tests import BENDING, LOAD_UNLOAD, RING_DOWN, TENSION, measure, scene

import pliant as pl
from pliant.calibration.matching import Measurements
from pliant.campaign.executors import executor
from pliant.campaign.executors.base import Executor
from pliant.cli.main import run as command
from pliant.core.errors import InputError

YOUNG = "bodies.bar.material.young"
POISSON = "bodies.bar.material.poisson"
DENSITY = "bodies.bar.material.density"
DAMPING = "bodies.bar.material.damping"
YIELD = "bodies.bar.material.yield"
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
    ):
        with pytest.raises(InputError, match=said):
            pl.fit(folder / "scene.toml", data, match, vary, on=place)
    data.write_text("t [s],y\n0,1\n1,x\n")
    with pytest.raises(InputError, match="line 3"):
        Measurements([data])


KINDS = {
    "tension": (TENSION, "grip.x", {}),
    "bending": (BENDING, "grip.z", {}),
    "ring-down": (RING_DOWN, "tip.z", {}),
    "load-unload": (LOAD_UNLOAD, "grip.x", {YIELD: "20..180 kPa:log"}),
}
HIDDEN = [
    (TENSION, "grip.x", POISSON, "0.05..0.45", ""),
    (TENSION, "grip.x", DENSITY, "500..2000:log", ""),
    (BENDING, "grip.z", DENSITY, "500..2000:log", ""),
    (TENSION, "grip.x", DAMPING, "0.1..10 ms:log", ', damping = "1 ms"'),
    (BENDING, "grip.z", YIELD, "0.9..9 MPa:log", ', yield = "2 MPa"'),  # never reached
]


def campaign(folder: Path, place: Executor, count: int) -> tuple[list[float], list[bool]]:
    """Errors of E, and whether its interval covers it, in ``count`` synthetic tests of all kinds."""
    chance = np.random.default_rng(0)
    errors, covered = [], []
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        template, series, more = KINDS[kind]
        model = "fem" if kind == "load-unload" else ("fem", "cpm1", "mass-spring")[number // len(KINDS) % 3]
        if kind == "tension" and model == "mass-spring":
            model = "fem"
        young = float(10 ** chance.uniform(5.7, 6.5))
        values = {YOUNG: young} | ({YIELD: 0.08 * young} if more else {})
        test = measure(folder / str(number), scene(template, model), values, series, 0.02, number)
        found = fitted(test, series, {YOUNG: "0.2..8 MPa:log", **more}, place)
        young_found = found["young"]
        errors.append(abs(young_found.value / young - 1.0))
        covered.append((young_found.low or 0.0) <= young <= (young_found.high or np.inf))
        print(number, kind, model, f"{100 * errors[-1]:.2f} %", covered[-1], flush=True)
    return errors, covered


@pytest.mark.slow
def test_a_hundred_synthetic_tests(tmp_path: Path, place: Executor) -> None:
    errors, covered = campaign(tmp_path, place, 100)
    print(f"95th percentile {100 * np.percentile(errors, 95):.2f} %, coverage {100 * np.mean(covered):.0f} %")
    assert np.percentile(errors, 95) < 0.03
    assert 0.9 <= np.mean(covered) <= 0.99


@pytest.mark.slow
def test_what_twenty_tests_do_not_determine(tmp_path: Path, place: Executor) -> None:
    for number in range(20):
        template, series, key, span, more = HIDDEN[number % len(HIDDEN)]
        test = measure(tmp_path / str(number), scene(template, more=more), {YOUNG: 1e6}, series, 0.02, number)
        found = fitted(test, series, {YOUNG: "0.2..8 MPa:log", key: span}, place)
        assert not found[key].determined, (number, key)
        assert found["young"].determined
