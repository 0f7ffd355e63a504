"""What is worked on: the scene document, edited one place at a time, its files, what of it was built."""

import copy
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant import examples
from pliant.actions.base import ActionParameters
from pliant.contact.surface_motion import SurfaceMotion
from pliant.core.errors import InputError, MeshError, PliantError
from pliant.core.tables import Table
from pliant.scene.load import build_member, parse
from pliant.scene.scene import UP
from pliant.scene.text_edit import edited_text
from pliant.scene.to_toml import scene_text
from pliant.studio.workspace import MESHES, Workspace

DEPTH = 200  # edits that can be undone
CACHES = (".pc2", ".mdd")  # of deforming obstacles
LONGEST = 10_000  # letters of a text in a scene
MOST_COORDINATES = 1_000_000  # of a deforming obstacle that pages are sent
EMPTY: Table = {
    "schema": 1,
    "up": "z",
    "time": {"duration": 2.0, "fps": 50},
    "bodies": [],
    "actions": [{"type": "gravity"}, {"type": "ground"}],
    "measures": [],
}


class Document:
    """What pages edit. Every change is checked as a scene file is; a wrong one changes nothing."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.folder = workspace, workspace.folder
        self.version = -1
        self.clear()

    def open(self, text: str, name: str) -> None:
        """Take over a scene file."""
        parse(text, self.folder, name or "scene", meshes=False)
        table = tomllib.loads(text)
        keep_inside(table, self.workspace)
        parse(text, self.folder, name or "scene")
        for family in ("bodies", "actions", "measures"):
            table.setdefault(family, [])
        self._begin(table, name, text)

    def clear(self) -> None:
        """An empty scene."""
        self._begin(copy.deepcopy(EMPTY), "")

    def _begin(self, table: Table, name: str, source: str = "") -> None:
        self.table, self.name, self._source = table, name, source
        self._past, self._future = list[Table](), list[Table]()
        self.version += 1

    def edit(self, path: list[str | int], value: Any) -> None:
        """Put ``value`` at ``path`` (None removes it; the place after a list's last adds one)."""
        new = copy.deepcopy(self.table)
        put(new, path, value)
        if new == self.table:
            return
        self.check(new)
        self._past = [*self._past[-DEPTH + 1 :], self.table]
        self._future = []
        self.table = new
        self.version += 1

    def check(self, table: Table) -> None:
        """SceneError where ``table`` is no scene; one without bodies yet is checked with a stand-in."""
        _check_form(table)
        keep_inside(table, self.workspace)
        if not table.get("bodies"):
            if any("select" in action or "body" in action for action in table.get("actions", [])):
                raise InputError("Remove the actions of a body before the last body.")
            table = {**table, "bodies": [{"shape": {"box": {"size": [1, 1, 1], "divisions": [1, 1, 1]}}}]}
        try:
            text = scene_text(table)
        except TypeError as error:
            raise InputError(f"That cannot stand in a scene: {error}.") from error
        parse(text, self.folder, "scene")

    def undo(self) -> None:
        self._go(self._past, self._future)

    def redo(self) -> None:
        self._go(self._future, self._past)

    def _go(self, there: list[Table], back: list[Table]) -> None:
        if there:
            back.append(self.table)
            self.table = there.pop()
            self.version += 1

    @property
    def text(self) -> str:
        """The scene as a file of its own."""
        return scene_text(self.table)

    @property
    def saved_text(self) -> str:
        """The scene file: the one that was opened, comments and order kept, changed where the scene is."""
        return edited_text(self._source, self.table) if self._source else self.text

    @property
    def up(self) -> str:
        return str(self.table.get("up", "z"))

    @property
    def top(self) -> Table:
        """What a take has from the scene as it is now: nothing of it changes a frame."""
        return {key: self.table[key] for key in ("title", "camera") if key in self.table}

    def state(self) -> Table:
        """What pages show."""
        return {
            "table": self.table,
            "scenery": [scenery(action, self.up, self.folder) for action in self.table["actions"]],
            "name": self.name,
            "version": self.version,
            "undo": len(self._past),
            "redo": len(self._future),
        }


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
            self.open_run(path.name)
        else:
            self.document.edit(["title"], path.stem)
            self.offer = path.name

    def open(self, kind: str, name: str) -> None:
        """Take over an example, a scene file, what was saved by itself, or nothing."""
        if kind == "new":
            self.document.clear()
        elif kind == "example":
            examples.copy_meshes(name, self.workspace.folder)
            self.document.open(examples.text(name), "")
        elif kind == "autosave":
            self.document.open(self.workspace.autosaved() or "", "")
        else:
            self.document.open(self.workspace.read(name), name)
        self._built_bodies = None

    def open_run(self, name: str) -> None:
        """Look at a recorded run, and take over its scene where that can be built here."""
        self.run = name
        self.lost()
        try:
            text = (self.workspace.folder / name / "scene.toml").read_text(encoding="utf-8")
            self.document.open(text, "")
        except (OSError, UnicodeDecodeError, PliantError):
            self.document.clear()

    def save(self, name: str) -> str:
        """Write the scene file; its name."""
        path = self.workspace.write(name, self.document.saved_text)
        self.document.name = path.name
        return path.name

    def take_saved(self, name: str) -> None:
        """Call a scene that has no file yet by the one that its take was saved in."""
        self.document.name = self.document.name or name

    def place_of_take(self, name: str) -> tuple[str, Path]:
        """The names of a take's scene file and run folder; InputError where there is one already."""
        stem = name.removesuffix(".toml")
        folder = self.workspace.place(f"{stem}.pliant", (".pliant",))
        self.workspace.place(f"{stem}.toml", (".toml",))
        if folder.exists():
            raise InputError(f"'{folder.name}' exists already.", hint="Give the take another name.")
        return f"{stem}.toml", folder

    def built(self) -> None:
        """The document is being built as it is now."""
        if not self.document.table["bodies"]:
            raise InputError("The scene has no body yet.", hint="Open an example or drop a mesh file.")
        self.run, self.built_version = "", self.document.version
        self._built_bodies = self._plain_bodies()

    def keep_built(self) -> None:
        """The last edit changed nothing that is simulated."""
        if self.built_version == self.document.version - 1:
            self.built_version = self.document.version

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


def scenery(table: Table, up: str, folder: Path | None) -> Table | None:
    """The shape that an action's table puts into the world, as pages draw it; None for others."""
    action: ActionParameters | None = build_member("actions", table)
    if action is not None and action.mesh is not None:
        action = replace(action, mesh=(folder or Path()) / action.mesh)  # type: ignore[type-var]
    try:
        shape = None if action is None else action.scenery(UP[up])
    except MeshError:  # the mesh is not there: preparing the scene says so
        shape = None
    if shape is None:
        return None
    return {
        **({} if shape.motion is None else {"mesh": _surface(shape.motion)}),
        "kind": shape.kind,
        "role": shape.role,
        "size": list(shape.size),
        "frame": shape.frame.T.ravel().tolist(),
        "path": shape.path.to_scene(),
    }


def _surface(motion: SurfaceMotion) -> Table:
    """The surface of a mesh obstacle as pages draw it, with as many samples as they can hold."""
    found = motion.sequence
    every = max(1, -(-found.points.size // MOST_COORDINATES))
    samples = np.unique(np.append(np.arange(0, len(found.times), every), len(found.times) - 1))
    return {
        "times": found.times[samples].tolist(),
        "points": [np.round(points.ravel(), 7).tolist() for points in found.points[samples]],
        "triangles": found.triangles.ravel().tolist(),
        "axis": motion.axis.tolist(),
        "angle": motion.angle.to_scene(),
    }


def _check_form(table: Table) -> None:
    """InputError where sections are not tables, or lists are not lists of tables."""
    for name in ("time", "record"):
        if not isinstance(table.get(name, {}), dict):
            raise InputError(f"{name} is a table.")
    for family in ("bodies", "actions", "measures"):
        entries = table.get(family, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise InputError(f"{family} is a list of tables.")


def keep_inside(value: Any, workspace: Workspace) -> None:
    """InputError where a scene names a file that is not a mesh of the workspace itself, or says too much."""
    if isinstance(value, str) and len(value) > LONGEST:
        raise InputError(f"A text of {len(value)} letters is too long for a scene.")
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "cache":
                workspace.place(str(inner), CACHES)
            if key == "mesh" or (key == "shape" and not isinstance(inner, dict)):
                workspace.place(str(inner), MESHES)
            keep_inside(inner, workspace)
    elif isinstance(value, list):
        for inner in value:
            keep_inside(inner, workspace)


def put(table: Any, path: list[str | int], value: Any) -> None:
    """Change nested tables and lists in place; InputError where the path leads nowhere."""
    place = table
    for key in path[:-1]:
        if isinstance(place, dict) and isinstance(key, str):
            place = place.setdefault(key, {})
        elif isinstance(place, list) and isinstance(key, int) and 0 <= key < len(place):
            place = place[key]
        else:
            raise InputError("That part of the scene is not there any more.")
    key = path[-1]
    if isinstance(place, dict) and isinstance(key, str):
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
    elif isinstance(place, list) and isinstance(key, int) and 0 <= key <= len(place):
        if value is None:
            del place[key : key + 1]
        elif key == len(place):
            place.append(value)
        else:
            place[key] = value
    else:
        raise InputError("That part of the scene is not there any more.")
