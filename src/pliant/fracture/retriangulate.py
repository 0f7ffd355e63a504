"""One triangle cut up along segments inside it."""

from collections.abc import Sequence

import numpy as np

from pliant.core.typing import Array
from pliant.fracture.mesh_intersection import DegenerateIntersection

Triangle = tuple[int, int, int]

ON_EDGE = 1e-6  # share of a triangle's height within which a point counts as on its edge


class _Mesh:
    """A triangulation in the plane as a table of half-edges: (u, v) -> w for each triangle u, v, w."""

    def __init__(self, flat: Array) -> None:
        self.p = [(float(x), float(y)) for x, y in flat]
        self.third: dict[tuple[int, int], int] = {}

    def side(self, a: int, b: int, c: int) -> float:
        """Twice the signed area of a, b, c."""
        (ax, ay), (bx, by), (cx, cy) = self.p[a], self.p[b], self.p[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    def add(self, a: int, b: int, c: int) -> None:
        self.third[a, b], self.third[b, c], self.third[c, a] = c, a, b

    def remove(self, a: int, b: int, c: int) -> None:
        del self.third[a, b], self.third[b, c], self.third[c, a]

    def triangles(self) -> list[Triangle]:
        """Each triangle once, lowest vertex first."""
        return [(a, b, c) for (a, b), c in self.third.items() if a < b and a < c]

    def insert(self, p: int) -> None:
        """Put a point inside: split the triangle that holds it best, or the edge that it lies on."""
        best, home = -np.inf, (0, 0, 0)
        for a, b, c in self.triangles():
            area = max(self.side(a, b, c), 1e-300)
            score = min(self.side(a, b, p), self.side(b, c, p), self.side(c, a, p)) / area
            if score > best:
                best, home = score, (a, b, c)
        u, v, w = home
        area = max(self.side(u, v, w), 1e-300)
        near = [k for k in ((u, v, w), (v, w, u), (w, u, v)) if self.side(k[0], k[1], p) < ON_EDGE * area]
        near = [k for k in near if (k[1], k[0]) in self.third]
        if near:
            u, v, w = min(near, key=lambda k: self.side(k[0], k[1], p))
            z = self.third[v, u]
            self.remove(u, v, w)
            self.remove(v, u, z)
            self.add(u, p, w)
            self.add(p, v, w)
            self.add(v, p, z)
            self.add(p, u, z)
            return
        self.remove(u, v, w)
        self.add(u, v, p)
        self.add(v, w, p)
        self.add(w, u, p)

    def crosses(self, a: int, b: int, u: int, v: int) -> bool:
        if a in (u, v) or b in (u, v):
            return False
        return (self.side(a, b, u) > 0) != (self.side(a, b, v) > 0) and (self.side(u, v, a) > 0) != (
            self.side(u, v, b) > 0
        )

    def force(self, a: int, b: int) -> None:
        """Make a, b an edge by flipping those that cross it."""
        if (a, b) in self.third or (b, a) in self.third:
            return
        inner = [(u, v) for u, v in self.third if u < v and (v, u) in self.third]
        queue = [(u, v) for u, v in inner if self.crosses(a, b, u, v)]
        for _ in range(50 + len(queue) ** 2 * 4):
            if not queue:
                break
            u, v = queue.pop(0)
            w, z = self.third[u, v], self.third[v, u]
            if self.side(u, z, w) <= 0 or self.side(z, v, w) <= 0:
                queue.append((u, v))
                continue
            self.remove(u, v, w)
            self.remove(v, u, z)
            self.add(u, z, w)
            self.add(z, v, w)
            if self.crosses(a, b, w, z):
                queue.append((min(w, z), max(w, z)))
        if (a, b) not in self.third and (b, a) not in self.third:
            raise DegenerateIntersection


def retriangulate(
    corners: Array, on_edges: Sequence[Sequence[int]], points: Array, segments: Sequence[tuple[int, int]]
) -> list[Triangle]:
    """The triangle ``corners`` (3, 3) cut up so that every one of ``segments`` is an edge.

    Vertices 0 to 2 are the corners, 3 + i is ``points[i]`` (k, 3); on_edges: for each edge (0-1, 1-2, 2-0)
    the vertices on it, in order; the others lie inside. Triangles wind as the whole one does.
    """
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    drop = int(np.argmax(np.abs(normal)))
    axes = [(1, 2), (2, 0), (0, 1)][drop]
    flat = np.concatenate([corners, points])[:, axes]
    if normal[drop] < 0:
        flat = flat[:, ::-1]
    mesh = _Mesh(flat)
    mesh.add(0, 1, 2)
    for k, (start, end) in enumerate(((0, 1), (1, 2), (2, 0))):
        here = start
        for p in on_edges[k]:
            apex = mesh.third[here, end]
            mesh.remove(here, end, apex)
            mesh.add(here, p, apex)
            mesh.add(p, end, apex)
            here = p
    placed = {0, 1, 2, *(p for edge in on_edges for p in edge)}
    for p in range(3, len(flat)):
        if p not in placed:
            mesh.insert(p)
    for a, b in segments:
        mesh.force(a, b)
    return mesh.triangles()
