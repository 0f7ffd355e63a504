"""Checks that a runtime implements all members of every interface that it declares."""

from typing import Any

from pliant.core.errors import IncompatibleError
from pliant.interfaces import ActionRuntime, Mechanics


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
