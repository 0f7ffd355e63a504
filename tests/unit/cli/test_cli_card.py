"""``pliant card``."""

import pytest
from command_line import Pliant


def test_card_prints_requested_effective_and_predicted(pliant: Pliant) -> None:
    found = pliant("card", "--model", "cpm2", "--material", "rubber", "--edge", "0.5", "--json")
    assert (found.code, found.err) == (0, "")
    assert {"requested", "effective", "predicted"} <= set(found.json)
    assert {"young", "poisson", "shear"} <= set(found.json["effective"])
    assert found.json["effective"]["young"] == pytest.approx(found.json["requested"]["young"], rel=0.05)
    text = pliant(
        "card", "--model", "cpm2", "--young", "2MPa", "--poisson", "0.3", "--density", "1e3", "--edge", "0.5"
    )
    assert "Young's modulus [Pa]" in text.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "cpm3", "--material", "rubber"), "cpm2"),
        (("--model", "cpm1", "--material", "ruber"), "rubber"),
        (("--model", "cpm1", "--young", "1e6"), "--poisson"),
        (("--model", "cpm1", "--material", "rubber", "--set", "form"), "key=value"),
        (("--model", "cpm1", "--material", "rubber", "--set", "form=other"), "form"),
        (("--model", "cpm1", "--material", "rubber", "--edge", "3"), "share"),
    ],
)
def test_bad_input_is_one_clear_error(pliant: Pliant, arguments: tuple[str, ...], words: str) -> None:
    found = pliant("card", *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: ")
    assert words in found.err


def test_structure_files_get_their_dual_cells(pliant: Pliant) -> None:
    from pathlib import Path

    from pliant.mesh.io import write_volume
    from pliant.mesh.shapes import box
    from pliant.scene import Body

    write_volume(Path("cube.vtu"), Body(box(1.0, 1.0, 1.0, divisions=(2, 2, 2))).geometry().tets())
    assert pliant("mesh", "cube.vtu", "cube.str").code == 0
    assert "voronoiridges" in Path("cube.str").read_text()
    assert pliant("mesh", "cube.str", "half.str", "--scale", "0.5").code == 0
    rows = Path("half.str").read_text().splitlines()
    at = rows.index("voronoivertices")
    assert max(float(number) for row in rows[at + 2 : at + 10] for number in row.split()) <= 0.5
