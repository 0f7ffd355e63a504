"""Applies what action runtimes ask for before they start (see ``ActionRuntime.requests``)."""

from collections.abc import Iterable

from pliant.interfaces import (
    ActionRuntime,
    AddStiffnessDamping,
    ClampFace,
    Damped,
    DisableVolumetricTerm,
    HideBody,
    MakeSticky,
    VolumetricTerm,
)
from pliant.state.world import World


def apply_requests(world: World, actions: Iterable[ActionRuntime]) -> None:
    """Apply the requests of ``actions`` to the bodies of ``world``, in order, each once."""
    for action in actions:
        for request in action.requests:
            mechanics = request.body.mechanics
            match request:
                case AddStiffnessDamping(_, seconds):
                    damped = mechanics.offer(Damped)
                    assert damped is not None, "checked when the action was prepared"
                    damped.damping_time += seconds
                case ClampFace(_, rows, distance, outward):
                    mechanics.clamp_face(rows, distance, outward)
                case DisableVolumetricTerm():
                    volumetric = mechanics.offer(VolumetricTerm)
                    if volumetric is not None:
                        volumetric.disable_volumetric_term()
                case HideBody(body):
                    if body.present:
                        from pliant.embedding.carriers import hidden

                        body.present, body.structure = False, hidden(body.structure)
                        world.v[body.rows] = 0.0
                case MakeSticky(body, sticky):
                    body.sticky = sticky
        action.requests = ()
