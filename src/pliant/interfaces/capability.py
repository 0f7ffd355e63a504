"""Optional parts of a runtime: declared by the runtime, asked for by type."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar, cast

from pliant.core.diagnostics import Diagnostics

C = TypeVar("C")


class Capable:
    """A runtime that declares which optional interfaces it implements.

    ``capabilities`` lists protocols of ``pliant.interfaces``. Nothing is inferred from attribute names: a
    method called ``cut`` or ``remove`` means nothing unless the matching protocol is declared.
    ``components``: objects that implement a protocol on its behalf.
    """

    capabilities: frozenset[Any] = frozenset()
    components: Mapping[Any, object] = MappingProxyType({})

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Where it reports what a user should know, when it is prepared and while it runs."""
        return Diagnostics()

    def offer(self, capability: type[C]) -> C | None:
        """This object, or the part of it that implements ``capability``; None where it is not declared."""
        return cast(C, self.components.get(capability, self)) if capability in self.capabilities else None
