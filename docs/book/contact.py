"""Contact of particles with the ground: impulses, restitution and Coulomb friction in leapfrog steps."""

import numpy as np


def respond(x, v, f, mass, dt, restitution, friction):
    """Positions and velocities after the contact with the plane z = 0; x has drifted by dt v.

    The normal impulse stops a particle at the surface, or sends it back; friction takes the sliding velocity
    up to ``friction`` times the normal change, and the displacement that goes with it.
    """
    x, v = x.copy(), v.copy()
    for i in np.flatnonzero(x[:, 2] < 0):
        approach = v[i, 2]
        gap = x[i, 2] - dt * approach  # before the drift
        if approach >= 0:
            x[i, 2] = 0.0  # inside, and leaving
            continue
        pressing = -f[i, 2] / mass[i] * dt  # approach that the load gives it in a step
        normal = -approach - max(gap, 0.0) / dt
        if restitution > 0 and -approach > 2 * pressing:  # an impact, no resting contact
            normal = -approach + restitution * (-approach - max(pressing, 0.0))
        slide = np.array([v[i, 0], v[i, 1], 0.0])
        slip = np.linalg.norm(slide)
        share = min(friction * normal / slip, 1.0) if slip > 0 else 0.0
        jump = np.array([0, 0, normal]) - share * slide
        v[i] += jump
        x[i] += dt * jump
        x[i, 2] -= min(gap, 0.0)
    return x, v


def slide(x, v, mass, load, dt, steps, restitution, friction):
    """Leapfrog, kick - drift - contact - kick, of free particles under a constant load."""
    f = np.broadcast_to(load, x.shape) * mass[:, None]
    for _ in range(steps):
        v = v + 0.5 * dt * f / mass[:, None]
        x = x + dt * v
        x, v = respond(x, v, f, mass, dt, restitution, friction)
        v = v + 0.5 * dt * f / mass[:, None]
    return x, v


if __name__ == "__main__":
    x, v = np.zeros((1, 3)), np.array([[2.0, 0.0, 0.0]])
    x, v = slide(x, v, np.ones(1), np.array([0, 0, -9.81]), 1e-3, 1000, 0.0, 0.3)
    print("sliding distance [m]:", x[0, 0], "closed form:", 2.0**2 / (2 * 0.3 * 9.81))
