"""Gives a body finer or coarser elements while it moves, at a time or where its strain varies."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import BodyEdit
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.selection import OneBody
from pliant.core.typing import AnyArray, Vector
from pliant.core.units import Length, Number, Time
from pliant.interfaces import ActionRuntime, BodyChange, Event, RecurringEvent, Resamplable
from pliant.models import models_offering
from pliant.state.world import BodyState, World

CALMER = 3.0  # coarser elements make the variation twice as large; less than that ratio would go to and fro


@parameters
class Resample(BodyEdit):
    """Replaces the elements of a body by finer or coarser ones [JanssonVergeest2000]_ 7 (4).

    Shape, mass, momenta and material stay. What the energy changes by is booked in ``energy.levels``.

    edge: the new edge length, at the time ``at``. resolution: ``"auto"`` halves the edge down to ``finest``
    (default: half of the body's) while the strain changes by more than ``tolerance`` from one element to the
    next, and doubles it up to the body's own where it changes by less than a third of that; looked at every
    ``every`` seconds.
    """

    kind: ClassVar[str] = "resample"
    needs: ClassVar[type] = Resamplable

    body: OneBody
    edge: Length | None = Field(default=None, gt=0)
    resolution: Literal["auto"] | None = None
    finest: Length | None = Field(default=None, gt=0)
    tolerance: Number = Field(default=0.01, gt=0)
    every: Time = Field(default=0.02, gt=0)

    @model_validator(mode="after")
    def _one_way(self) -> "Resample":
        if (self.edge is None) == (self.resolution is None):
            raise ValueError('give one of edge, resolution: an edge length for the time at, or "auto"')
        if self.resolution is not None and self.at > 0:
            raise ValueError('resolution = "auto" acts all the time: give from and until, not at')
        if self.edge is not None and self.finest is not None:
            raise ValueError('finest goes with resolution = "auto"')
        return self

    @property
    def once(self) -> bool:
        return self.resolution is None

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.body, "action 'resample'")
        if part.mechanics.offer(Resamplable) is None:
            raise IncompatibleError(
                f"action 'resample': model '{part.model.kind}' of body '{part.name}' cannot do it.",
                hint=f"Use {models_offering(Resamplable)}.",
            )
        if self.edge is not None:
            return self.windowed(ResampleRuntime(part, self.edge, self.at))
        coarsest = part.structure.spacing
        finest = 0.5 * coarsest if self.finest is None else self.finest
        if finest > coarsest:
            raise IncompatibleError(
                f"action 'resample': finest ({finest:.4g} m) is larger than the edge of body '{part.name}' "
                f"({coarsest:.4g} m).",
                hint="Give a smaller one: bodies begin with their coarsest elements.",
            )
        return self.windowed(AdaptiveResampleRuntime(part, self, finest))


class ResampleRuntime(ActionRuntime):
    """Gives a body elements of another ``edge`` [m], at ``at``."""

    account = "levels"
    capabilities = frozenset({Event})

    def __init__(self, part: BodyState, edge: float, at: float) -> None:
        self.part, self.edge, self.at = part, edge, at

    def apply(self, world: World) -> Sequence[BodyChange]:
        part, rows = self.part, self.part.rows
        resamplable = part.mechanics.offer(Resamplable)
        assert resamplable is not None
        if not part.present:
            raise IncompatibleError(
                f"action 'resample': body '{part.name}' is not there.",
                hint="Resample it after it is created and before it is removed.",
            )
        free = np.asarray((world.inverse_mass[rows] > 0.0).all(axis=1))
        resamplable.resample(self.edge, world.x[rows], world.v[rows], free)
        return ()


class AdaptiveResampleRuntime(ResampleRuntime):
    """Halves and doubles the edge of a body as its strain varies more or less."""

    capabilities = frozenset({RecurringEvent})

    def __init__(self, part: BodyState, how: Resample, finest: float) -> None:
        super().__init__(part, part.structure.spacing, 0.0)
        self.coarsest, self.levels = self.edge, math.floor(math.log2(self.edge / finest) + 1e-9)
        self.tolerance, self.every, self.next = how.tolerance, how.every, 0.0

    def due(self, time: float, world: World) -> bool:
        if time < self.next - 1e-12 or not self.part.present:
            return False
        self.next = time + self.every
        level = round(math.log2(self.coarsest / self.part.structure.spacing))
        resamplable = self.part.mechanics.offer(Resamplable)
        assert resamplable is not None
        variation = resamplable.strain_variation(world.x[self.part.rows])
        if variation > self.tolerance and level < self.levels:
            level += 1
        elif variation < self.tolerance / CALMER and level > 0:
            level -= 1
        else:
            return False
        self.edge = self.coarsest / 2**level
        return True

    def state(self) -> dict[str, AnyArray]:
        return {"next": np.array(self.next)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.next = float(state["next"])
