"""Scene files: what is read, and what each mistake is told."""

from pathlib import Path

import pytest
from scene_texts import ACTION, BODY

from pliant.core.errors import SceneError
from pliant.scene import Scene
from pliant.scene.load import LARGEST, parse, read

ALL = "select = { all = true }\n"


def problem(text: str, folder: Path | None = None) -> str:
    """The message for a wrong scene called beam.toml."""
    with pytest.raises(SceneError) as caught:
        parse(text, folder, "beam.toml")
    return str(caught.value)


def test_a_scene_in_full_is_read_as_written() -> None:
    scene = parse(
        """
        schema = 1
        title = "Hanging beam"
        up = "y"
        [time]
        duration = "1600 ms"
        fps = 25
        step = 1e-4
        integrator = "verlet"
        [record]
        velocities = true
        [[bodies]]
        name = "beam"
        shape = { box = { size = [2.0, "20 cm", 0.2] } }
        material = { preset = "rubber", young = "2 MPa" }
        position = [0, 0, 1]
        [[actions]]
        type = "gravity"
        from = 0.1
        [[actions]]
        type = "force"
        select = { body = "beam", plane = { axis = "x", at = "max" } }
        keys = [{ time = 0, value = [0, 0, 0] }, { time = 1, value = [0, 0, "50 N"] }]
        ease = "smooth"
        [[measures]]
        type = "probe"
        name = "tip"
        select = { plane = { axis = "x", at = "max" } }
        """
    )
    (body,), (gravity, force) = scene.bodies, scene.actions
    assert (scene.title, scene.up, scene.record.velocities) == ("Hanging beam", "y", True)
    assert (scene.time.duration, scene.time.frames(), scene.time.step) == (1.6, 41, 1e-4)
    assert scene.time.integrator.kind == "verlet"
    assert body.shape.size == (2.0, 0.2, 0.2)
    assert body.resolved_material.young == 2e6
    assert gravity.from_ == 0.1  # type: ignore[attr-defined]
    assert force.value.at(1.0).tolist() == [0, 0, 50]  # type: ignore[attr-defined]
    assert force.value.ease == "smooth"  # type: ignore[attr-defined]
    assert scene.measures[0].name == "tip"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('materiall = "rubber"', "beam.toml:5: bodies[0].materiall: unknown key; did you mean 'material'?"),
        (
            "material = { yung = 3 }",
            "beam.toml:5: bodies[0].material.yung: unknown key; did you mean 'young'?",
        ),
        (
            "material = { crack_speed = 3 }",
            "bodies[0].material.crack_speed: unknown key; did you mean 'crack-sp",
        ),
        (
            'material = "ruber"',
            "beam.toml:5: bodies[0].material: unknown material 'ruber'; did you mean 'rubber'?",
        ),
        (
            "material = { young = 3 }",
            "beam.toml:5: bodies[0].material: a material needs two of young, poisson",
        ),
        ('model = "mass-sprin"', "bodies[0].model: unknown model 'mass-sprin'; did you mean 'mass-spring'?"),
        (
            'model = { type = "mass-spring", stif = 1 }',
            "bodies[0].model.stif: unknown key; did you mean 'stiff",
        ),
        ("model = { stiffness = 1 }", 'bodies[0].model: a model table needs type = "..."'),
        ("position = [1, 2]", "beam.toml:5: bodies[0].position: expected 3 values, got 2"),
        ("position = [1, 2, 3, 4]", "bodies[0].position: expected 3 values, got 4"),
        (
            'position = [1, 2, "x"]',
            "bodies[0].position[2]: expected a number with a unit such as '1 m', got 'x'",
        ),
        ("position = [1, 2, nan]", "bodies[0].position[2]: expected a finite number, got nan"),
        ("edge = inf", "bodies[0].edge: expected a finite number, got inf"),
        ("edge = -1", "bodies[0].edge: must be greater than 0, got -1"),
        ('edge = "3 kg"', "bodies[0].edge: '3 kg' is not a quantity in m"),
        ("edge = { keys = [{ time = 0, value = 1 }] }", "bodies[0].edge: cannot be keyed: it has one value"),
        ("edge = true", "bodies[0].edge: expected a number in m, got True"),
        ("scale = [1]", "bodies[0].scale: expected a number, got [1]"),
        ('surface = "emboded"', "bodies[0].surface: expected 'embedded' or 'boundary', got 'emboded'"),
        ("rotation = 3", "bodies[0].rotation: expected a table { axis, degrees }, got 3"),
        ("rotation = { axis = [0, 0, 0], degrees = 1 }", "bodies[0].rotation.axis: axis must have a length"),
        ('mesh = "x.obj"', "beam.toml:2: bodies[0]: a body needs one of shape, mesh"),
        ("[time]\nduratoin = 2", "beam.toml:6: time.duratoin: unknown key; did you mean 'duration'?"),
        (
            "[time]\nduration = 0.001",
            "beam.toml:6: time.duration: 0.001 s at 50 frames a second is less than",
        ),
        ("[time]\nduration = 1e9", "beam.toml:6: time.duration: 1e+09 s at 50 frames a second is too much"),
        ("[time]\nstep = 0", 'beam.toml:6: time.step: expected seconds above 0, or "auto", got 0'),
        (
            '[time]\nintegrator = "lepfrog"',
            "time.integrator: unknown integrator 'lepfrog'; did you mean 'leapf",
        ),
        ('[time]\nintegrator = { type = "verlet", q = 1 }', "time.integrator.q: unknown key"),
        ("[record]\nvelocities = 3", "beam.toml:6: record.velocities: expected true or false, got 3"),
        ("[tiem]\nduration = 2", "beam.toml:5: tiem: unknown key; did you mean 'time'?"),
        (
            '[[bodies]]\nname = "cube"\nshape = { box = { size = [1, 1, 1] } }',
            ":6: bodies[1].name: another body",
        ),
        (
            "[[bodies]]\nname = '1 2'\nshape = { box = { size = [1, 1, 1] } }",
            ":6: bodies[1].name: a name is a",
        ),
        (
            "[[bodies]]\nshape = { bxo = { size = [1, 1, 1] } }",
            ":6: bodies[1].shape: unknown shape 'bxo'; did you",
        ),
        (
            "[[bodies]]\nshape = { box = { sise = [1, 1, 1] } }",
            ":6: bodies[1].shape.box.sise: unknown key; did",
        ),
        (
            "[[bodies]]\nshape = { box = { size = [1, 1] } }",
            ":6: bodies[1].shape.box.size: expected 3 values, got",
        ),
        (
            "[[bodies]]\nshape = { box = { size = [1, 0, 1] } }",
            ":6: bodies[1].shape.box.size[1]: expected a posit",
        ),
        ("[[bodies]]\nshape = { box = {} }", ":6: bodies[1].shape.box.size: is missing"),
        ('[[bodies]]\nshape = "ball.obj"\nmesh = 3', ":7: bodies[1].mesh: "),
        ('[[bodies]]\nshape = "box"', ":6: bodies[1].shape: a shape is a table such as { box = { ... } }"),
        (
            '[[bodies]]\nshape = { box = { size = [1, 1, 1] } }\nmesh = "a.obj"',
            "a body needs one of shape, mesh, not both",
        ),
    ],
)
def test_a_wrong_body_or_setting_is_named_with_its_line(extra: str, message: str) -> None:
    assert message in problem(BODY + extra)


