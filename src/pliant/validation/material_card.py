"""The material card: what a model makes of a material, by virtual tests on a cube."""

from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError, InputError
from pliant.core.tables import Table
from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Mechanics, Structure
from pliant.materials import ResolvedMaterial
from pliant.mesh.shapes import box
from pliant.models import MODELS
from pliant.scene import Body
from pliant.validation.scenes import equilibrium

STRAIN = 1e-3
EDGE = 0.2  # of the cube's side
ROUNDS = 4
EXACT = 1e-3  # relative errors that are not worth correcting
ISOTROPIC = 0.05  # how far E / (2 (1 + nu) G) may be from 1


@dataclass(frozen=True)
class Moduli:
    """Young's modulus, shear and bulk modulus [Pa], Poisson's ratio."""

    young: float
    poisson: float
    shear: float
    bulk: float

    @classmethod
    def of_lame(cls, lam: float, mu: float) -> "Moduli":
        """From Lame's constants [Pa]."""
        return cls(mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu)), mu, lam + 2 * mu / 3)


@dataclass(frozen=True)
class Card:
    """Requested, measured and predicted moduli, and what remains.

    given: the moduli that were given to the model where they are not those requested (``calibrated_card``).

    predicted: by the model's own theory (its ``predicted_lame``), None where it has none.
    remainder: measured over predicted (where there is none, requested) minus 1, for Poisson's ratio the
    difference.
    """

    model: str
    particles: int
    requested: Moduli
    effective: Moduli
    predicted: Moduli | None
    given: Moduli | None = None

    @property
    def remainder(self) -> Moduli:
        a, b = self.effective, self.predicted or self.requested
        return Moduli(
            a.young / b.young - 1, a.poisson - b.poisson, a.shear / b.shear - 1, a.bulk / b.bulk - 1
        )

    @property
    def isotropy(self) -> float:
        """``E / (2 (1 + nu) G)`` of the measured moduli: 1 for an isotropic body."""
        e = self.effective
        return e.young / (2.0 * (1.0 + e.poisson) * e.shear)

    @property
    def notes(self) -> list[str]:
        """What the figures mean for who uses the model on this mesh."""
        found = []
        if self.given is not None:
            found.append(
                f"Measured with young = {self.given.young:.4g} and poisson = {self.given.poisson:.4g}: give "
                "these to bodies of this model and edge."
            )
        if abs(self.isotropy - 1.0) > ISOTROPIC:
            found.append(
                f"E / (2 (1 + nu) G) is {self.isotropy:.3f}, and 1 for an isotropic solid: on this mesh the "
                "body is not isotropic, and no choice of constants makes both E and G right. Finer meshes "
                'come closer; for tets irregular ones too (mesher = "tetgen").'
            )
        return found

    def to_dict(self) -> Table:
        return {**asdict(self), "remainder": asdict(self.remainder), "notes": self.notes}


def material_card(model: Any, material: Any, edge: float = EDGE, shape: Any = None) -> Card:
    """The card of ``model`` and ``material``, as scenes write them.

    Tests on a cube of 1 m with tets of about ``edge`` (or on ``shape``, another cube), at a strain of 0.001:
    tension between two faces that are free to contract gives E and nu, uniform shear and swelling of the
    surface give G and K from the mean stress; each along all three axes.
    """
    cube = Body(box(1.0, 1.0, 1.0) if shape is None else shape, edge=edge, model=model, material=material)
    structure, resolved = cube.structure(Diagnostics()), cube.resolved_material
    mechanics = cube.model.prepare(structure, resolved)
    tests = VirtualTests(mechanics, structure, resolved)
    tension = np.mean([tests.tension(axis) for axis in range(3)], axis=0)
    shear = float(np.mean([tests.shear(a, b) for a, b in ((0, 1), (1, 2), (2, 0))]))
    requested = Moduli.of_lame(*resolved.lame)
    lame = cube.model.predicted_lame(resolved)
    return Card(
        model=cube.model.kind,
        particles=len(structure.rest),
        requested=requested,
        effective=Moduli(float(tension[0]), float(tension[1]), shear, tests.swelling()),
        predicted=None if lame is None else Moduli.of_lame(*lame),
    )


