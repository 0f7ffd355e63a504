"""Completing the isotropic constants from any two of them."""

from pliant.core.tables import TableView
from pliant.materials import elastic
from pliant.materials.ranges import INCOMPRESSIBLE, RANGES

ISOTROPIC = ("young", "poisson", "shear")
AGREEMENT = 1e-6  # relative, between a given shear modulus and the one from young and poisson


def isotropic(table: TableView, preset: TableView | None = None) -> dict[str, float]:
    """Young, Poisson and shear from the two (or three, if they agree) that ``table`` gives.

    One given constant is completed from ``preset``: Poisson's ratio stays that of the preset, and if
    Poisson's ratio is the one given, Young's modulus stays. Raises ``ValueError`` if nothing fits.
    """
    given = {key: float(table[key]) for key in ISOTROPIC if table.get(key) is not None}
    if len(given) < 2 and preset is not None:
        other = "young" if "poisson" in given else "poisson"
        given[other] = float(preset[other])
        if len(given) < 2:
            given["young"] = float(preset["young"])
    if len(given) < 2:
        said = f"only {next(iter(given))} is given" if given else "none is given"
        raise ValueError(
            f"a material needs two of young, poisson and shear, and {said}; add one, or name a preset"
        )
    if "poisson" not in given:
        given["poisson"] = _poisson(given["young"], given["shear"])
    if "young" not in given:
        given["young"] = elastic.young_from_shear_poisson(given["shear"], given["poisson"])
    expected = elastic.shear_modulus(given["young"], given["poisson"])
    shear = given.setdefault("shear", expected)
    if abs(shear - expected) > AGREEMENT * expected:
        raise ValueError(
            f"young, poisson and shear do not agree: young = {given['young']:g} Pa and poisson = "
            f"{given['poisson']:g} make shear = {expected:.7g} Pa, not {shear:.7g} Pa; leave one of them out"
        )
    return {key: given[key] for key in ISOTROPIC}


def _poisson(young: float, shear: float) -> float:
    poisson = elastic.poisson_from_young_shear(young, shear)
    if RANGES["poisson"].holds(poisson):
        return poisson
    hint = f"; {INCOMPRESSIBLE}" if poisson < 0.5 + 1e-9 else ""
    raise ValueError(
        f"young = {young:g} Pa and shear = {shear:g} Pa make poisson = {poisson:g}, which must be "
        f"{RANGES['poisson']}: shear must be more than a third of young{hint}"
    )
