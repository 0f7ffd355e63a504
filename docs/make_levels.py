"""Prints the table of docs/multires.md: levels of the bodies of the matrix, or of given ones and surfaces.

    python docs/make_levels.py [hare ... surface.obj ...]

Bodies stand on their lowest twentieth, which is held. Of each level, beside the finest: the sag under weight
(the work of gravity), and the three lowest natural frequencies, of linear elasticity at rest. Pieces that are
not connected are joined. Largest deviation of the coarsest level's mass, and of its inertia about the origin,
from the particles', as shares of these, while nothing holds the body.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh, splu

import pliant as pl
from pliant.mesh.io import read_surface
from pliant.mesh.mesh import Surface
from pliant.models.multires.arrangement import Arrangement, Prescribed
from pliant.validation.matrix.figures import FIGURES, SIZE

TISSUE = {"young": 2e4, "poisson": 0.35, "density": 1000.0}


def given(path: Path) -> Surface:
    """A surface at the size of the figures."""
    found = read_surface(path)
    points = (found.points - found.points.mean(axis=0)) * SIZE / np.ptp(found.points, axis=0).max()
    return Surface(points, found.triangles)


def compared(hierarchy: Any) -> list[tuple[float, Any]]:
    """Sag and the lowest three frequencies of each level over those of the finest. Where coarse nodes share
    their particles, moving them against each other moves hardly any: modes of which the particles have less
    than 0.3 of the lumped kinetic energy are left out."""
    rest = hierarchy.points[hierarchy.particles]
    free = rest[:, 2] > rest[:, 2].min() + 0.05 * np.ptp(rest[:, 2])
    each = np.repeat(free, 3)
    stiffness = sparse.csc_array(hierarchy.stiffness[each][:, each])
    load = np.zeros((int(free.sum()), 3))
    load[:, 2] = hierarchy.mass[free]
    found, slowest = list[tuple[float, Any]](), 0.0
    for level in range(hierarchy.count - 1, -1, -1):
        rows = sparse.kron(hierarchy.rows_of_particles(level)[np.flatnonzero(free)], sparse.eye(3), "csc")
        mass = rows.T @ np.repeat(hierarchy.mass[free], 3)
        kept = np.flatnonzero(mass > 1e-9 * mass.max())
        rows, mass = sparse.csc_array(rows[:, kept]), mass[kept]
        masses = sparse.csc_array(sparse.diags_array(mass))
        matrix = sparse.csc_array(rows.T @ (stiffness @ rows)) + 1e-6 * slowest * masses
        given_load = rows.T @ load.ravel()
        sag = float(given_load @ splu(matrix).solve(given_load))
        start, asked, squares = np.random.default_rng(0).standard_normal(len(kept)), 3, np.zeros(0)
        while len(squares) < 3:
            squares, ways = eigsh(matrix, asked, masses, sigma=-0.01 * slowest, v0=start)
            slowest, asked = slowest or float(squares.min()), 4 * asked
            moved = np.sum(np.repeat(hierarchy.mass[free], 3)[:, None] * (rows @ ways) ** 2, axis=0)
            squares = np.sort(squares[moved > 0.3 * np.sum(mass[:, None] * ways**2, axis=0)])[:3]
        found.insert(0, (sag, np.sqrt(squares)))
    best, pitch = found[-1]
    return [(sag / best, tones / pitch) for sag, tones in found]


def rigid_errors(hierarchy: Any) -> tuple[float, float]:
    """Mass and inertia of the coarsest level less the particles', over the particles' largest."""
    free = Prescribed(np.zeros((len(hierarchy.mass), 3), bool))
    coarse = Arrangement(hierarchy, np.zeros(len(hierarchy.points), bool), free, 0.0)
    own, rest = hierarchy.points[coarse.active], hierarchy.points[hierarchy.particles]
    total, mass = hierarchy.mass.sum(), hierarchy.mass[:, None]
    weight = coarse.momenta_of(np.ones((len(own), 3))).sum(axis=0)[0]
    ways = np.eye(3)
    here = np.array([np.cross(own, coarse.momenta_of(np.cross(way, own))).sum(axis=0) for way in ways])
    there = np.array([np.cross(rest, mass * np.cross(way, rest)).sum(axis=0) for way in ways])
    return abs(weight / total - 1.0), float(np.abs(here - there).max() / np.abs(there).max())


def main() -> None:
    asked = sys.argv[1:] or list(FIGURES)
    known = {name: FIGURES[name] for name in asked if name in FIGURES}
    shapes = {name: (each.surface(), each.edge_length) for name, each in known.items()}
    shapes |= {Path(path).stem: (given(Path(path)), 0.03) for path in asked if path not in FIGURES}
    print("| body | nodes | stable steps [ms] | mass, inertia off | sag | frequencies |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (surface, edge) in shapes.items():
        model = {"type": "multires", "pieces": "joined"}
        body = pl.Body(surface, edge=edge, model=model, material=TISSUE, name=name)
        structure = body.structure()
        hierarchy = body.model.prepare(structure, body.resolved_material).hierarchy
        free = np.zeros((len(hierarchy.mass), 3), bool)
        steps = [1e3 * hierarchy.critical_step(level, free) for level in range(hierarchy.count)]
        ratios = compared(hierarchy)[:-1]
        off = "{:.0e}, {:.0e}".format(*rigid_errors(hierarchy))
        sags = ", ".join(f"{sag:.2f}" for sag, _ in ratios)
        tones = ", ".join(f"{pitch.min():.2f} to {pitch.max():.2f}" for _, pitch in ratios)
        counts = ", ".join(str(n) for n in np.diff(hierarchy.first))
        ticks = ", ".join(f"{step:.1f}" for step in steps)
        cells = (name, counts, ticks, off, sags, tones)
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
