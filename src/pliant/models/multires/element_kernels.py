"""Compiled forces and energies of the mesh tets of one body."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.kernels.tensors import determinant, rotation, times, transposed
from pliant.materials.constitutive import neo_hookean

LINEAR, COROTATIONAL, DEBUNNE, NEO_HOOKEAN = 0, 1, 2, 3
LAWS = {
    "linear": LINEAR,
    "corotational": COROTATIONAL,
    "debunne": DEBUNNE,
    "neo-hookean": NEO_HOOKEAN,
}


class MeshTets(NamedTuple):
    """Mesh tets (m, 4) over particles, gradients (m, 4, 3) [1/m] of their shape functions, volumes (m,) [m3];
    a law and Lame's constants [Pa]."""

    tets: IntArray
    gradients: Array
    volumes: Array
    law: int
    lam: float
    mu: float


@jit
def _gradient(t, tets, g, u):
    """``sum u_i g_i^T`` of a tet, row by row."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        i = tets[t, k]
        a, b, c = g[t, k, 0], g[t, k, 1], g[t, k, 2]
        x, y, z = u[i, 0], u[i, 1], u[i, 2]
        m00 += x * a
        m01 += x * b
        m02 += x * c
        m10 += y * a
        m11 += y * b
        m12 += y * c
        m20 += z * a
        m21 += z * b
        m22 += z * c
    return m00, m01, m02, m10, m11, m12, m20, m21, m22


@jit
def _less_one(f):
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    return f00 - 1.0, f01, f02, f10, f11 - 1.0, f12, f20, f21, f22 - 1.0


@jit
def _hooke(h, law, lam, mu):
    """``2 mu sym h + lam tr h``; ``mu h + (lam + mu) tr h`` in Debunne's operator."""
    h00, h01, h02, h10, h11, h12, h20, h21, h22 = h
    if law == DEBUNNE:
        p = (lam + mu) * (h00 + h11 + h22)
        return (
            mu * h00 + p, mu * h01, mu * h02, mu * h10, mu * h11 + p, mu * h12,
            mu * h20, mu * h21, mu * h22 + p,
        )  # fmt: skip
    p = lam * (h00 + h11 + h22)
    a, b, c = mu * (h01 + h10), mu * (h02 + h20), mu * (h12 + h21)
    return 2.0 * mu * h00 + p, a, b, a, 2.0 * mu * h11 + p, c, b, c, 2.0 * mu * h22 + p


