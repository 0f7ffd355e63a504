"""What a restart of one body needs."""

from collections.abc import Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray
from pliant.models.multires.accounts import Accounts
from pliant.models.multires.arrangement import Arrangement, Prescribed

if TYPE_CHECKING:
    from pliant.models.multires.reduced_body import ReducedBody


def state(body: "ReducedBody") -> dict[str, AnyArray]:
    """The state of the body."""
    numbers = [
        body.begun, body.dt, body.ticks, body.changes, body.denied, body.elastic, body.scheme,
        body.led, *astuple(body.accounts), body.since_merge, body.gain_told, *body.tick_count.state(),
    ]  # fmt: skip
    found = {f"motion-{name}": array for name, array in body.motion._asdict().items()}
    return {
        "body": np.array(numbers, float),
        "split": body.arrangement.split,
        "prescribed": body.arrangement.prescribed.flags,
        "anchored": body.hierarchy.anchored,
        "loads": body.external,
        "node-eta": body.refinement.eta,
        "calm": np.stack([body.refinement.calm, body.refinement.patience, body.refinement.merged]),
        **found,
        **body.contact.state(),
    }


def restore(body: "ReducedBody", state: Mapping[str, AnyArray]) -> None:
    """Continue from what ``state`` returned."""
    *numbers, since, told, halved, calm = (float(value) for value in state["body"])
    begun, body.dt, ticks, changes, denied, body.elastic, body.scheme, body.led, *accounts = numbers
    body.begun, body.ticks, body.changes, body.denied = bool(begun), int(ticks), int(changes), int(denied)
    body.accounts, body.gain_told, body.since_merge = Accounts(*accounts), bool(told), since
    body.tick_count.halved, body.tick_count.calm = int(halved), calm
    prescribed = Prescribed(np.array(state["prescribed"], bool))
    h = body.hang_on_anchors(np.array(state["anchored"], bool))
    body.arrangement = Arrangement(h, np.array(state["split"], bool), prescribed, body.beta)
    for name, array in body.motion._asdict().items():
        array[:] = state[f"motion-{name}"]
    body.external = np.array(state["loads"])
    body.refinement.eta = np.array(state["node-eta"])
    body.refinement.calm, body.refinement.patience, body.refinement.merged = np.array(state["calm"])
    body.contact.restore(state)
