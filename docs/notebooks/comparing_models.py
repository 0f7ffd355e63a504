"""
Comparing models
================

The same cantilever with four models: one word changes. Which sags as far as beam theory says, and at what
cost?
"""

# %%
# A short beam that sags under its own weight until it rests. Theory, with shear:
# :math:`w = \rho g A L^4 / 8 E I + \rho g L^2 / 2 \kappa G`.

import time

import matplotlib.pyplot as plt

import pliant as pl

LENGTH, DEPTH, YOUNG, POISSON, DENSITY, GRAVITY = 0.4, 0.1, 3e5, 0.3, 1000.0, 9.81
inertia = DEPTH**4 / 12
bending = DENSITY * GRAVITY * DEPTH**2 * LENGTH**4 / (8 * YOUNG * inertia)
shear = DENSITY * GRAVITY * LENGTH**2 / (2 * 5 / 6 * YOUNG / (2 * (1 + POISSON)))
theory = bending + shear
print(f"theory: {1e3 * theory:.1f} mm")

# %%
# One function for all models. ``static`` finds the equilibrium directly.


def sag(model):
    """Sag of the end [m] and the seconds that it took."""
    beam = pl.Body(
        pl.shapes.box(LENGTH, DEPTH, DEPTH, divisions=(12, 3, 3)),
        model=model,
        material={"young": YOUNG, "poisson": POISSON, "density": DENSITY},
    )
    actions = [pl.Gravity(), pl.Fix(beam, pl.where.plane("x", "min"))]
    tip = pl.Probe(select=pl.where.plane("x", "max"), what="displacement", name="tip")
    scene = pl.Scene([beam], actions, [tip], integrator="static")
    start = time.perf_counter()
    run = scene.run(duration=0.02, fps=50, to="compare.pliant", force=True)
    return -run.series["tip.z"][-1], time.perf_counter() - start


models = {
    "mass-spring": "mass-spring",
    "fem": "fem",
    "cpm2": "cpm2",
    "fem, quadratic": {"type": "fem", "elements": "quadratic"},
}
results = {name: sag(model) for name, model in models.items()}
for name, (way, seconds) in results.items():
    print(f"{name:15} {1e3 * way:5.1f} mm, {way / theory - 1:+.0%}, {seconds:.1f} s")

# %%
# Quadratic elements are right; the linear ones are too stiff with three cells across. More cells, or
# quadratic elements, cure that: see the page *Tune*.

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.bar(list(results), [1e3 * way for way, _ in results.values()])
axes.axhline(1e3 * theory, color="black", linestyle="--", label="theory")
axes.set(ylabel="sag [mm]")
axes.legend()
assert abs(results["fem, quadratic"][0] / theory - 1) < 0.1
