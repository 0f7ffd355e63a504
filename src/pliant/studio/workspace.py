"""The workspace: the one folder that the studio reads and writes. Pages name files in it, never paths."""

import os
import re
from pathlib import Path

from pliant.core.errors import InputError, StorageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._\-]{0,80}")
MESHES = (".obj", ".stl", ".ply", ".glb", ".off", ".surf", ".msh", ".mesh", ".vtu", ".vtk", ".str")
AUTOSAVE = ".studio-autosave.toml"
_PART = ".part"


class Workspace:
    """A folder and the plain names of files in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def place(self, name: str, suffixes: tuple[str, ...]) -> Path:
        """The file called ``name``; InputError for anything but a plain name with a known suffix."""
        if not NAME.fullmatch(name) or ".." in name or name.endswith((".", " ")):
            raise InputError(f"'{name[:60]}' is not a plain file name.", hint="Use letters, digits, - and _.")
        path = self.folder / name
        if path.suffix.lower() not in suffixes:
            raise InputError(f"'{name[:60]}' should end in {', '.join(suffixes)}.")
        if path.is_symlink() or path.resolve().parent != self.folder:
            raise InputError(f"'{name[:60]}' leads out of the workspace.")
        return path

    def listing(self) -> dict[str, list[str]]:
        """Scenes, runs and meshes that can be opened."""
        found: dict[str, list[str]] = {"scenes": [], "runs": [], "meshes": []}
        for entry in sorted(self.folder.iterdir()):
            if entry.is_symlink() or not NAME.fullmatch(entry.name):
                continue
            if entry.suffix == ".toml" and entry.is_file():
                found["scenes"].append(entry.name)
            elif entry.suffix == ".pliant" and entry.is_dir():
                found["runs"].append(entry.name)
            elif entry.suffix.lower() in MESHES and entry.is_file():
                found["meshes"].append(entry.name)
        return {kind: names[:500] for kind, names in found.items()}

    def read(self, name: str) -> str:
        """The text of a scene file."""
        path = self.existing(name, (".toml",))
        if path.stat().st_size > 16 * 1024**2:
            raise InputError(f"'{name}' is too large for a scene.")
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"'{name}' is not a text file.") from None

    def existing(self, name: str, suffixes: tuple[str, ...]) -> Path:
        """As ``place``, for a file that must be there."""
        path = self.place(name, suffixes)
        if not path.is_file():
            raise InputError(f"There is no '{name}' in the workspace.")
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a scene file; it is there whole or not at all."""
        path = self.place(name, (".toml",))
        self._replace(path, text.encode())
        return path

    def autosave(self, text: str) -> None:
        self._replace(self.folder / AUTOSAVE, text.encode())

    def autosaved(self) -> str | None:
        """What was saved last without being asked; None where there is nothing."""
        path = self.folder / AUTOSAVE
        return path.read_text(encoding="utf-8") if path.is_file() and not path.is_symlink() else None

    def stem(self, name: str) -> str:
        """``name`` as the first part of a file's name."""
        return re.sub(r"[^A-Za-z0-9_\-]+", "-", name).strip("-_.")[:60] or "file"

    def free_name(self, stem: str, suffix: str) -> str:
        """A name that no file has yet."""
        stem = self.stem(stem)
        name, number = f"{stem}{suffix}", 1
        while (self.folder / name).exists() or (self.folder / name).is_symlink():
            number += 1
            name = f"{stem}-{number}{suffix}"
        return name

    def _replace(self, path: Path, data: bytes) -> None:
        draft = path.with_name(path.name + _PART)
        try:
            draft.write_bytes(data)
            os.replace(draft, path)
        except OSError as error:
            raise StorageError(f"'{path.name}' could not be written: {error.strerror}.") from error
