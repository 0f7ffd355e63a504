"""Material added by hand to bodies that cannot grow: a body of the same kind that appears in the take.

A body has its particles from the first frame of a run on, hidden until it appears. So the take is played
again from its log, now with the new body in its scene, and goes on from where it was: it is then a run of
that scene from its beginning, and replays to the byte. Where the new body needs a smaller step, all of it has
one.
"""

from collections.abc import Callable

from pliant.core.errors import InputError
from pliant.core.typing import Table
from pliant.scene.to_toml import scene_text
from pliant.studio.take import Take

REACH = 2.5  # spacings that a lump sticks over
_KEPT = ("model", "material", "surface", "mesher")  # what a lump has from the body that it is like
Progress = Callable[[float | None, str], None]


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
