"""Makes the pictures of docs/particle-models.md: ``python docs/pictures/particle_models.py [NAME...]``.

Needs matplotlib (``pip install 'pliant[render]'``).
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from pliant.actions import Fix, Gravity
from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import Diverged
from pliant.core.where import plane
from pliant.examples import text
from pliant.mesh.mesh import TetMesh
from pliant.mesh.shapes import BeamWithHole, box, gummy, sphere
from pliant.scene import Body
from pliant.scene.load import parse
from pliant.structure.samplers.dual import dual_cells
from pliant.structure.samplers.dual.sampler import str_blocks

HERE = Path(__file__).parent
COLOURS = {"cpm1": "tab:blue", "cpm2": "tab:orange"}
RUBBER = {"young": 3e6, "poisson": 0.45, "density": 1200.0}


def save(figure: Any, name: str) -> None:
    figure.tight_layout()
    figure.savefig(HERE / f"{name}.png", dpi=62, bbox_inches="tight")
    plt.close(figure)


def draw_cells(axes: Any, mesh: TetMesh, recipe: Any, title: str, view: tuple[float, float]) -> None:
    """Faces of the cells in the far half of a body, negative areas in red."""
    dual = dual_cells(mesh.points, mesh.tets, recipe)
    blocks: Any = str_blocks(dual, mesh)
    vertices = blocks["voronoivertices"]
    d = mesh.points[dual.edges[:, 1]] - mesh.points[dual.edges[:, 0]]
    wrong = np.einsum("ij,ij->i", dual.areas, d) <= 0
    middle = 0.5 * (mesh.points.min(axis=0) + mesh.points.max(axis=0))
    for bad, colour, edge in ((False, "#9ec5e8", "#1f4e79"), (True, "#e03030", "#701010")):
        chosen = [r for r, w in zip(blocks["voronoiridges"], wrong, strict=True) if w == bad]
        polygons = [vertices[row[3:]] for row in chosen]
        polygons = [p for p in polygons if p[:, 1].mean() > middle[1]]
        axes.add_collection3d(
            Poly3DCollection(polygons, facecolors=colour, edgecolors=edge, linewidths=0.3, alpha=0.85)
        )
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    size = 0.5 * float((high - low).max())
    for set_limits, c in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), 0.5 * (low + high), strict=True):
        set_limits(c - size, c + size)
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.view_init(*view)
    axes.set_axis_off()
    axes.set_title(f"{title}\n{100 * wrong.mean():.1f} % of the faces negative", fontsize=10)


def cells() -> None:
    """Figures 6.5 and 6.6: the blended cells, and the text's own."""
    bodies = {
        "cube": Body(box(1.0, 1.0, 1.0), edge=0.45, mesher="lattice"),
        "ball": Body(sphere(1.0), edge=0.6, mesher="lattice"),
        "bear": Body(gummy(0.1), edge=0.013, mesher="lattice"),
    }
    figure = plt.figure(figsize=(11, 7.5))
    for column, (name, body) in enumerate(bodies.items()):
        mesh = body.geometry(Diagnostics()).tets()
        for row, recipe in enumerate(("blended", "everts")):
            axes = figure.add_subplot(2, 3, 1 + column + 3 * row, projection="3d")
            draw_cells(axes, mesh, recipe, f"{name}, dual = {recipe!r}", (18, -70))
    save(figure, "dual-cells")


def single_tet() -> None:
    """Figure 7.3: total force in one tet whose top is moved up and down, or sideways."""
    points = np.array(
        [[0.0, 0, 0], [1, 0, 0], [0.5, np.sqrt(0.75), 0], [0.5, np.sqrt(1 / 12), np.sqrt(2 / 3)]]
    )
    mesh = TetMesh(points, np.array([[0, 1, 2, 3]]))
    moves = {"compression": [0.0, 0, 1], "shear": [1.0, 0, 0]}
    figure, both = plt.subplots(1, 2, figsize=(10, 3.8))
    for axes, (title, direction) in zip(both, moves.items(), strict=True):
        for form, style in (("everts", "-"), ("variational", "--")):
            model = {"type": "cpm2", "form": form, "mapping": "everts", "constants": [3e6, 1e6]}
            body = Body(mesh, model=model, material=RUBBER)
            mechanics = body.model.prepare(body.structure(), body.resolved_material)
            steps = np.linspace(-0.5, 0.5, 81)
            above = np.array([False, False, False, True])
            parts = []
            for step in steps:
                x = points + step * np.array(direction) * above[:, None]
                found = mechanics.flux(x, above)
                parts.append([found[name][0] @ np.array(direction) / 1e6 for name in ("elastic", "shear")])
            for values, colour, name in zip(
                np.array(parts).T, ("tab:blue", "tab:red"), ("elastic", "shear"), strict=True
            ):
                axes.plot(steps, -values, style, color=colour, label=f"{name}, {form}")
        axes.axhline(0, color="0.8", lw=0.8)
        axes.set(title=f"{title}: top moved by s", xlabel="s [m]", ylabel="force on the top against s [MN]")
        axes.legend(fontsize=8)
    save(figure, "single-tet")


