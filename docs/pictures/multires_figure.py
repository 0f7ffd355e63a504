"""Draws multires-poke.jpg: a calf of the matrix that stands on its feet, poked by a ball, coloured by level.

python docs/pictures/multires_figure.py
"""

import tempfile
from pathlib import Path

from PIL import Image

import pliant as pl
from pliant.core.curves import Curve
from pliant.validation.matrix.figures import FIGURES

NAME = "calf"


def scene() -> pl.Scene:
    """The calf, its feet held, and a ball that presses its head."""
    figure = FIGURES[NAME]
    tissue = {"young": 2e4, "poisson": 0.35, "density": 1000.0, "damping": 1e-3}
    body = pl.Body(figure.surface(), edge=figure.edge_length, model="multires", material=tissue, name=NAME)
    points = body.structure().rest
    low, high = points.min(axis=0), points.max(axis=0)
    tall, z = high[2] - low[2], float(low[2] + 0.75 * (high[2] - low[2]))
    y = float(low[1]) - 0.12 * float(tall)
    path = Curve([0.0, 0.3, 0.4], [(0.0, y, z), (0.0, y + 0.05, z), (0.0, y + 0.05, z)], ease="smooth")
    ball = pl.Obstacle(sphere={"radius": 0.1 * float(tall)}, position=path, friction=0.3, name="ball")
    feet = {"box": {"min": [-9, -9, -9], "max": [9, 9, float(low[2] + 0.05 * tall)]}}
    acting = [pl.Fix(body, feet), ball]
    return pl.Scene([body], acting, time=pl.TimeSettings(duration=0.4, fps=60))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run = scene().run(to=Path(folder) / "poke.pliant")
        print({name: float(run.series[name][-1]) for name in run.series if name.startswith(f"{NAME}.active")})
        out = run.render(Path(folder) / "poke.png", colour="level", frame=-1)
        picture = Image.open(out).convert("RGB").resize((960, 540))
        picture.save(Path(__file__).with_name("multires-poke.jpg"), quality=88)
