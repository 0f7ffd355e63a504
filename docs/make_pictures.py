"""Makes the pictures of the docs that are graphs: python docs/make_pictures.py (needs matplotlib)."""

from pathlib import Path

import matplotlib
import numpy as np

from pliant.materials import resolve
from pliant.mesh.mesh import TetMesh
from pliant.models import MassSpring
from pliant.structure.samplers.tets import density_of_tets, sample_tets

matplotlib.use("Agg")
HERE = Path(__file__).parent / "pictures"


def single_tet_collapse() -> None:
    """Force on the top corner of a regular tet with edge 1, E = 1, pushed through the opposite face."""
    import matplotlib.pyplot as plt

    height = np.sqrt(2 / 3)
    base = [[np.cos(a) / np.sqrt(3), np.sin(a) / np.sqrt(3), 0.0] for a in 2 * np.pi * np.arange(3) / 3]
    mesh = TetMesh(np.array([*base, [0.0, 0.0, height]]), np.array([[0, 1, 2, 3]]))
    figure, axes = plt.subplots(figsize=(6.4, 3.6), dpi=110)
    for poisson, label in (
        (0.25, "springs alone (Poisson's ratio 1/4)"),
        (0.45, "with the volumetric term (0.45)"),
    ):
        material = resolve({"young": 1.0, "poisson": poisson, "density": 1.0})
        structure = sample_tets(mesh, None, density_of_tets(mesh, material))
        mechanics = MassSpring().prepare(structure, material)
        depth = np.linspace(0.0, 2.2, 221)
        force = []
        for d in depth:
            x = structure.rest.copy()
            x[3, 2] -= d * height
            out = np.zeros_like(x)
            mechanics.add_forces(x, np.zeros_like(x), out)
            force.append(out[3, 2])
        axes.plot(depth, force, label=label)
    axes.axvline(1.0, color="0.6", lw=0.8)
    axes.axhline(0.0, color="0.6", lw=0.8)
    axes.text(1.01, axes.get_ylim()[0] * 0.9, "flat", color="0.4")
    axes.set_xlabel("displacement of the corner / height of the tet")
    axes.set_ylabel("restoring force / (E edge²)")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(HERE / "single-tet-collapse.png")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    single_tet_collapse()
