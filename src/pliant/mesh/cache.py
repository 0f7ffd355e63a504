"""Filled meshes kept on disk, found again by what they were made from."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import TetMesh, tet_volumes

VERSION = 1  # raise when any mesher here gives other meshes than before
LIMIT = 1 << 30  # bytes; the entries not used for longest go first


def folder() -> Path:
    """PLIANT_CACHE_DIR, or ``pliant`` under XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("PLIANT_CACHE_DIR"):
        return Path(own) / "mesh"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pliant" / "mesh"


def key(points: Array, triangles: IntArray, options: Mapping[str, object]) -> str:
    """A name for the mesh that these inputs give, from their bytes."""
    digest = hashlib.sha256()
    digest.update(json.dumps([VERSION, dict(options)], sort_keys=True, default=repr).encode())
    for array, kind in ((points, "<f8"), (triangles, "<i8")):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()[:40]


def load(name: str) -> tuple[TetMesh, list[str]] | None:
    """A kept mesh with the notes that went with it; None when there is none or it is damaged."""
    try:
        path = folder() / f"{name}.npz"
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            points, tets = data["points"], data["tets"]
            notes = json.loads(str(data["notes"]))
        good = [(x.shape[1:], x.dtype) for x in (points, tets)] == [((3,), "f8"), ((4,), "i8")]
        if not good or not len(tets) or tets.min() < 0 or not (tet_volumes(points, tets) > 0).all():
            return None
        with suppress(OSError):
            os.utime(path)
        return TetMesh(points, tets), [str(note) for note in notes]
    except Exception:  # a damaged entry can fail in any way inside zip, zlib or numpy; it is made again
        return None


def store(name: str, mesh: TetMesh, notes: list[str]) -> str | None:
    """Keep a mesh; what went wrong, in a sentence, when the place cannot be written."""
    place = Path("the cache folder")
    try:
        place = folder()
        place.mkdir(parents=True, exist_ok=True)
        temporary = place / f".{name}-{uuid4().hex[:12]}.npz"
        try:
            with temporary.open("wb") as file:
                np.savez(file, points=mesh.points, tets=mesh.tets, notes=np.array(json.dumps(notes)))
            os.replace(temporary, place / f"{name}.npz")
        finally:
            with suppress(OSError):
                temporary.unlink()
        trim(place)
    except (OSError, RuntimeError) as error:
        return f"The mesh was not kept for next time: {place}: {error}."
    return None


def trim(place: Path, limit: int = LIMIT) -> None:
    """Remove entries, the longest unused first, until those left take at most ``limit`` bytes."""
    entries = []
    for path in place.glob("*.npz"):
        with suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime_ns, path.name, status.st_size, path))
    total = sum(size for _, _, size, _ in entries)
    for _, _, size, path in sorted(entries):
        if total <= limit:
            break
        with suppress(OSError):
            path.unlink()
        total -= size
