"""Units of a run's series, from what its scene measures."""

import tomllib
from typing import Any

from pliant.run.store import Run

_FIXED = {"time": "s", "volume": "m³", "energy": "J", "momentum": "kg m/s", "angular": "kg m²/s"}
_PROBE = {"position": "m", "displacement": "m", "velocity": "m/s"}
_FORCES = ("reaction", "flux", "ground", "tabletop", "obstacle", "tool", "manipulator")


def units_of(run: Run) -> dict[str, str]:
    """Unit of each series by its name; those of unknown measures are left out."""
    try:
        scene: dict[str, Any] = tomllib.loads(run.scene_text)
    except tomllib.TOMLDecodeError:
        scene = {}
    named = dict(_FIXED)
    for entry in [*scene.get("measures", []), *scene.get("actions", [])]:
        kind = entry.get("type", "")
        name = str(entry.get("name", kind))
        if kind == "probe":
            named[name] = _PROBE.get(entry.get("what", "position"), "")
        elif kind in _FORCES:
            named[name] = "N"
            named[f"{name}.torque"] = "N m"
    found = {}
    for series in run.series:
        owners = [name for name in named if series == name or series.startswith(f"{name}.")]
        if owners:
            found[series] = named[max(owners, key=len)]
    return found
