"""Units of the series of a run, from the actions and measures of the scene that it keeps."""

from pliant.measures import Energy, Momentum, Volume
from pliant.run.store import Run
from pliant.scene.load import read_members


def units_of(run: Run) -> dict[str, str]:
    """Unit of each series by its name; those of unknown measures are left out."""
    _, actions, measures = read_members(run.scene_text)
    named = {"time": "s"}
    for member in (Volume(), Energy(), Momentum(), *measures, *actions):
        named |= member.series_units()
    found = {}
    for series in run.series:
        owners = [name for name in named if series == name or series.startswith(f"{name}.")]
        if owners:
            found[series] = named[max(owners, key=len)]
    return found
