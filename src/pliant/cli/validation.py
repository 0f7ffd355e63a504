"""``pliant card``, ``compare``, ``validate``, ``bench`` and ``cite``: what models and figures are worth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_table
from pliant.core.errors import InputError, MissingExtra
from pliant.core.tables import Table

if TYPE_CHECKING:
    from pliant.validation.matrix import MatrixPlan

EXAMPLES = {
    "card": (
        "pliant card --model cpm1 --material rubber",
        "pliant card --model cpm2 --young 3MPa --poisson 0.3 --density 1200 --json",
        "pliant card --model cpm1 --material rubber --set form=everts --set mapping=everts",
        "pliant card --model cpm1 --material rubber --calibrate",
    ),
    "compare": (
        "pliant compare beam.toml --models mass-spring,fem",
        "pliant compare beam.toml --models fem --integrators leapfrog,implicit-euler --edges 2,1,0.5",
        "pliant compare -o study",
    ),
    "validate": (
        "pliant validate",
        "pliant validate --quick --json",
        "pliant validate --report validation.html",
        "pliant validate --matrix --seconds 2 --integrators explicit -o matrix",
        "pliant validate --matrix --pairs --limit 120 -o matrix",
        "pliant validate --matrix --bodies hand,mug --motions drop,cut --models fem",
        "pliant validate --matrix --meshes cow.obj,part.stl --seconds 2 --integrators auto",
    ),
    "bench": ("pliant bench", "pliant bench mass-spring --json", "pliant bench files --history bench.json"),
    "cite": (
        "pliant cite beam.toml",
        "pliant cite beam.toml --model fem > beam.bib",
        "pliant cite beam.toml --json",
    ),
}
MODULI = {
    "young": "Young's modulus [Pa]",
    "poisson": "Poisson's ratio",
    "shear": "shear modulus [Pa]",
    "bulk": "bulk modulus [Pa]",
}


def card(
    model: Annotated[str, typer.Option(metavar="NAME", help="The model.", show_default=False)],
    material: Annotated[str | None, typer.Option(metavar="NAME", help="A material preset.")] = None,
    young: Annotated[str | None, typer.Option(metavar="PA", help="Young's modulus.")] = None,
    poisson: Annotated[float | None, typer.Option(metavar="NU", help="Poisson's ratio.")] = None,
    density: Annotated[str | None, typer.Option(metavar="KG/M3", help="Density.")] = None,
    edge: Annotated[
        float, typer.Option(metavar="SHARE", help="Edge length over the side of the cube.")
    ] = 0.2,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Correct the constants by the measured moduli.")
    ] = False,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A key of the model.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Test a material in a model: requested, measured and predicted moduli.

    Virtual tension, shear and swelling of a cube of 1 m at a strain of 0.001.
    """
    from dataclasses import asdict

    from pliant.core.errors import ParameterError
    from pliant.validation.material_card import calibrated_card, material_card

    if not 0.02 <= edge <= 1.0:
        raise InputError(f"--edge {edge:g}: it is a share of the cube's side, 0.02 to 1.")
    chosen = _material(material, young, poisson, density)
    table = {"type": model, **_keys(changes or [])}
    try:
        card = (calibrated_card if calibrate else material_card)(table, chosen, edge)
    except ParameterError as error:
        raise InputError(error.message.removeprefix("Body: ")) from None
    if json:
        say_json(card.to_dict())
        return
    columns = [
        dict.fromkeys(MODULI, "not predicted") if moduli is None else asdict(moduli)
        for moduli in (card.requested, card.effective, card.predicted, card.remainder)
    ]
    say(f"{card.model}, {card.particles} particles")
    head = ("", "requested", "effective", "predicted", "remainder")
    say_table(head, [[text, *(column[key] for column in columns)] for key, text in MODULI.items()])
    for text in card.notes:
        say(text)


def _material(preset: str | None, young: str | None, poisson: float | None, density: str | None) -> Table:
    given = {"preset": preset, "young": young, "poisson": poisson, "density": density}
    table = {key: value for key, value in given.items() if value is not None}
    if preset is None and len(table) < 3:
        raise InputError("Give --material, or --young, --poisson and --density.")
    for key in ("young", "density"):
        if key in table:
            table[key] = options.number(str(table[key]))
    return table


def _keys(changes: list[str]) -> Table:
    from pliant.scene.override import value_of

    keys = {}
    for text in changes:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text}: expected key=value, for example form=everts.")
        keys[key.strip()] = value_of(value)
    return keys


