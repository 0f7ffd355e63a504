"""Mesh files in and out, by suffix.

A file that cannot be read is one :class:`~pliant.core.errors.MeshError` (what, where, what to try); a
file that cannot be written is one :class:`~pliant.core.errors.StorageError`, and nothing is left behind.
"""

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from pliant.core.errors import MeshError, PliantError
from pliant.mesh.io.atomic import atomically
from pliant.mesh.io.cell_files import WRITERS, holds_tets, read_tets, read_triangles
from pliant.mesh.io.glb import read_glb
from pliant.mesh.io.obj import read_obj, write_obj
from pliant.mesh.io.surfaces import read_off, read_ply, read_stl, read_surf, write_off, write_ply, write_stl
from pliant.mesh.io.volumes import read_str, read_tetgen, write_str, write_tetgen
from pliant.mesh.mesh import Surface, TetMesh

T = TypeVar("T")
M = TypeVar("M", Surface, TetMesh)
PathLike = str | os.PathLike[str]

SURFACE_READERS: dict[str, Callable[[Path], Surface]] = {
    ".obj": read_obj,
    ".stl": read_stl,
    ".ply": read_ply,
    ".off": read_off,
    ".glb": read_glb,
    ".surf": read_surf,
    ".vtu": read_triangles,
    ".vtk": read_triangles,
    ".msh": read_triangles,
    ".mesh": read_triangles,
}
VOLUME_READERS: dict[str, Callable[[Path], TetMesh]] = {
    ".vtu": read_tets,
    ".vtk": read_tets,
    ".msh": read_tets,
    ".mesh": read_tets,
    ".node": read_tetgen,
    ".ele": read_tetgen,
    ".str": read_str,
}
SURFACE_WRITERS: dict[str, Callable[[Path, Surface], None]] = {
    ".obj": atomically(write_obj),
    ".ply": atomically(write_ply),
    ".stl": atomically(write_stl),
    ".off": atomically(write_off),
}
VOLUME_WRITERS: dict[str, Callable[[Path, TetMesh], None]] = {
    **{suffix: atomically(write) for suffix, write in WRITERS.items()},
    ".node": write_tetgen,
    ".ele": write_tetgen,
    ".str": atomically(write_str),
}


def read_surface(path: PathLike) -> Surface:
    """The triangles of a surface file, points as in the file, with texture coordinates and groups it has."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in VOLUME_READERS and suffix not in SURFACE_READERS:
        raise MeshError(f"{file}: '{suffix}' files hold volumes.", hint="Read it with read_volume.")
    return _reading(file, _choose(file, SURFACE_READERS, "surface"))


def read_volume(path: PathLike) -> TetMesh:
    """The tets of a volume file, all positive, with the points they use, and groups and regions it has."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in SURFACE_READERS and suffix not in VOLUME_READERS:
        raise MeshError(
            f"{file}: '{suffix}' files hold surfaces.", hint="Fill it first: pliant mesh IN OUT.vtu"
        )
    return _reading(file, _choose(file, VOLUME_READERS, "volume"))


def write_surface(path: PathLike, surface: Surface) -> None:
    """The surface as a file, by suffix."""
    _writing(Path(path), SURFACE_WRITERS, "surface", surface)


def write_volume(path: PathLike, mesh: TetMesh) -> None:
    """The tets as a file, by suffix; groups and regions as far as the format has a place for them."""
    _writing(Path(path), VOLUME_WRITERS, "volume", mesh)


def kind_of(path: PathLike) -> Literal["surface", "volume"]:
    """What a mesh file holds, by suffix; where that may be either, by whether it has solid cells."""
    file = Path(path)
    _choose(file, {**SURFACE_READERS, **VOLUME_READERS}, "mesh")
    suffix = file.suffix.lower()
    if suffix in SURFACE_READERS and suffix in VOLUME_READERS:
        return "volume" if _reading(file, holds_tets) else "surface"
    return "surface" if suffix in SURFACE_READERS else "volume"


def _choose(path: Path, table: Mapping[str, Callable[..., T]], what: str) -> Callable[..., T]:
    """The entry of ``table`` for the suffix of ``path``."""
    suffix = path.suffix.lower()
    if suffix in table:
        return table[suffix]
    near = get_close_matches(suffix, table, 1, 0.4)
    suggestion = f"Did you mean '{near[0]}'? " if near else ""
    known = ", ".join(table)
    raise MeshError(
        f"{path}: '{suffix}' is not a {what} format."
        if suffix
        else f"{path}: no suffix says which format it is.",
        hint=f"{suggestion}Formats: {known}.",
    )


def _reading(path: Path, read: Callable[[Path], T]) -> T:
    """What ``read`` gives, and whatever goes wrong in it as one MeshError."""
    hint = "It may be cut short, damaged or of another format; export it again."
    try:
        if not path.exists():
            raise MeshError(f"{path}: no such file.", hint=_neighbours(path))
        if not path.is_file():
            raise MeshError(f"{path}: not a file.", hint="Give the path of a mesh file.")
        if path.stat().st_size == 0:
            raise MeshError(f"{path}: the file is empty.", hint="Export the model again.")
        return read(path)
    except PliantError:
        raise
    except OSError as error:
        raise MeshError(
            f"{path}: could not be read: {error.strerror or error}.",
            hint="Check the file and its permissions.",
        ) from error
    except MemoryError as error:
        raise MeshError(f"{path}: more data than fits into memory.", hint=hint) from error
    except Exception as error:
        reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise MeshError(f"{path}: not a readable {path.suffix.lower()} file: {reason}.", hint=hint) from error


def _writing(path: Path, table: Mapping[str, Callable[[Path, M], None]], what: str, mesh: M) -> None:
    write = _choose(path, table, what)
    bad = np.flatnonzero(~np.isfinite(mesh.points).all(axis=1))
    if len(bad):
        raise MeshError(f"{path}: not written, point {bad[0]} is not finite.", hint="Check the positions.")
    try:
        write(path, mesh)
    except PliantError:
        raise
    except Exception as error:
        raise MeshError(
            f"{path}: the mesh could not be written: {error}.", hint="Check its arrays."
        ) from error


def _neighbours(path: Path) -> str:
    """A hint that names a file of nearly the same name, if there is one."""
    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder '{folder}'."
    near = get_close_matches(path.name, [entry.name for entry in folder.iterdir()], 1)
    return (
        f"Did you mean '{near[0]}'?"
        if near
        else "Check the name; relative paths start at the working folder."
    )
