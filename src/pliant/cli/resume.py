"""``pliant resume``: go on with a run that was interrupted or killed."""

from pliant.cli import options
from pliant.cli.run import tell

EXAMPLES = ("pliant resume beam.pliant",)


def command(
    run: options.RunFolder,
    threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run after an interruption or a kill; the result is the same, bit for bit."""
    from pliant.run.progress import progress_reporter
    from pliant.run.runner import resume as resume_run
    from pliant.run.store import load

    load(run)  # before any progress is shown
    with progress_reporter(not (quiet or json)) as show:
        done = resume_run(run, threads=threads, progress=show)
    tell(done, json, quiet)
