"""``pliant fit``: material parameters from measured curves."""

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_table
from pliant.cli.sweep import Place, PointThreads, variations
from pliant.core.errors import StorageError

EXAMPLES = {
    "fit": (
        "pliant fit pull.toml --data test.csv --match grip.x=F@t --vary bodies.*.material.young=1..9MPa:log",
        "pliant fit pull.toml --data test.csv --match grip.x=F@u:tip.x "
        "--vary bodies.*.material.young=1..9MPa:log "
        "--model cpm1,fem",
    )
}


@options.takes(options.RunChanges)
def fit(
    scene: options.SceneFile,
    data: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Measured columns (CSV). May be repeated.")
    ],
    match: Annotated[
        list[str],
        typer.Option(metavar="SERIES=COLUMN@COLUMN", help="What to match: grip.x=F_N@t_s. May be repeated."),
    ],
    vary: Annotated[
        list[str],
        typer.Option(metavar="KEY=RANGE", help="1kPa..1MPa:log, or 0.1..0.4. May be repeated."),
    ],
    held_out: Annotated[
        list[str] | None,
        typer.Option("--held-out", metavar="SERIES=COLUMN@COLUMN", help="A curve that is only predicted."),
    ] = None,
    starts: Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of starting points.")] = None,
    refine: Annotated[int, typer.Option(min=1, metavar="N", help="Number of refined starts.")] = 2,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Default: SCENE.fit.")
    ] = None,
    on: Place = "local",
    threads: PointThreads = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **changes: Any,
) -> None:
    """Fit material parameters of a scene to measured curves, and report how well they are determined.

    Writes report.html, fit.json and material.toml. With --model a,b several models are fitted and compared.
    """
    from pliant.calibration import fit as run_fit
    from pliant.calibration.measurements import Measurements
    from pliant.calibration.report import parameter_rows, write_fit_report
    from pliant.campaign.executors import executor
    from pliant.campaign.points import split
    from pliant.scene.override import value_of

    folder = output or Path(f"{scene.stem}.fit")
    if folder.exists() and not force:
        raise StorageError(f"{folder} exists already; it is not changed.", hint="--force replaces its files.")
    models = [value_of(part) for part in split(changes.pop("model") or "")] or [None]
    ranges, measured = variations(vary), Measurements(data)
    given: dict[str, Any] = {
        "held_out": held_out or (),
        "starts": starts,
        "refine": refine,
        "changes": options.overrides(changes),
        "progress": None if quiet or json else note,
    }
    with executor(on, threads) as place:
        results = [run_fit(scene, measured, match, ranges, model=m, on=place, **given) for m in models]
    results.sort(key=lambda result: result.aic)
    folder.mkdir(parents=True, exist_ok=True)
    write_fit_report(results, folder / "report.html")
    (folder / "material.toml").write_text(results[0].toml, encoding="utf-8")
    tables = [result.to_dict() for result in results]
    (folder / "fit.json").write_text(json_text.dumps(tables, indent=2) + "\n", encoding="utf-8")
    if json:
        say_json(tables)
        return
    for result in results:
        if len(results) > 1:
            say(f"model {result.model}: AIC {result.aic:.4g}")
        for sentence in (*result.identifiability.sentences, *result.at_ends):
            say(sentence)
        say_table(("parameter", "value", "95 % interval"), parameter_rows(result))
        held = result.held_out_rms()
        more = "" if held is None else f"; held-out curves {100 * held:.3g} %"
        say(f"residual {100 * result.rms:.3g} % of the curves' size, {result.evaluations} runs{more}")
        say()
    say(results[0].toml.rstrip())
    say(f"{folder / 'report.html'} written")