def compare(
    scene: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENE]",
            help="A scene file (default: cantilever, drop, squeeze, twist, poke and break).",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Comma-separated models (default: all).")
    ] = None,
    integrators: Annotated[str | None, typer.Option(metavar="NAMES", help="Integrators.")] = None,
    edges: Annotated[
        str | None, typer.Option(metavar="FACTORS", help="Resolutions: factors on the edge length, 2,1,0.5.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Reference run (default: fem at half the edge length)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Output folder.")
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Pictures, a movie and graphs on the page.")
    ] = True,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Simultaneous runs (default: one per core)."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scene with several models and compare error, speed, stability and pictures. Writes
    index.html, a self-contained page, and compare.json."""
    from pliant.validation.compare import compare
    from pliant.validation.study import compare_study

    out = output or Path("study" if scene is None else f"{scene.stem}-compared")
    if out.exists() and not force and any(out.iterdir()):
        raise InputError(f"{out} exists already.", hint="Use --force to write over it.")
    if reference is not None and scene is None:
        raise InputError("--reference goes with a scene.")
    try:
        factors = [float(text) for text in options.names(edges)] if edges else []
    except ValueError:
        raise InputError(f"--edges {edges}: expected factors, as in 2,1,0.5.") from None
    if any(not 0.0 < factor < 100.0 for factor in factors):
        raise InputError(f"--edges {edges}: factors are above 0.")
    chosen: dict[str, Any] = {
        "models": options.names(models) if models else None,
        "integrators": options.names(integrators) if integrators else [],
        "edges": factors,
        "pictures": pictures,
        "jobs": jobs,
        "show": (lambda text: None) if quiet or json else note,
    }
    if scene is None:
        found = compare_study(out, **chosen)
    else:
        found = [compare(scene, out, reference=reference, **chosen)]
    if json:
        say_json(found if scene is None else found[0])
        return
    head = ("label", "error", "wall", "real_time_factor", "energy_drift", "volume_change", "memory", "state")
    for result in found:
        say(f"{result['title']}; reference: {result['reference']}")
        say_table(head, [[entry[key] for key in head] for entry in result["attempts"]])
        for entry in result["attempts"]:
            if entry["message"]:
                say(f"{entry['label']}: {entry['message']}")
        say()
    say(f"{out / 'index.html'} written")


def validate(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="A case (default: all).", show_default=False)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the fast cases, less than a minute together.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An HTML page with plots, sources and reasons.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Simultaneous cases (default: one per core)."),
    ] = None,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Simulate test bodies in several motions; resumes automatically."),
    ] = False,
    bodies: Annotated[str | None, typer.Option(metavar="NAMES", help="Test bodies of the matrix.")] = None,
    meshes: Annotated[
        str | None,
        typer.Option(metavar="FILES", help="Your meshes as bodies of the matrix, scaled to 0.4 m."),
    ] = None,
    motions: Annotated[str | None, typer.Option(metavar="NAMES", help="Motions of the matrix.")] = None,
    models: Annotated[str | None, typer.Option(metavar="NAMES", help="Models of the matrix.")] = None,
    integrators: Annotated[
        str | None, typer.Option(metavar="NAMES", help="auto, explicit, implicit, or names.")
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Of the matrix, a part in which any two of these occur together."),
    ] = False,
    seconds: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Simulated time of a run of the matrix (10).")
    ] = None,
    limit: Annotated[
        str, typer.Option(metavar="SECONDS", help="End a run of the matrix after this CPU time.")
    ] = "900",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Folder of the matrix ('matrix')."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Compare with closed forms and published numbers. Exit code 1 if a number is outside its tolerance
    for no known reason. With --matrix: simulate test bodies in ordinary motions at default settings, and
    check every run; --quick selects the part that runs in continuous integration."""
    from pliant.validation.cases import CaseResult, load_cases, run_validation
    from pliant.validation.matrix.table import matrix_plan

    chosen = {"bodies": bodies, "motions": motions, "models": models, "integrators": integrators}
    if matrix:
        if case is not None or report is not None:
            raise InputError("--matrix takes neither a case nor --report.", hint="Use -o for its folder.")
        names = {key: options.names(text) for key, text in chosen.items() if text is not None}
        files = options.names(meshes) if meshes is not None else []
        span = options.positive("--seconds", seconds, "s") if seconds is not None else None
        plan = matrix_plan(names, span, options.positive("--limit", limit, "s"), quick, files, pairs)
        _matrix(plan, output, jobs, force, json)
        return
    if pairs or any(text is not None for text in (output, seconds, meshes, *chosen.values())):
        raise InputError(
            "--bodies, --meshes, --motions, --models, --integrators, --pairs, --seconds and -o go with "
            "--matrix.",
            hint="Add --matrix.",
        )

    if report is not None and report.exists() and not force:
        raise InputError(f"{report} exists already.", hint="Use --force to write over it.")

    def show(outcome: CaseResult, number: int, count: int) -> None:
        if not json:
            state = "does not apply" if not outcome.applies else "ok" if outcome.ok else "outside"
            note(f"{number:3} of {count}  {outcome.case} / {outcome.model}: {state}, {outcome.seconds:.1f} s")

    rows = run_validation(case, quick, show, jobs)
    if report is not None:
        from pliant.validation.report import write_report

        write_report(report, rows, load_cases())
    applied = [row for row in rows if row["applies"]]
    bad = [row for row in applied if not row["ok"]]
    if json:
        say_json(rows)
    else:
        head = ("model", "case", "value", "expected", "error", "tolerance", "ok")
        say_table(head, [[row[key] for key in head] for row in applied])
        for row in bad:
            say(f"{row['model']}, {row['case']}: {row['expected_failure'] or 'this should hold'}")
        say(f"{len(applied) - len(bad)} of {len(applied)} within tolerance")
    if any(not row["expected_failure"] for row in bad):
        raise typer.Exit(1)


