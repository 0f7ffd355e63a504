"""Units of the series of a run, from the actions and measures of the scene that it keeps."""

from collections.abc import Iterable

from pliant.measures import Energy, Momentum, Volume
from pliant.run.store import Run
from pliant.scene.load import read_members


def units_of(run: Run) -> dict[str, str]:
    """Unit of each series of a run by its name; those of unknown measures are left out."""
    return units_in_scene(run.scene_text, run.series)


def units_in_scene(text: str, names: Iterable[str]) -> dict[str, str]:
    """Units of the series ``names`` that a run of the scene ``text`` has."""
    _, actions, measures = read_members(text)
    named = {"time": "s"}
    for member in (Volume(), Energy(), Momentum(), *measures, *actions):
        named |= member.series_units()
    found = {}
    for series in names:
        owners = [name for name in named if series == name or series.startswith(f"{name}.")]
        if owners:
            found[series] = named[max(owners, key=len)]
    return found
