"""From a scene's text to a take, and to a take with material that was added by hand.

Bodies that did not change are not sampled again. Material added to bodies that cannot grow is a body of the
same kind that appears in the take. A body has its particles from the first frame of a run on, hidden until it
appears. So the take is played again from its log, now with the new body in its scene, and continues from
where it was: it is then a run of that scene from its beginning, and replays to the byte. Where the new body
needs a smaller step, all of it has one.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pliant.core.diagnostics import Diagnostics, Listener
from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.interfaces import Structure
from pliant.scene.body import Body
from pliant.scene.check import report_choices
from pliant.scene.load import parse
from pliant.scene.to_toml import scene_text
from pliant.studio.take import Take

Progress = Callable[[float | None, str], None]
REACH = 2.5  # spacings that a lump sticks over
_KEPT = ("model", "material", "surface", "mesher")  # what a lump has from the body that it is like


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


def with_lump(take: Take, like: str, particle: int, shape: Table, position: list[float], stick: bool) -> str:
    """The scene of ``take`` so far with a body of ``shape`` at ``position`` [m] that appears now, is made as
    the body ``like``, moves as its ``particle`` does, and sticks to it where asked."""
    world = take.simulation.system.world
    part = world.bodies_named(like, "add")[0]
    if particle >= part.count:
        raise InputError(f"Body '{like}' has no particle {particle}.")
    table = take.table()
    if take.scene.time.step == "auto":
        table["time"]["step"] = "auto"
    bodies = table["bodies"]
    names = {body["name"] for body in bodies}
    name = next(f"{like}-lump-{n}" for n in range(1, len(names) + 2) if f"{like}-lump-{n}" not in names)
    (model,) = (body for body in bodies if body["name"] == like)
    velocity = [float(value) for value in world.v[part.rows.start + particle]]
    lump = {key: model[key] for key in _KEPT if key in model}
    lump |= {"name": name, "shape": shape, "position": position, "velocity": velocity}
    table["bodies"] = [*bodies, lump | {"edge": float(part.structure.spacing)}]
    now = take.live.now
    table["actions"].append({"type": "create", "body": name, "at": now})
    if stick:
        reach = REACH * float(part.structure.spacing)
        table["actions"].append({"type": "fuse", "bodies": [like, name], "at": now, "reach": reach})
    return scene_text(table)


def play_again(take: Take, again: Take, poll: Callable[[], None], progress: Progress) -> list[int]:
    """Bring ``again`` to where ``take`` is; the numbers of the actions that it has more."""
    plan, former = again.simulation.plan, take.simulation.plan
    if again.scene.time.step != "auto" and plan.limit < plan.seconds <= former.limit:
        raise InputError(
            f"The new body would need a smaller time step than the {plan.seconds:.3g} s of this scene.",
            hint='Reset, set the step to "auto", and run again.',
        )
    again.frames = take.frames
    while again.frame < take.frame:
        progress(again.frame / take.frame, "adding: the take is played again")
        again.advance(poll)
    return again.live.go_on_from(take.live)
