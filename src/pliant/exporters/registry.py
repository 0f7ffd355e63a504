"""Exporters by suffix."""

import os
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.exporters.csv_series import CSV
from pliant.exporters.glb import GLB
from pliant.exporters.job import Exporter, export_with
from pliant.exporters.npz import NPZ
from pliant.exporters.obj import OBJ
from pliant.exporters.ply import PLY
from pliant.exporters.point_cache import MDD, PC2
from pliant.exporters.rib import RIB
from pliant.exporters.stl_str import STL, STR
from pliant.exporters.usd import USD, USDA, USDC
from pliant.exporters.vtkhdf import VTKHDF
from pliant.exporters.vtu import PVD, VTU
from pliant.run.store import Run

GROUP = "pliant.exporters"  # of entry points
_ALL = (OBJ, PLY, VTU, PVD, VTKHDF, USD, USDA, USDC, GLB, RIB, PC2, MDD, STL, STR, NPZ, CSV)
EXPORTERS: dict[str, Exporter] = {exporter.suffix: exporter for exporter in _ALL}


@cache
def _outside() -> dict[str, EntryPoint]:
    """Entry points of installed packages, by suffix: they are named after it, without the dot."""
    return {f".{point.name}": point for point in entry_points(group=GROUP)}


def exporter_for(path: Path) -> Exporter:
    """The exporter for the suffix of ``path``, our own or an installed package's; InputError for none."""
    suffix = path.suffix.lower()
    if suffix in EXPORTERS:
        return EXPORTERS[suffix]
    if suffix not in _outside():
        known = [*EXPORTERS, *_outside()]
        raise InputError(f"Cannot export to '{path.name}'; {nearest(suffix or path.name, known)}")
    point = _outside()[suffix]
    try:
        found: Exporter = point.load()
    except Exception as error:
        raise InputError(f"Cannot export to '{path.name}': {point.value} cannot be loaded: {error}") from None
    return found


def export(
    run: Run,
    out: str | os.PathLike[str],
    *,
    frames: int | slice | Iterable[int] | None = None,
    every: int = 1,
    bodies: Iterable[str] | None = None,
    fields: Iterable[str] | None = None,
    units: str | None = None,
    up: str | None = None,
    start: int | None = None,
    normals: bool | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> list[Path]:
    """Write a run to files, in the format that the suffix of ``out`` names; gives the files written.

    Formats with a file per frame need a place for its number, as in ``frame_%04d.obj``. ``frames``: one
    number, a slice or several (negative ones count from the end), of which ``every`` n-th is taken;
    ``bodies`` and ``fields``: only these. ``units``: lengths in "mm", "in", ... instead of metres; ``up``:
    the axis that points up in the file, instead of the scene's; ``start``: the number of the first file of a
    sequence, the others following one by one (default: frames keep their own); ``normals``: smooth normals
    in a USD file too. ``progress`` is called with
    (done, in all): files, or frames where one file holds them all.
    InputError before anything is written: unknown suffix or names, files that exist without ``force``.
    """
    path = Path(out)
    exporter = exporter_for(path)
    options = {
        "frames": frames,
        "every": every,
        "bodies": bodies,
        "fields": fields,
        "units": units,
        "up": up,
        "start": start,
        "normals": normals or None,
    }
    return export_with(exporter, run, path, options, force, progress)
