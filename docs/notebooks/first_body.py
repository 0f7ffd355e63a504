"""
A first body
============

A rubber beam, clamped at one end, falls under its own weight. This notebook makes the body, runs it, and
looks at numbers and pictures of the run.
"""

# %%
# A body is a shape, a model and a material. ``divisions`` gives it a regular mesh: 12 cells along, 2 across.

import matplotlib.pyplot as plt

import pliant as pl

beam = pl.Body(
    pl.shapes.box(1.0, 0.1, 0.1, divisions=(12, 2, 2)),
    model={"type": "fem", "elements": "quadratic"},
    material="rubber",
)

# %%
# What acts on it, what is measured, and how time advances. Implicit steps may be long: 10 ms here.

hold = pl.Fix(beam, pl.where.plane("x", "min"))
tip = pl.Probe(select=pl.where.plane("x", "max"), name="tip")
scene = pl.Scene([beam], [pl.Gravity(), hold], [tip], integrator="implicit-euler")
run = scene.run(duration=1.0, fps=50, to="first-body.pliant", force=True)

# %%
# A run is a folder on disk. Series are arrays by name, with one value a frame.

time, z = run.series["time"], run.series["tip.z"]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(time, z)
axes.set(xlabel="time [s]", ylabel="height of the tip [m]")

# %%
# Frames hold positions and fields. The largest von Mises stress of the last frame, in kPa:

stress = run.frames[-1].field("stress").values
print(f"{stress.max() / 1e3:.0f} kPa at most, {stress.mean() / 1e3:.0f} kPa on average")

# %%
# The energy ledger says whether to trust it: what it cannot explain, as a share of the work of gravity.

series = run.series
share = abs(series["energy.unexplained"]).max() / abs(series["energy.gravity"]).max()
print(f"unexplained: {share:.1e}")
assert share < 1e-3
