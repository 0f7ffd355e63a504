"""Compiled loops over nodes of all levels that look for those near a rigid shape."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.contact.signed_distance import PLANE, shape_distance
from pliant.kernels.jit import jit


@jit
def _distance(shape, size, frame, x, y, z):
    """Distance of a point from a shape, relative to its place."""
    p = frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z
    q = frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z
    r = frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z
    return shape_distance(shape, size, p, q, r)[0]


@jit
def keep_nearest(shape, size, frame, centre, points, d, reach, away):
    """Lower ``away`` (n,) to the distance of nodes from a rigid shape, where that is within their reach."""
    bound = size[0] + size[1] + size[2]
    for i in range(away.shape[0]):
        x = points[i, 0] + d[i, 0] - centre[0]
        y = points[i, 1] + d[i, 1] - centre[1]
        z = points[i, 2] + d[i, 2] - centre[2]
        if shape != PLANE and x * x + y * y + z * z > (bound + reach[i]) ** 2:
            continue
        away[i] = min(away[i], _distance(shape, size, frame, x, y, z))


@jit
def within_reach(shape, size, frame, places, nodes, first, points, d, v, spacing, dt):
    """Which of ``nodes`` (level k's begin at ``first[k]``) may meet the shape at any of its ``places`` within
    dt: those nearer than their way in twice that time and their level's spacing; and where a level's
    begin."""
    found = np.empty(nodes.shape[0], np.int64)
    begins = np.zeros(first.shape[0], np.int64)
    n = 0
    for k in range(first.shape[0] - 1):
        for e in range(first[k], first[k + 1]):
            i = nodes[e]
            speed = np.sqrt(v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
            reach = 2.0 * dt * speed + spacing[k]
            close = False
            for o in range(places.shape[0]):
                x = points[i, 0] + d[i, 0] - places[o, 0]
                y = points[i, 1] + d[i, 1] - places[o, 1]
                z = points[i, 2] + d[i, 2] - places[o, 2]
                close |= _distance(shape, size, frame, x, y, z) < reach
            if close:
                found[n] = i
                n += 1
        begins[k + 1] = n
    return found[:n].copy(), begins
