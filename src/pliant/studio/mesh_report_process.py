"""``python -m pliant.studio.mesh_report_process MESH``: the health report of a mesh file as JSON."""

import json
import sys

from pliant.core.tables import Table
from pliant.mesh.mesh import Surface
from pliant.studio.words import plain

LARGEST_MEMORY = 4 * 1024**3  # bytes


def report(path: str) -> Table:
    """Size, closedness and problems of a surface; counts of a volume mesh."""
    from pliant.core.errors import PliantError
    from pliant.mesh.diagnostics import health
    from pliant.mesh.io import kind_of, read_surface, read_volume

    try:
        if kind_of(path) == "surface":
            surface = read_surface(path)
            found = {"volume_mesh": False, **health(surface).to_dict()}
            found["problems"] = [plain(text) for text in found["problems"]]
            return {**found, "unfillable": _why_not(surface)}
        mesh = read_volume(path)
        low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
        return {
            "volume_mesh": True,
            "vertices": len(mesh.points),
            "tets": len(mesh.tets),
            "box_min": low.tolist(),
            "box_max": high.tolist(),
            "problems": [],
        }
    except PliantError as error:
        return {"error": error.message, "hint": error.hint}


def _why_not(surface: Surface) -> str | None:
    """Why the surface cannot be filled with tets, in words; None where it can.

    The lattice mesher finds an inside wherever there is one at the edge length that a body has by default.
    """
    from pliant.core.errors import PliantError
    from pliant.mesh.edge_length import checked_edge
    from pliant.mesh.meshers import lattice
    from pliant.mesh.repair import repair

    try:
        repaired, _ = repair(surface, max_dropped=1.0, max_hole=float("inf"))
        edge = checked_edge(repaired.points, repaired.triangles, None)
        if len(lattice(repaired.points, repaired.triangles, edge)[1]):
            return None
        return "It encloses no volume."
    except PliantError as error:
        return plain(error.message)


if __name__ == "__main__":
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    except (ImportError, ValueError, OSError):
        pass
    sys.stdout.write(json.dumps(report(sys.argv[1])))
