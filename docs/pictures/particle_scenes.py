"""Makes the pictures of docs/particle-scenes.md: ``python docs/pictures/particle_scenes.py [NAME...]``.

``paws`` needs the Stanford bunny and the cow in ``../shared/models``; the page's other pictures need nothing.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from particle_models import COLOURS, HERE, plt, save
from PIL import Image

from pliant.core.diagnostics import Diagnostics
from pliant.examples import text
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.scene.load import parse

MODELS = HERE.parents[2] / "shared" / "models"


def series(name: str, changes: dict[str, str]) -> dict[str, Any]:
    """Series of a shipped scene, with some of its text replaced."""
    scene = text(name)
    for old, new in changes.items():
        scene = scene.replace(old, new)
    loaded = parse(scene)
    simulation = loaded.simulation(loaded.structures(Diagnostics()))
    simulation.start()
    rows = [simulation.row()]
    for _ in range(loaded.time.frames() - 1):
        simulation.advance()
        rows.append(simulation.row())
    return dict(zip(simulation.columns, np.array(rows).T, strict=True))


def flux_more() -> None:
    """Figures 9.5, 9.8 and 9.10: shear, coarse against fine, and what keeping the volume changes."""
    figure, (shear, mesh, volume) = plt.subplots(1, 3, figsize=(13, 3.8))
    for model, colour in COLOURS.items():
        choose = {'model = "cpm1"': f'model = "{model}"'}
        found = series("everts-shear", choose)
        angle = 0.57 * np.minimum(found["time"] / 0.8, 1.0)
        shear.plot(angle, np.abs(found["flux.x"]) / 1e3, color=colour, label=model)
        print(model, "shear", f"{found['flux.x'][-1] / 1e3:.1f} kN, top {found['top.x'][-1] / 1e3:.1f} kN")
        for name, style in (("everts-stretch", "-"), ("everts-stretch-fine", "--")):
            found = series(name, choose)
            print(model, name, f"{found['flux.total'][-1] / 1e3:.1f} kN")
            label = f"{model}, {'coarse' if style == '-' else 'fine'}"
            mesh.plot(2 * found["face.x"], found["flux.total"] / 1e3, style, color=colour, label=label)
    for kept, style in ((True, "-"), (False, "--")):
        change = (
            {} if kept else {'type = "volume-constraint"\n': 'type = "volume-constraint"\nuntil = 0.001\n'}
        )
        found = series("everts-volume", change)
        ratio = found["volume"][-1] / found["volume"][0] - 1.0
        print(
            f"volume {'kept' if kept else 'free'}: {100 * ratio:.4f} % off, side {found['side.y'][-1]:.4f} m"
        )
        for part, colour in (("elastic", "tab:blue"), ("shear", "tab:red"), ("total", "k")):
            label = f"{part}, volume {'kept' if kept else 'free'}"
            volume.plot(-2 * found["face.x"], -found[f"flux.{part}"] / 1e3, style, color=colour, label=label)
    shear.plot([0, 0.57], [0, 590], color="0.7", lw=3, zorder=0, label="A gamma G")
    shear.set(title="shear (figure 9.5)", xlabel="shear", ylabel="shear resultant of the section [kN]")
    mesh.set(title="coarse and fine (figure 9.8)", xlabel="strain", ylabel="total flux [kN]")
    volume.set(title="cpm1, volume constraint (figure 9.10)", xlabel="compression", ylabel="flux [kN]")
    for axes in (shear, mesh, volume):
        axes.legend(fontsize=7)
    save(figure, "flux-more")


def eigenvalues() -> None:
    """Frequencies of small motions about rest: where they leave the real axis, motion grows."""
    figure, both = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, model in zip(both, COLOURS, strict=True):
        for form, colour in (("everts", "tab:red"), ("variational", "tab:blue")):
            table = {"type": model, "form": form}
            material = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
            body = Body(box(0.4, 0.3, 0.3, divisions=(4, 3, 3)), model=table, material=material)
            structure = body.structure()
            mechanics = body.model.prepare(structure, body.resolved_material)
            rest, n = structure.rest, structure.rest.size
            matrix = np.empty((n, n))
            for column in range(n):
                ahead, behind, step = np.zeros((3, *rest.shape))
                step.flat[column] = 1e-5 * structure.spacing
                mechanics.add_elastic_forces(rest + step, ahead)
                mechanics.add_elastic_forces(rest - step, behind)
                matrix[:, column] = ((behind - ahead) / (2e-5 * structure.spacing)).ravel()
            values = np.linalg.eigvals(matrix / np.repeat(structure.mass, 3)[:, None]).astype(complex)
            omega = np.sqrt(values)
            print(model, form, f"fastest growth {np.abs(omega.imag[np.abs(values) > 1]).max():.3g} /s")
            axes.plot(omega.real, omega.imag, ".", ms=4, color=colour, label=form)
        axes.set(title=model, xlabel="frequency [rad/s]", ylabel="growth [1/s]")
        axes.legend(fontsize=8)
    save(figure, "eigenvalues")


def sheet(pictures: list[Path], columns: int, name: str) -> None:
    """Pictures side by side."""
    images = [Image.open(path).convert("RGB") for path in pictures]
    width, height = images[0].size
    whole = Image.new("RGB", (columns * width, -(-len(images) // columns) * height), "white")
    for k, image in enumerate(images):
        whole.paste(image, (k % columns * width, k // columns * height))
    whole.save(HERE / f"{name}.jpg", quality=85, optimize=True)


SCENES: dict[str, dict[str, Any]] = {  # what shows each best
    "everts-hanging-beam": {"frame": 60, "colour": "stress"},
    "everts-twist": {"frame": 50, "colour": "stress"},
    "everts-sine-beam": {"frame": 150, "colour": "displacement.z"},
    "everts-sine-mattress": {"frame": 60, "colour": "displacement.z"},
    "everts-mattress-on-table": {"frame": 75},
    "everts-pulled-paws": {"frame": 50, "colour": "strain"},
}


def scenes() -> None:
    """Sections 9.2, 9.7 and 9.8: a frame of each."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = []
        for name, look in SCENES.items():
            run = parse(text(name)).run(to=Path(folder) / f"{name}.pliant")
            pictures.append(Path(folder) / f"{name}.png")
            run.render(pictures[-1], size=(352, 256), title=name, **look)
            print(name, "drawn")
        sheet(pictures, 3, "everts-scenes")