def calibrated_card(model: Table, material: Table, edge: float = EDGE) -> Card:
    """The card of ``model`` after calibration: by its own key ``calibrate`` where it has one, and else with
    the moduli for which the measured bulk and shear modulus are those of ``material``."""
    kind = MODELS[str(model["type"])]
    if is_dataclass(kind) and "calibrate" in {field.name for field in fields(kind)}:
        return material_card({**model, "calibrate": True}, material, edge)
    best = card = material_card(model, material, edge)
    if card.effective.shear <= 0.0:
        raise IncompatibleError(f"Model '{card.model}' has no moduli to calibrate: it does not deform.")
    asked, density = card.requested, Body(box(1.0, 1.0, 1.0), material=material).resolved_material.density
    bulk, shear = asked.bulk, asked.shear
    for _ in range(ROUNDS):
        if _misfit(card, asked) < EXACT:
            break
        bulk, shear = bulk * asked.bulk / card.effective.bulk, shear * asked.shear / card.effective.shear
        given = Moduli.of_lame(bulk - 2.0 * shear / 3.0, shear)
        table = {"young": given.young, "poisson": given.poisson, "density": density}
        try:
            card = material_card(model, table, edge)
        except InputError:  # constants that no material has, or that the model refuses
            break
        if _misfit(card, asked) < _misfit(best, asked):
            best = replace(card, requested=asked, predicted=None, given=given)
    return best


def _misfit(card: Card, asked: Moduli) -> float:
    e = card.effective
    return max(abs(e.young / asked.young - 1.0), abs(e.shear / asked.shear - 1.0))


class VirtualTests:
    """Virtual tests of one body."""

    def __init__(self, mechanics: Mechanics, structure: Structure, material: ResolvedMaterial) -> None:
        self.mechanics, self.structure, self.lame = mechanics, structure, material.lame
        self.x = structure.rest - structure.rest.mean(axis=0)
        self.volume = float(structure.mass.sum()) / material.density
        side, spans = self.volume ** (1.0 / 3.0), np.ptp(structure.rest, axis=0)
        self.area = self.volume / side
        self.between = self.area * float(spans.mean())  # volume between the outermost particles
        near = 1e-3 * structure.spacing
        low, high = structure.rest.min(axis=0), structure.rest.max(axis=0)
        self.low: BoolArray = structure.rest <= low + near
        self.high: BoolArray = structure.rest >= high - near

    def _solve(self, held: BoolArray, given: Array) -> tuple[Array, Array]:
        return equilibrium(self.mechanics, self.structure, held, given, self.lame)

    def tension(self, axis: int) -> tuple[float, float]:
        """(E, nu): the faces across ``axis`` are moved along it and free to slide."""
        ends = self.low[:, axis] | self.high[:, axis]
        held = np.zeros_like(self.low)
        held[ends, axis] = True
        self._anchor(held, axis)
        along = np.zeros_like(self.x)
        along[:, axis] = STRAIN * self.x[:, axis]
        u, forces = self._solve(held, along)
        stress = float(forces[self.high[:, axis], axis].sum()) / self.area
        across = [self._mean_strain(u, c) for c in range(3) if c != axis]
        return stress / STRAIN, -float(np.mean(across)) / STRAIN

    def _anchor(self, held: BoolArray, axis: int) -> None:
        """Hold what would drift: the middle of the low face across the axis, and its turning about it."""
        b, c = (axis + 1) % 3, (axis + 2) % 3
        face = np.flatnonzero(self.low[:, axis])
        middle = face[np.argmin(self.x[face, b] ** 2 + self.x[face, c] ** 2)]
        arm = face[np.argmin((self.x[face, b] - self.x[face, b].max()) ** 2 + self.x[face, c] ** 2)]
        held[middle, [b, c]] = True
        held[arm, c] = True

    def _mean_strain(self, u: Array, axis: int) -> float:
        """Slope of displacement over position along ``axis``, weighted by mass."""
        m, x = self.structure.mass, self.x[:, axis]
        x = x - np.average(x, weights=m)
        return float(np.sum(m * x * u[:, axis]) / np.sum(m * x * x))

    def _mean_stress(self, strain: Array) -> Array:
        """Mean stress (3, 3) [Pa] with the outermost particles displaced by ``strain x``: ``sum f x / V``.

        V is the volume between these particles."""
        surface: BoolArray = np.any(self.low | self.high, axis=1, keepdims=True)
        held = np.repeat(surface, 3, axis=1)
        _, forces = self._solve(held, self.x @ strain)
        return np.asarray(forces.T @ self.x / self.between)

    def shear(self, a: int, b: int) -> float:
        """G from uniform shear in the plane of two axes."""
        strain = np.zeros((3, 3))
        strain[a, b] = strain[b, a] = STRAIN
        stress = self._mean_stress(strain)
        return float(stress[a, b] + stress[b, a]) / (4.0 * STRAIN)

    def swelling(self) -> float:
        """K from uniform swelling."""
        return float(np.trace(self._mean_stress(STRAIN * np.eye(3)))) / (9.0 * STRAIN)
