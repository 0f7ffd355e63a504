"""What a constitutive law is to the models: a few compiled functions of the deformation gradient F."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from pliant.core.registry import nearest
from pliant.core.tables import TableView
from pliant.core.typing import Array, Kernel

Parameter = float | tuple[float, ...]


class LawFunctions(NamedTuple):
    r"""The compiled functions of a law, each decorated with ``pliant.kernels.jit.inlined``.

    Matrices are tuples (``pliant.kernels.tensors``): f is F (9). s is (tr(R^T F), I1, 8 J), from which
    ``tensors.rotation_weights`` makes the rotation R nearest to F; zeros unless the law declares
    ``rotation``. mu and bulk are the shear modulus and the bulk modulus :math:`K = \lambda + \tfrac23 \mu`
    [Pa], or those times a volume; everything is linear in them. k is the array of ``constants``.

    invariants(f, s): four numbers that the energy depends on. energy(i, mu, bulk, k): the energy density
    :math:`W` [J/m3] from them.

    stress(f, s, mu, bulk, pressure, k): the first Piola-Kirchhoff stress :math:`P = \partial W / \partial F`
    (9) [Pa], and ``pressure`` times :math:`\partial\theta / \partial F`.

    volumetric(f, s): the volumetric strain :math:`\theta` of the law: the bulk modulus enters W by
    :math:`\tfrac12 K \theta^2` alone, so that averaged pressures can take its place.

    All are finite for every F: elements may be crushed or inverted, and blocks are padded with F = 0.

    Laws that are linear in a strain measure have two more, which serve full stiffness matrices and additive
    plastic strain. frame(f, s): a matrix A (9) and the measure U (6), strain + 1. first_piola(a, u, t): P
    (9) from the stress t (6) that is conjugate to it.

    between(f0, f1, mu, bulk, pressure, k): the stress of an energy-momentum step from F0 to F1 (9), see
    ``discrete_gradient.py``; ``pressure`` times that of :math:`\theta` in it. Linear laws have mean_stress(f,
    u, t) instead, with the means of F and of U over the step and the stress t conjugate to U. For laws with
    neither, the stresses at both ends are corrected.

    constants(parameters): k, from the law's parameters. packed: whether ``energy`` has neither branches nor
    calls, so that one loop over lanes can do all of it.
    """

    invariants: Kernel = None
    energy: Kernel = None
    stress: Kernel = None
    volumetric: Kernel = None
    frame: Kernel = None
    first_piola: Kernel = None
    between: Kernel = None
    mean_stress: Kernel = None
    constants: Callable[[TableView], Any] | None = None
    packed: bool = False


@dataclass(frozen=True, eq=False)
class Law:
    """One line of the table of laws.

    kind: its name in scenes. source: the module that has its ``FUNCTIONS``, or the functions themselves.
    rotation: whether its functions need the nearest rotation. linear: whether it is linear in a strain
    measure. safe: whether elements recover from inversion. parameters: names and defaults of
    what scenes may give as ``law-parameters``.
    """

    kind: str
    source: str | LawFunctions
    rotation: bool = False
    linear: bool = False
    safe: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    references: tuple[str, ...] = ()

    @cached_property
    def functions(self) -> LawFunctions:
        """The compiled functions; this imports the compiler."""
        if isinstance(self.source, LawFunctions):
            return self.source
        found: LawFunctions = import_module(self.source).FUNCTIONS
        return found

    @property
    def cached(self) -> bool:
        """Whether loops compiled for this law are kept on disk: only if its source is part of pliant, whose
        changes the cache notices."""
        return isinstance(self.source, str) and self.source.startswith("pliant.")

    def complete(self, given: TableView) -> dict[str, Parameter]:
        """All parameters: those ``given``, else the defaults; a ValueError where one is not the law's."""
        for name, value in given.items():
            if name not in self.parameters:
                known = list(self.parameters)
                hint = nearest(name, known) if known else "it has none"
                raise ValueError(f"law '{self.kind}' has no parameter '{name}'; {hint}")
            if isinstance(self.parameters[name], tuple) != isinstance(value, tuple):
                wanted = "a list of numbers" if isinstance(self.parameters[name], tuple) else "a number"
                raise ValueError(f"law-parameters.{name}: expected {wanted}, got {value!r}")
        return {**self.parameters, **given}

    def constants(self, given: TableView) -> Array:
        """The array k that the compiled functions read."""
        parameters, make = self.complete(given), self.functions.constants
        return np.zeros(1) if make is None else np.asarray(make(parameters), float)
