"""Draws multires-poke.jpg and multires-figures.jpg, coloured by level: a calf of the matrix that stands on
its feet and is poked at the head, and figures 7 and 8 of Debunne et al. (2000) by their examples.

python docs/pictures/multires_figure.py
"""

import tempfile
from pathlib import Path

from PIL import Image

import pliant as pl
from pliant.core.curves import Curve
from pliant.validation.matrix.figures import FIGURES

NAME = "calf"
EXAMPLES = {"multires-cube-poke": 50, "multires-sphere-poke": 72}  # and the frame that is shown
HERE = Path(__file__).parent


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


def draw(scenes: dict[str, tuple[pl.Scene, int]], out: Path, folder: Path) -> None:
    """The scenes at their frames, side by side."""
    pictures = []
    for name, (each, frame) in scenes.items():
        run = each.run(to=folder / f"{name}.pliant")
        print(name, {key: float(run.series[key][frame]) for key in run.series if ".active." in key})
        shown = run.render(folder / f"{name}.png", colour="level", frame=frame)
        pictures.append(Image.open(shown).convert("RGB").resize((960, 540)))
    whole = Image.new("RGB", (960 * len(pictures), 540))
    for k, picture in enumerate(pictures):
        whole.paste(picture, (960 * k, 0))
    whole.save(out, quality=88)


if __name__ == "__main__":
    examples = Path(pl.__file__).parent / "examples"
    found = {name: (pl.read(examples / f"{name}.toml"), frame) for name, frame in EXAMPLES.items()}
    with tempfile.TemporaryDirectory() as given:
        draw({NAME: (scene(), 24)}, HERE / "multires-poke.jpg", Path(given))
        draw(found, HERE / "multires-figures.jpg", Path(given))
