"""Coefficients of the contact between two bodies: stiffness, damping for a restitution, friction."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import SceneError
from pliant.core.registry import nearest
from pliant.core.typing import Array

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.contact.surfaces import ContactSurfaces
    from pliant.state.world import BodyState, World

NO_SLIP = 1e3  # friction of sticky bodies
LET_GO = 0.5  # how far what sticks is pulled off before it comes off [reach]
MOST_DAMPING = 0.7  # of critical: what a restitution of (nearly) nothing is given
SMOOTH = 0.25  # stiffness of a contact of a smooth surface, which has four times the vertices


@cache
def damping_for(restitution: float) -> float:
    """Share of critical damping that gives two masses this restitution, at most 0.7.

    For a spring and a damper that never pull, with damping ratio z below 1/sqrt(2) and
    ``s = sqrt(1 - z^2)``: ``e = exp(-z/s (pi - atan2(2 z s, 1 - 2 z^2)))``
    (Schwager and Poeschel, Granular Matter 9 (2007) 465, eq. 9 and 18); solved by halving.
    """
    low, high = 0.0, MOST_DAMPING
    if restitution <= rebound(high):
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rebound(middle) > restitution else (low, middle)
    return 0.5 * (low + high)


def rebound(z: float) -> float:
    """The restitution of a damping ratio ``z`` of at most 1/sqrt(2)."""
    s = np.sqrt(1.0 - z * z)
    return float(np.exp(-z / s * (np.pi - np.arctan2(2.0 * z * s, 1.0 - 2.0 * z * z))))


def laws_between(
    world: "World", surfaces: "ContactSurfaces", contact: "Contact", sticky: Sequence[bool]
) -> Array:
    """Stiffness [N/m], damping ratio, friction, reach [m], adhesion [N] of all pairs of contact bodies,
    (b, b, 5).

    sticky: bodies of the World that nothing slips on, and that hold what has been pressed against them.
    """
    materials = [part.material for part in world.bodies]
    first = np.searchsorted(surfaces.source, np.arange(len(materials)))
    radius = surfaces.radius[first]
    own = [
        _stiffness(part) * (SMOOTH if fine else 1.0)
        for part, fine in zip(world.bodies, surfaces.smooth[first], strict=True)
    ]
    rough = [
        p.material.friction if (own_one := p.mechanics.contact_surface().friction) is None else own_one
        for p in world.bodies
    ]
    count = len(materials)
    out = np.zeros((count, count, 5))
    for i in range(count):
        for j in range(count):
            soft = min(own[i], own[j])
            friction = np.sqrt(rough[i] * rough[j])
            restitution = min(materials[i].restitution, materials[j].restitution)
            area = min(world.bodies[i].structure.spacing, world.bodies[j].structure.spacing) ** 2
            adhesion = 0.0
            for pair in contact.pairs:
                if set(pair.bodies) == {world.bodies[i].name, world.bodies[j].name}:
                    friction = friction if pair.friction is None else pair.friction
                    restitution = restitution if pair.restitution is None else pair.restitution
                    adhesion = pair.adhesion * area
            reach = radius[i] + radius[j]
            if i != j and (sticky[i] or sticky[j]):
                friction, adhesion = NO_SLIP, max(adhesion, LET_GO * reach * contact.stiffness * soft)
            damping = damping_for(restitution) / np.sqrt(2.0)  # two contacts at once, one each way
            out[i, j] = contact.stiffness * soft, damping, friction, reach, adhesion
    return np.ascontiguousarray(out[np.ix_(surfaces.source, surfaces.source)])


def _stiffness(part: "BodyState") -> float:
    """Stiffness of a body's contacts [N/m]: ``0.6 E a``, unless it has its own."""
    own = part.mechanics.contact_surface().stiffness
    return 0.6 * part.material.young * part.structure.spacing if own is None else own


def roughness(world: "World") -> Array:
    """How much rougher each particle is than its body (n,): its share in the friction of a pair."""
    out = np.ones(world.count)
    for part in world.bodies:
        own = part.mechanics.contact_surface().roughness
        if own is not None:
            out[part.rows] = np.sqrt(own)
    return out


def check_names(world: "World", contact: "Contact") -> None:
    names = [part.name for part in world.bodies]
    for pair in contact.pairs:
        for name in pair.bodies:
            if name not in names:
                raise SceneError(f"contact: there is no body '{name}'; {nearest(name, names)}")
