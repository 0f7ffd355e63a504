"""Runs to files that other programs read: one module per format, one table of suffixes.

export(run, "frame_%04d.obj")      surfaces with UVs, normals and groups; .ply likewise
export(run, "beam.pvd")            volume meshes with fields, beam_0000.vtu and so on, and their times
export(run, "beam.csv")            series; those recorded every step go to beam.step.csv
"""

from pliant.exporters.csv_series import CSV
from pliant.exporters.job import Exporter, Job, Piece, export_with
from pliant.exporters.obj import OBJ
from pliant.exporters.ply import PLY
from pliant.exporters.table import EXPORTERS, export
from pliant.exporters.vtu import PVD, VTU

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
