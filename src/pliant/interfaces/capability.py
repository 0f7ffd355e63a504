"""Optional parts of a runtime: declared by the runtime, asked for by type."""

from typing import Any, TypeVar, cast

C = TypeVar("C")


class Capable:
    """A runtime that declares which optional interfaces it implements.

    ``capabilities`` lists protocols of ``pliant.interfaces``. Nothing is inferred from attribute names: a
    method called ``cut`` or ``remove`` means nothing unless the matching protocol is declared.
    """

    capabilities: frozenset[Any] = frozenset()

    def offer(self, capability: type[C]) -> C | None:
        """This object as ``capability``, or None where it is not declared."""
        return cast(C, self) if capability in self.capabilities else None
