"""Runs what is missing of a sweep, and writes what the points came to as they end."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pliant.campaign.child import estimate, run_point, state_of, task
from pliant.campaign.executors.base import Executor
from pliant.campaign.folder import PointEntry, SweepFolder, cell, titled, untitled
from pliant.campaign.plan import first_of_groups
from pliant.campaign.points import label
from pliant.campaign.progress import SweepProgress
from pliant.campaign.reductions import Reduction, reduced, standard_reductions
from pliant.core.errors import Interrupted
from pliant.core.tables import Table
from pliant.core.text import seconds
from pliant.run.series_units import units_of
from pliant.run.store import load
from pliant.run.store.manifest import Progress

FAILURES = ("point", "run")
ABOUT = ("state", "reason", "last_good_frame", "attempts")


class SweepDriver:
    """The process that runs a sweep: it has the folder's lock."""

    def __init__(
        self,
        folder: SweepFolder,
        entries: Sequence[PointEntry],
        keys: Sequence[str],
        units: dict[str, str],
        manifest: Table,
    ) -> None:
        self.folder, self.entries, self.manifest = folder, list(entries), manifest
        self.keys, self.units = list(keys), units
        self.numbers = {entry.run: entry for entry in entries if entry.run}
        self.failed: dict[int, list[str]] = {}  # rows of failures.csv by point
        self._read_failures()
        self._results: dict[int, list[str]] = {}  # rows of results.csv by point
        self._header: list[str] = []
        self.missing: dict[str, str] = {}  # why a reduction has no number, from the first such point

    def pending(self, retry: bool) -> list[PointEntry]:
        """Points that have neither a complete run nor a row of failures.csv; retry: failures too."""
        if retry:
            self.failed = {}
        waiting = []
        for entry in self.entries:
            if entry.error and entry.number not in self.failed:
                self._fail(entry, {"state": "invalid", "reason": entry.error, "attempts": 0})
            if entry.run and entry.number not in self.failed:
                place = self.folder.run_folder(entry.run)
                state = state_of(place)
                if state == "diverged" and not retry:  # run by a line of --on list
                    found = Progress.read(place)
                    about = {"last_frame": found.frames_done - 1, "attempts": 1}
                    self._fail(entry, {"state": state, "reason": found.message, **about})
                elif state != "done":
                    waiting.append(entry)
                elif entry.number not in self._results:
                    self._add_result(entry)
        return waiting

    def run(
        self, executor: Executor, pending: Sequence[PointEntry], active: Path, settings: Table,
        again: bool, show: SweepProgress,
    ) -> None:  # fmt: skip
        """Run ``pending`` points; Interrupted on Ctrl-C, after the children have stopped."""
        limits = (settings["retries"], settings["time_limit"], settings["memory_limit"])
        tasks = [
            task(e.run, self.folder.scene_file(e.run), self.folder.run_folder(e.run), active,
                 executor.threads, *limits, again=again)
            for e in pending
        ]  # fmt: skip
        show.planned(len(self.entries), len(self.entries) - len(pending))
        try:
            with _terminated_as_interrupted():
                if len(tasks) > 1:
                    show.note("compiling kernels")
                    chosen = {entry.run for entry in first_of_groups(self.folder, pending)}
                    for one in tasks:
                        if one["run"] in chosen:
                            executor.everywhere(estimate, one)
                show.started()
                for number, outcome in executor.run(run_point, tasks, starts_child=True):
                    self._finish(pending[number], outcome, show)
        except KeyboardInterrupt:
            active.unlink(missing_ok=True)
            raise Interrupted(
                "Interrupted: the points that were running have stopped.",
                hint=f"Continue with: pliant sweep {self.folder.path}",
            ) from None
        finally:
            active.unlink(missing_ok=True)  # whatever still runs stops

    def _finish(self, entry: PointEntry, outcome: Table, show: SweepProgress) -> None:
        if outcome["state"] == "interrupted":
            return
        if outcome["state"] == "done":
            self._add_result(entry)
            self.folder.clear_scene(entry.run)
        else:
            self._fail(entry, outcome)
        took = "" if outcome["attempts"] == 0 else f", {seconds(outcome['wall'])}"
        more = f", {outcome['attempts']} attempts" if outcome["attempts"] > 1 else ""
        why = f": {outcome['reason']}" if outcome["reason"] else ""
        show.point(f"{entry.number} {label(entry.values)}: {outcome['state']}{took}{more}{why}")

    # -------------------------------------------------------------------------------------- tables

    def _read_failures(self) -> None:
        rows = self.folder.numbered("failures.csv", {entry.number for entry in self.entries})
        self.failed = {number: row[-len(ABOUT) :] for number, row in rows.items()}

    def read_results(self, reductions: Sequence[Reduction]) -> None:
        """Take over the rows of results.csv that were made with the same reductions."""
        header, _ = self.folder.table("results.csv")
        if header and [r.name for r in reductions] == [untitled(n) for n in header[self._start(header) : -1]]:
            old = [untitled(name) for name in header[2 : self._start(header)]]
            if old == self.keys:
                self._header = header
                known = {entry.number for entry in self.entries}
                self._results = self.folder.numbered("results.csv", known)

    def _start(self, header: Sequence[str]) -> int:
        """Where the reductions begin in the header of results.csv: its manifest says how many keys it has."""
        return 2 + int(self.manifest.get("result_keys", len(self.keys)))

    def _add_result(self, entry: PointEntry) -> None:
        """Reduce the run of a point and add its row."""
        run = load(self.folder.run_folder(entry.run))
        if "reductions" not in self.manifest:
            self.manifest["reductions"] = [[r.name, r.text] for r in standard_reductions(run)]
        reductions = [Reduction(*pair) for pair in self.manifest["reductions"]]
        if not self._header:
            series = units_of(run)
            titles = [titled(r.name, {r.name: r.unit(series)}) for r in reductions]
            self._header = [
                "point",
                "run",
                *(titled(key, self.units) for key in self.keys),
                *titles,
                "wall [s]",
            ]
            self.folder.write_table("results.csv", self._header, [])
            self.manifest["result_keys"] = len(self.keys)
            self.folder.write_manifest(self.manifest)
        numbers, missing = reduced(run, reductions, entry.values)
        self.missing = {**missing, **self.missing}
        values = [entry.values.get(key) for key in self.keys]
        row = [cell(v) for v in (entry.number, entry.run, *values, *numbers, float(run.info()["wall"]))]
        self._results[entry.number] = row
        self.folder.append("results.csv", row)

    def _fail(self, entry: PointEntry, outcome: Table) -> None:
        about = [outcome["state"], outcome["reason"], outcome.get("last_frame"), outcome.get("attempts", 0)]
        self.failed[entry.number] = [cell(value) for value in about]
        self._write_failures()

    def _write_failures(self) -> None:
        header = [*FAILURES, *(titled(key, self.units) for key in self.keys), *ABOUT]
        by_number = {entry.number: entry for entry in self.entries}
        rows = []
        for number, about in sorted(self.failed.items()):
            entry = by_number[number]
            rows.append([number, entry.run, *(entry.values.get(key) for key in self.keys), *about])
        self.folder.write_table("failures.csv", header, rows)

    def close(self) -> None:
        """Write all tables in the order of the points."""
        if self._header:
            self.folder.write_table(
                "results.csv", self._header, [r for _, r in sorted(self._results.items())]
            )
        self._write_failures()
        self.manifest["updated"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        counts = {"points": len(self.entries), "done": len(self._results), "failed": len(self.failed)}
        self.manifest["counts"] = counts
        self.folder.write_manifest(self.manifest)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM, which batch systems send before they kill, stops a sweep as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
