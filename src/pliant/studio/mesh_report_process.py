"""``python -m pliant.studio.mesh_report_process MESH``: the health report of a mesh file as JSON."""

import json
import sys

from pliant.core.tables import Table

LARGEST_MEMORY = 4 * 1024**3  # bytes


def report(path: str) -> Table:
    """Size, closedness and problems of a surface; counts of a volume mesh."""
    from pliant.core.errors import PliantError
    from pliant.mesh.diagnostics import health
    from pliant.mesh.io import kind_of, read_surface, read_volume

    try:
        if kind_of(path) == "surface":
            return {"volume_mesh": False, **health(read_surface(path)).to_dict()}
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


if __name__ == "__main__":
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    except (ImportError, ValueError, OSError):
        pass
    sys.stdout.write(json.dumps(report(sys.argv[1])))
