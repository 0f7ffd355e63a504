"""Plastic flow inside an implicit solve: what fem and meshless bodies share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pliant.core.typing import Array

FlowLosses = tuple[float, float, float]  # [J], see ``constitutive/plastic_flow.py``


class FlowHistory(ABC):
    """A plastic history that can return to what it was."""

    @abstractmethod
    def keep(self) -> Any:
        """A copy of the present history."""

    @abstractmethod
    def go_back(self, kept: Any) -> None:
        """Return to the history ``kept``."""


class FlowTrial:
    r"""While a trial is under way, forces and energies at x are those after the flow over ``dt`` from the
    history at its beginning: gradient and value of the potential

    .. math:: \min_{F_p} W(F, F_p) + \phi(F_p, F_{p,n}),

    so that implicit steps minimise over positions and plastic strain at once [OrtizStainier1999]_.

    step(x, dt, solved): lets the body flow, inside a solve if ``solved``, and returns whether it did and its
    losses. committed: whether the flow of the present step is part of the history already.
    """

    def __init__(
        self,
        history: FlowHistory | None,
        step: Callable[[Array, float, bool], tuple[bool, FlowLosses]],
    ) -> None:
        self._history, self._step = history, step
        self._kept: Any = None
        self._dt = 0.0
        self.committed = False

    def begin(self, dt: float) -> None:
        """Begin a trial over ``dt`` [s] from the history where the last one began, if it was not ended."""
        if self._history is None:
            return
        if self._kept is None:
            self._kept = self._history.keep()
        else:
            self._history.go_back(self._kept)
        self._dt = dt

    def leave(self) -> None:
        """End the trial without any flow."""
        if self._history is not None and self._kept is not None:
            self._history.go_back(self._kept)
            self._kept = None

    def at(self, x: Array) -> float:
        """Bring the history to what the trial makes of it at ``x``; the potential of the flow [J]."""
        if self._history is None or self._kept is None:
            return 0.0
        self._history.go_back(self._kept)
        return self._step(x, self._dt, True)[1][1]

    def end(self, x: Array, dt: float) -> float:
        """The step ended at ``x`` after ``dt``: keep its flow. Returns its heat [J]; without a trial, what
        the elastic energy fell by."""
        if self._history is None:
            return 0.0
        solved = self._kept is not None
        self.leave()
        self.committed = True
        losses = self._step(x, dt, solved)[1]
        return losses[2] if solved else losses[0]

    def take_committed(self) -> bool:
        """Whether the flow of the step that ends now is in the history; asked once a step."""
        was, self.committed = self.committed, False
        return was
