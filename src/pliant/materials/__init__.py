"""Materials: elastic constants, presets, ranges. Constitutive laws belong to the models.

``resolve("rubber")``, ``resolve({"preset": "rubber", "young": "2 MPa"})`` or ``resolve(Material(...))`` gives
a complete ``Resolved`` material; ``plausibility`` looks for slips; ``presets.names()`` lists the names.
"""

from pliant.materials import anisotropic, elastic, presets
from pliant.materials.material import Material, Region, Resolved
from pliant.materials.plausible import plausibility
from pliant.materials.presets import Preset
from pliant.materials.resolving import by_region, resolve

__all__ = [
    "Material",
    "Preset",
    "Region",
    "Resolved",
    "anisotropic",
    "by_region",
    "elastic",
    "plausibility",
    "presets",
    "resolve",
]
