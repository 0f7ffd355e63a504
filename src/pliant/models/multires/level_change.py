r"""From one arrangement of levels to another, without a gain of energy.

Refining is inclusion: the finer space contains the field, so positions and velocities stay as they are.
Coarsening leaves momenta as they are, :math:`p' = H^T p`, and takes the positions that are nearest in energy:
:math:`G'^T (\nabla E(G' q') - \nabla E(u)) = 0`, so that for linear bodies :math:`E(G' q') = E(u) - E(u - G'
q')`. The same momenta at other positions have another angular momentum; a small rigid rotation makes up
for it, so that pieces that nothing holds keep both momenta. Positions are found within two rings of elements
around what changes. The energy of both is checked (``ReducedBody``): where it would rise, what is not rigid
in the motion pays for it, or the change is refused."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import level_kernels, motion_kernels
from pliant.models.multires.arrangement import Arrangement, Prescribed
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.motion_kernels import NodeMotion
from pliant.models.multires.patch import Patch


def change_levels(before: Arrangement, after: Arrangement, motion: NodeMotion) -> None:
    """Let ``after`` continue from where ``before`` is; motion is changed in place, and x and v of all its nodes
    are up to date, before and after. Momenta of pieces that nothing holds stay as they are."""
    h, active = before.hierarchy, before.active
    momenta = momenta_of_pieces(before, motion, before.acting.piece)
    was, now = set_of(before, h), set_of(after, h)
    own, gone = after.active, was & ~now
    if not gone.any() or not (before.own & ~after.own).any():
        p = after.momenta_of(np.where(after.held, motion.led[own], motion.v[own]))
    else:
        patch = Patch(after, gone | (now & ~was))
        target = patch.target(before, motion.x)
        fit_nodes(h, motion.x, np.flatnonzero(now & ~was))
        patch.find_positions(motion.x, target)
        handed = np.zeros_like(motion.p)
        handed[active] = motion.p[active]
        level_kernels.restrict_all(after.own, h.corners, h.weights, handed)
        p = handed[own]
    motion.p[:] = 0.0
    motion.p[own] = p
    motion_kernels.velocities(after.acting, motion)
    restore_momenta(after, motion, after.acting.piece, momenta)
    level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)


def prescribe(before: Arrangement, flags: BoolArray, anchored: BoolArray, motion: NodeMotion) -> Arrangement:
    """What goes on from where ``before`` is with other prescribed degrees of freedom (particles, 3), and other
    particles that stay at rest."""
    h = before.hierarchy
    level_kernels.interpolate_all(before.own, h.corners, h.weights, motion.x, motion.v)
    free, both_flags = np.zeros(len(flags), bool), Prescribed(flags | before.prescribed.flags)
    both = Arrangement(h.with_anchored(free), before.split, both_flags, before.beta)
    h = h.with_anchored(anchored)
    after = Arrangement(h, before.split, Prescribed(flags), before.beta)
    v = motion.v[both.active]
    motion.p[:] = 0.0
    motion.p[both.active] = both.momenta_of(v)
    level_kernels.restrict_all(after.own, h.corners, h.weights, motion.p)
    motion_kernels.velocities(after.acting, motion)
    level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)
    return after


def set_of(arrangement: Arrangement, h: Hierarchy) -> BoolArray:
    """Flags (n,) of the active nodes."""
    found = np.zeros(len(h.points), bool)
    found[arrangement.active] = True
    return found


def fit_nodes(h: Hierarchy, x: Array, nodes: IntArray) -> None:
    """Positions of ``nodes`` from the affine maps nearest to what hangs on them, the finer ones first."""
    for i in sorted((int(node) for node in nodes), reverse=True):
        some = h.children[h.children_first[i] : h.children_first[i + 1]]
        if not len(some):
            continue
        hung = h.nested_weights[some] * (h.nested_corners[some] == i)
        weight = np.sqrt(np.abs(hung).sum(axis=1) + 1e-3)
        centre, there = h.points[some].mean(axis=0), x[some].mean(axis=0)
        arms, moved = h.points[some] - centre, x[some] - there
        turn = np.eye(3)
        if len(some) >= 4:
            a, b = weight[:, None] * arms, weight[:, None] * (moved - arms)
            size = float(np.sum(a * a)) + 1e-30
            gram = a.T @ a + 1e-3 * size * np.eye(3)
            turn = turn + np.linalg.solve(gram, a.T @ b).T
        x[i] = there + turn @ (h.points[i] - centre)


def pay(after: Arrangement, motion: NodeMotion, rise: float, most: float, least: float) -> float:
    """Take ``rise`` [J] out of the motion that is not rigid, at most and at least (negative) so many times
    its energy; returns what was taken."""
    own = after.active
    free = ~after.held
    rigid = _rigid(after, motion.x[own], motion.v[own])
    extra = np.where(free, motion.v[own] - rigid, 0.0)
    energy = 0.5 * float(np.sum(after.momenta_of(extra) * extra))
    if not np.isfinite(rise) or not 0.0 < energy < np.inf:
        return 0.0  # nothing moves, or the run has diverged
    taken = min(max(rise, -least * energy), most * energy)
    share = np.sqrt(1.0 - taken / energy)
    v = np.where(free, rigid + share * extra, motion.v[own])
    motion.p[own] = np.where(free, after.momenta_of(v), motion.p[own])
    motion_kernels.velocities(after.acting, motion)
    return taken


def _rigid(after: Arrangement, x: Array, v: Array) -> Array:
    """The rigid motion (a, 3) with the momenta of each piece, at the present positions; none of pieces that
    something holds."""
    out, p, piece = np.zeros_like(v), after.momenta_of(v), after.acting.piece
    for e in sorted(set(np.unique(piece).tolist()) - held_pieces(after, piece)):
        rows = piece == e
        basis, weighted = _rigid_basis(after, x, rows)
        given = np.einsum("knc,nc->k", basis, p[rows])
        out[rows] = np.einsum("k,knc->nc", _twist(basis, weighted, given), basis)
    return out


def _rigid_basis(after: Arrangement, x: Array, rows: BoolArray) -> tuple[Array, Array]:
    """Rigid velocities (6, r, 3) of the active nodes ``rows`` at x, three translations and three rotations
    about their middle, and their momenta."""
    arms = x[rows] - x[rows].mean(axis=0)
    basis = np.zeros((6, int(rows.sum()), 3))
    weighted, full = np.zeros_like(basis), np.zeros((len(x), 3))
    for c in range(3):
        basis[c, :, c] = 1.0
        basis[3 + c] = np.cross(np.eye(3)[c], arms)
    for k, each in enumerate(basis):
        full[rows] = each
        weighted[k] = after.momenta_of(full)[rows]
    return basis, weighted


def _twist(basis: Array, weighted: Array, momenta: Array) -> Array:
    """The rigid motion (6,) with these momenta: those of ``basis``."""
    gram = np.einsum("knc,lnc->kl", basis, weighted)
    return np.asarray(np.linalg.lstsq(gram, momenta, rcond=None)[0])


def held_pieces(arrangement: Arrangement, piece: IntArray) -> set[int]:
    """The pieces (a,) of which something is held."""
    return set(np.unique(piece[arrangement.held.any(axis=1)]).tolist())


def momenta_of_pieces(arrangement: Arrangement, motion: NodeMotion, piece: IntArray) -> dict[int, Array]:
    """Linear and angular momentum (6,) about the origin of each piece (a,) of which nothing is held."""
    own, found = arrangement.active, dict[int, Array]()
    for e in set(np.unique(piece).tolist()) - held_pieces(arrangement, piece):
        rows = own[piece == e]
        turning = np.cross(motion.x[rows], motion.p[rows]).sum(axis=0)
        found[e] = np.concatenate([motion.p[rows].sum(axis=0), turning])
    return found


def restore_momenta(
    after: Arrangement, motion: NodeMotion, piece: IntArray, wanted: dict[int, Array]
) -> None:
    """Add the rigid motion to each piece (a,) that gives it the ``wanted`` momenta."""
    own, there = after.active, momenta_of_pieces(after, motion, piece)
    for e in sorted(wanted.keys() & there.keys()):
        rows = piece == e
        basis, weighted = _rigid_basis(after, motion.x[own], rows)
        missing = wanted[e] - there[e]
        missing[3:] -= np.cross(motion.x[own[rows]].mean(axis=0), missing[:3])
        twist = _twist(basis, weighted, missing)
        motion.p[own[rows]] += np.einsum("k,knc->nc", twist, weighted)
    motion_kernels.velocities(after.acting, motion)
