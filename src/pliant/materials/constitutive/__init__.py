"""Constitutive laws: energy, stress and plastic flow as functions of the deformation gradient.

``LAWS`` names them. To add one, write a file with its compiled functions (see ``law.LawFunctions``) and a
line here; the fem model (linear and quadratic tets), the efg model and the studio's list then have it. A
package of its own adds a ``Law`` through the entry points ``pliant.laws``, or with ``LAWS.register``.
"""

from typing import Annotated, Any, cast

from pliant.core.registry import NameOf, Registry
from pliant.core.tables import TableView
from pliant.materials.constitutive.law import Law, LawFunctions, Parameter

CAIRNS, MOONEY = ("Cairns2012", "MuellerGross2004"), ("Mooney1940", "Rivlin1948")
OGDEN = ("Ogden1972", "Treloar1944")
RATIO = {"ratio": 0.25}  # c01 / c10
TRELOAR = {"alpha": (1.3, 5.0, -2.0), "mu": (6.3, 0.012, -0.1)}  # rubber, by Ogden's fit to Treloar's data


def _from(module: str) -> str:
    return f"{__name__}.{module}"


LAWS: Registry[Any] = Registry(
    "law",
    (
        Law("corotational", _from("corotational"), safe=True, rotation=True, linear=True, references=CAIRNS),
        Law("st-venant-kirchhoff", _from("st_venant_kirchhoff"), linear=True),
        Law("neo-hookean", _from("neo_hookean"), safe=True, references=("SmithDeGoesKim2018",)),
        Law("mooney-rivlin", _from("mooney_rivlin"), parameters=RATIO, references=MOONEY),
        Law("ogden", _from("ogden"), parameters=TRELOAR, references=OGDEN),
    ),
    entry_points="pliant.laws",
    aliases={"hooke": "st-venant-kirchhoff"},  # the efg model's name for it up to 0.1
)
GRAM_SCHMIDT = Law("gram-schmidt", _from("gram_schmidt"), safe=True, linear=True, references=("Cairns2012",))
"""The corotational law as printed, which the fem model offers under ``rotation``; it has no energy."""

LawName = Annotated[str, NameOf(LAWS)]
LawParameters = dict[str, Parameter]


def law_named(name: str) -> Law:
    """The law that scenes call ``name``."""
    return cast(Law, LAWS[name])


def check_parameters(name: str, given: TableView) -> None:
    """Raise a ValueError where ``given`` does not fit the law."""
    if given:
        law_named(name).constants(given)


__all__ = [
    "GRAM_SCHMIDT",
    "LAWS",
    "Law",
    "LawFunctions",
    "LawName",
    "LawParameters",
    "check_parameters",
    "law_named",
]
