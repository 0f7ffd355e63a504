"""Runs to files that other programs read: one module per format, one table of suffixes.

export(run, "frame_%04d.obj")      surfaces with UVs, normals and groups; .ply likewise
export(run, "beam.pvd")            volume meshes with fields, beam_0000.vtu and so on, and their times
export(run, "beam.vtkhdf")         the same in one file
export(run, "beam.usd")            surfaces over time: points and velocities; .glb as morph animation
export(run, "beam.pc2")            a vertex cache; .mdd likewise
export(run, "frame_%04d.rib")      pictures to be rendered, with a camera
export(run, "last.stl", frames=-1) one frame for printing; .str likewise
export(run, "beam.npz")            everything for NumPy
export(run, "beam.csv")            series; those recorded every step go to beam.step.csv
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.exporters.array_formats import CSV, NPZ
from pliant.exporters.glb import GLB
from pliant.exporters.job import Exporter, Job, Piece, export_with
from pliant.exporters.rib import RIB
from pliant.exporters.surfaces import MDD, OBJ, PC2, PLY, STL, STR
from pliant.exporters.usd import USD, USDA, USDC
from pliant.exporters.vtkhdf import VTKHDF
from pliant.exporters.vtu import PVD, VTU
from pliant.run.requests import ExportRequest
from pliant.run.store import Run

__all__ = [
    "CSV",
    "EXPORTERS",
    "OBJ",
    "PLY",
    "PVD",
    "VTU",
    "Exporter",
    "Job",
    "Piece",
    "export",
    "export_with",
]

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
    request: ExportRequest | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> list[Path]:
    """Write a run to files, in the format that the suffix of ``out`` names; gives the files written.

    Options are the fields of ``ExportRequest``, given as one or by name. Formats with a file per frame need a
    place for its number, as in ``frame_%04d.obj``. ``progress`` is called with (done, in all): files, or
    frames where one file holds them all. InputError before anything is written: unknown suffix or names,
    files that exist without ``force``.
    """
    asked = ExportRequest(**options) if request is None else replace(request, **options)
    path = Path(out)
    return export_with(exporter_for(path), run, path, asked, progress)