@jit
def _stress(f, law, lam, mu):
    """First Piola stress of F, and the elastic energy by volume [J/m3] (not of neo-Hookean bodies)."""
    if law == NEO_HOOKEAN:
        return neo_hookean.stress(f, (0.0, 0.0, 0.0), mu, lam + 2.0 / 3.0 * mu, 0.0, 0.0), 0.0
    r = rotation(f) if law == COROTATIONAL else (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    h = _less_one(times(transposed(r), f) if law == COROTATIONAL else f)
    p, total = _hooke(h, law, lam, mu), 0.0
    for c in range(9):
        total += 0.5 * p[c] * h[c]
    return times(r, p) if law == COROTATIONAL else p, total


@jit
def _density(f, law, lam, mu):
    """Elastic energy by volume [J/m3]."""
    if law == NEO_HOOKEAN:
        found = neo_hookean.invariants(f, (0.0, 0.0, 0.0))
        return neo_hookean.energy(found, mu, lam + 2.0 / 3.0 * mu, 0.0)
    return _stress(f, law, lam, mu)[1]


@jit
def spin_back(f, r, torque):
    """``b`` of ``(tr S - S) b = torque`` with S = R^T F; zero where that is singular."""
    s = times(transposed(r), f)
    trace = s[0] + s[4] + s[8]
    a, b, c = 0.5 * (s[1] + s[3]), 0.5 * (s[2] + s[6]), 0.5 * (s[5] + s[7])
    m = (trace - s[0], -a, -b, -a, trace - s[4], -c, -b, -c, trace - s[8])
    det = determinant(m)
    if abs(det) < 1e-9:
        return 0.0, 0.0, 0.0
    x, y, z = torque
    return (
        determinant((x, m[1], m[2], y, m[4], m[5], z, m[7], m[8])) / det,
        determinant((m[0], x, m[2], m[3], y, m[5], m[6], z, m[8])) / det,
        determinant((m[0], m[1], x, m[3], m[4], y, m[6], m[7], z)) / det,
    )


@jit
def _torque(a):
    """The vector of ``a - a^T``."""
    return a[7] - a[5], a[2] - a[6], a[3] - a[1]


@jit
def _damped(f, rate, law, lam, mu):
    """The stress that a small change ``rate`` of F causes with the stiffness at rest, of the change of the
    stretch S = R^T F alone: rigid rotations cause none, and it has no torque."""
    if law in (LINEAR, DEBUNNE):
        return _hooke(rate, law, lam, mu)
    r = rotation(f)
    s, a = times(transposed(r), f), times(transposed(r), rate)
    x, y, z = spin_back(f, r, _torque(a))
    turned = times((0.0, -z, y, z, 0.0, -x, -y, x, 0.0), s)
    p = _hooke(
        (
            a[0] - turned[0], a[1] - turned[1], a[2] - turned[2], a[3] - turned[3], a[4] - turned[4],
            a[5] - turned[5], a[6] - turned[6], a[7] - turned[7], a[8] - turned[8],
        ), LINEAR, lam, mu,
    )  # fmt: skip
    x, y, z = spin_back(f, r, _torque(times(p, s)))
    p00, p01, p02, p10, p11, p12, p20, p21, p22 = p
    return times(r, (p00, p01 + z, p02 - y, p10 - z, p11, p12 + x, p20 + y, p21 - x, p22))


@jit
def _scatter(t, p, scale, tets, g, out):
    p00, p01, p02, p10, p11, p12, p20, p21, p22 = p
    for c in range(4):
        x, y, z = scale * g[t, c, 0], scale * g[t, c, 1], scale * g[t, c, 2]
        i = tets[t, c]
        out[i, 0] += p00 * x + p01 * y + p02 * z
        out[i, 1] += p10 * x + p11 * y + p12 * z
        out[i, 2] += p20 * x + p21 * y + p22 * z


@jit
def tet_forces(ids, mesh, x, out, weighed):
    """Add the elastic forces [N] of the listed tets at x (n, 3) to ``out``; returns their energy [J] where it
    is ``weighed``."""
    energy = 0.0
    for k in range(ids.shape[0]):
        t = ids[k]
        f = _gradient(t, mesh.tets, mesh.gradients, x)
        p, density = _stress(f, mesh.law, mesh.lam, mesh.mu)
        if weighed and mesh.law == NEO_HOOKEAN:
            density = _density(f, mesh.law, mesh.lam, mesh.mu)
        energy += mesh.volumes[t] * density
        _scatter(t, p, -mesh.volumes[t], mesh.tets, mesh.gradients, out)
    return energy


@jit
def tet_products(ids, mesh, x, u, factor, out):
    """Add ``factor J^T K J u`` of the listed tets to ``out``, K the stiffness at rest and J the derivative of
    each tet's stretch at x."""
    for k in range(ids.shape[0]):
        t = ids[k]
        f = _gradient(t, mesh.tets, mesh.gradients, x)
        p = _damped(f, _gradient(t, mesh.tets, mesh.gradients, u), mesh.law, mesh.lam, mesh.mu)
        _scatter(t, p, factor * mesh.volumes[t], mesh.tets, mesh.gradients, out)


@jit
def tet_energy(ids, mesh, x):
    """Elastic energy [J] of the listed tets."""
    total = 0.0
    for k in range(ids.shape[0]):
        t = ids[k]
        f = _gradient(t, mesh.tets, mesh.gradients, x)
        total += mesh.volumes[t] * _density(f, mesh.law, mesh.lam, mesh.mu)
    return total


@jit
def tet_corner_forces(ids, mesh, x, out):
    """Forces on the corners of each listed tet, into ``out`` (k, 4, 3)."""
    for k in range(ids.shape[0]):
        t = ids[k]
        p = _stress(_gradient(t, mesh.tets, mesh.gradients, x), mesh.law, mesh.lam, mesh.mu)[0]
        for c in range(4):
            for a in range(3):
                total = 0.0
                for b in range(3):
                    total -= mesh.volumes[t] * p[3 * a + b] * mesh.gradients[t, c, b]
                out[k, c, a] = total
