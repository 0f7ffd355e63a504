"""Scenes of material tests, and measurements made of them with noise."""

from pathlib import Path

import numpy as np

from pliant.calibration.evaluation import simulate
from pliant.campaign.resolved_scene import scene_at

BAR = """
[[bodies]]
name = "bar"
shape = { box = { size = [0.1, 0.02, 0.02], divisions = [4, 1, 1] } }
model = "MODEL"
material = { young = "1 MPa", poisson = 0.3, density = 1000MORE }
"""
FACE = '{ body = "bar", plane = { axis = "x", at = "AT" } }'
LOW, HIGH = FACE.replace("AT", "min"), FACE.replace("AT", "max")
FREE = """
[[actions]]
type = "fix"
select = { body = "bar", nearest = { to = [0, 0, 0] } }
axes = ["y", "z"]
[[actions]]
type = "fix"
select = { body = "bar", nearest = { to = [0, 0.02, 0] } }
axes = ["z"]
"""


def _head(time: str) -> str:
    return f'schema = 1\ntitle = "test"\n[time]\n{time}\n'


def _fix(where: str, axes: str) -> str:
    return f'\n[[actions]]\ntype = "fix"\nselect = {where}\naxes = {axes}\n'


def _move(axis: str, keys: list[tuple[float, float]]) -> str:
    vector = {"x": "[{}, 0, 0]", "z": "[0, 0, {}]"}[axis]
    listed = ", ".join(f"{{ time = {t}, value = {vector.format(u)} }}" for t, u in keys)
    return f'\n[[actions]]\ntype = "move"\nselect = {HIGH}\naxes = ["{axis}"]\nkeys = [{listed}]\n'


GRIP = f'\n[[measures]]\ntype = "reaction"\nname = "grip"\nselect = {HIGH}\n'
TIP = f'\n[[measures]]\ntype = "probe"\nname = "tip"\nselect = {HIGH}\nwhat = "displacement"\n'
TENSION = (
    _head('duration = 1.0\nfps = 30\nintegrator = "static"') + BAR + _fix(LOW, '["x"]') + FREE
    + _move("x", [(0, 0), (1, 0.02)]) + GRIP
)  # fmt: skip
QUICK_TENSION = (
    _head('duration = 0.3\nfps = 100\nintegrator = "leapfrog"') + BAR + _fix(LOW, '["x", "y", "z"]')
    + _move("x", [(0, 0), (0.3, 0.02)]) + GRIP
)  # fmt: skip
"""For models without statics; both ends are clamped."""
BENDING = (
    _head('duration = 1.0\nfps = 30\nintegrator = "static"') + BAR + _fix(LOW, '["x", "y", "z"]')
    + _move("z", [(0, 0), (1, 0.02)]) + GRIP
)  # fmt: skip
RING_DOWN = (
    _head('duration = 0.6\nfps = 100\nintegrator = "implicit-midpoint"\nstep = 0.0025') + BAR
    + _fix(LOW, '["x", "y", "z"]')
    + f'\n[[actions]]\ntype = "force"\nselect = {HIGH}\nvalue = [0, 0, 0.02]\nuntil = 0.05\n' + TIP
)  # fmt: skip
FREE_VIBRATION = (
    _head('duration = 0.3\nfps = 100\nintegrator = "implicit-midpoint"\nstep = 0.0025')
    + BAR.replace('model = "MODEL"', 'model = "MODEL"\nvelocity = [0, 0, 0.1]')
    + _fix(LOW, '["x", "y", "z"]') + TIP
)  # fmt: skip
"""The bar is moving at the start; there is no force whose size is known."""
LOAD_UNLOAD = (
    _head('duration = 2.0\nfps = 20\nintegrator = "static"') + BAR.replace("MORE", ', yield = "60 kPa"MORE')
    + _fix(LOW, '["x"]') + FREE + _move("x", [(0, 0), (1, 0.02), (2, 0.0)]) + GRIP
)  # fmt: skip
PUNCH = '{ body = "bar", box = { min = [0.02, 0.02, 0.055], max = [0.08, 0.08, 0.07] } }'
INDENTATION = (
    _head('duration = 1.0\nfps = 12\nintegrator = "static"')
    + BAR.replace("[0.1, 0.02, 0.02], divisions = [4, 1, 1]", "[0.1, 0.1, 0.06], divisions = [4, 4, 3]")
    + _fix('{ body = "bar", plane = { axis = "z", at = "min" } }', '["x", "y", "z"]')
    + f'\n[[actions]]\ntype = "move"\nselect = {PUNCH}\naxes = ["x", "y", "z"]\n'
    + "keys = [{ time = 0, value = [0, 0, 0] }, { time = 1, value = [0, 0, -0.008] }]\n"
    + f'\n[[measures]]\ntype = "reaction"\nname = "punch"\nselect = {PUNCH}\n'
)
"""A flat punch of 50 x 50 mm, bonded to a block, pressed 8 mm into it."""
SLOPE = (
    _head('duration = 0.5\nfps = 40\nintegrator = "leapfrog"') + BAR
    + '\n[[actions]]\ntype = "gravity"\nacceleration = [4.905, 0, -8.496]\n'  # a slope of 30 degrees
    + '\n[[actions]]\ntype = "ground"\nfriction = 0.3\n'
    + '\n[[measures]]\ntype = "probe"\nname = "block"\nselect = { body = "bar", all = true }\n'
    + 'what = "displacement"\n'
)  # fmt: skip


def scene(template: str, model: str = "fem", more: str = "") -> str:
    """The text of a scene; ``more``: keys of its material."""
    return template.replace("MODEL", model).replace("MORE", more)


def measure(folder: Path, text: str, values: dict[str, float], series: str, noise: float, seed: int) -> Path:
    """Write scene.toml, and data.csv: ``series`` over time with ``noise``, a share of its largest value."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.toml").write_text(text)
    found = simulate(scene_at(text, values))
    spread = noise * np.abs(found[series]).max()
    y = found[series] + spread * np.random.default_rng(seed).normal(size=len(found[series]))
    lines = [f"{t!r},{v!r}" for t, v in zip(found["time"].tolist(), y.tolist(), strict=True)]
    (folder / "data.csv").write_text("t [s],y\n" + "\n".join(lines) + "\n")
    return folder
