"""How good the tets of a mesh are."""

from dataclasses import dataclass

import numpy as np

from pliant.core.tables import Table
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import TetMesh, tet_edges, tet_volumes

BARS = 40  # characters of the longest bar
ANGLES = np.arange(0.0, 181.0, 10.0)
_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # outward, opposite corners 0..3
_PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True)
class Quality:
    """Measures per tet, and what they come to.

    volumes [m3] (m,); radius_edge: circumradius over shortest edge (m,), 0.612 at best;
    dihedral [deg] (m, 6), all 70.53 at best; aspect: longest edge over (2 sqrt 6) inradius (m,), 1 at best;
    edge_lengths [m] (e,), the distinct edges.
    """

    volumes: Array
    radius_edge: Array
    dihedral: Array
    aspect: Array
    edge_lengths: Array

    @property
    def smallest_angle(self) -> float:
        """Smallest dihedral angle [deg]."""
        return float(self.dihedral.min())

    @property
    def largest_angle(self) -> float:
        """Largest dihedral angle [deg]."""
        return float(self.dihedral.max())

    def to_dict(self) -> Table:
        """The extremes, medians and a histogram of dihedral angles, for JSON."""
        counts = np.histogram(self.dihedral, ANGLES)[0]
        return {
            "tets": len(self.volumes),
            "volume": _summary(self.volumes) | {"total": float(self.volumes.sum())},
            "edge": _summary(self.edge_lengths),
            "dihedral": _summary(self.dihedral),
            "radius_edge": _summary(self.radius_edge),
            "aspect": _summary(self.aspect),
            "histogram": {"degrees": ANGLES.tolist(), "dihedral_angles": counts.tolist()},
        }

    def text_histogram(self) -> str:
        """The dihedral angles as lines of bars, each 10 degrees, for a terminal."""
        counts = np.histogram(self.dihedral, ANGLES)[0]
        longest = max(int(counts.max()), 1)
        lines = [f"dihedral angles, {self.smallest_angle:.1f} to {self.largest_angle:.1f} degrees"]
        for low, count in zip(ANGLES[:-1], counts, strict=True):
            bar = "#" * int(np.ceil(BARS * count / longest))
            lines.append(f"{low:4.0f}-{low + 10:3.0f} {count:8d} {bar}".rstrip())
        return "\n".join(lines)


def quality(mesh: TetMesh) -> Quality:
    """Measure every tet of a mesh."""
    corners = mesh.points[mesh.tets]
    lengths = np.linalg.norm(corners[:, _PAIRS[:, 0]] - corners[:, _PAIRS[:, 1]], axis=2)
    volumes = tet_volumes(mesh.points, mesh.tets)
    normals = _area_vectors(corners)
    areas = np.linalg.norm(normals, axis=2)
    edges = tet_edges(mesh.tets)
    with np.errstate(divide="ignore", invalid="ignore"):
        inradius = 3 * np.abs(volumes) / areas.sum(axis=1)
        return Quality(
            volumes=volumes,
            radius_edge=_circumradii(lengths, volumes) / lengths.min(axis=1),
            dihedral=_dihedral(normals, areas),
            aspect=lengths.max(axis=1) / (2 * np.sqrt(6) * inradius),
            edge_lengths=np.linalg.norm(mesh.points[edges[:, 0]] - mesh.points[edges[:, 1]], axis=1),
        )


def mean_ratio(points: Array, tets: IntArray) -> Array:
    r"""Shape of tets: 1 for a regular one, 0 when flat, negative when inverted; shape (m,).

    .. math:: \eta = 12 (3 V)^{2/3} / \sum_{edges} l^2

    Source: Liu and Joe, Relationship between tetrahedron shape measures (1994), mean ratio.
    """
    corners = points[tets]
    squares = ((corners[:, _PAIRS[:, 0]] - corners[:, _PAIRS[:, 1]]) ** 2).sum(axis=(1, 2))
    volumes = tet_volumes(points, tets)
    with np.errstate(divide="ignore", invalid="ignore"):
        eta = np.sign(volumes) * 12 * np.cbrt(3 * np.abs(volumes)) ** 2 / squares
    return np.where(squares > 0, eta, 0.0)


def _area_vectors(corners: Array) -> Array:
    """Outward area vectors of the faces opposite corners 0..3; shape (m, 4, 3)."""
    a, b, c = (corners[:, _FACES[:, k]] for k in range(3))
    return np.asarray(np.cross(b - a, c - a) / 2)


def _dihedral(normals: Array, areas: Array) -> Array:
    """Inner angles between the six pairs of faces [deg]: pi minus the angle of their normals; (m, 6)."""
    i, j = _PAIRS[:, 0], _PAIRS[:, 1]
    cosine = -np.einsum("mkc,mkc->mk", normals[:, i], normals[:, j]) / (areas[:, i] * areas[:, j])
    return np.asarray(np.degrees(np.arccos(np.clip(np.nan_to_num(cosine, nan=1.0), -1.0, 1.0))))


def _circumradii(lengths: Array, volumes: Array) -> Array:
    """Circumradii: sqrt(s (s - p)(s - q)(s - r)) / 6V with p, q, r products of opposite edges; (m,)."""
    p, q, r = (lengths[:, k] * lengths[:, 5 - k] for k in range(3))
    s = (p + q + r) / 2
    return np.asarray(np.sqrt(np.maximum(s * (s - p) * (s - q) * (s - r), 0)) / (6 * np.abs(volumes)))


def _summary(x: Array) -> dict[str, float]:
    return {"min": float(x.min()), "median": float(np.median(x)), "max": float(x.max())}
