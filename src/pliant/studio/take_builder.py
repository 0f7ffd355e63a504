"""From a scene's text to a take: bodies that did not change are not sampled again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pliant.core.diagnostics import Diagnostics, Listener
from pliant.interfaces import Structure
from pliant.scene.body import Body
from pliant.scene.check import report_choices
from pliant.scene.load import parse
from pliant.studio.take import Take

Progress = Callable[[float | None, str], None]


class TakeBuilder:
    """Keeps the particles of the bodies of the last scene; takes are recorded in the folder ``home``."""

    def __init__(self, home: Path, listener: Listener, progress: Progress) -> None:
        self._home, self._listener, self._progress = home, listener, progress
        self._sampled: dict[str, Structure] = {}
        self._takes = 0

    def again(self, text: str, folder: Path | None) -> Take:
        """A take of a scene that differs little from the last one; nothing is reported twice."""
        take = self._build(text, str(folder or "."), False, Diagnostics())
        take.simulation.diagnostics.listen(self._listener, past=False)
        return take

    def build(self, text: str, folder: str, open_end: bool) -> Take:
        """A take of a scene; the listener hears what it reports, also while it runs."""
        return self._build(text, folder, open_end, Diagnostics(self._listener))

    def _build(self, text: str, folder: str, open_end: bool, diagnostics: Diagnostics) -> Take:
        scene = parse(text, Path(folder), "scene")
        bare = [replace(body, groups={}) for body in scene.bodies]
        keys = [f"{body!r}|{scene.folder}" for body in bare]
        kept = {key: self._sampled[key] for key in keys if key in self._sampled}
        for body, key in zip(bare, keys, strict=True):
            if key not in kept:
                self._progress(None, f"sampling {body.name}")
                one = type(scene)([body], folder=scene.folder)
                kept[key] = one.structures(diagnostics, self._progress)[0]
        self._sampled = kept
        self._progress(None, "preparing")
        bodies: list[Body] = list(scene.bodies)
        structures = [body.with_groups(kept[key]) for body, key in zip(bodies, keys, strict=True)]
        self._takes += 1
        take = Take(scene, structures, self._home / f"take-{self._takes}.pliant", open_end)
        report_choices(scene, diagnostics)
        diagnostics.collect(take.simulation.diagnostics)
        return take
