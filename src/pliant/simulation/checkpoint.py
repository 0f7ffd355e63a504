"""The state of a System in a checkpoint: that of the World, and of all that has a state of its own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray

if TYPE_CHECKING:
    from pliant.simulation.system import System


def state(system: "System") -> dict[str, AnyArray]:
    """Everything that a restart needs beyond the scene, by its name in checkpoints."""
    w = system.world
    found: dict[str, AnyArray] = {
        "x": w.x,
        "v": w.v,
        "f": w.f,
        "ancestors": w.ancestors,
        "ancestor-weights": w.ancestor_weights,
        "topology_version": np.array(w.topology_version),
        "substeps": np.array(system.substeps),
        **system.energy_ledger.state(),
        **system.schedule.state(),
        "present": np.array([part.present for part in w.bodies]),
    }
    for key, owner in _owners(system):
        for name, array in owner.state().items():
            found[f"{key}/{name}"] = array
    return found if w.contact_impulses is None else found | w.contact_impulses.state()


def restore(system: "System", state: Mapping[str, AnyArray]) -> None:
    """Give the World of ``system`` and all owners what ``state`` has; the System restores the ledger."""
    w = system.world
    for part, present in zip(w.bodies, state.get("present", ()), strict=False):
        part.present = bool(present)
    for key, owner in _owners(system):
        prefix = key + "/"
        owner.restore({n[len(prefix) :]: a for n, a in state.items() if n.startswith(prefix)})
    system.topology.mark_current()
    w.x[:], w.v[:], w.f[:] = state["x"], state["v"], state["f"]
    if w.contact_impulses is not None:
        w.contact_impulses.restore(state)
    system.substeps = int(state["substeps"])
    system.schedule.restore(state)


def _owners(system: "System") -> list[tuple[str, Any]]:
    """Everything that has a state of its own, by its name in checkpoints."""
    bodies = [(f"body/{p.name}", p.mechanics) for p in system.world.bodies]
    acting = [(f"action/{k}", a) for k, (_, a) in enumerate(system.actions)]
    return [*bodies, *acting]