@pytest.mark.parametrize(
    ("kind", "rest", "message"),
    [
        ("gravty", "", "beam.toml:6: actions[0].type: unknown action 'gravty'; did you mean 'gravity'?"),
        (
            "gravity",
            "acceleratoin = 1",
            ":7: actions[0].acceleratoin: unknown key; did you mean 'acceleration'?",
        ),
        ("gravity", 'acceleration = "9 m"', ":7: actions[0].acceleration: '9 m' is not a quantity in m/s2"),
        ("gravity", "from = 2\nuntil = 1", ":5: actions[0]: until (1 s) must be after from (2 s)"),
        ("gravity", "from_ = 2", ":7: actions[0].from_: unknown key; did you mean 'from'?"),
        ("fix", "", ":5: actions[0]: select is missing: which particles?"),
        ("fix", "selct = { all = true }", ":7: actions[0].selct: unknown key; did you mean 'select'?"),
        (
            "fix",
            "select = { body = 'cube' }",
            ":7: actions[0].select: says which body but not which particles",
        ),
        ("fix", "select = { all = true, ids = [1] }", ":7: actions[0].select: choose one of ids, all"),
        (
            "fix",
            "select = { body = 'cub', all = true }",
            "select.body: there is no body 'cub'; did you mean 'cube'?",
        ),
        (
            "fix",
            "select = { plane = { axis = 'w', at = 0 } }",
            "plane.axis: expected 'x', 'y' or 'z', got 'w'",
        ),
        (
            "fix",
            "select = { plane = { axis = 'x', at = 'mid' } }",
            "plane.at: expected 'min' or 'max' or a number",
        ),
        (
            "fix",
            "select = { nearest = [0, 0, 0] }",
            ":7: actions[0].select.nearest: expected a table { to, count }, got [0, 0, 0]",
        ),
        ("fix", "select = { plane = { axis = 'x' } }", ":7: actions[0].select.plane.at: is missing"),
        ("fix", ALL + "keys = []", ":8: actions[0].keys: 'fix' has nothing that can be keyed"),
        ("fix", ALL + "axes = 'xq'", ":8: actions[0].axes: expected 'x', 'y' or 'z', got 'q'"),
        (
            "force",
            ALL + "ease = 'smooth'",
            ":8: actions[0].ease: says how to go between keys, and there are no",
        ),
        ("force", ALL + "value = [1, 2, 3]\nkeys = []", ":9: actions[0].keys: stands for value: give one"),
        ("force", ALL + "keys = 3", ":8: actions[0].keys: keys is a list of { time"),
        ("force", ALL + "keys = [{ time = 0 }]", ":8: actions[0].keys: key 1 must be { time = ..., value"),
        (
            "force",
            ALL + "keys = [{ time = 0, value = [1, 2] }]",
            ":8: actions[0].keys: expected three numbers",
        ),
        (
            "force",
            ALL + "keys = [\n{ time = 1, value = [1, 2, 3] },\n{ time = 0, value = [1, 2, 3] } ]",
            ":8: actions[0].keys: key times must increase",
        ),
        (
            "force",
            ALL + "ease = 'bouncy'\nkeys = [{ time = 0, value = [1, 2, 3] }]",
            "actions[0].keys: ease is 'linear' or 'smooth', got 'bouncy'",
        ),
        ("force", ALL + "value = 3", ":8: actions[0].value: expected three numbers [x, y, z] in N, got 3"),
        (
            "sine",
            ALL + "amplitude = { keys = [{ time = 0, value = 1 }] }",
            "amplitude: cannot be keyed: it has one",
        ),
        (
            "drag",
            "coefficient = { keys = [] }",
            "keyed: it has one value for all times; of 'drag', keys work for de",
        ),
        (
            "obstacle",
            "sphere = { radius = -1 }",
            ":7: actions[0].sphere.radius: must be greater than 0, got -1",
        ),
        ("obstacle", "", ":5: actions[0]: give one of sphere, box, capsule"),
        ("pressure", "body = 'cub'", ":7: actions[0].body: there is no body 'cub'; did you mean 'cube'?"),
        ("pressure", "body = 3", ":7: actions[0].body: expected a body's name, got 3"),
        (
            "ground",
            '[[actions]]\ntype = "ground"',
            ":7: actions[1]: another series is called 'ground' already",
        ),
    ],
)
def test_a_wrong_action_is_named_with_its_line(kind: str, rest: str, message: str) -> None:
    assert message in problem(BODY + ACTION.format(kind) + rest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "beam.toml: schema: is missing: a scene starts with the line schema = 1 (and 1 more problem)"),
        ("schema = 2", "beam.toml:1: schema: this pliant reads schema 1, the file says 2"),
        ("schema = true", "beam.toml:1: schema: this pliant reads schema 1, the file says true"),
        ("schema = 1", "beam.toml: bodies: a scene needs at least one body: [[bodies]]"),
        ("schema = 1\nbodies = 3", "beam.toml:2: bodies: expected tables headed [[bodies]], got 3"),
        ("schema = 1\nbodies = [3]", "beam.toml:2: bodies[0]: expected a table, got 3"),
        ("schema = 1\n[bodies]\nname = 'a'", "beam.toml:2: bodies: write [[bodies]], with two brackets"),
        (BODY + "[[actions]]\n", "beam.toml:5: actions[0].type: is missing: which action? known: add"),
        (
            BODY + "[[measures]]\ntype = 'prob'",
            ":6: measures[0].type: unknown measure 'prob'; did you mean 'probe'?",
        ),
        (BODY + "[[measures]]\ntype = 'probe'", "beam.toml:5: measures[0].select: is missing"),
        (
            BODY + "[[measures]]\ntype = 'probe'\nselect = { all = true }\n" * 2,
            ":8: measures[1]: another series is called 'probe' already; give this one a name of its own",
        ),
        ("schema = 1\ntitle = 'a", "beam.toml:2: not valid TOML: "),
        ("schema = 1\nx = = 3", "beam.toml:2: not valid TOML: invalid value"),
        ("schema = 1\nschema = 1", "beam.toml:2: not valid TOML: cannot overwrite a value"),
        ("schema = 1\n[time]\n[time]", "beam.toml:3: not valid TOML: "),
        ("schema = 1\n[[bodies", "beam.toml:2: not valid TOML: "),
        ("a = " + "[" * 9000 + "]" * 9000, "beam.toml: not a scene: nested too deeply"),
        (BODY.replace("schema", "up = 'w'\nschema"), "beam.toml:1: up: expected 'x', 'y' or 'z', got 'w'"),
        (BODY.replace("schema", "title = 3\nschema"), "beam.toml:1: title: expected text in quotes, got 3"),
    ],
)
def test_a_wrong_file_is_told_where_and_why(text: str, message: str) -> None:
    assert message in problem(text)


