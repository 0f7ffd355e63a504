"""``pliant sweep``: a scene at many points, here or on a cluster, and what became of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json, say_pairs, say_table
from pliant.core.errors import InputError, StorageError
from pliant.core.text import counted, seconds, size

if TYPE_CHECKING:
    from pliant.campaign import Sweep

EXAMPLES = {
    "sweep": (
        "pliant sweep beam.toml --vary bodies.beam.material.young=1MPa,3MPa --vary time.duration=1,2",
        "pliant sweep beam.toml --vary bodies.*.material.young=log:1..10MPa --sample sobol:64",
        "pliant sweep soft.sweep --report soft.html",
        "pliant sweep beam.toml --points points.csv --on dask:tcp://127.0.0.1:8786",
    )
}
SceneOrSweep = Annotated[
    Path,
    typer.Argument(metavar="SCENE", help="A scene file, or a sweep folder to continue.", show_default=False),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUES", help="a,b,c or a..b:5 or log:a..b:5, with units. May be repeated."),
]
Sample = Annotated[
    str | None, typer.Option(metavar="sobol:N", help="Samples of the ranges instead of all combinations.")
]
Points = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A CSV file: a column for each key, a row for each point.")
]
Place = Annotated[
    str,
    typer.Option(metavar="PLACE", help="local:N, dask, dask:tcp://HOST:PORT, dask:FILE, slurm:FILE or list."),
]
PointThreads = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads of each point (default: an even share).")
]
TimeLimit = Annotated[
    str | None, typer.Option("--time-limit", metavar="TIME", help="Wall time of a point: 600, '10 min'.")
]
MemoryLimit = Annotated[
    str | None, typer.Option("--memory-limit", metavar="SIZE", help="Memory of a point: 4GB, 500MB.")
]
Retries = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of times that a killed point is resumed.")
]
_BYTES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@options.takes(options.RunChanges)
def sweep(
    scene: SceneOrSweep,
    vary: Vary = None,
    sample: Sample = None,
    points: Points = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="SWEEP", help="Sweep folder (default: SCENE.sweep)."),
    ] = None,
    reduce: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER", help="SERIES:last|min|max|mean|at=T or NAME=FORMULA. May be repeated."
        ),
    ] = None,
    on: Place = "local",
    threads: PointThreads = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    retries: Retries = 2,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed points again.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the points and the cost; run nothing.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Print the number of finished points.")] = False,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results as .parquet or .csv.")
    ] = None,
    xarray: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the series of a grid as .zarr or .nc.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with graphs, thumbnails and tables (.html)."),
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw all points side by side: .png, .mp4 or .gif.")
    ] = None,
    point: Annotated[
        str | None, typer.Option(metavar="RUN", help="Run this one point (see --on list).")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **changes: Any,
) -> None:
    """Run a scene at many points, each into a run folder. Finished points are not repeated."""
    limits: dict[str, Any] = {
        "threads": threads,
        "time_limit": None if time_limit is None else options.positive("--time-limit", time_limit, "s"),
        "memory_limit": None if memory_limit is None else in_bytes(memory_limit),
        "retries": retries,
    }
    files = {"table": table, "xarray": xarray, "report": report, "sheet": sheet}
    looking = [f"--{name}" for name, file in files.items() if file is not None]
    looking += [name for name, there in (("--status", status), ("--point", point is not None)) if there]
    if looking:
        running = {
            "--vary": vary, "--sample": sample, "--points": points, "--output": output, "--reduce": reduce,
            "--retry": retry, "--dry-run": dry_run, "--set": any(changes.values()),
        }  # fmt: skip
        if beside := [name for name, value in running.items() if value]:
            raise InputError(
                f"{looking[0]} looks at a sweep, {beside[0]} plans one: they do not go together.",
                hint=f"Run the sweep first, then: pliant sweep NAME.sweep {looking[0]}",
            )
        look(scene, files, point, limits, force, json, quiet)
        return
    if force:
        raise InputError(
            "--force replaces what --table, --xarray, --report and --sheet write; a sweep is continued.",
            hint="Remove the sweep folder to start it over.",
        )
    given: dict[str, Any] = {"vary": variations(vary), "sample": sample, "points": points}
    if dry_run:
        plan_only(scene, output, given, on, threads, changes, json)
        return
    from pliant.campaign import sweep as run_sweep

    done = run_sweep(
        scene, given["vary"], output, sample=sample, points=points, reduce=reduce, on=on, retry=retry,
        changes=options.overrides(changes), progress=not (quiet or json), **limits,
    )  # fmt: skip
    if on == "list":
        for line in done.shell_lines():
            say(line)
    else:
        tell(done, json, quiet)


def variations(texts: list[str] | None) -> list[Any]:
    """``--vary`` options as they are read."""
    from pliant.campaign.points import read_variation

    return [read_variation(text) for text in texts or ()]


def in_bytes(text: str) -> float:
    """``4GB`` as a number of bytes."""
    number = text.strip().upper().removesuffix("IB").rstrip("KMGTB ")
    unit = text.strip().upper()[len(number) :].strip() or "B"
    try:
        value = float(number) * _BYTES[unit if unit.endswith("B") else f"{unit}B"]
    except (ValueError, KeyError):
        raise InputError(f"--memory-limit {text}: not a size.", hint="For example 4GB or 500MB.") from None
    if value <= 0:
        raise InputError(f"--memory-limit {text}: it must be above 0.")
    return value


def look(
    path: Path,
    files: dict[str, Path | None],
    point: str | None,
    limits: dict[str, Any],
    force: bool,
    json: bool,
    quiet: bool,
) -> None:
    """The state of a sweep, files made of it, or one point of it run."""
    from pliant.campaign import open_sweep
    from pliant.campaign.grid_dataset import write_grid, write_table
    from pliant.campaign.report import write_report, write_sheet

    found = open_sweep(path)
    if point is not None:
        outcome = found.run_one(point, **limits)
        if json:
            say_json(outcome)
        elif not quiet:
            say(f"{point}: {outcome['state']}{': ' * bool(outcome['reason'])}{outcome['reason']}")
        raise typer.Exit({"done": 0, "diverged": 3, "interrupted": 130}.get(outcome["state"], 2))
    writers: dict[str, Callable[[Sweep, Path], object]] = {
        "table": write_table, "xarray": write_grid, "report": write_report, "sheet": write_sheet
    }  # fmt: skip
    for file in files.values():
        if file is not None and file.exists() and not force:
            raise StorageError(f"{file} exists already.", hint="Use --force to write over it.")
    for option, file in files.items():
        if file is not None:
            writers[option](found, file)
            if not json and not quiet:
                say(f"{file} written")
    if json or not any(files.values()):
        tell(found, json, quiet)


def tell(found: "Sweep", json: bool, quiet: bool) -> None:
    """Say what a sweep has come to."""
    from pliant.campaign.reductions import without_effect

    counts, failures = found.status(), found.failures
    if json:
        say_json({**counts, "failures": failures})
    elif not quiet:
        words = [
            f"{counts[state]} {state}" for state in ("done", "failed", "running", "interrupted", "missing")
        ]
        shown = ", ".join(word for word in words if not word.startswith("0 "))
        say(f"{found.path.name}: {counted(counts['points'], 'point')}, {shown}")
        for row in failures[:10]:
            say(f"  point {row['point']}: {row['state']}: {row['reason']}")
        if len(failures) > 10:
            say(f"  and {len(failures) - 10} more in {found.path / 'failures.csv'}")
        for key in without_effect(found.results, found.keys):
            say(f"warning: no result depends on {key}")


def plan_only(
    scene: Path, output: Path | None, given: dict[str, Any], on: str, threads: int | None,
    changes: dict[str, Any], json: bool,
) -> None:  # fmt: skip
    """All points and what they will cost, without running or writing anything."""
    from pliant.campaign.plan import cost, keys_of
    from pliant.campaign.sweeps import planned
    from pliant.kernels.jit import core_count

    entries, new, scenes = planned(scene, output, **given, changes=options.overrides(changes))
    kind, _, number = on.partition(":")
    slots = int(number) if kind in ("local", "dask") and number.isdigit() else core_count()
    costs = cost(scenes, threads or max(1, core_count() // slots), slots) if scenes else {}
    if json:
        listed = [{"point": e.number, "run": e.run, "error": e.error, **e.values} for e in entries]
        say_json({"points": listed, "new": new, "missing": len(scenes), "cost": costs})
        return
    keys = keys_of(entries)
    rows = [
        (
            e.number,
            e.run or "invalid",
            *(e.values.get(key) for key in keys),
            *([e.error] if e.error else [""]),
        )
        for e in entries
    ]
    say_table(("point", "run", *keys, ""), rows)
    say()
    if not scenes:
        say("no point is missing")
        return
    for reason in costs["reasons"]:
        say(f"warning: a point cannot be built: {reason}")
    if "wall" in costs:
        say_pairs(
            [
                ("points", f"{len(entries)}, {new} of them new, {len(scenes)} not done"),
                (
                    "a point",
                    f"about {seconds(costs['wall_per_point'])}, from {costs['looked_at']} that were tried",
                ),
                ("in all", f"about {seconds(costs['wall'])}, {slots} at a time"),
                ("disk", f"about {size(costs['disk'])}"),
                ("memory", f"about {size(costs['memory_per_point'])} a point"),
            ]
        )