def _matrix(plan: "MatrixPlan", output: Path | None, jobs: int | None, force: bool, json: bool) -> None:
    """Run the matrix; exit code 1 where a run is not good."""
    from pliant.validation.matrix import run_matrix
    from pliant.validation.matrix.report import letters, summary, table_rows

    folder = output or Path("matrix")

    def show(row: Table, number: int, count: int) -> None:
        if not json:
            failed = letters(row)
            state = row["state"] + (f", fails {failed}" if failed else "")
            took = "as with auto" if row.get("same_as") else f"{row.get('cpu') or 0.0:.1f} s"
            note(f"{number:4} of {count}  {row['name']}: {state}, {took}")

    tell = None if json else note
    rows = run_matrix(plan, folder, jobs, show, force, tell)
    found = summary(rows)
    if json:
        say_json({"summary": found, "runs": rows})
    else:
        head, body = table_rows(rows)
        say_table(head, body)
        say(
            f"{found['good']} of {found['runs']} runs good, {found['done']} came to their end, "
            f"{found['refused']} do not apply; {found['estimated']} of {found['timed']} within a factor of "
            "two of the estimated time"
        )
        say("X ended, E energy, M momentum, V volume, I inverted cells, P penetration: number of runs")
        say(f"{folder / 'index.html'} written")
    if found["good"] < found["runs"]:
        raise typer.Exit(1)


def bench(
    case: Annotated[
        str | None,
        typer.Argument(metavar="[CASE]", help="A case or a family (default: all).", show_default=False),
    ] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Earlier runs (default: in the user's cache).")
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Measure each case N times (3, or fewer where it takes long)."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Measure speed. ratio: relative to the published figure (above 1 is faster); limit_ratio: fraction of
    this machine's limit; goal, met: the target, and whether it is reached; spread: range over the median,
    which is the value; last: relative to the last undisturbed time here (below 1 is slower);
    disturbed: other processes used the cores during the measurement, so the figure may be too low."""
    try:
        import pliant_benchmarks  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "The package pliant_benchmarks is not installed here.",
            hint="It is in pliant's wheel, and in the folder benchmarks of a clone: pip install -e .",
        ) from error
    from pliant_benchmarks import history as past
    from pliant_benchmarks.bench import run_bench
    from pliant_benchmarks.roofline import measure_machine
    from pliant_benchmarks.targets import judged

    path = history or past.default_path()
    found = run_bench(case, repeat=repeat, skip=lambda name, why: note(f"{name}: {why}"))
    machine = measure_machine().to_dict() if found else {}
    rows = [judged(row) | {"machine": machine} for row in past.compared(found, past.read(path))]
    try:
        past.append(path, rows, machine)
    except OSError as error:
        note(f"the history cannot be kept: {error.strerror or error}")
    if json:
        say_json(rows)
        return
    head = ("case", "value", "unit", "reference", "ratio", "limit_ratio", "goal", "met", "spread", "last")
    if not rows:
        return
    marks = ["yes" if row.get("disturbed") else "" for row in rows]
    body = [[*(row.get(key) for key in head), mark] for row, mark in zip(rows, marks, strict=True)]
    say_table((*head, "disturbed"), body)
    if any(marks):
        most = max(row["others"] for row in rows if row.get("disturbed"))
        say(f"disturbed: other jobs used up to {most:.2g} cores meanwhile; measure again on an idle machine")
    say(
        f"this machine: {machine['bandwidth'] / 1e9:.3g} GB/s, {machine['peak'] / 1e9:.3g} GFlop/s, "
        f"{machine['threads']} threads"
    )


@options.takes(options.SceneChanges)
def cite(scene: options.SceneFile, json: options.Json = False, **changes: Any) -> None:
    """Print BibTeX entries of what a scene or run uses: models, integrator, actions, and pliant."""
    from pliant.validation.citations import citations

    if scene.is_dir():  # a run folder: the scene it was made from
        scene = scene / "scene.toml"
    found = citations(options.read_scene(scene, changes))
    if json:
        say_json([{"key": c.key, "for": c.used, "bibtex": c.entry} for c in found])
        return
    for citation in found:
        say(f"% {', '.join(citation.used)}")
        say(citation.entry)
        say()
