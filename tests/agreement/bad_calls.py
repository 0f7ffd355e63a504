"""Bad run folders, places and options, as ``bad_inputs`` has bad files."""

import os
from collections.abc import Callable
from pathlib import Path

from bad_inputs import BODY, GRAVITY, TET, Bad


def options(
    name: str, *command: str, words: tuple[str, ...], files: dict[str, str | bytes] | None = None
) -> Bad:
    return Bad(
        f"options: {name}", command, words, files if files is not None else {"good.toml": BODY + GRAVITY}
    )


def _run_folder(manifest: str | None, **more: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        run = folder / "bad.pliant"
        run.mkdir()
        if manifest is not None:
            (run / "manifest.json").write_text(manifest)
        for name, text in more.items():
            (run / name.replace("_", ".")).write_text(text)

    return make


def run(name: str, make: Callable[[Path], object] | None, *words: str, verb: str = "info") -> Bad:
    """A bad run folder."""
    command = ("export", "bad.pliant", "out.csv") if verb == "export" else (verb, "bad.pliant")
    return Bad(f"run, {verb}: {name}", command, ("bad.pliant", *words), make=make)


WHOLE = (
    '{"format": "pliant-run", "schema": 1, "fps": 50, "frames_total": 3, "steps_per_frame": 1, "columns": []'
)
RUNS = [
    run("missing", None, "does not exist"),
    run("missing", None, "does not exist", verb="resume"),
    run("missing", None, "does not exist", verb="export"),
    run("a file", lambda folder: (folder / "bad.pliant").write_text("x"), "not a run folder"),
    Bad(
        "run, resume: a dangling link",
        ("resume", "bad.pliant"),
        ("nowhere does not exist",),
        make=lambda folder: (folder / "bad.pliant").symlink_to("nowhere"),
    ),
    run("an empty folder", _run_folder(None), "no manifest.json"),
    run("an empty manifest", _run_folder(""), "manifest.json", "damaged"),
    run("a truncated manifest", _run_folder('{"format": "pli'), "manifest.json", "damaged", verb="resume"),
    run("a manifest that is a list", _run_folder("[]"), "manifest.json", "damaged", verb="export"),
    run("of another program", _run_folder('{"format": "other"}'), "not a pliant run"),
    run("of the future", _run_folder('{"format": "pliant-run", "schema": 99}'), "newer pliant"),
    run("without frames a second", _run_folder('{"format": "pliant-run", "schema": 1}'), "damaged"),
    run("without zarr.json", _run_folder(WHOLE + ', "step_columns": [], "bodies": []}'), "zarr.json"),
    run(
        "without progress.json",
        _run_folder(WHOLE + ', "step_columns": [], "bodies": []}', zarr_json="{}"),
        "progress.json",
        verb="resume",
    ),
]


def _readonly(folder: Path) -> None:
    (folder / "locked").mkdir(mode=0o500)


def _links(folder: Path) -> None:
    (folder / "loop.toml").symlink_to("loop.toml")
    (folder / "gone.toml").symlink_to("nowhere.toml")


GOOD: dict[str, str | bytes] = {"good.toml": BODY + GRAVITY, "tet.obj": TET}
PLACES = [
    options("a scene that is missing", "run", "god.toml", words=("god.toml", "good.toml")),
    options("a folder for a scene", "run", ".", words=("folder",)),
    options("a device for a scene", "run", "/dev/null", words=("/dev/null", "not a file")),
    options("a scene in a folder that is missing", "run", "no/such/scene.toml", words=("no/such",)),
    options("a scene inside a file", "run", "good.toml/scene.toml", words=("good.toml/scene.toml",)),
    options("a name that is too long", "run", "x" * 5000, words=("xxx",)),
    Bad("places: a link to itself", ("run", "loop.toml"), ("loop.toml",), make=_links),
    Bad("places: a link to nothing", ("check", "gone.toml"), ("gone.toml", "no such file"), make=_links),
    Bad(
        "places: a mesh that is missing",
        ("run", "bad.toml"),
        ("bad.toml:3", "../../nowhere.obj"),
        {"bad.toml": 'schema = 1\n[[bodies]]\nmesh = "../../nowhere.obj"\n'},
    ),
    Bad(
        "places: a device for a mesh",
        ("run", "bad.toml"),
        ("bad.toml:3", "/dev/null is not a file"),
        {"bad.toml": 'schema = 1\n[[bodies]]\nmesh = "/dev/null"\n'},
    ),
    Bad(
        "places: a folder for a mesh",
        ("check", "bad.toml"),
        ("bad.toml:3", "is a folder"),
        {"bad.toml": 'schema = 1\n[[bodies]]\nmesh = "."\n'},
    ),
    options("output onto a file", "run", "good.toml", "-o", "good.toml", words=("good.toml", "not changed")),
    options("output onto a folder", "run", "good.toml", "-o", ".", words=("not a pliant run", "not changed")),
    options(
        "output onto a file, forced", "run", "good.toml", "-o", "good.toml", "--force", words=("not changed",)
    ),
    options("output inside a file", "run", "good.toml", "-o", "good.toml/out", words=("good.toml/out",)),
    options("output onto a device", "run", "good.toml", "-o", "/dev/null", words=("/dev/null",)),
    Bad("places: a mesh inside a file", ("mesh", "tet.obj", "good.toml/out.vtu"), ("good.toml",), GOOD),
    Bad("places: a mesh onto a file", ("mesh", "tet.obj", "out.vtu"), ("exists",), {**GOOD, "out.vtu": "x"}),
    Bad("places: a mesh onto itself", ("mesh", "tet.obj", "tet.obj"), ("not a volume format",), GOOD),
    Bad("places: a new scene onto a file", ("new", "good"), ("good.toml exists",), GOOD),
    Bad("places: a new scene inside a file", ("new", "good.toml/scene"), ("good.toml/scene",), GOOD),
    Bad("places: an example onto a file", ("examples", "poke", "--copy", "good.toml"), ("exists",), GOOD),
    Bad("places: a mesh for a scene", ("run", "tet.obj"), ("tet.obj:1", "TOML"), GOOD),
]
if os.name == "posix" and os.geteuid() != 0:  # root may write anywhere
    PLACES += [
        Bad(
            "places: locked folder",
            ("run", "good.toml", "-o", "locked/a.pliant"),
            ("locked",),
            GOOD,
            _readonly,
        )
    ]

OPTIONS = [
    options("no command", "simulate", words=("No such command",)),
    options("no scene", "run", words=("Missing argument",)),
    options("an option that is not there", "run", "good.toml", "--fast", words=("No such option",)),
    options("no value", "run", "good.toml", "--model", words=("--model",)),
    options("threads of zero", "run", "good.toml", "--threads", "0", words=("--threads",)),
    options("threads of many", "run", "good.toml", "--threads", "many", words=("--threads",)),
    options(
        "unknown model", "run", "good.toml", "--model", "magic", words=("--model magic", "unknown model")
    ),
    options("unknown integrator", "run", "good.toml", "--integrator", "x", words=("--integrator x",)),
    options("negative step", "run", "good.toml", "--step", "-1", words=("--step -1", "above 0")),
    options("duration of nan", "run", "good.toml", "--duration", "nan", words=("--duration nan", "finite")),
    options("fps of zero", "run", "good.toml", "--fps", "0", words=("--fps 0",)),
    options(
        "a change without a value", "run", "good.toml", "--set", "edge", words=("--set edge", "key=value")
    ),
    options("a change of no body", "run", "good.toml", "--set", "bodies.x.edge=1", words=("no 'x'",)),
    options("a change of no key", "run", "good.toml", "--set", "bodies.cube.egde=1", words=("'edge'?",)),
    options("a change to nonsense", "check", "good.toml", "--set", "bodies.cube.edge=abc", words=("abc",)),
    options("nothing to tell about", "info", words=("Give one of",)),
    options("too much to tell about", "info", "good.toml", "--model", "mass-spring", words=("Give one of",)),
    options(
        "unknown model to tell about", "info", "--model", "mas-spring", words=("did you mean 'mass-spring'?",)
    ),
    options(
        "unknown material to tell about", "info", "--material", "ruber", words=("did you mean 'rubber'?",)
    ),
    options("unknown example", "examples", "helo", words=("did you mean 'hello'?",)),
    options("an example of none", "examples", "--run", words=("Which example?",)),
    options("unknown validation", "validate", "nonsense", words=("nonsense",)),
    options(
        "a card of no model",
        "card",
        "--model",
        "magic",
        "--material",
        "rubber",
        words=("model: unknown model 'magic'",),
    ),
    options(
        "a card of no material",
        *("card", "--model", "fem", "--material", "rubbr"),
        words=("error: material: ", "did you mean 'rubber'?"),
    ),
    options("an unknown model to compare", "compare", "good.toml", "--models", "fam", words=("'fem'?",)),
    options("an unknown model in the study", "compare", "--models", "fam", words=("'fem'?",)),
    options(
        "no run to compare with",
        *("compare", "good.toml", "--reference", "none.pliant"),
        words=("none.pliant does not exist",),
    ),
    options("unknown benchmark", "bench", "nonsense", words=("nonsense",)),
    Bad("options: an edge of zero", ("mesh", "tet.obj", "out.vtu", "--edge", "0"), ("--edge 0",), GOOD),
    Bad("options: an edge in kilograms", ("mesh", "tet.obj", "out.vtu", "--edge", "3 kg"), ("--edge",), GOOD),
    Bad("options: a negative scale", ("mesh", "tet.obj", "out.vtu", "--scale", "-1"), ("--scale -1",), GOOD),
    Bad("options: unknown mesher", ("mesh", "tet.obj", "out.vtu", "--mesher", "x"), ("--mesher",), GOOD),
    Bad(
        "options: switches for another mesher",
        ("mesh", "tet.obj", "out.vtu", "--mesher", "lattice", "--switches", "pq"),
        ("--switches",),
        GOOD,
    ),
    Bad("options: unknown output format", ("mesh", "tet.obj", "out.xyz"), ("out.xyz", "format"), GOOD),
]
