"""
Measuring a material
====================

A tension test in the computer: which Young's modulus and Poisson's ratio has a body of this mesh and model?
The same steps find the constants of a real material, with a measured curve in place of the virtual one.
"""

# %%
# A bar is pulled by up to 2 % of its length. One end is held along the axis only, so that it can contract.

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

LENGTH, DEPTH = 0.2, 0.05
bar = pl.Body(
    pl.shapes.box(LENGTH, DEPTH, DEPTH, divisions=(8, 2, 2)),
    model="fem",
    material={"young": 2e6, "poisson": 0.3, "density": 1000},
)
left, right = pl.where.plane("x", "min"), pl.where.plane("x", "max")
pull = {"keys": [{"time": 0, "value": [0, 0, 0]}, {"time": 0.2, "value": [0.02 * LENGTH, 0, 0]}]}
actions = [
    pl.Fix(bar, left, axes="x"),
    pl.Fix(bar, pl.where.nearest((0, 0, 0)), axes="yz"),
    pl.Fix(bar, pl.where.nearest((0, DEPTH, 0)), axes="z"),
    pl.Move(bar, right, displacement=pull, axes="x"),
]
measures = [
    pl.Reaction(select=right, name="grip"),
    pl.Probe(select=right, name="end", what="displacement"),
    pl.Probe(select=pl.where.plane("y", "max"), name="side", what="displacement"),
]

# %%
# ``static``: every frame is an equilibrium, as in a slow test.

scene = pl.Scene([bar], actions, measures, integrator="static")
run = scene.run(duration=0.2, fps=50, to="tension.pliant", force=True)
strain = run.series["end.x"] / LENGTH
stress = run.series["grip.x"] / DEPTH**2

# %%
# Young's modulus is the slope, Poisson's ratio the contraction over the stretch.

young = np.polyfit(strain, stress, 1)[0]
contraction = run.series["side.y"][-1] / DEPTH
poisson = -contraction / strain[-1]
print(f"E = {young / 1e6:.3f} MPa (asked for: 2), nu = {poisson:.3f} (asked for: 0.3)")
assert abs(young / 2e6 - 1) < 0.02
assert abs(poisson - 0.3) < 0.01

# %%
# The curve. With your own measurement in a CSV file, ``pliant fit`` searches the constants for which the
# simulated curve is the measured one.

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(100 * strain, stress / 1e3, "o-")
axes.set(xlabel="strain [%]", ylabel="stress [kPa]")