def test_the_first_of_several_problems_is_told_and_the_others_are_counted() -> None:
    text = BODY + 'edge = -1\nmateriall = "rubber"\n[time]\nduratoin = 2\n'
    assert (
        problem(text) == "beam.toml:5: bodies[0].edge: must be greater than 0, got -1 (and 2 more problems)"
    )


def test_a_misspelt_key_is_told_rather_than_the_missing_one() -> None:
    text = BODY.replace("size", "sizee")
    assert problem(text) == "beam.toml:4: bodies[0].shape.box.sizee: unknown key; did you mean 'size'?"


def test_a_mesh_that_is_missing_is_told_with_the_place_where_it_was_looked_for(tmp_path: Path) -> None:
    text = 'schema = 1\n[[bodies]]\nmesh = "parts/nix.obj"\n'
    assert f"beam.toml:3: bodies[0].mesh: there is no file {tmp_path / 'parts' / 'nix.obj'}" in problem(
        text, tmp_path
    )
    (tmp_path / "parts" / "nix.obj").mkdir(parents=True)
    assert "is a folder, not a mesh file" in problem(text, tmp_path)
    (tmp_path / "parts" / "nix.obj").rmdir()
    (tmp_path / "parts" / "nix.obj").symlink_to("nowhere.obj")
    assert "(a link to nothing)" in problem(text, tmp_path)
    assert isinstance(parse(text, tmp_path, meshes=False), Scene)


