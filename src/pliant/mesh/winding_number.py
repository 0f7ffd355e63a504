"""Kernels: winding numbers of triangles, with far groups of a tree (see ``_tree``) taken as one."""

import math

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh_kernels import STACK
from pliant.mesh.kernel import kernel


@kernel
def solid_angle(x: float, y: float, z: float, t: Array) -> float:
    """Signed solid angle of the triangle ``t`` (9,) seen from a point [sr].

    Source: Van Oosterom and Strackee, The solid angle of a plane triangle (1983), Eq. (8).
    """
    ax, ay, az = t[0] - x, t[1] - y, t[2] - z
    bx, by, bz = t[3] - x, t[4] - y, t[5] - z
    cx, cy, cz = t[6] - x, t[7] - y, t[8] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
    return 2.0 * math.atan2(det, a * b * c + ab * c + bc * a + ca * b)


@kernel
def moments(corners: Array, first: IntArray, count: IntArray, order: IntArray) -> tuple[Array, Array]:
    """Per node: the sum of area vectors (3) with the area-weighted centre (3), and the radius about it."""
    nodes = first.shape[0]
    dipole, radius = np.zeros((nodes, 6)), np.zeros(nodes)
    for k in range(nodes):
        total = 0.0
        for i in range(first[k], first[k] + count[k]):
            t = corners[order[i]]
            ux, uy, uz = t[3] - t[0], t[4] - t[1], t[5] - t[2]
            vx, vy, vz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            area = math.sqrt(nx * nx + ny * ny + nz * nz)
            total += area
            dipole[k, 0] += nx / 2
            dipole[k, 1] += ny / 2
            dipole[k, 2] += nz / 2
            for c in range(3):
                dipole[k, 3 + c] += area * (t[c] + t[3 + c] + t[6 + c]) / 3
        if total > 0:
            for c in range(3):
                dipole[k, 3 + c] /= total
        for i in range(first[k], first[k] + count[k]):
            t = corners[order[i]]
            for j in range(3):
                gap = 0.0
                for c in range(3):
                    gap += (t[3 * j + c] - dipole[k, 3 + c]) ** 2
                radius[k] = max(radius[k], math.sqrt(gap))
    return dipole, radius


@kernel
def winding(
    queries: Array, corners: Array, child: IntArray, first: IntArray, count: IntArray, order: IntArray,
    dipole: Array, radius: Array, far: float, out: Array,
) -> None:  # fmt: skip
    r"""Generalised winding number of the triangles about each query, in ``out`` (q,).

    A node farther away than ``far`` radii counts as one dipole, :math:`N \cdot r / (4 \pi |r|^3)`; nearer
    leaves are summed triangle by triangle. Source: Barill et al., Fast winding numbers for soups and
    clouds (2018), section 3 (first-order term only).
    """
    stack = np.empty(STACK, np.int64)
    for q in range(queries.shape[0]):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        total = 0.0
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            k = stack[top]
            rx, ry, rz = dipole[k, 3] - x, dipole[k, 4] - y, dipole[k, 5] - z
            r = math.sqrt(rx * rx + ry * ry + rz * rz)
            if r > far * radius[k]:
                total += (dipole[k, 0] * rx + dipole[k, 1] * ry + dipole[k, 2] * rz) / (r * r * r)
            elif child[k] >= 0:
                stack[top] = child[k]
                stack[top + 1] = child[k] + 1
                top += 2
            else:
                for i in range(first[k], first[k] + count[k]):
                    total += solid_angle(x, y, z, corners[order[i]])
        out[q] = total / (4 * math.pi)
