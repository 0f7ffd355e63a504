r"""The law of a dual face, as compiled scalar functions: stretch and shear of a vector m against a normal N.

m is the image of the rest normal (length 1 at rest), N the face's present area vector. Stretch is
:math:`\epsilon = |m| - 1`, shear :math:`\gamma = \angle(m, N)`. The angle itself is never formed: forces need
:math:`\gamma/\sin\gamma`, a polynomial in :math:`(1 - \cos\gamma)/2`.

Where m or N shrink below ``FLAT`` of their rest size, the lengths in :math:`\cos\gamma` are replaced by
:math:`(r^2 + r_0^2)/2 r_0` (smoothly, the same value and slope at :math:`r_0`): a flattened face pushes back
with a finite force instead of an infinite one, and the energy stays an energy.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit

FLAT = 0.3
TINY = 1e-30


@jit
def angle_over_sine(c):
    """``gamma / sin gamma`` of ``c = cos gamma``, to 3e-11; pi / sin gamma (finite) at the reflection.

    With ``u = min(t, 1 - t)``, ``t = (1 - c)/2``: ``asin(sqrt u) / sqrt u`` as a polynomial of degree 11.
    """
    u = 0.5 - 0.5 * abs(c)
    p = -0.25760876672762145 + 0.1552340754648272 * u
    p = 0.23008650648658452 + u * p
    p = -0.09322938248324125 + u * p
    p = 0.044720351764911216 + u * p
    p = 0.011691001806051881 + u * p
    p = 0.02301201776629854 + u * p
    p = 0.03034020480725735 + u * p
    p = 0.044644242836880246 + u * p
    p = 0.07499998216090742 + u * p
    p = 0.16666666670446006 + u * p
    p = (1.0 + u * p) / np.sqrt(1.0 - u)
    behind = 1.0 * (c < 0.0)
    return (1.0 - 2.0 * behind) * p + behind * (0.5 * np.pi) / np.sqrt(abs(u) * (1.0 - u) + TINY)


@jit
def softened(length, floor):
    """A length that stays above ``floor / 2``, and the slope of it."""
    below = floor - length
    below = 0.5 * (below + abs(below))
    return length + below * below / (2.0 * floor), 1.0 - below / floor


@jit
def face_gradient(mx, my, mz, nx, ny, nz, stretch, shear, floor):
    """Gradient of ``stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` with respect to m and N; six numbers."""
    m = np.sqrt(mx * mx + my * my + mz * mz + TINY)
    n = np.sqrt(nx * nx + ny * ny + nz * nz + TINY * floor * floor)
    sm, dm = softened(m, FLAT)
    sn, dn = softened(n, floor)
    scale = 1.0 / (sm * sn)
    c = (mx * nx + my * ny + mz * nz) * scale
    s = shear * angle_over_sine(c)
    a = (stretch * (m - 1.0) + s * c * dm / sm) / m
    b = s * scale
    e = s * c * dn / (sn * n)
    return (
        a * mx - b * nx,
        a * my - b * ny,
        a * mz - b * nz,
        e * nx - b * mx,
        e * ny - b * my,
        e * nz - b * mz,
    )


@jit
def printed_force(mx, my, mz, nx, ny, nz, stretch, shear, floor, along):
    """``stretch eps n + shear gamma p`` on particle i: n the unit normal, p the direction of m across it.

    eps: ``|m| - 1`` (along = 0, [Everts2006]_ 5.4) or ``m . n - 1`` (along = 1, 7.4); three numbers.
    """
    m = np.sqrt(mx * mx + my * my + mz * mz + TINY)
    n = np.sqrt(nx * nx + ny * ny + nz * nz + TINY * floor * floor)
    dot = (mx * nx + my * ny + mz * nz) / n
    c = dot / m
    b = shear * angle_over_sine(c) / m
    a = (stretch * (m + along * (dot - m) - 1.0) - b * dot) / n
    return a * nx + b * mx, a * ny + b * my, a * nz + b * mz
