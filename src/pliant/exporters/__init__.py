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

from pliant.exporters.csv_series import CSV
from pliant.exporters.job import Exporter, Job, Piece, export_with
from pliant.exporters.obj import OBJ
from pliant.exporters.ply import PLY
from pliant.exporters.registry import EXPORTERS, export
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
