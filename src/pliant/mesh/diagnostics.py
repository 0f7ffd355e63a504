"""What a surface is like before it becomes a body: size, holes, winding, crossings."""

from dataclasses import asdict, dataclass

import numpy as np

from pliant.core.tables import Table
from pliant.core.text import counted
from pliant.core.typing import Array, BoolArray, IntArray, Vector
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.topology import Edges, components, merge_points
from pliant.mesh.triangles import check_arrays, degenerate, double_areas, duplicates, part_volumes

CROSSING_LIMIT = 500_000  # triangles up to which crossings are looked for
LARGE, SMALL = 100.0, 1e-3  # box diagonals [m] beyond which the unit is doubtful


@dataclass(frozen=True)
class MeshDiagnostics:
    """Findings about a surface; vertices count as one where their positions are equal.

    vertices, triangles: as given; box_min, box_max [m]; area [m2]; volume [m3], signed, None when open;
    components: parts that share no vertex; boundary_edges: edges of one triangle; holes: rims they form;
    non_manifold_edges: edges of three or more triangles; inconsistent_edges: edges whose two triangles
    wind against each other; inverted_components: closed parts inside out (cavities are not counted);
    degenerate_faces: no area; duplicate_faces: same corners as an earlier one;
    self_intersections: pairs of triangles without a common vertex that cut, None when not looked for.
    """

    vertices: int
    triangles: int
    box_min: Vector
    box_max: Vector
    area: float
    volume: float | None
    components: int
    boundary_edges: int
    holes: int
    non_manifold_edges: int
    inconsistent_edges: int
    inverted_components: int
    degenerate_faces: int
    duplicate_faces: int
    unreferenced_vertices: int
    self_intersections: int | None

    @property
    def diagonal(self) -> float:
        """Diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.subtract(self.box_max, self.box_min)))

    @property
    def closed(self) -> bool:
        """Has every edge two triangles, wound consistently?"""
        return not (self.boundary_edges or self.non_manifold_edges or self.inconsistent_edges)

    def problems(self) -> list[str]:
        """One plain sentence for each finding that may matter; empty when all is well."""
        found = []
        if self.diagonal > LARGE or self.diagonal < SMALL:
            found.append(
                f"The box diagonal is {self.diagonal:.4g} m: is the file in millimetres? Pass scale=0.001."
            )
        if self.holes:
            rims = f"{counted(self.holes, 'hole')} with {counted(self.boundary_edges, 'edge')}"
            found.append(f"The surface is not closed: {rims}.")
        for count, noun, text in (
            (self.non_manifold_edges, "edge", "with three or more triangles."),
            (self.inconsistent_edges, "edge", "between triangles that are wound against each other."),
            (self.inverted_components, "component", "inside out."),
            (self.degenerate_faces, "triangle", "without area."),
            (self.duplicate_faces, "triangle", "that another one repeats."),
            (self.unreferenced_vertices, "vertex", "without a triangle."),
            (self.self_intersections, "pair", "of triangles that cut each other."),
        ):
            if count:
                found.append(f"{counted(count, noun)} {text}")
        if self.self_intersections is None:
            found.append(f"Crossings were not checked: more than {CROSSING_LIMIT} triangles.")
        return found

    def to_dict(self) -> Table:
        """The findings as plain numbers, lists and texts, for JSON."""
        return asdict(self) | {"diagonal": self.diagonal, "closed": self.closed, "problems": self.problems()}


def health(surface: Surface, crossing_limit: int = CROSSING_LIMIT) -> MeshDiagnostics:
    """Look a surface over; crossings only up to ``crossing_limit`` triangles."""
    check_arrays(surface)
    points, merged = merge_points(surface.points)
    triangles = merged[surface.triangles]
    flat, twice = degenerate(points, triangles), duplicates(triangles)
    sound = triangles[~flat & ~twice]
    edges = Edges(sound, len(points))
    rim = edges.open_half
    x = surface.points[np.unique(surface.triangles)]
    crossings = None
    if len(triangles) <= crossing_limit:
        from pliant.mesh.bvh import Bvh

        crossings = Bvh(points, sound).cutting_pairs() if len(sound) else 0
    inconsistent = int(np.count_nonzero((edges.uses == 2) & (edges.balance != 0)))
    closed = len(sound) > 0 and not len(rim) and not inconsistent
    return MeshDiagnostics(
        vertices=len(surface.points),
        triangles=len(surface.triangles),
        box_min=_vector(x.min(axis=0)),
        box_max=_vector(x.max(axis=0)),
        area=float(double_areas(points, sound).sum() / 2),
        volume=surface_volume(points, sound) if closed else None,
        components=edges.bodies()[0],
        boundary_edges=len(rim),
        holes=_rims(rim),
        non_manifold_edges=int(np.count_nonzero(edges.uses > 2)),
        inconsistent_edges=inconsistent,
        inverted_components=int(inside_out(points, edges).sum()),
        degenerate_faces=int(flat.sum()),
        duplicate_faces=int(twice.sum()),
        unreferenced_vertices=len(surface.points) - len(np.unique(surface.triangles)),
        self_intersections=crossings,
    )


def inside_out(points: Array, edges: Edges) -> BoolArray:
    """Which bodies (parts that share vertices) are closed, wound inwards, and no cavity of another; (k,).

    A closed body is wound inwards when its signed volume is negative; it is a cavity when one of its
    vertices has a winding number above one half with respect to the bodies that are not.
    """
    count, part = edges.bodies()
    inverted = part_volumes(points, edges.triangles, part, count) < 0
    inverted[part[np.flatnonzero(edges.uses[edges.edge] == 1) // 3]] = False
    outer = edges.triangles[~inverted[part]]
    if inverted.any() and len(outer):
        from pliant.mesh.bvh import Bvh

        some = edges.triangles[np.unique(part, return_index=True)[1], 0]
        inverted &= ~Bvh(points, outer).inside(points[some])
    return inverted


def _rims(rim: IntArray) -> int:
    """Number of connected rims."""
    used, local = np.unique(rim, return_inverse=True)
    return components(len(used), local.reshape(-1, 2))[0] if len(rim) else 0


def _vector(x: Array) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])


def hidden(surface: Surface) -> BoolArray:
    """Which triangles have the inside on their outer face, just off their centres; shape (m,)."""
    from pliant.mesh.bvh import Bvh

    a, b, c = (surface.points[surface.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]
    step = 1e-5 * np.linalg.norm(np.ptp(surface.points, axis=0))
    found = Bvh(surface.points, surface.triangles).inside((a + b + c) / 3 + step * normal)
    return found & ~found.all()
