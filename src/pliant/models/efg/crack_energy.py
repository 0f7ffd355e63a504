r"""Energy of phyxels through a crack: neighbourhoods change at unchanged positions, and energy never rises.

A fit to the neighbours that a crack leaves sees short waves which the whole neighbourhood averaged out: the
same positions would store more. So each phyxel has a reference B (3, 3), which is the unit until cracks
change its neighbourhood, and a share d of its stiffness, 1 until then; its energy is
:math:`d\,V\,W(F B) + d\,h` with the hourglass energy h. Where a new fit F' would store more than before,

* B moves towards :math:`F'^{-1} F B`, which keeps the strain, by the least step that stores no more;
* where that is not enough (flat neighbourhoods, the hourglass energy), d falls.

Both are objective and local. What the phyxels store less afterwards is energy of fracture. B then returns to
the unit as far as that lowers the energy.
"""

# mypy: disable-error-code="no-untyped-def"

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray, Kernel
from pliant.kernels.jit import jit, specialised
from pliant.kernels.tensors import determinant, times, times_symmetric
from pliant.materials.constitutive.law import Law
from pliant.models.efg.kernels import law_kernels
from pliant.models.efg.mls_kernels import (
    FLAT,
    INVERSE,
    LARGE,
    PROJECTOR,
    K,
    contract,
    displacement_squares,
    least_squares_fit,
    plus_unit,
    put,
    store_displacements,
    take,
    take_six,
)

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics

HALVINGS = 8  # of the step of B
LEAST_VOLUME, MOST_CHANGE = 0.3, 3.0  # det F' from which B may move, and the largest det B or 1 / det B
RETURN = 0.05  # share of the way to the unit that B returns at each look
NEGLIGIBLE = 1e-9  # distance of B from the unit below which it stays

phyxel_energy: Kernel = None  # that of the law, see ``law_kernels``


class StoredPerPhyxel(NamedTuple):
    """Elastic and hourglass energy of each phyxel (n,) [J], and its deformation gradient (n, 9)."""

    elastic: Array
    hourglass: Array
    gradients: Array


def unit_references(count: int) -> Array:
    """B of phyxels that no crack has changed, (n, 10) as ``plastic`` of large flow has it."""
    out = np.zeros((count, 10))
    out[:, [0, 4, 8]] = 1.0
    return out


def stored(mechanics: "EfgMechanics", x: Array) -> StoredPerPhyxel:
    """What the phyxels store at ``x`` (n, 3) [m]."""
    n = len(x)
    found = StoredPerPhyxel(np.empty(n), np.empty(n), np.empty((n, 9)))
    run = energy_loops(mechanics.law, mechanics.flow)[0]
    run(*mechanics.pairs, mechanics.constants, mechanics.plastic, x, *found)
    return found


def keep_energy(
    mechanics: "EfgMechanics", before: StoredPerPhyxel, parents: IntArray, share: Array, x: Array
) -> tuple[float, Array]:
    """Move B so that no phyxel at ``x`` (n, 3) stores more than before a crack; the energy that the crack
    took [J], and the factors (n,) by which d has to fall.

    before: what the phyxels stored that these continue, ``parents`` (n,); share (n,): the part of it that is
    theirs.
    """
    m = mechanics
    limit = share * before.elastic[parents]
    now = stored(m, x)
    if m.flow == LARGE:
        rises = np.flatnonzero((now.elastic > limit) & (m.support.flat == 0))
        old = before.gradients[parents]
        energy_loops(m.law, m.flow)[1](
            rises, now.gradients, old, limit, m.material_rows, m.constants, m.plastic, now.elastic
        )
    most = limit + share * before.hourglass[parents]
    total = now.elastic + now.hourglass
    factor = np.where(total > most, most / np.maximum(total, 1e-300), 1.0)
    return float((before.elastic + before.hourglass).sum() - np.minimum(total, most).sum()), factor


