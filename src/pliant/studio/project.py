"""What is worked on: the scene document, the files that it comes from and goes to, what of it was built."""

from pathlib import Path

from pliant import examples
from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.studio.document import Document
from pliant.studio.workspace import Workspace


class Project:
    """A document in a workspace; ``run`` names a recorded run that is looked at instead."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.document = Document(workspace)
        self.run = ""
        self.offer = ""  # a mesh that pages are asked to look over
        self.built_version = -1  # of the document
        self._built_bodies: list[Table] | None = None

    def start(self, path: Path | None) -> None:
        """Open what ``pliant studio PATH`` asks for; a scene, a run or a mesh of the workspace."""
        if path is None:
            return
        if path.suffix == ".toml":
            self.document.open(path.read_text(encoding="utf-8"), path.name)
        elif path.suffix == ".pliant" or path.is_dir():
            self.run = path.name
        else:
            self.document.edit(["title"], path.stem)
            self.offer = path.name

    def open(self, kind: str, name: str) -> None:
        """Take over an example, a scene file, what was saved by itself, or nothing."""
        if kind == "new":
            self.document.clear()
        elif kind == "example":
            self.document.open(examples.text(name), "")
        elif kind == "autosave":
            self.document.open(self.workspace.autosaved() or "", "")
        else:
            self.document.open(self.workspace.read(name), name)
        self._built_bodies = None

    def save(self, name: str) -> str:
        """Write the scene file; its name."""
        path = self.workspace.write(name, self.document.text)
        self.document.name = path.name
        return path.name

    def place_of_take(self, name: str) -> tuple[str, Path]:
        """The names of a take's scene file and run folder; InputError where there is one already."""
        stem = name.removesuffix(".toml")
        folder = self.workspace.place(f"{stem}.pliant", (".pliant",))
        self.workspace.place(f"{stem}.toml", (".toml",))
        if folder.exists():
            raise InputError(f"'{folder.name}' is there already.", hint="Give the take another name.")
        return f"{stem}.toml", folder

    def built(self) -> None:
        """The document is being built as it is now."""
        if not self.document.table["bodies"]:
            raise InputError("The scene has no body yet.", hint="Open an example or drop a mesh file.")
        self.run, self.built_version = "", self.document.version
        self._built_bodies = self._plain_bodies()

    def lost(self) -> None:
        """Nothing is built any more."""
        self.built_version = -1

    @property
    def quick_to_build(self) -> bool:
        """Whether something was changed, and not the bodies, so that their particles can stay."""
        return self.built_version != self.document.version and self._built_bodies == self._plain_bodies()

    def _plain_bodies(self) -> list[Table]:
        """Bodies without their groups, which need no new particles."""
        bodies = self.document.table["bodies"]
        return [{key: value for key, value in body.items() if key != "groups"} for body in bodies]

    def state(self) -> Table:
        """What pages show."""
        return {**self.document.state(), "built": self.built_version}
