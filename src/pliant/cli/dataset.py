"""``pliant dataset``: training data from a sweep."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json
from pliant.cli.sweep import (
    MemoryLimit,
    Place,
    Points,
    PointThreads,
    Retries,
    Sample,
    TimeLimit,
    Vary,
    in_bytes,
    variations,
)
from pliant.core.errors import InputError

EXAMPLES = {
    "dataset": (
        "pliant dataset beam.toml --vary bodies.*.material.young=log:1..9MPa --sample sobol:512",
        "pliant dataset beam.dataset",
        "pliant dataset beam.dataset --rebuild 1%",
    )
}


@options.takes(options.RunChanges)
def dataset(
    scene: Annotated[
        Path,
        typer.Argument(metavar="SCENE", help="A scene file, or a data set to continue.", show_default=False),
    ],
    vary: Vary = None,
    sample: Sample = None,
    points: Points = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Default: SCENE.dataset.")
    ] = None,
    format: Annotated[str | None, typer.Option(metavar="NAME", help="zarr (default) or hdf5.")] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Shares of train, valid and test (default: 80,10,10)."),
    ] = None,
    every: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only every n-th frame (default: 1).")
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", "--license", metavar="TEXT", help="Licence named in card.md.")
    ] = None,
    rebuild: Annotated[
        str | None, typer.Option(metavar="HASH", help="Run samples again (a hash, or 1%) and compare bytes.")
    ] = None,
    on: Place = "local",
    threads: PointThreads = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    retries: Retries = 2,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **changes: Any,
) -> None:
    """Run a scene at many points and write the runs as training data, in train, valid and test splits.

    The same command continues after an interruption. Each sample can be rebuilt byte for byte.
    """
    if rebuild is not None:
        compare(scene, rebuild, json)
        return
    from pliant.training_data import dataset as make

    try:
        shares = None if split is None else [float(part) for part in split.split(",")]
    except ValueError:
        raise InputError(f"--split {split}: expected three shares, as in 80,10,10.") from None
    made = make(
        scene, variations(vary), output, sample=sample, points=points, format=format, split=shares,
        every=every, licence=licence, on=on, threads=threads, retries=retries,
        changes=options.overrides(changes),
        progress=not (quiet or json),
        time_limit=None if time_limit is None else options.positive("--time-limit", time_limit, "s"),
        memory_limit=None if memory_limit is None else in_bytes(memory_limit),
    )  # fmt: skip
    if json:
        say_json({"path": str(made.path), **made.index})
    elif on == "list":
        for line in made.sweep.shell_lines():
            say(line)
    elif not quiet:
        counts = ", ".join(f"{len(runs)} {name}" for name, runs in made.index["splits"].items())
        say(f"{made.path.name}: {counts}; {made.index['failures']} failed; see {made.path / 'card.md'}")


def compare(path: Path, which: str, json: bool) -> None:
    """Rebuild samples and say whether they are the same."""
    from pliant.training_data import Dataset

    given = Dataset(path)
    runs = [run for part in given.index["splits"].values() for run in part]
    if which.endswith("%"):
        try:
            share = float(which[:-1]) / 100.0
        except ValueError:
            share = 0.0
        if not 0.0 < share <= 1.0:
            raise InputError(f"--rebuild {which}: expected a hash or a share such as 1%.")
        count = max(1, round(len(runs) * share))
        runs = sorted(runs)[:: max(1, len(runs) // max(1, count))][:count]
    else:
        runs = [which]
    answers = {run: given.rebuild(run) for run in runs}
    if json:
        say_json({run: {"identical": not found, "different": found} for run, found in answers.items()})
    else:
        for run, different in answers.items():
            say(f"{run}: {'identical' if not different else 'different: ' + ', '.join(different)}")
    if any(answers.values()):
        raise typer.Exit(1)
