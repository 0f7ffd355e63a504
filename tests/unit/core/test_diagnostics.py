"""One sink for messages: they carry the name of what they are about, and reach every listener once."""

from pathlib import Path

import pliant as pl
from pliant.core.diagnostics import Diagnostic, Diagnostics


def test_a_collected_message_has_the_label_of_its_source() -> None:
    whole, body, action = Diagnostics(), Diagnostics(), Diagnostics()
    body.note("before")
    whole.collect(body, "body 'a'")
    whole.collect(action, "action 1 ('cut')", past=False)
    heard: list[Diagnostic] = []
    whole.listen(heard.append)
    action.warn("the cut misses")
    body.note("of its own", "surface")
    assert whole.texts() == ["body 'a': before", "action 1 ('cut'): the cut misses", "surface: of its own"]
    assert heard == whole.entries
    assert [entry.level for entry in heard] == ["note", "warning", "note"]


def test_a_run_shows_and_logs_what_bodies_and_actions_report(tmp_path: Path) -> None:
    body = pl.Body(
        pl.shapes.box(0.2, 0.1, 0.1, divisions=(2, 1, 1)), name="block", model="fem", edge=0.05,
        material={"young": 1e5, "poisson": 0.49, "density": 1000},
    )  # fmt: skip
    cut = pl.Cut(body, plane={"axis": "y", "at": 1.05}, at=0.01)
    heard: list[str] = []

    class Progress:
        def note(self, text: str) -> None:
            heard.append(text)

        def working(self, fraction: float | None, text: str) -> None: ...
        def started(self, frames: int, plan: object) -> None: ...
        def frame(self, done: int, frames: int, simulated: float, wall: float) -> None: ...
        def finished(self, state: str, message: str) -> None: ...

    run = pl.Scene([body], [cut]).run(duration=0.04, to=tmp_path / "cut.pliant", progress=Progress())
    beginnings = [
        "body 'block': edge = 0.05 m is not used",
        "body 'block': model 'fem' is too stiff at Poisson's ratio 0.49",
    ]
    beginnings += ["action 1 ('cut'): the cut misses 'block'"]
    assert [text.startswith(words) for text, words in zip(heard, beginnings, strict=True)] == [True] * 3
    log = (run.path / "log.txt").read_text()
    assert all(text in log for text in heard)
