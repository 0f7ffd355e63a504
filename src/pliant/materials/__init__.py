"""Materials: elastic constants, presets, ranges, and constitutive laws (``constitutive``).

``resolve("rubber")``, ``resolve({"preset": "rubber", "young": "2 MPa"})`` or ``resolve(Material(...))`` gives
a complete ``ResolvedMaterial``; ``plausibility`` looks for slips; ``presets.names()`` lists the names.
"""

from pliant.materials import anisotropic, elastic, presets
from pliant.materials.material import Material, Region, ResolvedMaterial, by_region, plausibility, resolve
from pliant.materials.presets import Preset

__all__ = [
    "Material",
    "Preset",
    "Region",
    "ResolvedMaterial",
    "anisotropic",
    "by_region",
    "elastic",
    "plausibility",
    "presets",
    "resolve",
]
