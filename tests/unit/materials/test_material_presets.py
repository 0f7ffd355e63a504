"""The shipped materials, and the page that lists them."""

import tomllib
from pathlib import Path

import pytest

from pliant.core.errors import MaterialError
from pliant.materials import Preset, plausibility, presets, resolve
from pliant.materials.material import Material

PAGE = Path(__file__).parents[3] / "docs" / "materials.md"
WANTED = [
    "rubber",
    "soft-rubber",
    "foam",
    "gelatine",
    "jelly",
    "silicone",
    "muscle",
    "fat",
    "skin",
    "liver",
    "brain",
    "cartilage",
    "bone",
    "dough",
    "clay",
    "plasticine",
    "cork",
    "wood",
    "balsa",
    "paper",
    "polyethylene",
    "pvc",
    "nylon",
    "aluminium",
    "steel",
    "copper",
    "lead",
    "concrete",
    "ice",
    "glass",
    "chocolate",
    "cheese",
    "marshmallow",
    "wax",
]


def row(preset: Preset) -> str:
    """The page's line for a preset."""
    table = preset.table
    cells = [f"`{preset.name}`"]
    cells += [f"{table[key]:g}" if key in table else "" for key in ("young", "poisson", "density")]
    cells += [f"{table[key]:g}" if key in table else "" for key in ("yield", "strength")]
    cells += [f"{preset.young_range[0]:g} to {preset.young_range[1]:g}"]
    cells += [f"{preset.density_range[0]:g} to {preset.density_range[1]:g}"]
    cells += [preset.source + (" (checked)" if preset.checked else "")]
    return "| " + " | ".join(cells) + " |"


def test_every_wanted_preset_exists() -> None:
    assert set(WANTED) <= set(presets.names())


@pytest.mark.parametrize("name", presets.names())
def test_a_preset_is_sane(name: str) -> None:
    preset, material = presets.get(name), resolve(name)
    assert preset.young_range[0] <= material.young <= preset.young_range[1]
    assert preset.density_range[0] <= material.density <= preset.density_range[1]
    assert preset.young_range[1] / preset.young_range[0] <= 1000
    assert 0.0 <= material.poisson <= 0.48
    assert len(preset.source) > 20
    assert 1.0 < material.wave_speed < 7000.0
    assert material.yield_ is None or material.yield_ < material.young
    assert material.strength is None or (material.yield_ or 0.0) < material.strength < material.young
    assert material.crack_speed is None or material.crack_speed < (material.shear / material.density) ** 0.5
    own = {key: preset.table[key] for key in ("young", "density")}
    assert plausibility(Material(preset=name, **own)) == []
    assert plausibility(Material(**own)) == []


def test_orthotropic_presets_agree_with_their_stand_in() -> None:
    for name in ("wood", "balsa"):
        moduli = resolve(name).moduli
        assert isinstance(moduli, dict)
        assert moduli["E1"] == resolve(name).young
        assert moduli["E1"] > moduli["E2"] > moduli["E3"]


def test_the_page_lists_every_preset_with_its_numbers() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    missing = [row(presets.get(name)) for name in presets.names() if row(presets.get(name)) not in lines]
    assert not missing, "docs/materials.md should have\n" + "\n".join(missing)
    listed = [line for line in lines if line.startswith("| `") and line.count("|") == 10]
    assert len(listed) == len(presets.names())


def test_the_scenes_on_the_page_are_valid() -> None:
    text = PAGE.read_text(encoding="utf-8").split("```toml")[1].split("```")[0]
    materials = [resolve(body["material"]) for body in tomllib.loads(text)["bodies"]]
    assert [material.young for material in materials] == [3e6, 2e6, 3e6, 6e4]
    assert len(materials[-1].regions) == 2


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(MaterialError, match="unknown material 'aluminum'; did you mean 'aluminium'"):
        presets.get("aluminum")
    with pytest.raises(MaterialError, match="did you mean 'rubber'"):
        presets.get("Rubber")