def flux() -> None:
    """Figures 9.3 and 9.4: force through the middle of a cube over its strain."""
    figure, both = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True)
    for axes, model in zip(both, COLOURS, strict=True):
        for name, sign in (("everts-stretch", 1.0), ("everts-compress", -1.0)):
            scene = parse(text(name).replace('model = "cpm1"', f'model = "{model}"'))
            simulation = scene.simulation(scene.structures(Diagnostics()))
            simulation.start()
            rows = [simulation.row()]
            for _ in range(scene.time.frames() - 1):
                simulation.advance()
                rows.append(simulation.row())
            series = dict(zip(simulation.columns, np.array(rows).T, strict=True))
            strain = sign * 2 * series["face.x"]
            for part, colour in (
                ("elastic", "tab:blue"),
                ("shear", "tab:red"),
                ("volumetric", "tab:green"),
                ("total", "k"),
            ):
                label = part if sign > 0 else None
                axes.plot(
                    strain,
                    sign * series[f"flux.{part}"] / 1e3,
                    "-" if sign > 0 else "--",
                    color=colour,
                    label=label,
                )
        axes.plot([0, 0.16], [0, 480], color="0.7", lw=3, zorder=0, label="A eps E")
        axes.set(title=f"{model}: stretch, compress (dashed)", xlabel="strain", ylabel="flux [kN]")
        axes.legend(fontsize=8)
    save(figure, "flux")


def energy() -> None:
    """The beam of section 9.2, undamped, for ten seconds: total and kinetic energy."""
    figure, axes = plt.subplots(figsize=(8, 3.8))
    for model, colour in COLOURS.items():
        for form, style in (("variational", "-"), ("everts", "--")):
            rows = swing({"type": model, "form": form})
            time = np.arange(len(rows)) / 50
            kinetic = np.array([row["energy.kinetic"] for row in rows])
            if form == "variational":
                total = np.array([row["energy.total"] for row in rows])
                print(
                    f"{model}: total energy within {np.ptp(total):.3g} J, kinetic up to {kinetic.max():.4g} J"
                )
                axes.plot(time, total, style, color=colour, label=f"{model}, variational: total")
            axes.plot(time, kinetic, style, color=colour, lw=0.7, label=f"{model}, {form}: kinetic")
            print(f"{model}, {form}: lasted {time[-1]:.2f} s, kinetic energy up to {kinetic.max():.4g} J")
    axes.set(xlabel="time [s]", ylabel="energy [J]", ylim=(-50, 900))
    axes.legend(fontsize=7, ncols=3)
    save(figure, "energy")


def swing(model: dict[str, str], seconds: float = 10.0) -> list[dict[str, float]]:
    """Series of the swinging beam with the text's number of particles, up to where it blows up."""
    from pliant.scene import Scene, TimeSettings

    beam = Body(BeamWithHole(size=(2.0, 0.2, 0.4)), edge=0.0605, model=model, material=RUBBER)
    scene = Scene([beam], [Gravity(10.0), Fix(beam, plane("x", "min"))], time=TimeSettings(duration=seconds))
    simulation = scene.simulation(scene.structures(Diagnostics()))
    simulation.start()
    rows = [dict(zip(simulation.columns, simulation.row(), strict=True))]
    for _ in range(scene.time.frames() - 1):
        try:
            simulation.advance()
        except Diverged as end:
            print(model, end)
            break
        rows.append(dict(zip(simulation.columns, simulation.row(), strict=True)))
    return rows


PICTURES: dict[str, Callable[[], None]] = {
    "cells": cells,
    "single-tet": single_tet,
    "flux": flux,
    "energy": energy,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        PICTURES[chosen]()