PULLED = """schema = 1
up = "y"
[time]
duration = 2.0
fps = 50
step = 0.01
integrator = "bdf2"
[[bodies]]
name = "body"
mesh = "{path}"
edge = {edge}
scale = {scale}
model = "{model}"
material = {{ young = "100 kPa", poisson = 0.4, density = 1200 }}
[[actions]]
type = "move"
select = {{ body = "body", box = {{ min = {low}, max = {high} }} }}
keys = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 0.3, value = [0, -0.2, 0] }}]
ease = "smooth"
[[actions]]
type = "damping"
rate = 8
"""


BODIES: dict[str, dict[str, Any]] = {  # what the text calls paws: a box around them
    "stanford-bunny": {"edge": 0.0132, "scale": 2.0, "low": [-0.2, 0.0, -0.2], "high": [-0.04, 0.1, 0.2]},
    "cow": {"edge": 0.0105, "scale": 0.05, "low": [-1.0, -0.2, -1.0], "high": [1.0, -0.16, 1.0]},
}


def pulled(name: str, model: str, folder: Path) -> list[Path]:
    """Pull a body down by its paws, print how it went, and draw three frames."""
    filled = PULLED.format(path=MODELS / f"{name}.obj", model=model, **BODIES[name])
    run = parse(filled).run(to=folder / f"{name}-{model}.pliant", force=True)
    scene: Scene = parse(filled)
    structure = scene.bodies[0].structure(lambda _: None)
    tets = structure.cells["tetra"]
    inverted = [int(np.sum(tet_volumes(frame.positions, tets) <= 0.0)) for frame in run.frames]
    speed = np.abs(np.diff([run.frames[-2].positions, run.frames[-1].positions], axis=0)).max() * 50
    print(
        f"{name} {model}: {len(structure.rest)} particles, {len(tets)} tets; "
        f"inverted at most {max(inverted)} and {inverted[-1]} at the end; "
        f"fastest particle at the end {1e3 * speed:.3g} mm/s; "
        f"kinetic energy at most {run.series['energy.kinetic'].max():.3g} J, "
        f"at the end {run.series['energy.kinetic'][-1]:.3g} J",
        flush=True,
    )
    pictures = []
    for frame in (8, 16, 100):
        pictures.append(folder / f"{name}-{model}-{frame}.png")
        look = {"colour": "strain", "range": "0:0.6", "title": f"{name}, {model}, {frame / 50:g} s"}
        run.render(pictures[-1], size=(352, 352), frame=frame, **look)
    return pictures


def paws() -> None:
    """Section 9.8: the bunny with both models, and the cow."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pictures = [p for model in COLOURS for p in pulled("stanford-bunny", model, folder)]
        pictures += pulled("cow", "cpm1", folder)
        sheet(pictures, 3, "pulled-paws")


PICTURES: dict[str, Callable[[], None]] = {
    "flux-more": flux_more,
    "eigenvalues": eigenvalues,
    "scenes": scenes,
    "paws": paws,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        PICTURES[chosen]()
