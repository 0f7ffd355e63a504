"""Checks that a runtime has all of a capability or none of it: half of one would be ignored in silence."""

from typing import Any

from pliant.core.errors import IncompatibleError
from pliant.interfaces import (
    ActionRuntime,
    Checkpointable,
    Columns,
    Event,
    Forces,
    Power,
    PrescribedMotion,
    Projection,
    RestStiffness,
    SelfStepping,
    Topology,
)

_ACTIONS = {
    "add_forces": Forces,
    "drive": PrescribedMotion,
    "project": Projection,
    "apply": Event,
    "sample": Columns,
}
_ACTIONS |= {"power": Power}
_MODELS = {"topology_version": Topology, "advance": SelfStepping, "rest_stiffness": RestStiffness}
_BOTH = {"state": Checkpointable, "restore": Checkpointable}


def _members(protocol: Any) -> list[str]:
    annotated = [name for cls in protocol.__mro__ for name in getattr(cls, "__annotations__", {})]
    methods = [name for name in vars(protocol) if not name.startswith("_")]
    return sorted({*annotated, *methods})


def check_capabilities(label: str, runtime: Any, action: bool) -> None:
    """IncompatibleError where ``runtime`` has the first member of a capability but not the others."""
    for trigger, protocol in (_BOTH | (_ACTIONS if action else _MODELS)).items():
        if hasattr(runtime, trigger) and not isinstance(runtime, protocol):
            missing = [name for name in _members(protocol) if not hasattr(runtime, name)]
            raise IncompatibleError(
                f"{label}: {type(runtime).__name__} has '{trigger}' but lacks {', '.join(missing)}.",
                hint=f"See {protocol.__name__} in pliant/protocols.",
            )
    if action and not isinstance(runtime, ActionRuntime):
        raise IncompatibleError(f"{label}: {type(runtime).__name__} does not derive from Acting.")
