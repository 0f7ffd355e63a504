"""Phyxels added where a body that flows gets thin, and removed where it crowds.

Where two neighbours are far apart and there is no phyxel between them, one is inserted half-way, made of a
quarter of each; where two have come close, they become one at their common centre. What they are blends of,
in the present shape, they are blends of in the rest shape, so deformation counts from where it did.
Neighbours are searched again. The elastic part is blended, rotation and stretch apart, and the plastic one
follows: :math:`F_p^{-1} = F'^{-1} R U` with the new fit F'. Blended plastic parts would have nothing to do
with the new fit, and what differs would be elastic energy.

Both keep mass, centre of mass and linear momentum exactly; the World keeps the angular one by a slight spin.

Source: [Stegmayr2008]_ wishes for it; [PaulyKeiserAdams2005]_ resamples at cracks. Differs: the rest shape
stays; to count from the present one instead would forget what keeps neighbours together (see ``kernels.py``,
the second term of the energy), and gaps would open unnoticed.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.mls import carried_by_phyxels
from pliant.interfaces import IndexMap, Structure, blend
from pliant.models.efg.support import MlsSupport

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics

MORE = 1.2  # the sampling is looked at when the largest squared stretch has grown by this
FIRST = 3.6  # ... for the first time at this sum of squared stretches; 3 at rest
FINEST = 0.4  # spacings in the rest shape: closer neighbours get no other between them
THIN = 1.5  # spacings: neighbours that are further apart get another between them
CROWDED = 0.5  # spacings: phyxels that are nearer become one
BETWEEN = 0.55  # of a gap: how far the next phyxel has to be from its middle; in a box's corners it is 0.5
APART = 0.6  # spacings that new phyxels keep from all others
SHARE = 0.25  # of a phyxel's mass: what it gives to a new one
LIGHTEST = 0.06  # of the heaviest: what gives to new phyxels has to keep more
LEAST_VOLUME = 0.2  # det F from which a new fit is worth a plastic part
TWICE = 2  # new phyxels that one may have a part in at a time


@dataclass(frozen=True)
class ResampleResult:
    """New phyxels: what they are blends of, parents and weights (n, 2), and their masses (n,) [kg]."""

    parents: IntArray
    weights: Array
    mass: Array

    def blended(self, values: Array) -> Array:
        """Values of the new phyxels, from those of the old ones."""
        return blend(values, self.parents, self.weights)

    def keep_elastic_parts(self, elastic: tuple[Array, Array], gradients: Array, plastic: Array) -> None:
        """Give phyxels with the fits ``gradients`` (n, 9) the ``elastic`` rotation and stretch of those that
        they are blends of, in the columns 0 to 8 of ``plastic``; not where the fit is nearly flat."""
        rotation, stretch = (self.blended(each) for each in elastic)
        u, _, v = np.linalg.svd(rotation.reshape(-1, 3, 3))
        u[np.linalg.det(u @ v) < 0.0, :, 2] *= -1.0
        F = gradients.reshape(-1, 3, 3)
        sound = np.linalg.det(F) > LEAST_VOLUME
        wanted = (u @ v @ stretch.reshape(-1, 3, 3))[sound]
        plastic[sound, :9] = np.linalg.solve(F[sound], wanted).reshape(-1, 9)

    def structure(self, old: Structure) -> Structure:
        """The structure of the new phyxels, with the surface embedded in them."""
        rest, change = self.blended(old.rest), IndexMap(self.parents, self.weights)
        return replace(
            old,
            rest=rest,
            mass=self.mass,
            carrier=None if old.carrier is None else carried_by_phyxels(old.carrier.surface, rest),
            groups={
                name: change.remap_rows(np.asarray(ids))[0] for name, ids in old.groups.items() if len(ids)
            },
        )


def apply_resampling(mechanics: "EfgMechanics", new: ResampleResult, x: Array) -> float:
    """Make a body of ``new`` phyxels out of those at ``x`` (n, 3) that they are blends of; the energy [J]
    that it took."""
    m = mechanics
    before, elastic = m.energy(x), elastic_parts(m.gradients(x), m.plastic)
    m.structure, m.volumes = new.structure(m.structure), new.mass / m.material.density
    m.plastic = new.blended(m.plastic)
    if m.plasticity is not None:
        m.plasticity.plastic = m.plastic
    m.set_reference(m.structure.rest)
    m.parents, m.parent_weights = new.parents, new.weights
    m.topology_version += 1
    place = new.blended(x)
    new.keep_elastic_parts(elastic, m.gradients(place), m.plastic)
    return before - m.energy(place)


def elastic_parts(gradients: Array, plastic: Array) -> tuple[Array, Array]:
    """Rotations R and stretches U (n, 9) of the elastic parts :math:`F F_p^{-1} = R U`; ``plastic`` has
    F_p^-1 in its columns 0 to 8."""
    u, s, v = np.linalg.svd(gradients.reshape(-1, 3, 3) @ plastic[:, :9].reshape(-1, 3, 3))
    flipped = np.linalg.det(u @ v) < 0.0
    u[flipped, :, 2] *= -1.0
    s[flipped, 2] *= -1.0
    stretches = np.einsum("nki,nk,nkj->nij", v, s, v)
    return (u @ v).reshape(-1, 9), stretches.reshape(-1, 9)


def stretch(gradients: Array) -> float:
    """The largest sum of squared stretches."""
    return float(np.einsum("nk,nk->n", gradients, gradients).max())


def resample(x: Array, structure: Structure, support: MlsSupport) -> ResampleResult | None:
    """Close the gaps and thin the crowds of phyxels at ``x`` (n, 3), neighbours as in ``support``; None where
    there are neither."""
    mass, spacing = structure.mass, structure.spacing
    gone, partner = _crowded(x, support, spacing)
    busy = gone.copy()
    busy[partner[gone]] = True
    busy |= (1.0 - TWICE * SHARE) * mass < LIGHTEST * float(mass.max())
    first, second = _gaps(x, structure.rest, busy, support, spacing)
    if not len(first) and not gone.any():
        return None
    n = len(x)
    weight, own = np.zeros((n, 2)), np.column_stack([np.arange(n), np.arange(n)])
    weight[:, 0] = 1.0
    new_mass = mass.copy()
    np.add.at(new_mass, partner[gone], mass[gone])
    keeper = partner[gone]
    own[keeper, 1] = np.flatnonzero(gone)
    weight[keeper, 1] = mass[gone] / new_mass[keeper]
    weight[keeper, 0] = 1.0 - weight[keeper, 1]
    given = SHARE * np.stack([mass[first], mass[second]])
    np.subtract.at(new_mass, first, given[0])
    np.subtract.at(new_mass, second, given[1])
    between = given.sum(axis=0)
    kept = np.flatnonzero(~gone)
    share = given / between
    return ResampleResult(
        np.concatenate([own[kept], np.column_stack([first, second])]),
        np.concatenate([weight[kept], share.T]),
        np.concatenate([new_mass[kept], between]),
    )


def _pairs(x: Array, support: MlsSupport) -> tuple[IntArray, IntArray, Array]:
    i, j = support.rows, support.around.astype(np.int64)
    once = i < j
    i, j = i[once], j[once]
    return i, j, np.linalg.norm(x[j] - x[i], axis=1)


def _crowded(x: Array, support: MlsSupport, spacing: float) -> tuple[BoolArray, IntArray]:
    """Which phyxels go (n,), and into which others each of these does, (n,): no one is in two pairs."""
    i, j, gap = _pairs(x, support)
    near = np.flatnonzero(gap < CROWDED * spacing)
    gone, taken = np.zeros(len(x), bool), np.zeros(len(x), bool)
    partner = np.arange(len(x))
    for k in near[np.argsort(gap[near], kind="stable")].tolist():
        if not (taken[i[k]] or taken[j[k]]):
            taken[i[k]] = taken[j[k]] = gone[j[k]] = True
            partner[j[k]] = i[k]
    return gone, partner


def _gaps(
    x: Array, rest: Array, busy: BoolArray, support: MlsSupport, spacing: float
) -> tuple[IntArray, IntArray]:
    """Pairs between which another phyxel should be, the widest first, none of them ``busy``."""
    from scipy.spatial import cKDTree

    i, j, gap = _pairs(x, support)
    wide = np.flatnonzero((gap > THIN * spacing) & ~busy[i] & ~busy[j])
    wide = wide[np.linalg.norm(rest[j[wide]] - rest[i[wide]], axis=1) > FINEST * spacing]
    middle = 0.5 * (x[i[wide]] + x[j[wide]])
    third = np.asarray(cKDTree(x).query(middle, k=3)[0])[:, 2]
    empty = third > np.maximum(APART * spacing, BETWEEN * gap[wide])
    wide, middle = wide[empty], middle[empty]
    order = np.argsort(-gap[wide], kind="stable")
    parts = np.zeros(len(x), np.int64)
    chosen: list[int] = []
    places = np.zeros((len(wide), 3))
    for k in order.tolist():
        a, b = i[wide[k]], j[wide[k]]
        if max(parts[a], parts[b]) < TWICE:
            far = np.linalg.norm(places[: len(chosen)] - middle[k], axis=1)
            if not (far < APART * spacing).any():
                places[len(chosen)] = middle[k]
                chosen.append(int(wide[k]))
                parts[a] += 1
                parts[b] += 1
    return i[chosen], j[chosen]