def test_meshes_are_looked_up_beside_the_scene_file(tmp_path: Path) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    file = tmp_path / "scene.toml"
    file.write_text('schema = 1\n[[bodies]]\nmesh = "one.obj"\n')
    scene = read(file)
    assert scene.folder == tmp_path
    assert scene.bodies[0].mesh == "one.obj"


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_byte_order_marks_and_windows_line_ends_are_welcome(tmp_path: Path, bom: bytes, ending: str) -> None:
    file = tmp_path / "scene.toml"
    file.write_bytes(bom + BODY.replace("\n", ending).encode())
    assert read(file).bodies[0].name == "cube"
    file.write_bytes(bom + (BODY + "edge = -1\n").replace("\n", ending).encode())
    with pytest.raises(SceneError, match=r"scene.toml:5: bodies\[0\].edge"):
        read(file)


def test_files_that_are_no_text_or_far_too_large_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "scene.toml"
    file.write_bytes(b"schema = 1\n\xff\xfe\x00")
    with pytest.raises(SceneError, match=r"scene.toml:2: is not UTF-8 text"):
        read(file)
    with file.open("wb") as handle:
        handle.truncate(LARGEST + 1)
    with pytest.raises(SceneError, match="16 MB is too large for a scene file"):
        read(file)


def test_a_missing_file_is_told_with_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "beam.toml").write_text(BODY)
    with pytest.raises(SceneError, match=r"baem.toml: no such file Did you mean '.*beam.toml'"):
        read(tmp_path / "baem.toml")
    with pytest.raises(SceneError, match="is a folder, not a scene file"):
        read(tmp_path)