def return_references(mechanics: "EfgMechanics", gradients: Array) -> float:
    """Let B return towards the unit where that lowers the energy; the energy it took [J]."""
    m = mechanics
    run = energy_loops(m.law, m.flow)[2]
    return float(run(gradients, m.material_rows, m.constants, m.plastic))


def _phyxel_energies(
    starts,
    around,
    weight,
    rest,
    material,
    u_rows,
    q_rows,
    u_sum,
    k,
    plastic,
    x,
    elastic,
    hourglass,
    gradients,
):
    """Energies and deformation gradients of all phyxels."""
    n = x.shape[0]
    total = np.empty(12)
    store_displacements(0, n, x, rest, material, u_rows)
    for i in range(n):
        m = least_squares_fit(i, starts, around, weight, u_rows, material, u_sum, total)
        h = times_symmetric(m, take_six(material, i, INVERSE))
        elastic[i] = phyxel_energy(plus_unit(h), material, i, k, plastic)
        hourglass[i] = 0.0
        if material[i, K] != 0.0:
            squares = displacement_squares(i, starts, around, weight, u_rows)
            hourglass[i] = max(0.0, 0.5 * material[i, K] * (squares - contract(h, m)))
        if material[i, FLAT] != 0.0:
            h = times_symmetric(h, take_six(material, i, PROJECTOR))
        put(gradients, i, 0, plus_unit(h))


@jit
def _inverse(f):
    over = 1.0 / determinant(f)
    a, b, c, d, e, g, h, p, q = f
    return (
        over * (e * q - g * p), over * (c * p - b * q), over * (b * g - c * e),
        over * (g * h - d * q), over * (a * q - c * h), over * (c * d - a * g),
        over * (d * p - e * h), over * (b * h - a * p), over * (a * e - b * d),
    )  # fmt: skip


@jit
def _between(plastic, i, old, full, s):
    """Put ``old + s (full - old)`` into row i."""
    for c in range(9):
        plastic[i, c] = old[c] + s * (full[c] - old[c])


def _move_references(rows, gradients, before, limit, material, k, plastic, elastic):
    """Least step of B towards what keeps the strain such that phyxel i of ``rows`` stores no more than
    ``limit[i]``; ``before``: the gradients that its B belongs to. ``elastic`` is brought up to date."""
    for r in range(rows.shape[0]):
        i = rows[r]
        f, old = take(gradients, i, 0), take(plastic, i, 0)
        if not determinant(f) > LEAST_VOLUME:
            continue
        full = times(_inverse(f), times(take(before, i, 0), old))
        change = determinant(full)
        if not (1.0 / MOST_CHANGE < change < MOST_CHANGE):
            continue
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            s = 0.5 * (low + high)
            _between(plastic, i, old, full, s)
            if phyxel_energy(f, material, i, k, plastic) <= limit[i]:
                high = s
            else:
                low = s
        _between(plastic, i, old, full, high)
        elastic[i] = phyxel_energy(f, material, i, k, plastic)


def _return_references(gradients, material, k, plastic):
    """See ``return_references``."""
    heat = 0.0
    unit = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    for i in range(material.shape[0]):
        old = take(plastic, i, 0)
        away = 0.0
        for c in range(9):
            away = max(away, abs(old[c] - unit[c]))
        if away < NEGLIGIBLE or material[i, FLAT] != 0.0:
            continue
        f = take(gradients, i, 0)
        before = phyxel_energy(f, material, i, k, plastic)
        _between(plastic, i, old, unit, RETURN)
        after = phyxel_energy(f, material, i, k, plastic)
        if after < before:
            heat += before - after
        else:
            _between(plastic, i, old, unit, 0.0)
    return heat


@cache
def energy_loops(law: Law, flow: int) -> tuple[Kernel, Kernel, Kernel]:
    """``_phyxel_energies``, ``_move_references`` and ``_return_references``, compiled for a law."""
    label, names = f"{law.kind.replace('-', '_')}_{flow}", law_kernels(law, flow)
    made = [
        specialised(loop, label, names, cache=law.cached)
        for loop in (_phyxel_energies, _move_references, _return_references)
    ]
    return made[0], made[1], made[2]
