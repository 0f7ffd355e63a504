"""Surface in, tets out, numbered so that neighbours in space are neighbours in memory."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from pliant.core.errors import MeshError, MissingExtra
from pliant.core.typing import Array, IntArray
from pliant.mesh import cache as kept
from pliant.mesh.edge_length import checked_edge
from pliant.mesh.mesh import Surface, TetMesh, tet_edges, tet_volumes
from pliant.mesh.mesher_process import Progress
from pliant.mesh.repair import repair


def ordered(mesh: TetMesh) -> TetMesh:
    """The same mesh without unused points: points in reverse Cuthill-McKee order, tets by their lowest point.

    Corners of a tet keep their orientation; each tet starts with its lowest point. Groups and regions follow.
    """
    used = np.unique(mesh.tets)
    compact = np.searchsorted(used, mesh.tets)
    sequence = cuthill_mckee(len(used), compact)
    number = np.empty(len(used), dtype=np.int64)
    number[sequence] = np.arange(len(used))
    tets = lowest_first(number[compact])
    rank = np.lexsort(np.sort(tets, axis=1).T[::-1])
    return replace(
        mesh,
        points=np.ascontiguousarray(mesh.points[used][sequence]),
        tets=np.ascontiguousarray(tets[rank]),
        groups={
            name: number[np.searchsorted(used, np.intersect1d(i, used))] for name, i in mesh.groups.items()
        },
        regions=None if mesh.regions is None else mesh.regions[rank],
    )


def cuthill_mckee(count: int, tets: IntArray) -> IntArray:
    """The points in an order that keeps the ends of every edge close together; shape (count,).

    Source: Cuthill and McKee, Reducing the bandwidth of sparse symmetric matrices (1969), reversed.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    edges = tet_edges(tets)
    both = np.concatenate([edges, edges[:, ::-1]])
    graph = coo_array((np.ones(len(both), np.int8), (both[:, 0], both[:, 1])), shape=(count, count)).tocsr()
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def lowest_first(tets: IntArray) -> IntArray:
    """Tets with their lowest point first, turned by even permutations only; shape (m, 4)."""
    turns = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    return np.take_along_axis(tets, turns[np.argmin(tets, axis=1)], axis=1)


MESHERS = ("auto", "tetwild", "tetgen", "lattice")
TIMEOUT = 600.0
FLAT = 1e-12  # a tet is flat when V <= FLAT * (longest edge)^3

Notify = Callable[[str], None]


def fill(
    surface: Surface,
    edge: float | None = None,
    mesher: str = "auto",
    switches: str | None = None,
    progress: Progress | None = None,
    timeout: float = TIMEOUT,
    cache: bool = True,
    notify: Notify | None = None,
) -> TetMesh:
    """A tet mesh of the inside of a surface, every tet with positive volume, the same bytes each time.

    edge: target edge length [m]; by default about 1200 particles, 2000 to 3000 for a detailed figure.
    mesher: ``tetwild`` (any triangles, holes and crossings too), ``tetgen`` (an extra; closed surfaces,
    with ``switches``), ``lattice`` (never fails on what encloses a volume, thin parts may be lost), or
    ``auto``: tetwild, and lattice when that fails or takes more than ``timeout`` seconds.
    progress: called with (None, what is happening) while it runs. notify: called with a sentence for each
    thing worth knowing (a hole closed, another mesher taken); without it these are Python warnings.
    cache: keep the result on disk and find it there next time.
    """
    if mesher not in MESHERS:
        raise MeshError(f"There is no mesher '{mesher}'.", hint=f"Meshers: {', '.join(MESHERS)}.")
    if switches and mesher != "tetgen":
        raise MeshError(f"Switches are for tetgen, not {mesher}.", hint="Pass mesher='tetgen'.")
    if not timeout > 0:
        raise MeshError(f"The time limit must be positive, not {timeout!r}.", hint="Leave it out.")
    tell = notify or (lambda text: warnings.warn(text, stacklevel=3))
    if progress:
        progress(None, "checking the surface")
    repaired, notes = repair(surface, max_dropped=1.0, max_hole=np.inf)
    size = checked_edge(repaired.points, repaired.triangles, edge)
    notes = [note for note in notes if not note.startswith("Merged") and "point" not in note]
    for chosen in ("tetwild", "lattice") if mesher == "auto" else (mesher,):
        try:
            mesh, more = _filled(repaired, size, chosen, switches, progress, timeout, cache)
            break
        except MeshError as error:
            if mesher != "auto" or chosen == "lattice":
                raise
            notes.append(f"{error.message} The lattice mesher is used instead.")
    for note in notes + more:
        tell(note)
    return mesh


def _filled(
    surface: Surface, edge: float, mesher: str, switches: str | None, progress: Progress | None,
    timeout: float, cache: bool,
) -> tuple[TetMesh, list[str]]:  # fmt: skip
    """The mesh of one mesher, from the cache or new, and the notes about it."""
    options = {"mesher": mesher, "edge": edge.hex(), "switches": switches, "version": _version(mesher)}
    name = kept.key(surface.points, surface.triangles, options)
    found = kept.load(name) if cache else None
    if found:
        return found
    from pliant.mesh import meshers

    given = surface.points, surface.triangles, edge
    if mesher == "tetwild":
        points, tets, notes = meshers.tetwild(*given, timeout, progress)
    elif mesher == "tetgen":
        points, tets, notes = meshers.tetgen_fill(*given, switches, timeout, progress)
    else:
        if progress:
            progress(None, "cutting a lattice along the surface")
        points, tets, notes = meshers.lattice(*given)
    mesh = _checked(points, tets, mesher)
    problem = kept.store(name, mesh, notes) if cache else None
    return mesh, [*notes, problem] if problem else notes


def _checked(points: Array, tets: IntArray, mesher: str) -> TetMesh:
    """The ordered mesh; an error when there is nothing in it or a tet is flat or inverted."""
    hint = "Try a larger edge, or mesher='lattice'."
    if not len(tets) or not np.isfinite(points).all():
        raise MeshError(f"{mesher} found no inside.", hint=hint)
    mesh = ordered(TetMesh(points, tets))
    corners = mesh.points[mesh.tets]
    longest = np.ptp(corners, axis=1).max(axis=1)
    bad = int(np.count_nonzero(tet_volumes(mesh.points, mesh.tets) <= FLAT * longest**3))
    if bad:
        raise MeshError(f"{mesher} made {bad} of {len(tets)} tets without volume.", hint=hint)
    return mesh


def _version(mesher: str) -> str:
    package = {"tetwild": "pytetwild", "tetgen": "tetgen"}.get(mesher)
    if package is None:
        return ""
    try:
        return version(package)
    except PackageNotFoundError as error:
        extra = "pliant[tetgen]" if package == "tetgen" else package
        raise MissingExtra(
            f"{package} is not installed.", hint=f"Install it with: pip install '{extra}'"
        ) from error
