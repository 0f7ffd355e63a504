"""What a run says of the steps that its guard takes again."""

from pliant.core.diagnostics import Diagnostics
from pliant.simulation.energy_guard import EnergyGuard


class GuardMessages:
    """One line for each time that the step halves or doubles, and a warning of energy that grows on."""

    def __init__(self, diagnostics: Diagnostics, planned: float) -> None:
        self.diagnostics, self.planned = diagnostics, planned
        self.reported = 1.0  # factor of the step in the last message
        self._gain_reported = False

    def rejection(self, time: float, guard: EnergyGuard) -> None:
        """One line where the step falls below what was last reported."""
        if guard.factor > self.reported:
            self.reported = guard.factor
            self.diagnostics.note(
                f"at t = {time:.4g} s energy would {'be lost' if guard.losing else 'rise'}: the step is "
                f"1/{guard.factor:g} of the planned {self.planned:.3g} s for a while"
            )

    def gain(self, guard: EnergyGuard) -> None:
        """Warn once of a run that goes on though energy has grown, because bodies broke."""
        if guard.exceeded and not self._gain_reported:
            self._gain_reported = True
            self.diagnostics.warn(
                f"energy has grown from nothing by {guard.gain + guard.gaps:.3g} J "
                "since a body broke or was cut"
            )

    def growth(self, time: float, guard: EnergyGuard) -> None:
        """One line where the step has grown to twice or more of what was last reported."""
        if guard.factor <= 0.5 * self.reported:
            self.reported = guard.factor
            self.diagnostics.note(
                f"at t = {time:.4g} s the step is back at 1/{guard.factor:g} of the planned one"
            )
