"""Surface in, tets out."""

import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from pliant.core.errors import MeshError, MissingExtra
from pliant.core.typing import Array, IntArray
from pliant.mesh import cache as kept
from pliant.mesh.edge_length import checked_edge
from pliant.mesh.mesh import Surface, TetMesh, tet_volumes
from pliant.mesh.mesher_process import Progress
from pliant.mesh.renumber import ordered
from pliant.mesh.repair import repair

MESHERS = ("auto", "tetwild", "tetgen", "lattice")
TIMEOUT = 600.0
FLAT = 1e-12  # a tet is flat when V <= FLAT * (longest edge)^3

Notify = Callable[[str], None]
Made = tuple[Array, IntArray, list[str]]


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
    mended, notes = repair(surface, max_dropped=1.0, max_hole=np.inf)
    size = checked_edge(mended.points, mended.triangles, edge)
    notes = [note for note in notes if not note.startswith("Merged") and "point" not in note]
    for chosen in ("tetwild", "lattice") if mesher == "auto" else (mesher,):
        try:
            mesh, more = _filled(mended, size, chosen, switches, progress, timeout, cache)
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
    points, tets, notes = _made(surface, edge, mesher, switches, progress, timeout)
    mesh = _checked(points, tets, mesher)
    problem = kept.store(name, mesh, notes) if cache else None
    return mesh, [*notes, problem] if problem else notes


def _made(
    surface: Surface,
    edge: float,
    mesher: str,
    switches: str | None,
    progress: Progress | None,
    timeout: float,
) -> Made:
    points, triangles = surface.points, surface.triangles
    if mesher == "tetwild":
        from pliant.mesh.tetwild import tetwild

        return tetwild(points, triangles, edge, timeout, progress)
    if mesher == "tetgen":
        from pliant.mesh.tetgen_fill import tetgen_fill

        return tetgen_fill(points, triangles, edge, switches, timeout, progress)
    from pliant.mesh.lattice_mesher import lattice

    if progress:
        progress(None, "cutting a lattice along the surface")
    return lattice(points, triangles, edge)


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
