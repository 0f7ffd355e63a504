"""Values, grids, samples and tables of points; formulas."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.campaign.expression import Expression
from pliant.campaign.folder import cell, read_cell
from pliant.campaign.plan import base_scene, merge, wanted_points
from pliant.campaign.points import from_table, grid, read_variation, sample
from pliant.campaign.reductions import read_reduction
from pliant.campaign.resolved_scene import units_of_keys
from pliant.campaign.sweeps import sweep
from pliant.core.errors import InputError, RunError, SceneError
from pliant.core.option_names import command_line
from pliant.core.units import to_si


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2,3", [1, 2, 3]),
        ("a=1 MPa, 2 kPa", [1e6, 2e3]),
        ("a=rubber,steel", ["rubber", "steel"]),
        ("a=[1, 2],[3, 4]", [[1, 2], [3, 4]]),
        ('a={ type = "fem", law = "ogden" },cpm1', [{"type": "fem", "law": "ogden"}, "cpm1"]),
        ("a=1..5:3", [1, 3, 5]),
        ("a=0..0.3:4", [0.0, 0.1, 0.2, 0.3]),
        ("a=log:1kPa..1 MPa:4", [1e3, 1e4, 1e5, 1e6]),
        ("a=1..4 cm:4", [0.01, 0.02, 0.03, 0.04]),
        ("a=5..1:2", [5, 1]),
    ],
)
def test_values_of_a_variation(text: str, values: list[object]) -> None:
    assert read_variation(text).grid() == values


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "=1",
        "a=",
        "a=1..2:x",
        "a=1..2:0",
        "a=log:0..2:3",
        "a=1 m..2 s:3",
        "a=1 quark..2 quark:3",
        "a=log:1,2",
        "a=1,2 MPa",
    ],
)
def test_a_variation_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_variation(text)


def test_a_range_without_a_number_needs_samples() -> None:
    with pytest.raises(InputError, match=r"vary=\{'a'"):
        grid([read_variation("a=1..2")])
    with command_line(), pytest.raises(InputError, match=r"--vary a: .* --sample sobol:64"):
        grid([read_variation("a=1..2")])
    with pytest.raises(InputError, match="does not go with sample"):
        sample([read_variation("a=1..2:3")], "sobol:4")


def test_a_longer_sample_begins_with_the_shorter_one() -> None:
    ranges = [read_variation("a=1..3"), read_variation("b=log:1..1000"), read_variation("c=x,y")]
    short, long = sample(ranges, "sobol:10"), sample(ranges, "sobol:40")
    assert long[:10] == short
    assert all(1 <= p["a"] <= 3 and 1 <= p["b"] <= 1000 and p["c"] in "xy" for p in long)
    assert np.median([p["b"] for p in long]) < 100  # the middle of a logarithmic range is 31.6


def test_points_of_a_table(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("point,young [kPa],material,edge\n1,10,rubber,2 cm\n2,20,,0.1\n# no point\n")
    assert from_table(file) == [
        {"young": 1e4, "material": "rubber", "edge": 0.02},
        {"young": 2e4, "edge": 0.1},
    ]
    file.write_text("a,b\n1\n")
    with pytest.raises(InputError, match="line 2"):
        from_table(file)


@given(
    st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9), st.booleans())
)
def test_a_cell_is_read_as_it_was_written(value: object) -> None:
    assert read_cell(cell(value)) == value


@pytest.mark.parametrize("text", ["3 MPa", "1 g/cm3", "90 deg/s", "5 %", "2 Hz", "4 N*s"])
def test_the_si_unit_of_a_quantity(text: str) -> None:
    value, unit = to_si(text)
    assert to_si(f"{value!r} {unit}") == (pytest.approx(value), unit)


def test_units_of_scene_keys(beam: Path) -> None:
    base = base_scene(beam)
    keys = {"bodies.beam.material.young": 1.0, "time.duration": 1.0, "bodies.beam.shape.box.size.0": 1.0}
    assert list(units_of_keys(base.text, keys).values()) == ["Pa", "s", "m"]


def test_the_same_scene_is_one_point(beam: Path) -> None:
    base = base_scene(beam)
    entries, scenes = merge(base, [], wanted_points({"bodies.beam.material.young": ["1 MPa", 1000000, 2e6]}))
    assert [entry.number for entry in entries] == [1, 2]
    assert len(scenes) == 2
    more, new = merge(base, entries, wanted_points({"bodies.beam.material.young": [3e6, 2e6, 1e6]}))
    assert more[:2] == entries
    assert [entry.values for entry in more[2:]] == [{"bodies.beam.material.young": 3e6}]
    assert len(new) == 1


def test_a_mesh_counts_by_its_contents(beam: Path) -> None:
    from pliant.mesh.shapes import box

    points, triangles = box(1, 1, 1).surface(0.5).points, box(1, 1, 1).surface(0.5).triangles
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    for name in ("a.obj", "b.obj"):
        (beam.parent / name).write_text("\n".join(lines) + "\n")
    text = beam.read_text().replace(
        "shape = { box = { size = [1.0, 0.2, 0.2], divisions = [5, 1, 1] } }", 'mesh = "a.obj"'
    )
    beam.write_text(text)
    first = base_scene(beam).digest
    place = beam.parent / "s.sweep"
    sweep(beam, {"time.duration": [0.02]}, place, progress=False)
    beam.write_text(text.replace("a.obj", "b.obj"))
    assert base_scene(beam).digest == first
    (beam.parent / "b.obj").write_text("\n".join(lines).replace("v 0", "v 0.001", 1) + "\n# changed\n")
    assert base_scene(beam).digest != first
    (beam.parent / "a.obj").write_text((beam.parent / "b.obj").read_text())
    with pytest.raises(RunError, match=r"a\.obj has changed"):
        sweep(place, progress=False)
    (beam.parent / "a.obj").unlink()
    with pytest.raises(SceneError, match=r"a\.obj cannot be read"):
        sweep(place, progress=False)


SERIES = {
    "tip.z": np.array([0.0, -1.0, -3.0, 2.0]),
    "plate-2.x": np.array([4.0, 9.0, 16.0, np.nan]),
    "k": 2.0,
}
TIMES = np.array([0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("last(tip.z)", 2.0),
        ("min(tip.z) / 2 + k**2", 2.5),
        ("max(abs(tip.z - 1))", 4.0),
        ("mean(sqrt('plate-2.x'))", 3.0),
        ("at(tip.z, 0.15)", -2.0),
        ("at(2 * tip.z, 0.05)", -1.0),
        ("-first(tip.z + 1)", -1.0),
        ("1 / 0", np.inf),
    ],
)
def test_formulas(text: str, value: float) -> None:
    assert Expression(text).number(SERIES, lambda name: TIMES) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "tip.z.__class__", "(lambda: 1)()", "open('x')", "[1][0]",
        "last(tip.z",
        "tip.z if 1 else 2", "last(*tip)", "eval('1')", "1 and 2", "x := 1", "", "last()", "at(tip.z)",
        "tip.z",
        "last(nothing.z)", "at(tip.z, 9)",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Expression(text).number(SERIES, lambda name: TIMES)


@pytest.mark.parametrize(
    ("text", "name", "formula"),
    [
        ("tip.z:min", "tip.z.min", "min('tip.z')"),
        ("tip.z:at=0.5", "tip.z.at-0.5", "at('tip.z', 0.5)"),
        ("stiffness=max(grip.x) / 2", "stiffness", "max(grip.x) / 2"),
    ],
)
def test_reductions(text: str, name: str, formula: str) -> None:
    found = read_reduction(text)
    assert (found.name, found.text) == (name, formula)
    assert found.unit({"tip.z": "m", "grip.x": "N"}) == ("m" if "tip" in text else "")


@pytest.mark.parametrize("text", ["tip.z", "tip.z:median", "a=", "=last(a)"])
def test_what_is_no_reduction_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_reduction(text)
