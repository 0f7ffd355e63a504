"""What all models declare about themselves, for scenes, the studio and the validation suite."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pliant.interfaces import Mechanics, Structure

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial


class ModelParameters:
    """Base of the parameters of mechanics models (see ``interfaces.Model`` for what each has to have).

    kind: the name in scenes; references: keys of references.bib; deforms: whether its bodies change their
    shape; own_step: whether its bodies take time steps of their own; offers: capabilities that actions ask
    for, with the key that they depend on ("" where they always apply); subject: the heading of its examples;
    microseconds: of computing for one particle on one core in the time that sound takes for an edge,
    measured on a box of a thousand particles.
    """

    kind: ClassVar[str]
    references: ClassVar[tuple[str, ...]] = ()
    deforms: ClassVar[bool] = True
    own_step: ClassVar[bool] = False
    offers: ClassVar[Mapping[type, str]] = {}
    subject: ClassVar[str] = "Others"
    microseconds: ClassVar[float] = 1.0

    def notes(self, material: "ResolvedMaterial") -> list[str]:
        """What a user should know before looking at the result."""
        return []

    def predicted_lame(self, material: "ResolvedMaterial") -> tuple[float, float] | None:
        """Lame's constants [Pa] of a body by the model's own theory; None where it has none."""
        return None

    def prepare(self, structure: Structure, material: "ResolvedMaterial") -> Mechanics:
        """The mechanics of one body; raises IncompatibleError for materials that it cannot do."""
        raise NotImplementedError
