"""Bad scenes and meshes: each makes files in a folder, and gives a command and words its error must have.

Meshes are written by name here rather than kept as files, so that what is wrong with each can be read.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BODY = (
    'schema = 1\n[[bodies]]\nname = "cube"\nshape = { box = { size = [1, 1, 1], divisions = [1, 1, 1] } }\n'
)
GRAVITY = '[[actions]]\ntype = "gravity"\n'
TET = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
MSH_TET = (
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 {apex}\n$EndNodes\n"
    "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n"
)


@dataclass(frozen=True)
class Bad:
    """A command that must fail: exit code 2, and ``words`` in its one error."""

    name: str
    command: tuple[str, ...]
    words: tuple[str, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)
    make: Callable[[Path], object] | None = None

    def prepare(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if self.make is not None:
            self.make(folder)


def scene(name: str, text: str | bytes, *words: str, verb: str = "run") -> Bad:
    """A bad scene file."""
    return Bad(f"scene: {name}", (verb, "bad.toml"), ("bad.toml", *words), {"bad.toml": text})


def mesh(name: str, file: str, content: str | bytes, *words: str, verb: str = "mesh") -> Bad:
    """A bad mesh file, given to ``pliant mesh`` with an output to write."""
    command = ("mesh", file, "out.vtu") if verb == "mesh" else (verb, file)
    return Bad(f"mesh: {name}", command, (file, *words), {file: content})


def body_mesh(name: str, file: str, content: str | bytes, *words: str) -> Bad:
    """A bad mesh file in a good scene."""
    text = f'schema = 1\n[[bodies]]\nmesh = "{file}"\n{GRAVITY}'
    words = ("bad.toml: body 'body': ", *words)
    return Bad(f"scene with mesh: {name}", ("run", "bad.toml"), words, {"bad.toml": text, file: content})


def _stl(count: int, triangles: int) -> bytes:
    corner = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    return b"\0" * 80 + struct.pack("<I", count) + corner * triangles


def _huge(folder: Path) -> None:
    with (folder / "bad.toml").open("wb") as file:
        file.truncate(17 * 1024 * 1024)


SCENES = [
    scene("empty", "", "schema", "is missing"),
    scene("only a comment", "# nothing\n", "schema", "is missing"),
    scene("binary", bytes(range(256)), "UTF-8"),
    scene("UTF-16", BODY.encode("utf-16"), "UTF-8"),
    scene("null bytes", "schema = 1\n\0\0\0", "bad.toml:2", "TOML"),
    scene("JSON", '{"schema": 1}', "bad.toml:1", "TOML"),
    scene("YAML", "schema: 1\nbodies:\n - name: a\n", "bad.toml:1", "TOML"),
    scene("truncated in a string", BODY + 'material = "rub', "bad.toml:5", "TOML"),
    scene("truncated in a table", BODY + "material = { young = 3", "bad.toml:5", "TOML"),
    scene("truncated in a header", BODY + "[[act", "bad.toml:5", "TOML"),
    scene("duplicate key", BODY + "edge = 1\nedge = 2\n", "bad.toml:6", "TOML"),
    scene("nested too deeply", "a = " + "[" * 20000 + "]" * 20000, "nested too deeply"),
    Bad("scene: huge", ("run", "bad.toml"), ("bad.toml", "too large"), make=_huge),
    scene("another schema", BODY.replace("1", "99", 1), "bad.toml:1", "schema", "99"),
    scene("no bodies", "schema = 1\n" + GRAVITY, "at least one body"),
    scene(
        "a body without a shape", "schema = 1\n[[bodies]]\nname = 'a'\n", "bad.toml:2", "one of shape, mesh"
    ),
    scene("unknown top key", "colour = 3\n" + BODY, "bad.toml:1", "colour", "unknown key"),
    scene("unknown body key", BODY + "materiall = 'rubber'\n", "bad.toml:5", "did you mean 'material'?"),
    scene("unknown shape", BODY.replace("box", "bax"), "bad.toml:4", "did you mean 'box'?"),
    scene("unknown model", BODY + "model = 'magic'\n", "bad.toml:5", "unknown model 'magic'"),
    scene("unknown material", BODY + "material = 'unobtainium'\n", "bad.toml:5", "unobtainium"),
    scene("unknown action", BODY + "[[actions]]\ntype = 'gravty'\n", "bad.toml:6", "did you mean 'gravity'?"),
    scene("unknown integrator", BODY + "[time]\nintegrator = 'rk9'\n", "bad.toml:6", "unknown integrator"),
    scene(
        "unknown body in select",
        BODY + "[[actions]]\ntype = 'fix'\nselect = { body = 'x', all = true }",
        ":7",
        "'x'",
    ),
    scene(
        "unknown body in a pair of contact",
        BODY + "[contact]\npairs = [{ bodies = ['cube', 'kube'], friction = 0.3 }]",
        ":6",
        "contact.pairs[0].bodies[1]",
        "did you mean 'cube'?",
    ),
    scene(
        "unknown body to fuse with",
        BODY + "[[actions]]\ntype = 'fuse'\nbodies = ['cube', 'ball']\n",
        ":7",
        "actions[0].bodies[1]",
        "'ball'",
    ),
    scene("not a number", BODY + "edge = nan\n", "bad.toml:5", "finite"),
    scene("infinite", BODY + "position = [0, inf, 0]\n", "bad.toml:5", "position[1]", "finite"),
    scene("negative size", BODY.replace("[1, 1, 1]", "[1, -1, 1]", 1), "bad.toml:4", "shape.box.size[1]"),
    scene("zero volume", BODY.replace("[1, 1, 1]", "[1, 0, 1]", 1), "bad.toml:4", "shape.box.size[1]"),
    scene("zero scale", BODY + "scale = 0\n", "bad.toml:5", "greater than 0"),
    scene("wrong unit", BODY + "edge = '5 kg'\n", "bad.toml:5", "not a quantity in m"),
    scene("unknown unit", BODY + "edge = '5 furlong'\n", "bad.toml:5", "unknown unit"),
    scene("text for a number", BODY + "edge = 'small'\n", "bad.toml:5", "expected a number"),
    scene("number for a text", BODY.replace('"cube"', "3"), "bad.toml:3", "expected text"),
    scene(
        "Poisson's ratio of 0.7", BODY + "material = { preset = 'rubber', poisson = 0.7 }", ":5", "poisson"
    ),
    scene("negative density", BODY + "material = { preset = 'rubber', density = -1 }", ":5", "density"),
    scene("two bodies of a name", BODY + BODY.replace("schema = 1\n", ""), "bad.toml:6", "another body"),
    scene("no time for a frame", BODY + "[time]\nduration = 1e-9\n", "bad.toml:6", "less than one frame"),
    scene("negative duration", BODY + "[time]\nduration = -1\n", "bad.toml:6", "greater than 0"),
    scene("zero step", BODY + "[time]\nstep = 0\n", "bad.toml:6", "above 0"),
    scene("more frames than atoms", BODY + "[time]\nfps = 1e300\n", "too much"),
    scene(
        "keys out of order", BODY + GRAVITY + "keys = [{time=1,value=1},{time=0,value=1}]", ":7", "increase"
    ),
    scene("keys where none can be", BODY + "edge = { keys = [] }", "bad.toml:5", "cannot be keyed"),
    scene("single brackets", BODY.replace("[[bodies]]", "[bodies]"), "bad.toml:2", "two brackets"),
    scene("checked, not run", BODY + "edge = -1", "bad.toml:5", "edge", verb="check"),
    scene("shown, not run", BODY + "edge = -1", "bad.toml:5", "edge", verb="info"),
]


def late(name: str, rest: str, *words: str) -> Bad:
    """A scene whose entries are fine one by one and that cannot be built."""
    return Bad(f"scene: {name}", ("run", "bad.toml"), ("bad.toml: ", *words), {"bad.toml": BODY + rest})


SCENES += [
    late(
        "a selection that is empty",
        "[[actions]]\ntype = 'fix'\nselect = { sphere = { centre = [9, 9, 9], radius = 1 } }",
        "action 'fix'",
        "selection is empty",
    ),
    late(
        "a particle that is not there",
        "[[actions]]\ntype = 'fix'\nselect = { ids = [99] }",
        "action 'fix'",
        "99 is not one",
    ),
    late(
        "a group that is not there", "[[actions]]\ntype = 'fix'\nselect = { group = 'lid' }", "no group 'lid'"
    ),
    late(
        "a plane that cuts nothing",
        "[[measures]]\ntype = 'flux'\nplane = { axis = 'x', at = 9 }",
        "cuts no body",
    ),
    late(
        "a reaction of what is free",
        "[[measures]]\ntype = 'reaction'\nselect = { all = true }",
        "nothing holds",
    ),
    late(
        "particles driven twice",
        "[[actions]]\ntype = 'fix'\nselect = { all = true }\n" * 2,
        "action 2 ('fix') and action 1 ('fix') prescribe the same particles",
    ),
    late("auto step without a limit", "[time]\nintegrator = 'explicit-euler'", "explicit-euler"),
    late(
        "Poisson's ratio below a quarter", "material = { preset = 'rubber', poisson = 0.1 }", "poisson = 0.1"
    ),
]

PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
MESHES = [
    mesh("empty", "bad.obj", "", "empty"),
    mesh("only comments", "bad.obj", "# nothing\n"),
    mesh("binary", "bad.obj", bytes(range(256))),
    mesh("points without faces", "bad.obj", "v 0 0 0\nv 1 0 0\n"),
    mesh("a point that is not a number", "bad.obj", TET.replace("v 1 0 0", "v nan 0 0")),
    mesh("an infinite point", "bad.obj", TET.replace("v 1 0 0", "v inf 0 0")),
    mesh("a face of a point that is not there", "bad.obj", TET + "f 1 2 99\n", "99"),
    mesh("text for a number", "bad.obj", TET.replace("v 1 0 0", "v one 0 0")),
    mesh("truncated STL", "bad.stl", _stl(10, 3)),
    mesh("STL that promises a million", "bad.stl", _stl(1_000_000, 1)),
    mesh("truncated PLY", "bad.ply", PLY + "element face 1\nproperty list uchar int vertex_indices\n"),
    mesh("OFF without its counts", "bad.off", "OFF\n"),
    mesh("VTU that is no XML", "bad.vtu", "not xml"),
    mesh("truncated VTU", "bad.vtu", "<?xml version='1.0'?><VTKFile type='UnstructuredGrid'><Unstr"),
    mesh("truncated MSH", "bad.msh", MSH_TET.format(apex="0 0 1")[:80]),
    mesh("an inside-out triangle alone", "bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
    mesh("no area at all", "bad.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 3 2\n"),
    mesh("a tet without volume", "bad.msh", MSH_TET.format(apex="1 1 0")),
    mesh("unknown suffix", "bad.xyz", "1 2 3\n", "format"),
    mesh("no suffix", "bad", TET, "suffix"),
    mesh("shown, not filled", "bad.obj", "", "empty", verb="info"),
    body_mesh("empty", "part.obj", "", "part.obj", "empty"),
    body_mesh("text", "part.stl", "hello", "part.stl"),
    body_mesh(
        "a flat sheet", "part.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 3 2 1\nf 4 3 1\n"
    ),
]
