"""Checks that a runtime implements all members of every interface that it declares, and fits the scheme."""

import math
from typing import TYPE_CHECKING, Any

from pliant.core.errors import IncompatibleError
from pliant.interfaces import ActionRuntime, Integrator, Mechanics, SelfStepping

if TYPE_CHECKING:
    from pliant.simulation.system import System


def protocol_members(protocol: Any) -> list[str]:
    """Names of the attributes and methods that ``protocol`` requires."""
    annotated = [name for cls in protocol.__mro__ for name in vars(cls).get("__annotations__", {})]
    methods = [name for name in vars(protocol) if not name.startswith("_")]
    return sorted({*annotated, *methods})


def check_capabilities(label: str, runtime: Any, base: type[Mechanics] | type[ActionRuntime]) -> None:
    """IncompatibleError where ``runtime`` does not derive from ``base``, declares an interface and lacks a
    member of it, or has a state that it cannot restore."""
    if not isinstance(runtime, base):
        raise IncompatibleError(
            f"{label}: {type(runtime).__name__} does not derive from {base.__name__}.",
            hint="See docs/extending.md.",
        )
    pair = [name for name in ("state", "restore") if getattr(type(runtime), name) is not getattr(base, name)]
    if len(pair) == 1:
        other = "restore" if pair == ["state"] else "state"
        raise IncompatibleError(
            f"{label}: {type(runtime).__name__} implements '{pair[0]}' but not '{other}', "
            "so that a run could not be resumed."
        )
    for protocol in runtime.capabilities:
        known = set(dir(runtime.offer(protocol)))
        missing = [name for name in protocol_members(protocol) if name not in known]
        if missing:
            raise IncompatibleError(
                f"{label}: {type(runtime).__name__} declares {protocol.__name__} "
                f"but lacks {', '.join(missing)}.",
                hint=f"See {protocol.__name__} in pliant/interfaces.",
            )


def check_integrator(system: "System", integrator: Integrator) -> None:
    """Refuse bodies that step explicitly by themselves inside an implicit step, and actions that only
    implicit steps evaluate in explicit ones."""
    implicit = math.isinf(integrator.stability)
    for part in system.world.bodies:
        if part.mechanics.offer(SelfStepping) is not None and implicit:
            rigid = part.mechanics.contact_surface().rigid
            raise IncompatibleError(
                f"Model '{part.model.kind}' of body '{part.name}' takes steps of its own, which "
                f"integrator '{integrator.kind}' cannot use.",
                hint="Use an explicit integrator such as leapfrog, or "
                + ('[contact] method = "barrier".' if rigid else 'the model key steps = "implicit".'),
            )
    if not implicit and any(action.implicit_only for _, action in system.actions):
        raise IncompatibleError(
            f"Barrier contact needs implicit steps; integrator '{integrator.kind}' is explicit.",
            hint='Use integrator = "implicit-euler" or "tr-bdf2", or [contact] method = "penalty".',
        )
