"""The audit of one state: which edges pass through which triangles, and how near bodies come to each other.

Pairs come from the broad phase of ipctk, a program that knows nothing of pliant; each is then decided by
exact arithmetic (``exact``). ipctk's own verdict is kept beside it.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.audit.exact import edges_meet_triangles
from pliant.audit.surface_frames import SurfaceFrame
from pliant.core.errors import MissingExtra
from pliant.core.typing import Array, IntArray

KEPT_PAIRS = 20  # of a state, in certificates
NEAR = 0.2  # distances between bodies are looked for up to this [mean edge]
FINE = 1e-11  # tolerance [m] that decides where ipctk's own, 1e-6 m, reports a hit: gaps may be smaller
FINE_ROUNDS = 1_000_000
PATH_RESCALING = 0.99  # ipctk's default, 0.8, reports any approach to below a fifth of the distance as a hit


@dataclass(frozen=True)
class Crossing:
    """An edge and a triangle with a point in common: vertices in the audited state, bodies, place [m]."""

    edge: tuple[int, ...]
    triangle: tuple[int, ...]
    bodies: tuple[str, str]
    place: tuple[float, ...]


@dataclass(frozen=True)
class StateAudit:
    """What was found in one state. distance [m]: the smallest between different bodies, None if that is
    more than a fifth of the mean edge; path: whether the way from the state before is free, None if it was
    not looked at; moves: of how many straight pieces that way is made; ipctk: whether ipctk by itself finds
    an intersection."""

    label: str
    digest: str
    crossings: int
    pairs: tuple[Crossing, ...]
    distance: float | None
    path: bool | None
    ipctk: bool
    moves: int = 0

    @property
    def ok(self) -> bool:
        return self.crossings == 0 and self.path is not False


def import_ipctk() -> Any:
    """The module, or an error that tells how to install it."""
    try:
        import ipctk
    except ImportError as error:
        raise MissingExtra("Audits need ipctk.", hint="pip install 'pliant[audit]'") from error
    return ipctk


def audit_state(frame: SurfaceFrame, before: SurfaceFrame | None = None) -> StateAudit:
    """Look for intersections in a state and, if the state ``before`` is given, on the way from it: the one
    that was recorded, of bodies alone, or the straight one.

    States of different topology have no way between them.
    """
    ipctk = import_ipctk()
    x = np.asfortranarray(frame.points)
    triangles = np.asfortranarray(frame.triangles.astype(np.int32))
    if not len(triangles):
        return StateAudit(frame.label, frame.digest(), 0, (), None, None, False)
    edges = np.asfortranarray(ipctk.edges(triangles))
    mesh = ipctk.CollisionMesh(x, edges, triangles)
    found = _crossings(ipctk, frame, edges)
    path, moves = None, 0
    if before is not None and np.array_equal(before.triangles, frame.triangles):
        path, moves = _way_is_free(ipctk, before, frame, mesh)
    return StateAudit(
        frame.label,
        frame.digest(),
        len(found),
        tuple(_crossing(frame, edge, triangle) for edge, triangle in found[:KEPT_PAIRS]),
        None if found else _distance(ipctk, frame, mesh, x, edges),
        path,
        bool(ipctk.has_intersections(mesh, x)),
        moves,
    )


def _way_is_free(ipctk: Any, before: SurfaceFrame, frame: SurfaceFrame, mesh: Any) -> tuple[bool, int]:
    """Whether no straight piece of the way between two states collides, and how many there are."""
    ccd = ipctk.TightInclusionCCD(conservative_rescaling=PATH_RESCALING)
    fine = ipctk.TightInclusionCCD(
        tolerance=FINE, max_iterations=FINE_ROUNDS, conservative_rescaling=PATH_RESCALING
    )
    places = [before.points, frame.points]
    if frame.way is not None:
        count = len(frame.way[0]) if frame.way else len(frame.points)
        places = [before.points[:count], *frame.way, frame.points[:count]]
        if count < len(frame.points):  # obstacles are no part of recorded ways
            own = np.asfortranarray(frame.triangles[(frame.triangles < count).all(axis=1)].astype(np.int32))
            mesh = ipctk.CollisionMesh(np.asfortranarray(places[-1]), ipctk.edges(own), own)
    for start, end in pairwise(places):
        ends = [np.asfortranarray(each) for each in (start, end)]
        if not any(ipctk.is_step_collision_free(mesh, *ends, narrow_phase_ccd=each) for each in (ccd, fine)):
            return False, len(places) - 1
    return True, len(places) - 1


def _crossings(ipctk: Any, frame: SurfaceFrame, edges: IntArray) -> list[tuple[IntArray, IntArray]]:
    """All (edge, triangle) without a common vertex that have a point in common."""
    broad = ipctk.LBVH()
    size = float(np.ptp(frame.points, axis=0).max())
    faces = np.asfortranarray(frame.triangles.astype(np.int32))
    broad.build(np.asfortranarray(frame.points), edges, faces, 1e-6 * size)  # its boxes are in float32
    pairs = np.array([(one.edge_id, one.face_id) for one in broad.detect_edge_face_candidates()], int)
    pairs = pairs.reshape(-1, 2)
    e, t = np.asarray(edges, np.int64)[pairs[:, 0]], frame.triangles[pairs[:, 1]]
    apart = (e[:, :, None] != t[:, None, :]).all(axis=(1, 2))
    e, t = e[apart], t[apart]
    ends, corners = frame.points[e], frame.points[t]
    met = edges_meet_triangles(*(ends[:, k] for k in range(2)), *(corners[:, k] for k in range(3)))
    order = np.lexsort((*t[met].T, *e[met].T))
    return list(zip(e[met][order], t[met][order], strict=True))


def _crossing(frame: SurfaceFrame, edge: IntArray, triangle: IntArray) -> Crossing:
    middle: Array = frame.points[edge].mean(axis=0)
    names = frame.names[frame.body[edge[0]]], frame.names[frame.body[triangle[0]]]
    return Crossing(tuple(edge.tolist()), tuple(triangle.tolist()), names, tuple(middle.tolist()))


def _distance(ipctk: Any, frame: SurfaceFrame, mesh: Any, x: Array, edges: IntArray) -> float | None:
    if len(frame.names) < 2:
        return None
    mesh.can_collide = ipctk.make_vertex_patches_filter(frame.body.astype(np.int32))
    mean = float(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).mean())
    pairs = ipctk.NormalCollisions()
    pairs.build(mesh, x, NEAR * mean)
    squared = pairs.compute_minimum_distance(mesh, x) if len(pairs) else np.inf
    mesh.can_collide = ipctk.CollisionFilter()
    return float(np.sqrt(squared)) if np.isfinite(squared) else None
